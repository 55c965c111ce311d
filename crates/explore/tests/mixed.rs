//! Atomic accesses of different sizes to one word, held to memory that is an array of bytes.
//!
//! Under sequential consistency an atomic access takes one step, whatever its size: all interleavings of the
//! threads' accesses give the results that there are. The search must have the same ones, each execution once.
//! Every other model allows these results too.
//!
//! Accesses of 16 bytes, held to accesses of 8 bytes: a program has as many executions with one size as with the other,
//! under every model.

mod support;

use porf_event::{ReadMode, RmwKind, ThreadId, WriteMode, wide};
use porf_explore::{Equivalence, Model, Options, Reductions, Visit, explore};
use porf_ir::{FunctionBuilder, FunctionId, Global, Instr, Operand, Program, Reg, RmwOp, ThreadEntry, Width};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use support::budget;
use support::generate::Random;

const WORD: u64 = 64;
const READS: [ReadMode; 3] = [ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst];
const WRITES: [WriteMode; 3] = [WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst];

/// An atomic access to some bytes of the word.
#[derive(Clone, Copy, Debug)]
struct Access {
    what: What,
    offset: u64,
    size: u8,
    mode: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Load,
    Store(u128),
    Update(RmwOp, u128),
    Swap { expected: u128, new: u128, weak: bool },
}

impl Access {
    fn random(random: &mut Random) -> Access {
        let size = [1, 2, 4, 8, 16][random.below(5) as usize];
        let offset = random.below(16 / size) * size;
        // Small values in every byte, so that parts of different sizes meet.
        let mut value = || (0..size).fold(0, |value, _| value << 8 | u128::from(random.below(3)));
        let (a, b) = (value(), value());
        let what = match random.below(6) {
            0 | 1 => What::Load,
            2 | 3 => What::Store(a),
            4 => What::Update([RmwOp::Exchange, RmwOp::Add, RmwOp::Xor][random.below(3) as usize], a),
            _ => What::Swap { expected: a, new: b, weak: random.below(4) == 0 },
        };
        Access { what, offset, size: size as u8, mode: random.below(3) as usize }
    }

    fn instr(self, dst: Reg) -> Instr {
        let Access { what, offset, size, mode } = self;
        let address = Operand::Const(WORD + offset);
        let (read, write, kind) = (READS[mode], WRITES[mode], RmwKind::Amo);
        let held = |bytes| Operand::Const(wide::held(bytes, size));
        match what {
            What::Load => Instr::Load { dst, address, size, mode: read },
            What::Store(value) => Instr::Store { address, value: held(value), size, mode: write },
            What::Update(op, operand) => {
                Instr::Rmw { dst, op, address, operand: held(operand), size, read, write, kind }
            }
            What::Swap { expected, new, weak } => {
                let (expected, new, failure) = (held(expected), held(new), ReadMode::Relaxed);
                Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind }
            }
        }
    }

    /// What the access gives and leaves behind, in one step: in two ways if it may fail by chance.
    fn results(self, memory: u128) -> Vec<(u64, u128)> {
        let (size, shift) = (self.size, self.offset * 8);
        let mask = u128::MAX >> (128 - 8 * u32::from(size));
        let old = memory >> shift & mask;
        let with = |new: u128| memory & !(mask << shift) | (new & mask) << shift;
        let held = wide::held(old, size);
        match self.what {
            What::Load => vec![(held, memory)],
            What::Store(value) => vec![(0, with(value))],
            What::Update(op, operand) => {
                let new = op.apply(Width::of_bytes(size), held, wide::held(operand, size));
                vec![(held, with(u128::from_le_bytes(wide::bytes(new, size))))]
            }
            What::Swap { expected, .. } if expected != old => vec![(held, memory)],
            What::Swap { new, weak: true, .. } => vec![(held, with(new)), (held, memory)],
            What::Swap { new, .. } => vec![(held, with(new))],
        }
    }
}

fn program(threads: &[Vec<Access>]) -> Program {
    let global = Global { name: "word".into(), address: WORD, size: 32, init: Vec::new() };
    let mut program = Program { globals: vec![global], ..Program::default() };
    for (at, accesses) in threads.iter().enumerate() {
        let name = format!("T{at}");
        let mut f = FunctionBuilder::new(&name);
        for (number, access) in accesses.iter().enumerate() {
            let dst = f.register(&format!("r{number}"));
            f.push(access.instr(dst));
        }
        program.functions.push(f.finish());
        program.threads.push(ThreadEntry { name, function: FunctionId(at as u32), registers: Vec::new() });
    }
    program
}

/// What all interleavings give: the results of the threads' accesses.
fn interleaved(threads: &[Vec<Access>]) -> BTreeSet<Vec<Vec<u64>>> {
    let mut ends = BTreeSet::new();
    let mut work = vec![(0, vec![Vec::new(); threads.len()])];
    while let Some((memory, told)) = work.pop() {
        let mut over = true;
        for (thread, accesses) in threads.iter().enumerate() {
            let Some(access) = accesses.get(told[thread].len()) else { continue };
            over = false;
            for (result, memory) in access.results(memory) {
                let mut told: Vec<Vec<u64>> = told.clone();
                told[thread].push(result);
                work.push((memory, told));
            }
        }
        if over {
            ends.insert(told);
        }
    }
    ends
}

fn explored(
    program: &Program,
    threads: &[Vec<Access>],
    model: Model,
    equivalence: Equivalence,
) -> BTreeSet<Vec<Vec<u64>>> {
    let (mut ends, mut keys) = (BTreeSet::new(), HashSet::new());
    let mut visitor = |visit: Visit<'_, '_>| {
        if let Visit::Complete(execution) = visit {
            assert!(keys.insert(execution.key()), "twice\n{}", porf_ir::print(program));
            let of = |(at, accesses): (usize, &Vec<Access>)| {
                let end = execution.state(ThreadId(at as u16));
                (0..accesses.len()).map(|reg| end.register(Reg(reg as u32))).collect()
            };
            ends.insert(threads.iter().enumerate().map(of).collect());
        }
        ControlFlow::Continue(())
    };
    let options = Options { reductions: Reductions::NONE, ..Options::default() };
    explore(program, model, equivalence, &options, &mut visitor).unwrap();
    ends
}

#[test]
fn results_are_those_of_an_array_of_bytes() {
    let mut mixed = 0;
    for seed in 0..budget(600) {
        let mut random = Random::new(seed);
        let threads: Vec<Vec<Access>> = (0..2 + random.below(2))
            .map(|_| (0..1 + random.below(3)).map(|_| Access::random(&mut random)).collect())
            .collect();
        let program = program(&threads);
        let expected = interleaved(&threads);
        let accesses = || threads.iter().flatten();
        mixed += u64::from(accesses().any(|one| accesses().any(|other| one.size != other.size)));
        for equivalence in [Equivalence::Mo, Equivalence::Rf] {
            let found = explored(&program, &threads, Model::Sc, equivalence);
            assert_eq!(found, expected, "seed {seed}, up to {equivalence}\n{}", porf_ir::print(&program));
        }
        // Under tso and pso an access of 16 bytes may be 16 events (`cells.rs` holds these to machines with buffers).
        let is_small = accesses().count() <= 5;
        for model in [Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::Rc11, Model::C20] {
            if !is_small && matches!(model, Model::Tso | Model::Pso) {
                continue;
            }
            let found = explored(&program, &threads, model, Equivalence::Mo);
            assert!(found.is_superset(&expected), "seed {seed}, {model}\n{}", porf_ir::print(&program));
        }
    }
    assert!(2 * mixed > budget(600), "{mixed}");
}

/// An access that only asks whether values are equal, to one of two locations.
fn comparing(random: &mut Random) -> Access {
    let (offset, a, b) = (16 * random.below(2), u128::from(random.below(3)), u128::from(random.below(3)));
    let what = match random.below(6) {
        0 | 1 => What::Load,
        2 | 3 => What::Store(a),
        4 => What::Update(RmwOp::Exchange, a),
        _ => What::Swap { expected: a, new: b, weak: random.below(4) == 0 },
    };
    Access { what, offset, size: 8, mode: random.below(3) as usize }
}

/// The value of 16 bytes that stands for a small one: two values may be the same in one half.
fn spread(value: u128) -> u128 {
    match value {
        0 => 0,
        1 => 1 << 64 | 7,
        _ => 2 << 64 | 7,
    }
}

fn widened(access: Access) -> Access {
    let what = match access.what {
        What::Load => What::Load,
        What::Store(value) => What::Store(spread(value)),
        What::Update(op, operand) => What::Update(op, spread(operand)),
        What::Swap { expected, new, weak } => {
            What::Swap { expected: spread(expected), new: spread(new), weak }
        }
    };
    Access { what, size: 16, ..access }
}

#[test]
fn sixteen_bytes_are_ordered_as_eight() {
    let count = |program: &Program, model| {
        let options = Options { reductions: Reductions::NONE, ..Options::default() };
        let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
        let statistics = explore(program, model, Equivalence::Mo, &options, &mut visitor).unwrap();
        (statistics.executions, statistics.blocked)
    };
    let mut weak = 0;
    for seed in 0..budget(150) {
        let mut random = Random::new(seed);
        let narrow: Vec<Vec<Access>> = (0..2 + random.below(2))
            .map(|_| (0..1 + random.below(3)).map(|_| comparing(&mut random)).collect())
            .collect();
        let wide: Vec<Vec<Access>> =
            narrow.iter().map(|thread| thread.iter().copied().map(widened).collect()).collect();
        let programs = (program(&narrow), program(&wide));
        let all = |model| {
            let spread = |thread: Vec<u64>| -> Vec<u64> {
                thread.into_iter().map(|value| wide::number(spread(value.into()))).collect()
            };
            let expected = explored(&programs.0, &narrow, model, Equivalence::Mo).into_iter();
            let expected: BTreeSet<Vec<Vec<u64>>> =
                expected.map(|threads| threads.into_iter().map(spread).collect()).collect();
            let found = explored(&programs.1, &wide, model, Equivalence::Mo);
            assert_eq!(found, expected, "seed {seed}, {model}\n{}", porf_ir::print(&programs.0));
            let counts = (count(&programs.0, model), count(&programs.1, model));
            assert_eq!(counts.0, counts.1, "seed {seed}, {model}\n{}", porf_ir::print(&programs.0));
            counts.0
        };
        let sc = all(Model::Sc);
        for model in [Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::C20, Model::Imm] {
            all(model);
        }
        weak += u64::from(all(Model::Rc11) > sc);
    }
    assert!(10 * weak > budget(150), "{weak}");
}
