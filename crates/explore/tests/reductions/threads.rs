//! Random threads, some of whose steps are calls of functions with loops.

use super::support::generate::Random;
use std::fmt::Write;

/// What such programs are made of.
pub struct Kind {
    /// The program's name and its variables.
    pub head: String,
    /// What the threads set to 0 first.
    pub registers: &'static str,
    /// How many threads begin with a loop.
    pub begin_with_loop: usize,
    /// How many steps a thread has at most, if there are so many threads.
    pub steps: fn(usize) -> u64,
    /// A function with a loop, by its name.
    pub looping: fn(&mut Random, &str) -> String,
    /// Another step.
    pub straight: fn(&mut Random) -> String,
}

/// The text of a program.
pub fn text(random: &mut Random, kind: &Kind) -> String {
    let mut text = kind.head.clone();
    let mut code = String::new();
    let threads = random.pick(&[2, 2, 3]);
    for thread in 0..threads {
        write!(code, "thread P{thread} {{ {} ", kind.registers).unwrap();
        for step in 0..1 + random.below((kind.steps)(threads)) {
            if (thread < kind.begin_with_loop && step == 0) || random.below(3) == 0 {
                let name = format!("f{thread}{step}");
                text.push_str(&(kind.looping)(random, &name));
                write!(code, "b = {name}(); ").unwrap();
            } else {
                code.push_str(&(kind.straight)(random));
            }
        }
        code.push_str("}\n");
    }
    text + &code
}
