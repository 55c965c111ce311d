//! Which axiom forbids the classics of the literature, and by which cycle.
//!
//! Sources: Alglave, Maranget, Tautschnig, "Herding cats", TOPLAS 2014 (the tests and what SC, TSO and PSO say of
//! them); Lahav et al., "Repairing sequential consistency in C/C++11", PLDI 2017 (RC11).

mod support;

use porf_event::{Dialect, FenceMode, ReadMode, WriteMode};
use support::Op::{F, R, U, W};
use support::{Bare, Candidate, Op, Shape, cat};

const X: usize = 0;
const Y: usize = 1;
type Modes = (ReadMode, WriteMode);
const RLX: Modes = (ReadMode::Relaxed, WriteMode::Relaxed);
const RA: Modes = (ReadMode::Acquire, WriteMode::Release);
const SEQ: Modes = (ReadMode::SeqCst, WriteMode::SeqCst);

/// A test of the literature: threads, and of each read its source, of each location its co, by position.
struct Classic {
    threads: Vec<Vec<Op>>,
    rf: Vec<(usize, Option<usize>)>,
    co: [Vec<usize>; 2],
}

fn classic(name: &str, (r, w): Modes) -> Classic {
    let (read, write) = (|x| R(x, r), |x| W(x, w));
    let (threads, rf, co) = match name {
        "SB" => (
            vec![vec![write(X), read(Y)], vec![write(Y), read(X)]],
            vec![(1, None), (3, None)],
            [vec![0], vec![2]],
        ),
        "MP" => (
            vec![vec![write(X), write(Y)], vec![read(Y), read(X)]],
            vec![(2, Some(1)), (3, None)],
            [vec![0], vec![1]],
        ),
        "IRIW" => (
            vec![vec![write(X)], vec![write(Y)], vec![read(X), read(Y)], vec![read(Y), read(X)]],
            vec![(2, Some(0)), (3, None), (4, Some(1)), (5, None)],
            [vec![0], vec![1]],
        ),
        "CoRR" => {
            (vec![vec![write(X)], vec![read(X), read(X)]], vec![(1, Some(0)), (2, None)], [vec![0], vec![]])
        }
        "2+2W" => {
            (vec![vec![write(X), write(Y)], vec![write(Y), write(X)]], vec![], [vec![3, 0], vec![1, 2]])
        }
        "SB+fences" => (
            vec![
                vec![write(X), F(FenceMode::SeqCst), read(Y)],
                vec![write(Y), F(FenceMode::SeqCst), read(X)],
            ],
            vec![(2, None), (5, None)],
            [vec![0], vec![3]],
        ),
        "WRC" => (
            vec![vec![write(X)], vec![read(X), write(Y)], vec![read(Y), read(X)]],
            vec![(1, Some(0)), (3, Some(2)), (4, None)],
            [vec![0], vec![2]],
        ),
        "RMW" => (vec![vec![U(X, r, w)], vec![write(X)]], vec![(0, None)], [vec![2, 1], vec![]]),
        _ => panic!("{name}"),
    };
    Classic { threads, rf, co }
}

/// The axiom that forbids a test, and how many events its cycle has; `None` if it is allowed.
fn forbidden(name: &str, modes: Modes, model: &str) -> Option<(String, usize)> {
    let Classic { threads, rf, co } = classic(name, modes);
    let code: Vec<&[Op]> = threads.iter().map(Vec::as_slice).collect();
    let shape = Shape::new(&code);
    let mut sources = vec![None; shape.labels.len()];
    rf.into_iter().for_each(|(read, source)| sources[read] = source);
    let candidate = Candidate { shape: &shape, rf: sources, co: co[..shape.locations].to_vec() };
    let graph = candidate.graph().expect("no cycle in po and rf");
    let model = porf_cat::CatModel::shipped(model.parse().unwrap());
    let violation = cat(&model, Dialect::C).explain(&Bare::new(&graph), &|_| (4, 0)).unwrap()?;
    assert!(violation.cycle.is_empty() != violation.pairs.is_empty(), "{violation:?}");
    Some((violation.axiom, violation.cycle.len()))
}

fn check(name: &str, modes: Modes, answers: &[(&str, Option<&str>)]) {
    for &(model, axiom) in answers {
        let found = forbidden(name, modes, model);
        assert_eq!(found.as_ref().map(|(axiom, _)| axiom.as_str()), axiom, "{name} {model}");
    }
}

#[test]
fn store_buffering() {
    let answers = [("sc", Some("sc")), ("tso", None), ("pso", None), ("ra", None), ("sra", None)];
    check("SB", RLX, &answers);
    check("SB", RLX, &[("rc11", None), ("wrc11", None)]);
    check("SB", SEQ, &[("rc11", Some("seq-cst")), ("wrc11", Some("seq-cst"))]);
    let fenced = [("sc", Some("sc")), ("tso", Some("tso")), ("pso", Some("pso"))];
    check("SB+fences", RLX, &fenced);
    check("SB+fences", RLX, &[("rc11", Some("seq-cst"))]);
    // Two writes and two reads are on the cycle, and nothing else.
    assert_eq!(forbidden("SB", RLX, "sc"), Some(("sc".into(), 4)));
}

#[test]
fn message_passing() {
    let answers = [("sc", Some("sc")), ("tso", Some("tso")), ("pso", None), ("ra", Some("coherence"))];
    check("MP", RLX, &answers);
    check("MP", RLX, &[("sra", Some("coherence")), ("rc11", None)]);
    check("MP", RA, &[("rc11", Some("coherence")), ("wrc11", Some("coherence"))]);
    assert_eq!(forbidden("MP", RLX, "tso"), Some(("tso".into(), 4)));
}

#[test]
fn independent_reads() {
    let answers = [("sc", Some("sc")), ("tso", Some("tso")), ("pso", Some("pso"))];
    check("IRIW", RLX, &answers);
    check("IRIW", RA, &[("ra", None), ("sra", None), ("rc11", None)]);
    check("IRIW", SEQ, &[("rc11", Some("seq-cst"))]);
}

#[test]
fn coherence() {
    let answers = [("sc", "sc"), ("tso", "coherence"), ("pso", "coherence"), ("ra", "coherence")];
    check("CoRR", RLX, &answers.map(|(model, axiom)| (model, Some(axiom))));
    check("CoRR", RLX, &[("rc11", Some("coherence")), ("wrc11", Some("coherence"))]);
}

#[test]
fn two_writes_each() {
    let answers = [("sc", Some("sc")), ("tso", Some("tso")), ("pso", None), ("ra", None), ("rc11", None)];
    check("2+2W", RLX, &answers);
    check("2+2W", RLX, &[("sra", Some("strong"))]);
    check("2+2W", SEQ, &[("rc11", Some("seq-cst"))]);
}

#[test]
fn causality() {
    let answers = [("sc", Some("sc")), ("tso", Some("tso")), ("pso", Some("pso")), ("ra", Some("coherence"))];
    check("WRC", RLX, &answers);
    check("WRC", RLX, &[("rc11", None)]);
    check("WRC", RA, &[("rc11", Some("coherence"))]);
}

#[test]
fn atomicity() {
    for model in ["sc", "tso", "pso", "ra", "sra", "rc11"] {
        let (axiom, cycle) = forbidden("RMW", RLX, model).expect("it is forbidden");
        assert!(axiom == "atomicity" && cycle == 0 || axiom == model, "{model}: {axiom}");
    }
}
