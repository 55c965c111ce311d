//! Release–acquire: the shapes of the literature get their answers, from the explorer and from the prover.
//!
//! What is allowed is from Lahav, Giannarakis, Vafeiadis (POPL 2016), section 2, and from the litmus tests of herd's
//! `rc11` with all accesses release and acquire. Each thread is one process, by an assumption about roles.

use porf_param::explore::{Limits, explore};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

/// Operations: `Wx1` writes 1 to x, `Rx0` reads 0 from it, `Lx01` is a compare-and-swap from 0 to 1, `Ex1` an exchange whose
/// answer is not used, `F` a fence. `ending` is what threads `t1`, `t2`, … read after their last step.
struct Shape {
    name: &'static str,
    threads: &'static [&'static str],
    ending: &'static str,
    allowed: bool,
}

const fn shape(
    name: &'static str,
    threads: &'static [&'static str],
    ending: &'static str,
    allowed: bool,
) -> Shape {
    Shape { name, threads, ending, allowed }
}

const SHAPES: &[Shape] = &[
    shape("SB", &["Wx1 Ry0", "Wy1 Rx0"], "", true),
    shape("SB+fences", &["Wx1 F Ry0", "Wy1 F Rx0"], "", false),
    shape("SB+fence", &["Wx1 F Ry0", "Wy1 Rx0"], "", true),
    shape("SB+exchanges", &["Ex1 Ry0", "Ey1 Rx0"], "", true),
    shape("MP", &["Wx1 Wy1", "Ry1 Rx0"], "", false),
    shape("LB", &["Rx1 Wy1", "Ry1 Wx1"], "", false),
    shape("S", &["Wx2 Wy1", "Ry1 Wx1"], "t2@X = Two", false),
    shape("R", &["Wx1 Wy1", "Wy2 Rx0"], "t1@Y = Two", true),
    shape("2+2W", &["Wx1 Wy2", "Wy1 Wx2"], "t2@X = One && t1@Y = One", true),
    shape("2+2W+fences", &["Wx1 F Wy2", "Wy1 F Wx2"], "t2@X = One && t1@Y = One", false),
    shape("WRC", &["Wx1", "Rx1 Wy1", "Ry1 Rx0"], "", false),
    shape("ISA2", &["Wx1 Wy1", "Ry1 Wz1", "Rz1 Rx0"], "", false),
    shape("RWC", &["Wx1", "Rx1 Ry0", "Wy1 Rx0"], "", true),
    shape("RWC+fences", &["Wx1", "Rx1 F Ry0", "Wy1 F Rx0"], "", false),
    shape("IRIW", &["Wx1", "Wy1", "Rx1 Ry0", "Ry1 Rx0"], "", true),
    shape("IRIW+fences", &["Wx1", "Wy1", "Rx1 F Ry0", "Ry1 F Rx0"], "", false),
    shape("CoRR", &["Wx1", "Rx1 Rx0"], "", false),
    shape("CoRR of two writers", &["Wx1", "Wx2", "Rx1 Rx2"], "", true),
    shape("CoWR", &["Wx1 Rx0", "Wx2"], "", false),
    shape("CoRW", &["Rx1 Wx1"], "", false),
    shape("RMWs", &["Lx01", "Lx01"], "", false),
    shape("RMWs in a row", &["Lx01", "Lx12"], "", true),
    shape("RMW and write", &["Lx01", "Wx2"], "t1@X = Two && t2@X = One", false),
    shape("MP by an exchange", &["Wx1 Ey1", "Ry1 Rx0"], "", false),
    shape("MP to an exchange", &["Wx1 Wy1", "Ly12 Rx0"], "", false),
    shape("chain of RMWs", &["Wz1 Lx01", "Lx12", "Rx2 Rz0"], "", false),
];

fn value(digit: char) -> &'static str {
    ["Zero", "One", "Two"][digit.to_digit(3).expect("0, 1 or 2") as usize]
}

/// The system of a shape.
fn text(shape: &Shape) -> String {
    let count = shape.threads.len();
    let names: Vec<String> = (1..=count).map(|t| format!("t{t}")).collect();
    let roles: Vec<String> = (1..=count).map(|t| format!("T{t}")).collect();
    let mut text = format!(
        "type val = Zero | One | Two\ntype pc = P0 | P1 | P2 | P3\ntype role = {}\nnumber_procs {count}\n\
         const Role[proc] : role\narray PC[proc] : pc\nweak var X : val\nweak var Y : val\nweak var Z : val\n\
         init (p) {{ PC[p] = P0 && X = Zero && Y = Zero && Z = Zero }}\n",
        if count == 1 { "T1 | T0".to_owned() } else { roles.join(" | ") }
    );
    for role in &roles {
        text.push_str(&format!("assume (p q) {{ Role[p] = {role} && Role[q] = {role} }}\n"));
    }
    let ends = (names.iter().zip(&roles).zip(shape.threads)).map(|((name, role), thread)| {
        format!("Role[{name}] = {role} && PC[{name}] = P{}", thread.split_whitespace().count())
    });
    let mut unsafe_: Vec<String> = ends.collect();
    unsafe_.extend((!shape.ending.is_empty()).then(|| shape.ending.to_owned()));
    text.push_str(&format!("unsafe ({}) {{ {} }}\n", names.join(" "), unsafe_.join(" && ")));
    for (role, thread) in roles.iter().zip(shape.threads) {
        for (at, operation) in thread.split_whitespace().enumerate() {
            let of = |n: usize| operation.chars().nth(n).expect("an operation");
            let place = || of(1).to_ascii_uppercase();
            let (guard, update) = match of(0) {
                'W' => (String::new(), format!("; {} := {}", place(), value(of(2)))),
                'R' => (format!(" && {} = {}", place(), value(of(2))), String::new()),
                'L' => (
                    format!(" && {} = {}", place(), value(of(2))),
                    format!("; {} := {}", place(), value(of(3))),
                ),
                'E' => (" && lock()".to_owned(), format!("; {} := {}", place(), value(of(2)))),
                _ => (" && fence()".to_owned(), String::new()),
            };
            text.push_str(&format!(
                "transition {}_{at} ([p]) requires {{ Role[p] = {role} && PC[p] = P{at}{guard} }} {{ PC[p] := P{}{update} }}\n",
                role.to_lowercase(),
                at + 1
            ));
        }
    }
    text
}

#[test]
fn the_explorer_allows_what_release_acquire_allows() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let text = text(shape);
        let system = load(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", shape.name));
        let explored = explore(&system, Memory::Ra, shape.threads.len() as u8, Limits::default());
        assert!(!explored.cut.any(), "{}: {:?}", shape.name, explored.cut);
        if explored.trace.is_some() != shape.allowed {
            wrong.push(shape.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_prover_agrees() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let system = load(&text(shape)).expect("a system");
        for explore_first in [true, false] {
            let request = Request { memory: Memory::Ra, explore_first, ..Request::default() };
            let answer = prove(&system, request).expect("an answer");
            let right = match &answer.verdict {
                Verdict::Safe(_) => !shape.allowed,
                Verdict::Violated(_) => shape.allowed,
                Verdict::Inconclusive(_) => false,
            };
            if !right {
                wrong.push(format!("{}: {:?}", shape.name, answer.verdict));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
