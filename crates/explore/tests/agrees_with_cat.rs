//! The fast checkers against `models/*.cat`: the same graphs, on small programs taken systematically.
//!
//! All programs of a shape (so many instructions in each thread) over an alphabet of instructions are
//! numbered; a walk with a fixed step through the numbers meets them evenly, and all of them if it is
//! long enough. Each is run by brute force, which judges every candidate graph by the cat file, and by
//! the search; both must find the same graphs. Candidates that the cat file rejects are so held
//! against the checker as well as those that it allows.

use porf_cat::Model as CatModel;
use porf_event::{EventId, FenceMode, ReadMode, RmwKind, WriteMode};
use porf_explore::{Equivalence, Model, Options, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::{FunctionBuilder, FunctionId, Instr, Program, RmwOp, ThreadEntry};
use porf_oracle::{CatJudge, Execution};
use std::collections::HashSet;
use std::ops::ControlFlow;

#[derive(Clone, Copy, Debug)]
enum Op {
    R(ReadMode),
    W(WriteMode),
    Fai(ReadMode, WriteMode),
    /// From the initial value.
    Cas(ReadMode, WriteMode),
    F(FenceMode),
}
use Op::*;

const RLX: (ReadMode, WriteMode) = (ReadMode::Relaxed, WriteMode::Relaxed);

/// For models without orderings on accesses.
const MACHINE: &[Op] =
    &[R(RLX.0), W(RLX.1), Fai(RLX.0, RLX.1), Cas(RLX.0, RLX.1), F(FenceMode::SeqCst), F(FenceMode::Release)];

const C11: &[Op] = &[
    R(ReadMode::Relaxed),
    R(ReadMode::Acquire),
    R(ReadMode::SeqCst),
    W(WriteMode::Relaxed),
    W(WriteMode::Release),
    W(WriteMode::SeqCst),
    Fai(ReadMode::Relaxed, WriteMode::Relaxed),
    Fai(ReadMode::Acquire, WriteMode::Release),
    Fai(ReadMode::SeqCst, WriteMode::SeqCst),
    Cas(ReadMode::SeqCst, WriteMode::SeqCst),
    F(FenceMode::Acquire),
    F(FenceMode::Release),
    F(FenceMode::SeqCst),
];

/// What psc and synchronisation by fences are about.
const FENCED: &[Op] = &[
    R(ReadMode::Relaxed),
    R(ReadMode::SeqCst),
    W(WriteMode::Relaxed),
    W(WriteMode::Release),
    W(WriteMode::SeqCst),
    R(ReadMode::Acquire),
    F(FenceMode::SeqCst),
];

/// What release sequences are made of.
const SEQUENCES: &[Op] = &[
    R(ReadMode::Acquire),
    R(ReadMode::Relaxed),
    W(WriteMode::Relaxed),
    W(WriteMode::Release),
    Fai(ReadMode::Relaxed, WriteMode::Relaxed),
    F(FenceMode::Acquire),
    F(FenceMode::Release),
];

/// Instructions of each thread.
const SHAPES: &[&[usize]] =
    &[&[2, 2], &[3, 2], &[3, 3], &[2, 2, 1], &[2, 2, 2], &[2, 2, 1, 1], &[3, 2, 2], &[4, 1, 2]];

fn programs(default: u64) -> u64 {
    match std::env::var("PORF_FUZZ") {
        Ok(count) => count.parse().unwrap(),
        Err(_) if std::env::var_os("PORF_FULL").is_some() => default * 50,
        Err(_) => default,
    }
}

/// The program with a number, over the locations x and y.
fn build(mut number: u64, alphabet: &[Op], shape: &[usize]) -> Program {
    let mut program = Program::default();
    let locations = [program.add_global("x", 4, Vec::new()), program.add_global("y", 4, Vec::new())];
    let mut value = 0;
    for (thread, &length) in shape.iter().enumerate() {
        let mut f = FunctionBuilder::new(&format!("P{thread}"));
        for _ in 0..length {
            let op = alphabet[(number % alphabet.len() as u64) as usize];
            number /= alphabet.len() as u64;
            let address = locations[(number % 2) as usize].into();
            number /= 2;
            value += 1;
            let (size, dst) = (4, f.register(""));
            f.push(match op {
                R(mode) => Instr::Load { dst, address, size, mode },
                W(mode) => Instr::Store { address, value: value.into(), size, mode },
                Fai(read, write) => {
                    let (operand, kind) = (10.into(), RmwKind::Amo);
                    Instr::Rmw { dst, op: RmwOp::Add, address, operand, size, read, write, kind }
                }
                Cas(read, write) => Instr::Cas {
                    dst,
                    address,
                    expected: 0.into(),
                    new: value.into(),
                    size,
                    read,
                    write,
                    failure: read,
                    weak: false,
                    kind: RmwKind::Amo,
                },
                F(mode) => Instr::Fence { mode },
            });
        }
        program.functions.push(f.finish());
        let function = FunctionId(thread as u32);
        program.threads.push(ThreadEntry { name: format!("P{thread}"), function, registers: Vec::new() });
    }
    program
}

fn key(execution: &Execution<'_, '_>, with_co: bool) -> CanonicalKey {
    let candidate = execution.candidate;
    let inits = candidate.inits();
    let id = |event: usize| if event < inits { EventId::INIT } else { candidate.events[event].id };
    let events = candidate.events[inits..].iter().map(|event| (event.id, event.label));
    let reads = (inits..candidate.len()).filter(|&event| candidate.events[event].label.is_read());
    let rf = reads.map(|read| (id(read), id(execution.rf[read])));
    let co = candidate.locations.iter().zip(&execution.co).filter(|_| with_co);
    let co = co.map(|(location, writes)| (*location, writes[1..].iter().map(|&w| id(w)).collect()));
    CanonicalKey::from_parts(events, rf, co)
}

/// Compares on `count` programs of every shape, or on all of them.
fn agree(model: Model, equivalence: Equivalence, alphabet: &[Op], shapes: &[&[usize]], count: u64) {
    let cat = CatModel::builtin(model.name()).unwrap();
    let with_co = equivalence == Equivalence::Mo && model != Model::Wrc11;
    let (mut seen, mut graphs) = (0_u64, 0);
    for shape in shapes {
        let length: usize = shape.iter().sum();
        let all = (2 * alphabet.len() as u64).saturating_pow(length as u32);
        // A prime that divides no power of the alphabet: every number is met once before any twice.
        let step = 2_654_435_761 % all;
        let mut number = 0;
        for at in 0..count.min(all) {
            number = if all <= count { at } else { (number + step) % all };
            let program = build(number, alphabet, shape);
            let mut judge = CatJudge::new(&cat);
            let mut allowed = HashSet::new();
            porf_oracle::enumerate(&program, &mut judge, 1, |execution, _| {
                allowed.insert(key(execution, with_co));
                true
            })
            .unwrap();
            assert!(judge.error().is_none());
            let mut found = HashSet::new();
            let schedule =
                [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Hash(at)][at as usize % 3];
            let options = Options { schedule, ..Options::default() };
            explore(&program, model, equivalence, &options, &mut |visit: Visit<'_, '_>| {
                if let Visit::Complete(execution) = visit {
                    assert!(found.insert(execution.key()), "twice\n{}", porf_ir::print(&program));
                }
                ControlFlow::Continue(())
            })
            .unwrap();
            assert!(
                allowed == found,
                "{model} {equivalence} {schedule:?}: {} only by the cat file, {} only by the search\n{}",
                allowed.difference(&found).count(),
                found.difference(&allowed).count(),
                porf_ir::print(&program),
            );
            seen += 1;
            graphs += allowed.len();
        }
    }
    println!("{model} {equivalence}: {seen} programs, {graphs} graphs");
}

#[test]
fn sc() {
    agree(Model::Sc, Equivalence::Mo, &MACHINE[..5], SHAPES, programs(500));
}

#[test]
fn tso() {
    agree(Model::Tso, Equivalence::Mo, MACHINE, SHAPES, programs(1_000));
}

#[test]
fn pso() {
    agree(Model::Pso, Equivalence::Mo, MACHINE, SHAPES, programs(1_000));
}

#[test]
fn ra() {
    agree(Model::Ra, Equivalence::Mo, &MACHINE[..4], SHAPES, programs(150));
    agree(Model::Ra, Equivalence::Rf, &MACHINE[..4], SHAPES, programs(150));
}

#[test]
fn sra() {
    agree(Model::Sra, Equivalence::Mo, &MACHINE[..4], SHAPES, programs(150));
}

#[test]
fn rc11() {
    for equivalence in [Equivalence::Mo, Equivalence::Rf] {
        agree(Model::Rc11, equivalence, C11, SHAPES, programs(500));
        agree(Model::Rc11, equivalence, SEQUENCES, SHAPES, programs(500));
    }
}

#[test]
fn rc11_psc() {
    let shapes: &[&[usize]] = &[&[3, 3], &[2, 2, 2], &[3, 2, 2], &[2, 2, 1, 1], &[3, 3, 1], &[3, 3, 2]];
    for equivalence in [Equivalence::Mo, Equivalence::Rf] {
        agree(Model::Rc11, equivalence, FENCED, shapes, programs(1_000));
    }
}

#[test]
fn wrc11() {
    agree(Model::Wrc11, Equivalence::Rf, C11, SHAPES, programs(500));
    agree(Model::Wrc11, Equivalence::Rf, SEQUENCES, SHAPES, programs(500));
    agree(Model::Wrc11, Equivalence::Rf, FENCED, SHAPES, programs(500));
}
