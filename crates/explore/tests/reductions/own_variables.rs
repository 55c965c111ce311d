//! Random programs in which threads wait in loops that store to a variable which mostly no other thread writes.
//!
//! Others look at the variable: before the thread begins, after it has ended, late, or at the wrong time.

use super::support::generate::Random;
use super::threads::{self, Kind};
use super::{EVERYWHERE, Source, show};
use porf_explore::{Reduction, Reductions, Schedule};
use std::fmt::Write;

fn looping(random: &mut Random, name: &str) -> String {
    let c = random.pick(&["c", "c", "c", "e"]);
    looping_with(random, name, c)
}

/// A function that waits, and stores to `c` meanwhile.
fn looping_with(random: &mut Random, name: &str, c: &str) -> String {
    let (x, y) = random.pick(&[("x", "y"), ("x", "y"), ("y", "x")]);
    let wait = random.pick(&["rlx", "acq", "acq", "sc"]);
    let store = random.pick(&["na", "na", "rlx", "rel", "sc"]);
    let again = random.pick(&[store, store, store, "rlx", "na"]);
    let load = if store == "na" { "na" } else { random.pick(&["na", "rlx", "acq"]) };
    let fence = random.pick(&["", "", "", "fence rel;", "fence acq;", "fence sc;"]);
    let body = match random.below(12) {
        // A copy of what another thread wrote.
        0 | 1 => format!("while r == 0 {{ {c}.{store} = {x}.{wait}; r = {c}.{load} }}"),
        2 => format!("r = {c}.{load}; while r == 0 {{ {c}.{store} = {x}.{wait}; {fence} r = {c}.{load} }}"),
        // What it is doing.
        3..6 => format!(
            "{c}.{store} = 1; {fence} r = {x}.{wait}; while r == 0 {{ {c}.{again} = 1; r = {x}.{wait} }}"
        ),
        // Something in between.
        6 | 7 => {
            format!("while r == 0 {{ {c}.{store} = 2; d = {y}.rlx; {c}.{again} = 0; r = {x}.{wait} }}")
        }
        8 => format!(
            "{c}.{store} = 1; while r == 0 {{ d = {c}.{load}; {c}.{store} = d + 1; r = {x}.{wait}; {c}.{again} = d }}"
        ),
        // This one leaves something behind.
        9 => format!("while r == 0 {{ d = {c}.{load}; {c}.{store} = d + 1; r = {x}.{wait} }}"),
        // A retry.
        10 => format!(
            "r = {x}.rlx; o = {x}.cas(r, r + 1, acqrel, rlx); while o != r {{ r = o; {c}.{again} = 1; o = {x}.cas(r, r + 1, acqrel, rlx) }}"
        ),
        _ => format!("while r == 0 {{ lock l; {c}.{store} = {x}.rlx; r = {c}.{load}; unlock l }}"),
    };
    let last = random.pick(&["", "", "y.rel = 3;", "y.rlx = 3;"]);
    format!("fn {name}() {{ r = 0; d = 0; o = 0; {body} {last} return r }}\n")
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["x", "x", "y"]);
    let c = random.pick(&["c", "e"]);
    let read = random.pick(&["rlx", "acq", "sc"]);
    let write = random.pick(&["rlx", "rel", "sc"]);
    match random.below(14) {
        0..5 => format!("{x}.{write} = {};", 1 + random.below(2)),
        5 => format!("lock l; {x}.rlx = 1; unlock l;"),
        6 => format!("a = {c}.{read};"),
        7 => format!("a = {c}.{read}; if a == 1 {{ a = {x}.{read} }}"),
        8 => format!("a = y.{read}; if a == 3 {{ a = {c}.{} }}", random.pick(&[read, "na"])),
        9 => format!("a = {c}.{read}; b = {c}.{read};"),
        10 => format!("a = {c}.na;"),
        11 => format!("{c}.{} = {};", random.pick(&[write, "na"]), 1 + random.below(2)),
        _ => format!("fence {};", random.pick(&["acq", "rel", "sc"])),
    }
}

/// All threads run from the start.
fn together(seed: u64) -> String {
    let kind = Kind {
        head: format!("program own{seed}\nglobal x, y, c, e, l\n"),
        registers: "a = 0; b = 0;",
        begin_with_loop: 1,
        steps: |_| 2,
        looping,
        straight,
    };
    threads::text(&mut Random::new(seed), &kind)
}

/// The first thread creates the others and waits for them.
fn created(seed: u64) -> String {
    let random = &mut Random::new(seed);
    let mut text = format!("program created{seed}\nglobal x, y, c, e, l, p, q\n");
    let mut main = "a = 0; b = 0; ".to_string();
    let threads = 1 + random.below(2);
    for thread in 0..threads {
        let loops = thread == 0 || random.below(2) == 0;
        let c = if thread == 0 || random.below(4) == 0 { "c" } else { "e" };
        if loops {
            text.push_str(&looping_with(random, &format!("f{thread}"), c));
        }
        let call = if loops { format!("b = f{thread}();") } else { String::new() };
        let step = if !loops || random.below(3) == 0 { straight(random) } else { String::new() };
        let body = if random.below(2) == 0 { call + &step } else { step + &call };
        let out = ["p", "q"][thread as usize];
        writeln!(text, "fn g{thread}() {{ a = 0; b = 0; {body} {out}.na = a * 8 + b; return 0 }}").unwrap();
    }
    if random.below(2) == 0 {
        write!(main, "c.{} = {}; ", random.pick(&["na", "rlx", "rel"]), random.below(2)).unwrap();
    }
    for thread in 0..threads {
        write!(main, "t{thread} = spawn g{thread}(); ").unwrap();
        if random.below(3) == 0 {
            main.push_str(&straight(random));
        }
    }
    main.push_str(random.pick(&["x.rel = 1; ", "x.rlx = 1; ", "x.sc = 2; ", ""]));
    for thread in 0..threads {
        if random.below(8) > 0 {
            write!(
                main,
                "join t{thread}; {} = {}.na; ",
                ["m", "n"][thread as usize],
                ["p", "q"][thread as usize]
            )
            .unwrap();
        }
    }
    main.push_str(random.pick(&["z = c.na;", "z = c.rlx;", "c.na = 5;", ""]));
    text + &format!("thread P0 {{ {main} }}\n")
}

pub fn source(seed: u64, at: u64) -> Source {
    let text = if at.is_multiple_of(2) { together(seed) } else { created(seed) };
    let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (program, text, 3)
}

/// Loops that store what is there end without a bound; what others may see of them is still there.
#[test]
fn loops_that_store_what_is_there() {
    let cached = "fn f() { r = 0; while r == 0 { c.na = x.acq; r = c.na } return r }";
    let status = "fn f() { c.rel = 1; r = x.acq; while r == 0 { c.rel = 1; r = x.acq } c.rel = 2; return r }";
    let changed = "fn f() { r = x.acq; while r == 0 { c.na = 1; d = y.rlx; c.na = 0; r = x.acq } return r }";
    for (function, main, states, hangs) in [
        // What the thread copies, the first one reads when it has ended.
        (cached, "c.na = 0; t = spawn f(); x.rel = 1; join t; a = c.na;", 1, false),
        (cached, "c.na = 7; x.rel = 1; t = spawn f(); join t; a = c.na;", 1, false),
        (cached, "t = spawn f(); join t;", 0, true),
        (changed, "t = spawn f(); x.rel = 1; join t; a = c.na;", 1, false),
        // The first one sees what the thread is doing: nothing yet, that it waits, or that it is done.
        (status, "t = spawn f(); a = c.acq; x.rel = 1; join t;", 2, false),
        (status, "t = spawn f(); x.rel = 1; a = c.acq; join t;", 3, false),
        (status, "t = spawn f(); a = c.acq; join t;", 0, true),
    ] {
        let text = format!("program stores\nglobal x, y, c\n{function}\nthread P0 {{ a = 9; {main} }}\n");
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for where_ in EVERYWHERE {
            if !where_.0.orders_writes() {
                continue;
            }
            for reductions in [Reductions::only(Reduction::OwnVariables), Reductions::ALL] {
                let shown = show(&program, where_, Schedule::default(), 1_000, reductions);
                let shown = shown.unwrap_or_else(|| panic!("it does not end: {where_:?}\n{text}"));
                assert_eq!(shown.states.len(), states, "{where_:?}\n{text}");
                assert_eq!(!shown.stuck.is_empty(), hangs, "{where_:?}\n{text}");
                assert!(shown.wrong.is_empty(), "{:?} {where_:?}\n{text}", shown.wrong);
            }
        }
    }
}
