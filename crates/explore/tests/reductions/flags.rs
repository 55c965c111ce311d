//! Random programs in which threads take a flag for a while and give it back, in loops, and others that look at it.

use super::Source;
use super::support::generate::Random;
use super::threads::{self, Kind};

fn looping(random: &mut Random, name: &str) -> String {
    let (x, y) = random.pick(&[("x", "y"), ("y", "x")]);
    let inside = random.pick(&["na", "rlx", "rlx", "acq"]);
    let outside = random.pick(&["rlx", "acq", "sc"]);
    let take = random.pick(&["acq", "acq", "acqrel", "sc", "rlx"]);
    let give = random.pick(&["rel", "rel", "rel", "sc", "rlx"]);
    let taken = match random.below(4) {
        0 => format!("f.exchange(1, {take})"),
        _ => format!("f.cas(0, 1, {take}, rlx)"),
    };
    let leave = random.pick(&["d = 0; o = 0;", "d = 0; o = 0;", ""]);
    let body = match random.below(8) {
        0 | 1 => format!("while r == 0 {{ o = {taken}; if o == 0 {{ r = {x}.{inside}; f.{give} = 0 }} }}"),
        2 => format!(
            "while r == 0 {{ o = {taken}; while o != 0 {{ o = {taken} }} r = {x}.{inside}; d = {y}.rlx; f.{give} = 0 }}"
        ),
        3 => format!(
            "go = 0; while go == 0 {{ r = {x}.{outside}; if r == 0 {{ o = {taken}; if o == 0 {{ d = {y}.{inside}; f.{give} = 0 }} }} else {{ go = 1 }} }}"
        ),
        // It waits for the flag first.
        4 => format!(
            "while r == 0 {{ o = f.rlx; while o != 0 {{ o = f.rlx }} o = {taken}; if o == 0 {{ r = {x}.{inside}; f.{give} = 0 }} }}"
        ),
        // To this one it matters whether the flag is taken.
        5 | 6 => format!(
            "while r == 0 {{ o = {taken}; if o == 0 {{ r = {x}.{inside}; f.{give} = 0 }} else {{ r = 9 }} }}"
        ),
        // This one leaves something behind.
        _ => {
            format!("while r == 0 {{ o = {taken}; if o == 0 {{ r = {x}.rlx; {y}.rlx = 2; f.{give} = 0 }} }}")
        }
    };
    format!("fn {name}() {{ r = 0; o = 0; d = 0; {body} {leave} return r }}\n")
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["x", "y"]);
    let read = random.pick(&["rlx", "acq", "sc"]);
    let write = random.pick(&["rlx", "rel", "sc"]);
    match random.below(12) {
        0..4 => format!("{x}.{write} = 1;"),
        4 => format!("{x}.na = 1;"),
        5 => format!("a = f.{read};"),
        6 => format!("a = {x}.{read}; if a == 1 {{ a = f.{read} }}"),
        7 => format!("a = {x}.{read}; if a == 1 {{ a = f.cas(0, 1, acq, rlx); if a == 0 {{ f.rel = 0 }} }}"),
        8 => "a = f.cas(0, 1, acq, rlx); if a != 0 { a = 7 } else { f.rel = 0 }".to_string(),
        9 => format!("a = 1; while a != 0 {{ a = f.cas(0, 1, acq, rlx) }} {x}.na = 1; f.rel = 0;"),
        10 => format!("a = 1; while a != 0 {{ a = f.cas(0, 1, acq, rlx) }} {x}.rlx = 1; f.rel = 0;"),
        _ => format!("{};", random.pick(&["f.rlx = 0", "f.rel = 1", "a = f.fetch_add(1, acq)", "fence sc"])),
    }
}

fn text(seed: u64) -> String {
    let kind = Kind {
        head: format!("program flags{seed}\nglobal x, y, f\n"),
        registers: "a = 0; b = 0;",
        begin_with_loop: 1,
        steps: |_| 2,
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
