//! The checkers of ARMv8 and RISC-V against their cat files, on what brute force cannot run: threads that are
//! created and joined, and locks; and dependencies, by which threads have holes on the way.

mod support;

use porf_event::{FenceMode, Label, Location, ReadMode, RmwKind, WriteMode};
use porf_explore::{Equivalence, Error, Model, Options, Schedule, Visit, explore, explore_cat};
use porf_graph::CanonicalKey;
use porf_ir::{FunctionBuilder, FunctionId, Instr, Machine, Program, RmwOp, ThreadEntry};
use std::collections::HashSet;
use std::ops::ControlFlow;
use support::{chain, dependent};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const READS: [ReadMode; 4] = [ReadMode::Relaxed, ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst];
const WRITES: [WriteMode; 4] =
    [WriteMode::Relaxed, WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst];

/// One thread that starts one or two others, does something, and may wait for them.
fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let mut program = Program::default();
    let globals = ["x", "y", "lock"].map(|name| program.add_global(name, 4, Vec::new()));
    let children = 1 + random.below(2);
    let mut f = FunctionBuilder::new("main");
    let handles = ["s", "t"].map(|name| f.register(name));
    accesses(&mut f, &mut random, globals, 1);
    for (at, &handle) in handles[..children].iter().enumerate() {
        f.push(Instr::Create { dst: handle, function: FunctionId(at as u32 + 1), arg: 0.into() });
        accesses(&mut f, &mut random, globals, 1);
    }
    for &handle in &handles[..children] {
        if random.below(2) == 0 {
            f.push(Instr::Join { thread: handle.into() });
        }
        accesses(&mut f, &mut random, globals, 1);
    }
    program.functions.push(f.finish());
    for child in 0..children {
        let mut f = FunctionBuilder::new(&format!("child {child}"));
        f.register("argument");
        accesses(&mut f, &mut random, globals, 3);
        program.functions.push(f.finish());
    }
    program.threads.push(ThreadEntry { name: "main".into(), function: FunctionId(0), registers: Vec::new() });
    program
}

fn accesses(f: &mut FunctionBuilder, random: &mut Random, [x, y, lock]: [u64; 3], most: usize) {
    for _ in 0..random.below(most + 1) {
        let (address, size) = (random.pick(&[x, y]).into(), 4);
        let (dst, read, write) = (f.register(""), random.pick(&READS), random.pick(&WRITES));
        let value = (1 + random.below(2) as u64).into();
        match random.below(12) {
            0..4 => f.push(Instr::Load { dst, address, size, mode: read }),
            4..7 => f.push(Instr::Store { address, value, size, mode: write }),
            7 => {
                let (op, kind) = (RmwOp::Add, RmwKind::Amo);
                f.push(Instr::Rmw { dst, op, address, operand: value, size, read, write, kind });
            }
            8 => f.push(Instr::Fence { mode: random.pick(&[FenceMode::SeqCst, FenceMode::Release]) }),
            9 => {
                f.push(Instr::Lock { address: lock.into() });
                f.push(Instr::Load { dst, address, size, mode: read });
                f.push(Instr::Store { address, value, size, mode: write });
                f.push(Instr::Unlock { address: lock.into() });
            }
            10 => {
                f.push(Instr::TryLock { dst, address: lock.into() });
                let (then, after) = (f.label(), f.label());
                f.branch(dst, then, after);
                f.bind(then);
                f.push(Instr::Store { address, value, size, mode: write });
                f.push(Instr::Unlock { address: lock.into() });
                f.bind(after);
            }
            _ => f.push(Instr::Load { dst, address: lock.into(), size, mode: read }),
        }
    }
}

/// Who judges.
#[derive(Clone, Copy)]
enum Judge {
    Fast,
    Cat,
}

/// All executions, also blocked ones; none if there are many, or if the program is refused.
fn explored(
    program: &Program,
    model: Model,
    judge: Judge,
    schedule: Schedule,
) -> Option<HashSet<CanonicalKey>> {
    let mut keys = HashSet::new();
    let options = Options { all_blocked: true, unroll: Some(2), schedule, ..Options::default() };
    let mut visitor = |visit: Visit<'_, '_>| {
        if let Visit::Complete(execution) | Visit::Blocked(execution) = visit {
            assert!(keys.insert(execution.key()), "twice\n{}", porf_ir::print(program));
        }
        if keys.len() < 400 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let result = match judge {
        Judge::Fast => explore(program, model, Equivalence::Mo, &options, &mut visitor),
        Judge::Cat => {
            let cat = porf_cat::CatModel::shipped(model);
            explore_cat(program, &cat, &options, &mut visitor)
        }
    };
    match result {
        Err(Error::Unsupported(_)) => return None,
        result => result.unwrap(),
    };
    (keys.len() < 400).then_some(keys)
}

/// Both judges find the same executions; how many, if the program is not too large.
fn agree_on(program: &Program, model: Model, schedule: Schedule) -> Option<usize> {
    let expected = explored(program, model, Judge::Cat, schedule)?;
    let found = explored(program, model, Judge::Fast, schedule)?;
    let (missing, extra) = (expected.difference(&found).count(), found.difference(&expected).count());
    assert!(missing + extra == 0, "{missing} missing, {extra} extra\n{}", porf_ir::print(program));
    Some(found.len())
}

fn agree(model: Model, machine: Machine, programs: u64) {
    let mut executions = 0;
    for seed in 0..programs {
        let program = program(seed).compiled_to(machine).unwrap();
        let schedule = [Schedule::LeftToRight, Schedule::RightToLeft][seed as usize % 2];
        executions += agree_on(&program, model, schedule).unwrap_or(0);
    }
    assert!(executions as u64 > 4 * programs, "{executions} executions");
}

/// A lock that is found taken is not acquired: under ARMv8 an earlier release need not come before.
#[test]
fn a_lock_that_is_taken() {
    let mut program = Program::default();
    let [y, lock] = ["y", "lock"].map(|name| program.add_global(name, 4, Vec::new()));
    let mut f = FunctionBuilder::new("P0");
    let dst = f.register("taken");
    f.push(Instr::Store { address: y.into(), value: 1.into(), size: 4, mode: WriteMode::SeqCst });
    f.push(Instr::TryLock { dst, address: lock.into() });
    program.functions.push(f.finish());
    let mut f = FunctionBuilder::new("P1");
    let dst = f.register("y");
    f.push(Instr::Lock { address: lock.into() });
    f.push(Instr::Unlock { address: lock.into() });
    f.push(Instr::Load { dst, address: y.into(), size: 4, mode: ReadMode::SeqCst });
    program.functions.push(f.finish());
    for (at, name) in ["P0", "P1"].into_iter().enumerate() {
        let function = FunctionId(at as u32);
        program.threads.push(ThreadEntry { name: name.into(), function, registers: Vec::new() });
    }
    let program = program.compiled_to(Machine::Armv8).unwrap();
    let reads = |key: &CanonicalKey, location: u64, read: u64| {
        let is_it = |label: &Label| label.is_read() && label.value() == Some(read);
        key.events().iter().any(|(_, label)| is_it(label) && label.location() == Some(Location(location)))
    };
    for schedule in [Schedule::LeftToRight, Schedule::RightToLeft] {
        let found = explored(&program, Model::Armv8, Judge::Fast, schedule).unwrap();
        assert!(found == explored(&program, Model::Armv8, Judge::Cat, schedule).unwrap());
        assert!(found.iter().any(|key| reads(key, lock, 1) && reads(key, y, 0)));
    }
}

#[test]
fn armv8() {
    agree(Model::Armv8, Machine::Armv8, 300);
}

#[test]
fn riscv() {
    agree(Model::Riscv, Machine::Riscv, 300);
}

/// Programs with dependencies: on the way to their executions threads have holes.
fn agree_with_holes(model: Model, programs: u64) {
    let idiom = dependent::IDIOMS.iter().find(|idiom| idiom.model == model.name()).unwrap();
    let mut executions = 0;
    for seed in 0..programs {
        for program in [dependent::program(seed, 7, idiom), chain::program(seed, idiom)] {
            executions += agree_on(&program, model, Schedule::LeftToRight).unwrap_or(0);
        }
    }
    assert!(executions as u64 > 4 * programs, "{executions} executions");
}

#[test]
fn armv8_with_holes() {
    agree_with_holes(Model::Armv8, 200);
}

#[test]
fn riscv_with_holes() {
    agree_with_holes(Model::Riscv, 200);
}
