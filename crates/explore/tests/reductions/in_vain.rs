//! Random programs in which threads wait for each other: at locks that they make themselves, at flags, by assumptions.
//!
//! What a thread waits for may be there for a moment, and something else after it; another thread may see what was
//! there before, or change it without having seen anything.

use super::support::generate::Random;
use super::threads::{self, Kind};
use super::{EVERYWHERE, Source, show};
use porf_explore::{Reduction, Reductions, Schedule};
use std::fmt::Write;

/// A function that waits.
fn looping(random: &mut Random, name: &str) -> String {
    let l = random.pick(&["l", "l", "l", "x"]);
    let read = random.pick(&["rlx", "acq", "acq", "sc"]);
    let write = random.pick(&["rlx", "rel", "rel", "sc"]);
    let inside =
        random.pick(&["", "c.na = c.na + 1;", "c.na = c.na + 1;", "x.rlx = 1;", "d = x.rlx;", "y.rel = 2;"]);
    let take = format!("o = {l}.cas(0, 1, {read}, rlx)");
    let give = random.pick(&["0", "0", "0", "2"]);
    let body = match random.below(10) {
        0..3 => format!("{take}; while o != 0 {{ {take} }} {inside} {l}.{write} = {give};"),
        3..5 => format!(
            "{take}; while o != 0 {{ r = {l}.rlx; while r != 0 {{ r = {l}.rlx }} {take} }} {inside} {l}.{write} = {give};"
        ),
        5 => format!(
            "o = 1; while o != 0 {{ r = {l}.{read}; while r != 0 {{ r = {l}.{read} }} {take} }} {inside} {l}.{write} = {give};"
        ),
        6 => format!("while {l}.exchange(1, {read}) != 0 {{ }} {inside} {l}.{write} = {give};"),
        7 => format!("r = {l}.{read}; while r != {} {{ r = {l}.{read} }} {inside}", random.pick(&["1", "2"])),
        8 => format!("r = y.{read}; while r == 0 {{ r = y.{read} }} {l}.{write} = {give};"),
        _ => format!("r = {l}.{read}; d = y.{read}; assume r < d; {inside}"),
    };
    format!("fn {name}() {{ r = 0; o = 0; d = 0; {body} return r * 4 + d }}\n")
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["l", "x", "y"]);
    let read = random.pick(&["rlx", "acq", "sc"]);
    let write = random.pick(&["rlx", "rel", "sc"]);
    match random.below(10) {
        0..3 => format!("{x}.{write} = {};", random.below(3)),
        3 => format!("a = {x}.{read};"),
        4 => format!("a = {x}.{read}; assume a {} {};", random.pick(&["==", "!=", "<"]), 1 + random.below(2)),
        5 => format!("a = {x}.fetch_add(1, {read});"),
        6 => format!("a = {x}.cas({}, 2, {read}, rlx);", random.below(2)),
        7 => format!("a = {x}.cas(0, 1, {read}, rlx); assume a == 0;"),
        8 => "c.na = 7;".to_string(),
        _ => format!("fence {};", random.pick(&["acq", "rel", "sc"])),
    }
}

pub fn source(seed: u64, _: u64) -> Source {
    let kind = Kind {
        head: format!("program vain{seed}\nglobal l, x, y, c\n"),
        registers: "a = 0; b = 0;",
        begin_with_loop: 2,
        steps: |threads| if threads == 2 { 3 } else { 2 },
        looping,
        straight,
    };
    let text = threads::text(&mut Random::new(seed), &kind);
    let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (program, text, 2)
}

/// Locks whose waiting reads are given new sources in place by GenMC 0.11, with its numbers: 36 and 576 executions of
/// its `spinlock`, and none that is blocked.
#[test]
fn a_spin_lock_has_no_blocked_executions() {
    for (threads, executions) in [(3, 36), (4, 576)] {
        let mut text = "program spinlock\nglobal l, shared
fn spin(i) {
    o = 1
    while o != 0 { a = l.rlx; while a != 0 { a = l.rlx } o = l.cas(0, 1, acq, acq) }
    shared.na = i; r = shared.na; assert r == i, \"alone\"; l.rel = 0
    return 0
}\n"
        .to_string();
        for thread in 0..threads {
            writeln!(text, "thread P{thread} {{ a = spin({thread}) }}").unwrap();
        }
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let reductions = Reductions::ALL.without(Reduction::Symmetry);
        for where_ in EVERYWHERE.into_iter().filter(|(model, _)| model.to_string() == "rc11").take(1) {
            let shown = show(&program, where_, Schedule::default(), 100, reductions).unwrap();
            assert_eq!((shown.keys.len(), shown.blocked), (executions, 0), "{where_:?}");
            assert!(shown.stuck.is_empty() && shown.wrong.is_empty());
        }
    }
}
