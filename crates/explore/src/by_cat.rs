//! The checkers of ARMv8 and RISC-V against their cat files, on what brute force cannot run: threads that are
//! created and joined, and locks; and graph by graph, where threads have holes.

#[path = "../tests/support/chain.rs"]
mod chain;
#[path = "../tests/support/dependent.rs"]
mod dependent;
#[allow(dead_code, reason = "its programs are for other tests")]
#[path = "../tests/support/generate.rs"]
mod generate;

use crate::Options;
use crate::engine::Engine;
use crate::history::Created;
use crate::schedule::Schedule;
use crate::visit::Visit;
use porf_cat::Diagnostic;
use porf_consistency::{
    Architecture, Armv8, Cat, Checked, Checker, Initial, MemoryModel, OrderedBefore, Riscv, Whole,
};
use porf_event::{FenceMode, Label, Location, ReadMode, RmwKind, WriteMode};
use porf_graph::{CanonicalKey, Ev, Linked};
use porf_ir::{FunctionBuilder, FunctionId, Instr, Machine, Program, RmwOp, ThreadEntry};
use std::collections::HashSet;
use std::ops::ControlFlow;

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

/// All executions, also blocked ones; none if there are many.
fn explored<M: MemoryModel + Default>(
    program: &Program,
    schedule: Schedule,
) -> Option<HashSet<CanonicalKey>> {
    let mut keys = HashSet::new();
    let options = Options { all_blocked: true, schedule, ..Options::default() };
    let mut engine = Engine::<M>::new(program, &options, Created::default()).unwrap();
    let ended = engine.run(&mut |visit: Visit<'_, '_>| {
        if let Visit::Complete(execution) | Visit::Blocked(execution) = visit {
            assert!(keys.insert(execution.key()), "twice\n{}", porf_ir::print(program));
        }
        if keys.len() < 400 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    ended.unwrap().is_continue().then_some(keys)
}

fn agree<M: MemoryModel + Default, N: MemoryModel + Default>(machine: Machine, programs: u64) {
    let mut executions = 0;
    for seed in 0..programs {
        let program = program(seed).compiled_to(machine).unwrap();
        let schedule = [Schedule::LeftToRight, Schedule::RightToLeft][seed as usize % 2];
        let Some(expected) = explored::<N>(&program, schedule) else { continue };
        let found = explored::<M>(&program, schedule).unwrap_or_default();
        let (missing, extra) = (expected.difference(&found).count(), found.difference(&expected).count());
        assert!(
            missing + extra == 0,
            "{seed}: {missing} missing, {extra} extra\n{}",
            porf_ir::print(&program)
        );
        executions += expected.len();
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
        let found = explored::<OrderedBefore<Armv8>>(&program, schedule).unwrap();
        assert!(found == explored::<Checked<Armv8>>(&program, schedule).unwrap());
        assert!(found.iter().any(|key| reads(key, lock, 1) && reads(key, y, 0)));
    }
}

#[test]
fn armv8() {
    agree::<OrderedBefore<Armv8>, Checked<Armv8>>(Machine::Armv8, 600);
}

#[test]
fn riscv() {
    agree::<OrderedBefore<Riscv>, Checked<Riscv>>(Machine::Riscv, 600);
}

/// Two checkers that must say the same.
struct Both<'m, C> {
    fast: C,
    cat: Cat<'m>,
    consistent: u32,
    others: u32,
}

impl<C: Checker> Checker for &mut Both<'_, C> {
    fn architecture(&self) -> Option<Architecture> {
        self.fast.architecture()
    }

    fn consistent(
        &mut self,
        linked: &impl Linked,
        initial: Initial<'_>,
        changed: Ev,
    ) -> Result<bool, Diagnostic> {
        let consistent = self.cat.consistent(linked, initial, changed)?;
        assert_eq!(self.fast.consistent(linked, initial, changed)?, consistent);
        *if consistent { &mut self.consistent } else { &mut self.others } += 1;
        Ok(consistent)
    }
}

fn agree_on_graphs(name: &str, fast: impl Checker) {
    let idiom = dependent::IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
    let model = porf_cat::CatModel::shipped(name.parse().unwrap());
    let cat = Cat::new(&model, idiom.dialect, fast.architecture());
    let mut both = Both { fast, cat, consistent: 0, others: 0 };
    let options = Options { unroll: Some(2), ..Options::default() };
    for seed in 0..400 {
        for program in [dependent::program(seed, 7, idiom), chain::program(seed, idiom)] {
            // Some are refused on the way.
            let _ = crate::weave(
                &program,
                &mut both,
                &options,
                crate::Start::default(),
                &mut |_: Visit<'_, '_>| ControlFlow::Continue(()),
            );
        }
    }
    assert!(both.consistent > 10_000 && both.others > 2_000, "{} {}", both.consistent, both.others);
}

#[test]
fn armv8_with_holes() {
    agree_on_graphs("armv8", Whole::<Armv8>::default());
}

#[test]
fn riscv_with_holes() {
    agree_on_graphs("riscv", Whole::<Riscv>::default());
}
