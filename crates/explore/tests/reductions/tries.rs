//! Random programs in which threads poll under a lock, and others try that lock and do something with what they find.

use super::Source;
use super::support::generate::Random;
use super::threads::{self, Kind};

fn looping(random: &mut Random, name: &str) -> String {
    let x = random.pick(&["x", "x", "y"]);
    let inside = random.pick(&["na", "rlx", "rlx", "acq", "sc"]);
    let outside = random.pick(&["rlx", "acq", "sc"]);
    let lock = random.pick(&["l", "l", "l", "m"]);
    let body = match random.below(8) {
        0 | 1 => format!("while r == 0 {{ lock {lock}; r = {x}.{inside}; unlock {lock} }}"),
        // It has the lock at the head of the loop.
        2 => format!(
            "lock {lock}; r = {x}.{inside}; while r == 0 {{ unlock {lock}; lock {lock}; r = {x}.{inside} }} unlock {lock};"
        ),
        3 => format!("while r == 0 {{ r = {x}.{outside}; if r == 0 {{ lock {lock}; unlock {lock} }} }}"),
        4 => "while r == 0 { lock l; lock m; r = x.na; unlock m; unlock l }".to_string(),
        // It tries the lock itself; that does no harm, or it counts.
        5 => format!(
            "while r == 0 {{ t = trylock {lock}; if t == 1 {{ r = {x}.{inside}; unlock {lock} }} }} t = 0;"
        ),
        6 => format!(
            "t = trylock {lock}; if t == 1 {{ unlock {lock} }} while r == 0 {{ lock {lock}; r = {x}.{inside}; unlock {lock} }}"
        ),
        // Back and forth.
        _ => "while t == 0 { lock m; t = trylock l; if t == 0 { unlock m } } t = 0; r = x.na; unlock l; unlock m;"
            .to_string(),
    };
    let then = random.pick(&["", "y.rlx = 1;", "x.rlx = 1;"]);
    format!("fn {name}() {{ r = 0; t = 0; {body} {then} return r }}\n")
}

/// An attempt. The register `a` tells what was seen.
fn attempt(random: &mut Random) -> String {
    let x = random.pick(&["x", "x", "y"]);
    let lock = random.pick(&["l", "l", "l", "m"]);
    match random.below(8) {
        0..3 => format!("a = trylock {lock}; if a == 1 {{ unlock {lock} }}"),
        3 => format!("a = trylock {lock}; if a == 1 {{ {x}.rlx = 1; unlock {lock} }} else {{ {x}.rlx = 2 }}"),
        // Twice, and it must have been taken both times.
        4 => format!(
            "a = trylock {lock}; if a == 0 {{ a = trylock {lock}; if a == 0 {{ a = 5 }} else {{ unlock {lock} }} }} else {{ unlock {lock} }}"
        ),
        5 => format!("a = trylock {lock}; assume a == 0;"),
        6 => format!("a = trylock {lock}; if a == 1 {{ unlock {lock} }} assert a == 1, \"taken\";"),
        // It waits until the lock is taken.
        _ => format!("a = 1; while a == 1 {{ a = trylock {lock}; if a == 1 {{ unlock {lock} }} }}"),
    }
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["x", "x", "x", "y"]);
    let read = random.pick(&["rlx", "acq", "sc"]);
    let write = random.pick(&["rlx", "rlx", "rel", "sc"]);
    match random.below(10) {
        0 => format!("{x}.{write} = 1;"),
        1 => format!("lock l; {x}.na = 1; unlock l;"),
        2..6 => format!("{} {x}.{write} = 1;", attempt(random)),
        6 | 7 => format!("{x}.{write} = 1; {}", attempt(random)),
        // It knows what came later.
        8 => format!("x.{write} = 1; a = y.{read}; if a == 1 {{ {} }}", attempt(random)),
        _ => format!("lock l; a = {x}.{read}; unlock l;"),
    }
}

fn text(seed: u64) -> String {
    let kind = Kind {
        head: format!("program tries{seed}\nglobal x, y, l, m\n"),
        registers: "a = 0; b = 0;",
        begin_with_loop: 1,
        steps: |threads| if threads == 2 { 2 } else { 1 },
        looping,
        straight,
    };
    threads::text(&mut Random::new(seed), &kind)
}

pub fn source(seed: u64, _: u64) -> Source {
    let text = text(seed);
    let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (program, text, 2)
}
