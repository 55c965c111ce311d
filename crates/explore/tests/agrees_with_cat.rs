//! The fast checkers against `models/*.cat`: the same graphs, on small programs taken systematically.
//!
//! All programs of a shape (so many instructions in each thread) over an alphabet of instructions are
//! numbered; a walk with a fixed step through the numbers meets them evenly, and all of them if it is
//! long enough. Each is run by brute force, which judges every candidate graph by the cat file, and by
//! the search; both must find the same graphs. Candidates that the cat file rejects are so held
//! against the checker as well as those that it allows.

use porf_cat::CatModel;
use porf_event::{EventId, FenceMode, ReadMode, RmwKind, WriteMode};
use porf_explore::{Equivalence, Model, Options, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::{FunctionBuilder, FunctionId, Instr, Program, RmwOp, ThreadEntry};
use porf_oracle::{CandidateExecution, CatJudge};
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

const RELAXED: &[Op] = &[R(ReadMode::Relaxed), W(WriteMode::Relaxed)];
const SEQ_CST: &[Op] = &[R(ReadMode::SeqCst), W(WriteMode::SeqCst)];
const ACQUIRE: &[Op] = &[R(ReadMode::Acquire)];
const RELEASE: &[Op] = &[W(WriteMode::Release)];
const FENCE: &[Op] = &[F(FenceMode::SeqCst)];
const RELEASE_FENCE: &[Op] = &[F(FenceMode::Release)];
const UPDATE: &[Op] = &[Fai(ReadMode::Relaxed, WriteMode::Relaxed)];

/// Programs by what stands where: threads are separated by `|`; A is a relaxed access, S an SC access, F an SC
/// fence, L a release write, Q an acquire read, U a relaxed update. With the number of locations. Each
/// part of psc has one in which it alone closes cycles.
const PATTERNS: &[(&str, u64)] = &[
    ("AFA|AFA", 2),
    ("AFA|A|AFA", 2),
    ("A|A|AFA|AFA", 2),
    ("AFA|AFA|AFA", 2),
    ("SS|SS", 2),
    ("SS|AFA", 2),
    ("S|SS|SS", 2),
    ("SS|SS|SS", 2),
    ("S|S|SS|SS", 2),
    ("SS|A|AFA", 2),
    ("SA|AS|SS", 2),
    ("SL|QS|SS", 3),
    ("SL|QS|AFA", 3),
    ("AFL|QS|SS", 3),
    ("AFL|QS|AFA", 3),
    ("AFL|QFA|SS", 3),
    ("SL|QFA|SS", 3),
    ("SL|QFA|AFA", 3),
    ("S|QFA|SS", 2),
    ("S|QFA|AFA", 2),
    ("SU|UFA|AFA", 2),
    ("FAFA|AFA", 2),
    ("AFAFA|AFA", 2),
    ("AFL|QA|AFA", 3),
    ("LU|UQ|SS", 2),
];

/// The same for models of machines; G is a release fence.
const MACHINE_PATTERNS: &[(&str, u64)] = &[
    ("AGA|AA", 2),
    ("AGAGA|AA", 2),
    ("AGA|AGA", 2),
    ("AFA|AFA", 2),
    ("AFA|AA", 2),
    ("AU|AU", 2),
    ("UA|UA", 2),
    ("AUA|AA", 2),
    ("AGA|A|AA", 2),
    ("A|A|AA|AA", 2),
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

/// What may stand at each place, thread by thread.
type Template<'a> = Vec<Vec<&'a [Op]>>;

fn pattern(text: &str) -> Template<'static> {
    let slot = |letter: char| match letter {
        'A' => RELAXED,
        'S' => SEQ_CST,
        'F' => FENCE,
        'G' => RELEASE_FENCE,
        'L' => RELEASE,
        'Q' => ACQUIRE,
        'U' => UPDATE,
        _ => panic!("{letter}"),
    };
    text.split('|').map(|thread| thread.chars().map(slot).collect()).collect()
}

fn shape<'a>(lengths: &[usize], alphabet: &'a [Op]) -> Template<'a> {
    lengths.iter().map(|&length| vec![alphabet; length]).collect()
}

/// In how many ways a place can be filled.
fn ways(slot: &[Op], locations: u64) -> u64 {
    let fences = slot.iter().filter(|op| matches!(op, F(_))).count() as u64;
    fences + locations * (slot.len() as u64 - fences)
}

/// The program with a number.
fn build(mut number: u64, template: &Template<'_>, locations: u64) -> Program {
    let mut program = Program::default();
    let addresses: Vec<u64> =
        (0..locations).map(|at| program.add_global(["x", "y", "z"][at as usize], 4, Vec::new())).collect();
    let mut value = 0;
    for (thread, slots) in template.iter().enumerate() {
        let mut f = FunctionBuilder::new(&format!("P{thread}"));
        for slot in slots {
            let mut choice = number % ways(slot, locations);
            number /= ways(slot, locations);
            let mut op = slot[0];
            let mut address = 0.into();
            for &candidate in *slot {
                let width = if matches!(candidate, F(_)) { 1 } else { locations };
                if choice < width {
                    (op, address) = (candidate, addresses[choice as usize].into());
                    break;
                }
                choice -= width;
            }
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

fn key(execution: &CandidateExecution<'_, '_>, with_co: bool) -> CanonicalKey {
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

/// Compares on `count` programs of every template, or on all of them.
fn agree(model: Model, equivalence: Equivalence, templates: &[(Template<'_>, u64)], count: u64) {
    let cat = CatModel::shipped(model);
    let with_co = equivalence == Equivalence::Mo && model != Model::Wrc11;
    let (mut seen, mut graphs) = (0_u64, 0);
    for (template, locations) in templates {
        let ways = template.iter().flatten().map(|slot| ways(slot, *locations));
        let all = ways.fold(1_u64, |product, ways| product.saturating_mul(ways));
        // A prime that divides no number of programs: each is met once before any twice.
        let step = 2_654_435_761 % all;
        let mut number = 0;
        for at in 0..count.min(all) {
            number = if all <= count { at } else { (number + step) % all };
            let program = build(number, template, *locations);
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

fn shapes<'a>(alphabet: &'a [Op]) -> Vec<(Template<'a>, u64)> {
    SHAPES.iter().map(|lengths| (shape(lengths, alphabet), 2)).collect()
}

fn patterns(list: &[(&str, u64)]) -> Vec<(Template<'static>, u64)> {
    list.iter().map(|(text, locations)| (pattern(text), *locations)).collect()
}

#[test]
fn sc() {
    agree(Model::Sc, Equivalence::Mo, &shapes(&MACHINE[..5]), programs(400));
}

#[test]
fn tso() {
    agree(Model::Tso, Equivalence::Mo, &shapes(MACHINE), programs(800));
    agree(Model::Tso, Equivalence::Mo, &patterns(MACHINE_PATTERNS), programs(4_096));
}

#[test]
fn pso() {
    agree(Model::Pso, Equivalence::Mo, &shapes(MACHINE), programs(800));
    agree(Model::Pso, Equivalence::Mo, &patterns(MACHINE_PATTERNS), programs(4_096));
}

#[test]
fn ra() {
    agree(Model::Ra, Equivalence::Mo, &shapes(&MACHINE[..4]), programs(150));
    agree(Model::Ra, Equivalence::Rf, &shapes(&MACHINE[..4]), programs(150));
}

#[test]
fn sra() {
    agree(Model::Sra, Equivalence::Mo, &shapes(&MACHINE[..4]), programs(150));
}

#[test]
fn rc11() {
    for equivalence in [Equivalence::Mo, Equivalence::Rf] {
        agree(Model::Rc11, equivalence, &shapes(C11), programs(400));
        agree(Model::Rc11, equivalence, &shapes(SEQUENCES), programs(400));
    }
}

#[test]
fn c20() {
    for equivalence in [Equivalence::Mo, Equivalence::Rf] {
        agree(Model::C20, equivalence, &shapes(C11), programs(200));
        agree(Model::C20, equivalence, &shapes(SEQUENCES), programs(400));
    }
    agree(Model::C20, Equivalence::Mo, &patterns(PATTERNS), programs(1_000));
}

#[test]
fn rc11_psc() {
    agree(Model::Rc11, Equivalence::Mo, &patterns(PATTERNS), programs(4_096));
}

#[test]
fn rc11_psc_up_to_rf() {
    agree(Model::Rc11, Equivalence::Rf, &patterns(PATTERNS), programs(2_000));
}

#[test]
fn wrc11() {
    agree(Model::Wrc11, Equivalence::Rf, &shapes(C11), programs(400));
    agree(Model::Wrc11, Equivalence::Rf, &shapes(SEQUENCES), programs(400));
}

#[test]
fn wrc11_psc() {
    agree(Model::Wrc11, Equivalence::Rf, &patterns(PATTERNS), programs(2_000));
}
