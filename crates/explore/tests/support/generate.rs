//! Random programs: loads, stores, read-modify-writes, fences, branches on values, assumptions.

use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, FunctionBuilder, FunctionId, Instr, Program, Reg, RmwOp, ThreadEntry, Width};

/// xorshift: the same programs everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Which orderings a program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    Relaxed,
    /// All but seq_cst.
    Weak,
    All,
    /// Loads and stores, relaxed or seq_cst, and seq_cst fences; some release and acquire.
    Sc,
}

/// 2 to 4 threads, at most `size` operations in all.
pub fn program(seed: u64, size: u64, modes: Modes) -> Program {
    build(seed, size, modes, false)
}

/// The same with threads that wait instead of assumptions, and more of those; some accesses are plain.
pub fn waiting_program(seed: u64, size: u64, modes: Modes) -> Program {
    let mut program = build(seed, size, modes, true);
    let mut random = Random::new(seed ^ 0x5bd1_e995);
    if random.below(2) == 0 {
        let code = program.functions.iter_mut().flat_map(|function| function.code.iter_mut());
        for instr in code {
            match instr {
                Instr::Store { mode, .. } if random.below(6) == 0 => *mode = WriteMode::Plain,
                Instr::Load { mode, .. } if random.below(8) == 0 => *mode = ReadMode::Plain,
                _ => {}
            }
        }
    }
    program
}

/// 2 to 4 threads of one or two kinds, at most 3 operations each.
pub fn symmetric_program(seed: u64, size: u64, modes: Modes, waits: bool) -> Program {
    let mut program = match waits {
        true => waiting_program(seed, size, modes),
        false => program(seed, size, modes),
    };
    let mut random = Random::new(seed ^ 0x85eb_ca6b);
    let kinds = 1 + random.below(2).min(program.functions.len() as u64 - 1);
    let threads = random.pick(&[2, 3, 3, 4]);
    program.threads = (0..threads)
        .map(|thread| ThreadEntry {
            name: format!("P{thread}"),
            function: FunctionId(random.below(kinds) as u32),
            registers: Vec::new(),
        })
        .collect();
    program
}

/// Where the arrivals at the barrier of a [`barrier_program`] are counted, and of how many it waits for.
pub struct Barrier {
    pub counter: u64,
    pub count: u64,
}

/// 2 to 4 threads that wait at a barrier once or twice, with an operation or two in between. The barrier may wait for
/// fewer or more threads than there are, some threads may not come to it, and some do the same.
pub fn barrier_program(seed: u64, modes: Modes) -> (Program, Barrier) {
    let mut random = Random::new(seed);
    let mut program = Program { name: format!("random {seed}"), ..Program::default() };
    let counter = program.add_global("b", 4, Vec::new());
    let locations = random.pick(&[1, 2, 2]);
    let locations: Vec<u64> =
        (0..locations).map(|at| program.add_global(["x", "y"][at], 4, Vec::new())).collect();
    let threads = random.pick(&[2, 2, 3, 3, 4]);
    let count = random.pick(&[threads, threads, threads, threads, threads, threads - 1, threads + 1]).max(1);
    program.functions.push(barrier_wait(counter, count));
    let kinds = random.pick(&[1, threads, threads]);
    let waits = random.pick(&[1, 1, 2]);
    let mut entries = Vec::new();
    for kind in 0..kinds {
        let mut f = FunctionBuilder::new(&format!("thread {kind}"));
        let value = f.register("value");
        for wait in 0..=waits {
            if wait > 0 {
                let (then, after) = (f.label(), f.label());
                let sometimes = random.below(8) == 0;
                if sometimes {
                    let (address, mode) = (random.pick(&locations).into(), read_mode(&mut random, modes));
                    f.push(Instr::Load { dst: value, address, size: 4, mode });
                    f.branch(value, then, after);
                }
                f.bind(then);
                f.push(Instr::Call { function: FunctionId(0), args: [].into(), dst: None });
                f.bind(after);
            }
            let operations = random.pick(&[0, 1, 1, if threads > 2 { 1 } else { 2 }]);
            let piece = thread_code(&mut random, kind * 8 + wait, operations, &locations, modes, false);
            program.functions.push(piece);
            let function = FunctionId(program.functions.len() as u32 - 1);
            f.push(Instr::Call { function, args: [].into(), dst: None });
        }
        program.functions.push(f.finish());
        entries.push(FunctionId(program.functions.len() as u32 - 1));
    }
    for thread in 0..threads {
        let function = entries[(thread % kinds) as usize];
        program.threads.push(ThreadEntry { name: format!("P{thread}"), function, registers: Vec::new() });
    }
    (program, Barrier { counter, count })
}

fn barrier_wait(counter: u64, count: u64) -> porf_ir::Function {
    let mut f = FunctionBuilder::new("wait");
    let [before, seen, same] = ["before", "seen", "same"].map(|name| f.register(name));
    f.push(Instr::Rmw {
        dst: before,
        op: RmwOp::Add,
        address: counter.into(),
        operand: 1.into(),
        size: 4,
        read: ReadMode::Acquire,
        write: WriteMode::Release,
        kind: RmwKind::Barrier,
    });
    let round = |register: Reg| {
        let (op, width) = (BinOp::UDiv, Width::W32);
        Instr::Bin { dst: register, op, width, a: register.into(), b: count.into() }
    };
    f.push(round(before));
    // while seen / count == before / count { }
    let (effects, memory) = (f.register("effects"), f.register(""));
    let (head, goes_on) = (f.label(), f.label());
    f.push(Instr::Move { dst: effects, src: u64::MAX.into() });
    f.bind(head);
    f.push(Instr::LoopHead { effects, memory, variables: Box::default() });
    f.push(Instr::Load { dst: seen, address: counter.into(), size: 4, mode: ReadMode::Acquire });
    f.push(round(seen));
    let (op, width) = (CmpOp::Eq, Width::W32);
    f.push(Instr::Cmp { dst: same, op, width, a: before.into(), b: seen.into() });
    f.branch(same, head, goes_on);
    f.bind(goes_on);
    f.finish()
}

fn build(seed: u64, size: u64, modes: Modes, waits: bool) -> Program {
    let mut random = Random::new(seed);
    let mut program = Program { name: format!("random {seed}"), ..Program::default() };
    let locations = random.pick(&[1, 2, 2, 3]);
    let locations: Vec<u64> =
        (0..locations).map(|at| program.add_global(["x", "y", "z"][at], 4, Vec::new())).collect();
    let threads = if modes == Modes::Sc { random.pick(&[3, 3, 4]) } else { random.pick(&[2, 2, 3, 3, 4]) };
    let mut left = size;
    for thread in 0..threads {
        let most = left.saturating_sub(threads - 1 - thread).clamp(1, 3);
        let count = 1 + random.below(most);
        left = left.saturating_sub(count);
        let function = thread_code(&mut random, thread, count, &locations, modes, waits);
        program.functions.push(function);
        program.threads.push(ThreadEntry {
            name: format!("P{thread}"),
            function: FunctionId(thread as u32),
            registers: Vec::new(),
        });
    }
    program
}

fn thread_code(
    random: &mut Random,
    thread: u64,
    count: u64,
    locations: &[u64],
    modes: Modes,
    waits: bool,
) -> porf_ir::Function {
    let mut f = FunctionBuilder::new(&format!("P{thread}"));
    let last = f.register("last");
    let temporary = f.register("t");
    for _ in 0..count {
        let address = random.pick(locations);
        let store = |random: &mut Random, value: porf_ir::Operand| Instr::Store {
            address: address.into(),
            value,
            size: 4,
            mode: write_mode(random, modes),
        };
        let kind = match modes {
            Modes::Sc => random.pick(&[0, 0, 6, 6, 19]),
            _ => random.below(20),
        };
        if waits && random.below(4) == 0 {
            // while x == 0 { }
            let (effects, head, after) = (f.register("effects"), f.label(), f.label());
            f.push(Instr::Move { dst: effects, src: u64::MAX.into() });
            f.bind(head);
            let memory = f.register("");
            f.push(Instr::LoopHead { effects, memory, variables: Box::default() });
            let mode = read_mode(random, modes);
            f.push(Instr::Load { dst: last, address: address.into(), size: 4, mode });
            f.branch(last, after, head);
            f.bind(after);
        }
        match kind {
            0..6 => f.push(Instr::Load {
                dst: last,
                address: address.into(),
                size: 4,
                mode: read_mode(random, modes),
            }),
            6..11 => {
                let value = 1 + random.below(2);
                let instr = store(random, value.into());
                f.push(instr);
            }
            11 | 12 => f.push(Instr::Rmw {
                dst: last,
                op: RmwOp::Add,
                address: address.into(),
                operand: 1.into(),
                size: 4,
                read: read_mode(random, modes),
                write: write_mode(random, modes),
                kind: RmwKind::Amo,
            }),
            13 | 14 => f.push(Instr::Cas {
                dst: last,
                address: address.into(),
                expected: random.below(2).into(),
                new: (1 + random.below(3)).into(),
                size: 4,
                read: read_mode(random, modes),
                write: write_mode(random, modes),
                failure: read_mode(random, modes),
                weak: random.below(8) == 0,
                kind: RmwKind::Amo,
            }),
            15 => {
                // A store of the last value read and 1: a data dependency.
                let sum = |dst: Reg| Instr::Bin {
                    dst,
                    op: BinOp::Add,
                    width: Width::W32,
                    a: last.into(),
                    b: 1.into(),
                };
                f.push(sum(temporary));
                let instr = store(random, temporary.into());
                f.push(instr);
            }
            16 => {
                // A store that depends on the last value read by control.
                let (then, after) = (f.label(), f.label());
                f.push(Instr::Bin {
                    dst: temporary,
                    op: BinOp::And,
                    width: Width::W32,
                    a: last.into(),
                    b: 1.into(),
                });
                f.branch(temporary, then, after);
                f.bind(then);
                let instr = store(random, 1.into());
                f.push(instr);
                f.bind(after);
            }
            17 => f.push(Instr::Assume { cond: last.into() }),
            _ => {
                let mode = if matches!(modes, Modes::Relaxed | Modes::Sc) {
                    FenceMode::SeqCst
                } else if modes == Modes::Weak {
                    random.pick(&[FenceMode::Acquire, FenceMode::Release, FenceMode::AcqRel])
                } else {
                    random.pick(&[
                        FenceMode::Acquire,
                        FenceMode::Release,
                        FenceMode::AcqRel,
                        FenceMode::SeqCst,
                        FenceMode::SeqCst,
                        FenceMode::SeqCst,
                    ])
                };
                f.push(Instr::Fence { mode });
            }
        }
    }
    f.finish()
}

fn read_mode(random: &mut Random, modes: Modes) -> ReadMode {
    match modes {
        Modes::Relaxed => ReadMode::Relaxed,
        Modes::Weak => random.pick(&[ReadMode::Relaxed, ReadMode::Relaxed, ReadMode::Acquire]),
        Modes::Sc => {
            random.pick(&[ReadMode::Relaxed, ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst])
        }
        Modes::All => {
            random.pick(&[ReadMode::Relaxed, ReadMode::Acquire, ReadMode::SeqCst, ReadMode::SeqCst])
        }
    }
}

fn write_mode(random: &mut Random, modes: Modes) -> WriteMode {
    match modes {
        Modes::Relaxed => WriteMode::Relaxed,
        Modes::Weak => random.pick(&[WriteMode::Relaxed, WriteMode::Relaxed, WriteMode::Release]),
        Modes::Sc => {
            random.pick(&[WriteMode::Relaxed, WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst])
        }
        Modes::All => {
            random.pick(&[WriteMode::Relaxed, WriteMode::Release, WriteMode::SeqCst, WriteMode::SeqCst])
        }
    }
}
