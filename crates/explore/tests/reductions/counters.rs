//! Random programs in which threads take something from a counter and give it back, in loops, and others that look at
//! it: reader-writer locks and semaphores, right and wrong.

use super::Source;
use super::support::generate::Random;
use super::threads::{self, Kind};
use std::fmt::Write;

/// Tries until there was enough: a reader takes 1 and wants more than 50, a writer takes 10 and wants all 60.
fn attempts(random: &mut Random, name: &str) -> String {
    let (amount, enough) = random.pick(&[("1", "o > 50"), ("10", "o == 60"), ("1", "o > 58")]);
    let back = if random.below(8) == 0 { random.pick(&["1", "2", "10"]) } else { amount };
    let first = random.pick(&["acq", "acq", "rlx", "acqrel", "sc"]);
    let again = if random.below(4) == 0 { random.pick(&["acq", "rlx", "acqrel", "sc"]) } else { first };
    let undo = random.pick(&["rlx", "rlx", "rel", "sc"]);
    let give = random.pick(&["rel", "rel", "rlx", "sc"]);
    let look = random.pick(&["rlx", "rlx", "acq", "sc"]);
    let wait = match random.below(5) {
        0..3 => format!("t = c.{look}; while (t > 50) == 0 {{ t = c.{look} }}"),
        3 => format!("t = x.{look};"),
        _ => String::new(),
    };
    let fence = match random.below(6) {
        0 => format!("fence {};", random.pick(&["acq", "rel", "sc"])),
        _ => String::new(),
    };
    let ok = format!("({enough})");
    let x = random.pick(&["x", "y"]);
    let inside = match random.below(5) {
        0 => format!("{x}.na = {x}.na + 1;"),
        1 => format!("{x}.rlx = 1;"),
        2 => format!("r = {x}.na;"),
        3 => format!("r = {x}.rlx;"),
        _ => String::new(),
    };
    // Not all give back what they took, and some tell what they saw.
    let gives =
        if random.below(8) == 0 { String::new() } else { format!("d = c.fetch_add({amount}, {give});") };
    let leave = random.pick(&["o = 0; d = 0; t = 0;", "o = 0; d = 0; t = 0;", "o = 0; d = 0; t = 0;", ""]);
    let body = match random.below(4) {
        0 | 1 => format!(
            "o = c.fetch_sub({amount}, {first}); while {ok} == 0 {{ d = c.fetch_add({back}, {undo}); {fence} {wait} o = c.fetch_sub({amount}, {again}) }} {inside} {gives}"
        ),
        2 => format!(
            "go = 1; while go != 0 {{ o = c.fetch_sub({amount}, {first}); if {ok} {{ go = 0 }} else {{ d = c.fetch_add({back}, {undo}); {fence} {wait} }} }} {inside} {gives}"
        ),
        // It gives up: what it saw counts.
        _ => format!(
            "o = c.fetch_sub({amount}, {first}); if {ok} {{ {inside} {gives} }} else {{ d = c.fetch_add({back}, {undo}); r = 7 }}"
        ),
    };
    format!("fn {name}() {{ r = 0; o = 0; d = 0; t = 0; go = 0; {body} {leave} return r }}\n")
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["x", "y"]);
    let read = random.pick(&["rlx", "acq", "sc"]);
    let write = random.pick(&["rlx", "rel", "sc"]);
    match random.below(12) {
        0..4 => format!("{x}.{write} = 1;"),
        4 | 5 => format!("a = {x}.{read};"),
        6 => format!("a = c.{read};"),
        7 => format!("a = {x}.{read}; if a == 1 {{ a = c.{read}; a = a == 60 }}"),
        8 => format!("a = c.{read}; while a != 60 {{ a = c.{read} }}"),
        9 => "a = c.fetch_sub(10, acq); d = c.fetch_add(10, rel); d = 0; a = a == 60;".to_string(),
        10 => "d = c.fetch_sub(1, acq); d = 0;".to_string(),
        _ => format!(
            "{};",
            random.pick(&["c.rlx = 60", "a = c.cas(60, 50, acq, rlx)", "a = c.na", "fence sc"])
        ),
    }
}

/// Looks at a counter and does something about what it sees: waits for a value that may never come, changes it and
/// takes that back, or gives up.
fn observing(random: &mut Random) -> String {
    let look = random.pick(&["rlx", "rlx", "acq", "sc"]);
    let amount = random.pick(&["1", "10"]);
    let (first, undo) = match random.below(2) {
        0 => (format!("t = c.{look}"), String::new()),
        _ => (format!("t = c.fetch_sub({amount}, acq)"), format!("d = c.fetch_add({amount}, rel);")),
    };
    let test = random.pick(&["t == 60", "t > 50", "t != 50", "t > 58", "t == 59"]);
    let mut wait = || {
        let value = random.pick(&["60", "60", "51", "20"]);
        match random.below(5) {
            0 => String::new(),
            1 => format!("while c.{look} != {value} {{}}"),
            2 => format!("while c.{look} < {value} {{}}"),
            3 => format!("t = c.{look}; while t < {value} {{ t = c.{look} }}"),
            _ => format!("go = 2; while go == 2 {{ t = c.{look}; d = t; go = 1 + (t != {value}) }}"),
        }
    };
    let (wait, other) = (wait(), wait());
    let mut end = || match random.below(6) {
        0 => "assume 0;".to_string(),
        1 => "a = 7;".to_string(),
        2 => "d = c.fetch_sub(1, rlx);".to_string(),
        3 => format!("{undo} {other}"),
        _ => undo.clone(),
    };
    let (right, wrong) = (end(), end());
    let body = match random.below(4) {
        0 | 1 => format!(
            "go = 1; while go == 1 {{ {first}; if {test} {{ go = 0 }} else {{ {undo} {wait} }} }} {right}"
        ),
        2 => format!("{first}; if {test} {{ {right} }} else {{ {wrong} {wait} }}"),
        _ => format!("{first}; while ({test}) == 0 {{ {undo} {wait} {first} }} {right}"),
    };
    format!("{body} t = 0; d = 0; go = 0;")
}

/// A thread that changes the counter for a moment and goes on, and others that know that it did.
fn late(seed: u64) -> String {
    let mut random = Random::new(seed);
    let amount = random.pick(&["1", "10"]);
    let (take, give) = (random.pick(&["acq", "rlx", "sc"]), random.pick(&["rel", "rlx", "sc"]));
    let mut text = format!(
        "program late{seed}\nglobal x, y, c = 60\n\
         thread P0 {{ go = 0; d = 0; r = 0; o = 0; while go == 0 {{ r = x.rlx; if r == 0 {{ o = c.fetch_sub({amount}, {take}); \
         d = c.fetch_add({amount}, {give}) }} else {{ go = 1 }} }} d = 0; r = 0; o = 0; y.rlx = 1 }}\n"
    );
    let seen = observing(&mut random);
    writeln!(
        text,
        "thread P1 {{ t = 0; d = 0; go = 0; a = 0; x.rlx = 1; b = y.rlx; if b == 1 {{ {seen} }} }}"
    )
    .unwrap();
    text + &match random.below(4) {
        0 => "thread P2 { t = c.rlx; assert t > 40, \"low\"; t = 0 }\n".to_string(),
        1 => "thread P2 { u = c.fetch_sub(1, rlx); u = 0 }\n".to_string(),
        2 => format!("thread P2 {{ t = 0; d = 0; go = 0; a = 0; {} }}\n", observing(&mut random)),
        _ => String::new(),
    }
}

fn text(seed: u64) -> String {
    let kind = Kind {
        head: format!("program counters{seed}\nglobal x, y, c = 60\n"),
        registers: "a = 0; b = 0; d = 0;",
        begin_with_loop: 2,
        steps: |threads| if threads == 3 { 1 } else { 2 },
        looping: attempts,
        straight,
    };
    threads::text(&mut Random::new(seed), &kind)
}

pub fn source(seed: u64, at: u64) -> Source {
    let text = if at % 3 == 2 { late(seed) } else { text(seed) };
    let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (program, text, 2)
}
