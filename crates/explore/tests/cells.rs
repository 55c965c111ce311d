//! Atomic accesses of different sizes that are several events, held to two things that know no events:
//!
//! - Machines of tso and pso. Memory is an array of bytes. A store waits in the buffer of its thread, as a whole, until it
//!   leaves for memory. A load takes each byte from the newest store of its thread that waits and has it, or from memory.
//!   A read-modify-write needs an empty buffer. Under tso stores leave in order. Under pso a store may overtake those with
//!   which it shares no byte, if no barrier is between. (Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO",
//!   TPHOLs 2009, with bytes as Alglave and others have them in herd's `x86tso-mixed.cat`.)
//! - Candidates by brute force, whose accesses are cut by the oracle, under all models that say what that means. The
//!   number of executions must be the same for each end.

mod support;

use porf_cat::CatModel;
use porf_event::{Access, FenceMode, Location, ReadMode, RmwKind, WriteMode, wide};
use porf_explore::{Equivalence, Error, Model, Options, Reductions, Schedule, Visit, explore};
use porf_ir::{
    BinOp, FunctionBuilder, FunctionId, Global, Instr, Machine, Operand, Program, Reg, RmwOp, ThreadEntry,
    Width,
};
use porf_oracle::{CandidateExecution, CatJudge};
use porf_relation::Relation;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;
use support::budget;
use support::generate::Random;

const WORD: u64 = 64;
const READS: [ReadMode; 3] = [ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst];
const WRITES: [WriteMode; 3] = [WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst];

#[derive(Clone, Copy, Debug)]
enum What {
    Load,
    Store(u128),
    Update(RmwOp, u128),
    Swap { expected: u128, new: u128 },
    Fence(FenceMode),
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    offset: u64,
    size: u8,
    mode: usize,
    /// Its data depends on the result of the step before.
    depends: bool,
}

impl Step {
    fn random(random: &mut Random, sizes: &[u64]) -> Step {
        let size = random.pick(sizes);
        let offset = random.below(sizes[sizes.len() - 1] / size) * size;
        // Small values in every byte, so that parts of different sizes meet.
        let value =
            |random: &mut Random| (0..size).fold(0, |value, _| value << 8 | u128::from(random.below(3)));
        let (a, b) = (value(random), value(random));
        let what = match random.below(12) {
            0..=3 => What::Load,
            4..=7 => What::Store(a),
            8 => What::Update([RmwOp::Exchange, RmwOp::Add][random.below(2) as usize], a),
            9 => What::Swap { expected: if random.below(2) == 0 { 0 } else { a }, new: b },
            10 => What::Fence(FenceMode::SeqCst),
            _ => What::Fence(FenceMode::Release),
        };
        Step { what, offset, size: size as u8, mode: random.below(3) as usize, depends: random.below(3) == 0 }
    }

    fn push(self, f: &mut FunctionBuilder, dst: Reg, before: Option<Reg>) {
        let Step { what, offset, size, mode, depends } = self;
        let address = Operand::Const(WORD + offset);
        let (read, write, kind) = (READS[mode], WRITES[mode], RmwKind::Amo);
        let held = |bytes| Operand::Const(wide::held(bytes, size));
        let instr = match what {
            What::Load => Instr::Load { dst, address, size, mode: read },
            What::Store(value) => match before.filter(|_| depends && size <= 8) {
                None => Instr::Store { address, value: held(value), size, mode: write },
                Some(before) => {
                    let none = f.register("");
                    let (a, b) = (before.into(), before.into());
                    f.push(Instr::Bin { dst: none, op: BinOp::Xor, width: Width::W64, a, b });
                    let sum = f.register("");
                    let (a, b) = (none.into(), held(value));
                    f.push(Instr::Bin { dst: sum, op: BinOp::Or, width: Width::W64, a, b });
                    Instr::Store { address, value: sum.into(), size, mode: write }
                }
            },
            What::Update(op, operand) => {
                Instr::Rmw { dst, op, address, operand: held(operand), size, read, write, kind }
            }
            What::Swap { expected, new } => {
                let (expected, new, failure) = (held(expected), held(new), ReadMode::Relaxed);
                Instr::Cas { dst, address, expected, new, size, read, write, failure, weak: false, kind }
            }
            What::Fence(mode) => Instr::Fence { mode },
        };
        f.push(instr);
    }
}

fn threads(random: &mut Random, sizes: &[u64], most: u64) -> Vec<Vec<Step>> {
    let count = 2 + u64::from(random.below(4) == 0);
    let thread = |random: &mut Random| {
        let steps = 1 + random.below(if count == 2 { most } else { 2 });
        (0..steps).map(|_| Step::random(random, sizes)).collect()
    };
    (0..count).map(|_| thread(random)).collect()
}

fn program(threads: &[Vec<Step>], size: u64) -> Program {
    let global = Global { name: "word".into(), address: WORD, size, init: Vec::new() };
    let mut program = Program { globals: vec![global], ..Program::default() };
    for (at, steps) in threads.iter().enumerate() {
        let name = format!("T{at}");
        let mut f = FunctionBuilder::new(&name);
        let results: Vec<Reg> = (0..steps.len()).map(|number| f.register(&format!("r{number}"))).collect();
        for (number, step) in steps.iter().enumerate() {
            step.push(&mut f, results[number], number.checked_sub(1).map(|before| results[before]));
        }
        program.functions.push(f.finish());
        program.threads.push(ThreadEntry { name, function: FunctionId(at as u32), registers: Vec::new() });
    }
    program
}

/// Whether some access is made of several cells.
fn is_mixed(threads: &[Vec<Step>]) -> bool {
    let ranges: Vec<(u64, u64)> = threads
        .iter()
        .flatten()
        .filter(|step| !matches!(step.what, What::Fence(_)))
        .map(|step| (step.offset, step.offset + u64::from(step.size)))
        .collect();
    ranges.iter().any(|a| ranges.iter().any(|b| a != b && a.0 < b.1 && b.0 < a.1))
}

/// The results of the threads' steps, and what memory holds.
type End = (Vec<Vec<u64>>, Vec<u8>);

/// How often each end comes; `None` if the search refuses the program.
fn explored(
    program: &Program,
    threads: &[Vec<Step>],
    (model, size): (Model, u64),
    schedule: Schedule,
) -> Option<BTreeMap<End, u64>> {
    let (mut ends, mut keys) = (BTreeMap::new(), HashSet::new());
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                assert!(keys.insert(execution.key()), "twice\n{}", porf_ir::print(program));
                let of = |(at, steps): (usize, &Vec<Step>)| {
                    let end = execution.state(porf_event::ThreadId(at as u16));
                    (0..steps.len()).map(|reg| end.register(Reg(reg as u32))).collect()
                };
                let memory = (0..size).map(|byte| execution.memory(WORD + byte, 1) as u8).collect();
                *ends.entry((threads.iter().enumerate().map(of).collect(), memory)).or_default() += 1;
            }
            Visit::Anew(_) => {
                ends.clear();
                keys.clear();
            }
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let options = Options { reductions: Reductions::NONE, schedule, ..Options::default() };
    match explore(program, model, Equivalence::Mo, &options, &mut visitor) {
        Ok(_) => Some(ends),
        Err(Error::Unsupported(what)) => {
            assert!(what.contains("load buffering"), "{what}\n{}", porf_ir::print(program));
            None
        }
        Err(error) => panic!("{error}\n{}", porf_ir::print(program)),
    }
}

mod machine {
    use super::*;

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Waiting {
        Store { offset: u64, bytes: Vec<u8> },
        Barrier,
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    struct State {
        memory: Vec<u8>,
        told: Vec<Vec<u64>>,
        buffers: Vec<Vec<Waiting>>,
    }

    impl State {
        fn load(&self, thread: usize, step: &Step) -> u128 {
            let byte = |at: u64| {
                let waiting = self.buffers[thread].iter().rev().find_map(|waiting| match waiting {
                    Waiting::Store { offset, bytes } => bytes.get(at.checked_sub(*offset)? as usize),
                    Waiting::Barrier => None,
                });
                u128::from(*waiting.unwrap_or(&self.memory[at as usize]))
            };
            (0..u64::from(step.size)).fold(0, |value, at| value | byte(step.offset + at) << (8 * at))
        }

        fn store(&mut self, offset: u64, bytes: &[u8]) {
            self.memory[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Which waiting items of a buffer may leave it.
    fn may_leave(buffer: &[Waiting], model: Model) -> Vec<usize> {
        let free = |at: &usize| match &buffer[*at] {
            _ if *at == 0 => true,
            _ if model == Model::Tso => false,
            Waiting::Barrier => false,
            Waiting::Store { offset, bytes } => buffer[..*at].iter().all(|earlier| match earlier {
                Waiting::Barrier => false,
                Waiting::Store { offset: other, bytes: others } => {
                    offset + bytes.len() as u64 <= *other || other + others.len() as u64 <= *offset
                }
            }),
        };
        (0..buffer.len()).filter(free).collect()
    }

    pub fn ends(threads: &[Vec<Step>], model: Model, size: u64) -> BTreeSet<End> {
        let start = State {
            memory: vec![0; size as usize],
            told: vec![Vec::new(); threads.len()],
            buffers: vec![Vec::new(); threads.len()],
        };
        let (mut ends, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![start]);
        while let Some(state) = work.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let mut over = true;
            for (thread, steps) in threads.iter().enumerate() {
                for at in may_leave(&state.buffers[thread], model) {
                    over = false;
                    let mut next = state.clone();
                    if let Waiting::Store { offset, bytes } = next.buffers[thread].remove(at) {
                        next.store(offset, &bytes);
                    }
                    work.push(next);
                }
                if let Some(step) = steps.get(state.told[thread].len()) {
                    over = false;
                    work.extend(made(&state, thread, step, model));
                }
            }
            if over {
                ends.insert((state.told, state.memory));
            }
        }
        ends
    }

    /// The states after a step of a thread, if it can be made now.
    fn made(state: &State, thread: usize, step: &Step, model: Model) -> Vec<State> {
        let size = step.size;
        let mut next = state.clone();
        let is_empty = state.buffers[thread].is_empty();
        let bytes = |value: u128| value.to_le_bytes()[..size.into()].to_vec();
        let read = state.load(thread, step);
        let mut result = wide::held(read, size);
        match step.what {
            What::Load => {}
            What::Fence(FenceMode::SeqCst) if !is_empty => return Vec::new(),
            What::Fence(FenceMode::SeqCst) => result = 0,
            What::Fence(_) => {
                if model == Model::Pso && !is_empty {
                    next.buffers[thread].push(Waiting::Barrier);
                }
                result = 0;
            }
            What::Store(value) if model == Model::Sc => {
                next.store(step.offset, &bytes(value));
                result = 0;
            }
            What::Store(value) => {
                next.buffers[thread].push(Waiting::Store { offset: step.offset, bytes: bytes(value) });
                result = 0;
            }
            // One that fails is a load.
            What::Swap { expected, .. } if expected != read => {}
            _ if !is_empty => return Vec::new(),
            What::Swap { new, .. } => next.store(step.offset, &bytes(new)),
            What::Update(op, operand) => {
                let new = op.apply(Width::of_bytes(size), result, wide::held(operand, size));
                next.store(step.offset, &wide::bytes(new, size)[..size.into()]);
            }
        }
        next.told[thread].push(result);
        vec![next]
    }
}

#[test]
fn results_are_those_of_machines_with_buffers() {
    let (mut mixed, mut weak) = (0, 0);
    for seed in 0..budget(150) {
        let mut random = Random::new(seed);
        let sizes = [&[1, 2, 4][..], &[2, 4], &[1, 4], &[4, 8], &[8, 16]][random.below(5) as usize];
        let size = sizes[sizes.len() - 1];
        let threads = threads(&mut random, sizes, 3);
        let program = program(&threads, size);
        mixed += u64::from(is_mixed(&threads));
        let sc = machine::ends(&threads, Model::Sc, size);
        for model in [Model::Tso, Model::Pso] {
            let expected = machine::ends(&threads, model, size);
            weak += u64::from(expected.len() > sc.len() && is_mixed(&threads));
            let found =
                explored(&program, &threads, (model, size), Schedule::LeftToRight).expect("not refused");
            let found: BTreeSet<End> = found.into_keys().collect();
            assert_eq!(found, expected, "seed {seed}, {model}\n{}", porf_ir::print(&program));
        }
    }
    println!("{mixed} programs with different sizes, {weak} times weaker than sc");
    assert!(2 * mixed > budget(150) && 20 * weak > budget(150), "{mixed}, {weak}");
}

/// Whether what events need of each other runs in circles: no search finds such executions.
fn has_cycle(execution: &CandidateExecution<'_, '_>) -> bool {
    let candidate = execution.candidate;
    let mut order = Relation::empty(candidate.len());
    let one =
        |number: usize| candidate.events.iter().position(|event| event.id == candidate.events[number].id);
    let one = |number: usize| one(number).expect("it is there itself");
    for (number, event) in candidate.events.iter().enumerate() {
        if event.label.is_read() {
            order.insert(one(execution.rf[number]), one(number));
        }
        for index in event.dependencies.iter().flat_map(|dependencies| dependencies.all()) {
            if let Some(source) = candidate.number(porf_event::EventId::new(event.id.thread, index)) {
                order.insert(one(source), one(number));
            }
        }
    }
    for &(read, write) in &candidate.rmw {
        order.insert(one(read), one(write));
    }
    !order.is_acyclic()
}

fn enumerated(program: &Program, threads: &[Vec<Step>], model: Model, size: u64) -> BTreeMap<End, u64> {
    let (cat, mut ends) = (CatModel::shipped(model), BTreeMap::new());
    let mut judge = CatJudge::new(&cat);
    porf_oracle::enumerate(program, &mut judge, 2, |execution, _| {
        if !has_cycle(execution) {
            let of = |(at, steps): (usize, &Vec<Step>)| {
                (0..steps.len()).map(|reg| execution.register(at, Reg(reg as u32))).collect()
            };
            let byte = |byte| Access { location: Location(WORD + byte), size: 1 };
            let memory = (0..size).map(|at| execution.memory(program, byte(at)) as u8).collect();
            *ends.entry((threads.iter().enumerate().map(of).collect(), memory)).or_default() += 1;
        }
        true
    })
    .unwrap();
    ends
}

fn held_to_brute_force(model: Model, programs: u64) {
    let (mut mixed, mut refused) = (0, 0);
    for seed in 0..budget(programs) {
        let mut random = Random::new(seed);
        let sizes = [&[1, 2, 4][..], &[2, 4], &[1, 4], &[4, 8]][random.below(4) as usize];
        let size = sizes[sizes.len() - 1];
        let threads = threads(&mut random, sizes, 3);
        if !is_mixed(&threads) {
            continue;
        }
        mixed += 1;
        let program = program(&threads, size);
        let program = match model {
            Model::Armv8 => program.compiled_to(Machine::Armv8).unwrap(),
            Model::Riscv => program.compiled_to(Machine::Riscv).unwrap(),
            _ => program,
        };
        let schedule =
            [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Hash(seed)][random.below(3) as usize];
        let Some(found) = explored(&program, &threads, (model, size), schedule) else {
            refused += 1;
            continue;
        };
        let expected = enumerated(&program, &threads, model, size);
        assert_eq!(found, expected, "seed {seed}, {model}, {schedule:?}\n{}", porf_ir::print(&program));
    }
    println!("{model}: {mixed} programs, {refused} refused");
    assert!(2 * refused < mixed && 3 * mixed > budget(programs), "{mixed}, {refused}");
}

#[test]
fn executions_under_tso_are_those_of_brute_force() {
    held_to_brute_force(Model::Tso, 100);
}

#[test]
fn executions_under_pso_are_those_of_brute_force() {
    held_to_brute_force(Model::Pso, 60);
}

#[test]
fn executions_under_armv8_are_those_of_brute_force() {
    held_to_brute_force(Model::Armv8, 100);
}

#[test]
fn executions_under_riscv_are_those_of_brute_force() {
    held_to_brute_force(Model::Riscv, 100);
}
