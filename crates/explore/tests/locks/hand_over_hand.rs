//! Random threads that take locks while they have others.

use super::support::generate::Random;
use std::fmt::Write;

/// 2 to 4 threads that go from lock to lock, and have two at a time.
pub fn hand_over_hand(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = format!("program hands{seed}\nglobal x, y, z, v, l, m, n\n");
    let threads = random.pick(&[2, 2, 3, 3, 4]);
    let writes = random.below(4);
    let guarded = [("l", "x"), ("m", "y"), ("n", "z")];
    for thread in 0..threads {
        write!(text, "thread P{thread} {{ a = 0; b = 0; ").unwrap();
        // Mostly all go the same way; otherwise they may come to wait for each other.
        let mut way = guarded.to_vec();
        if random.below(6) == 0 {
            way.reverse();
        }
        let start = random.below(2) as usize;
        let way = &way[start..];
        let touch = |random: &mut Random, of: &str| match random.below(8) {
            0..2 => String::new(),
            at if at < 2 + writes => match random.below(3) {
                0 => format!("{of}.na = {};", thread + 1),
                1 => format!("{of}.na = {of}.na + 1;"),
                _ => format!("if a == 0 {{ {of}.na = {} }}", thread + 1),
            },
            _ => format!("{} = {of}.na;", random.pick(&["a", "b"])),
        };
        let kind = random.below(8);
        for (at, (lock, of)) in way.iter().enumerate() {
            write!(text, "lock {lock}; ").unwrap();
            text.push_str(&touch(&mut random, of));
            match kind {
                // All at once, given back in the end.
                0 | 1 => {}
                // One at a time.
                2 => write!(text, "unlock {lock}; ").unwrap(),
                _ if at > 0 => {
                    let (before, of) = way[at - 1];
                    if random.below(4) == 0 {
                        text.push_str(&touch(&mut random, of));
                    }
                    write!(text, "unlock {before}; ").unwrap();
                }
                _ => {}
            }
        }
        let last = way[way.len() - 1].0;
        match random.below(16) {
            0 => continue_with(&mut text, "join 0; ", thread == threads - 1),
            1 => continue_with(&mut text, "assume a == 0; ", true),
            2 => continue_with(&mut text, "assert a < 2, \"few\"; ", true),
            _ => {}
        }
        match kind {
            0 | 1 if random.below(12) > 0 => {
                way.iter().rev().for_each(|(lock, _)| write!(text, "unlock {lock}; ").unwrap());
            }
            // Some are never given back.
            0..=2 => {}
            _ => write!(text, "unlock {last}; ").unwrap(),
        }
        if random.below(4) == 0 {
            write!(text, "lock l; a = x.na; unlock l; ").unwrap();
        }
        text.push_str("}\n");
    }
    text
}

fn continue_with(text: &mut String, more: &str, if_so: bool) {
    if if_so {
        text.push_str(more);
    }
}
