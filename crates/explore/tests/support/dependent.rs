//! Random programs with dependencies, in the idiom of an architecture.

use super::generate::Random;
use porf_event::{ArmDomain, ArmKind, Dialect, FenceMode, ReadMode, RmwKind, RwSet, WriteMode};
use porf_ir::{BinOp, FunctionBuilder, FunctionId, Instr, Operand, Program, Reg, RmwOp, ThreadEntry, Width};

/// Programs for one model.
pub struct Idiom {
    pub model: &'static str,
    pub dialect: Dialect,
    pub(super) reads: &'static [ReadMode],
    pub(super) writes: &'static [WriteMode],
    pub(super) fences: &'static [FenceMode],
    /// One instruction that reads and writes.
    amo: bool,
    /// Load-linked and store-conditional.
    exclusives: bool,
    /// Control dependencies may end.
    joins: bool,
}

const DMB: ArmDomain = ArmDomain::Full;

pub const IDIOMS: &[Idiom] = &[
    Idiom {
        model: "imm",
        dialect: Dialect::C,
        reads: &[
            ReadMode::Relaxed,
            ReadMode::Relaxed,
            ReadMode::Relaxed,
            ReadMode::Acquire,
            ReadMode::SeqCst,
        ],
        writes: &[
            WriteMode::Relaxed,
            WriteMode::Relaxed,
            WriteMode::Relaxed,
            WriteMode::Release,
            WriteMode::SeqCst,
        ],
        fences: &[FenceMode::Acquire, FenceMode::Release, FenceMode::AcqRel, FenceMode::SeqCst],
        amo: true,
        exclusives: false,
        joins: true,
    },
    Idiom {
        model: "armv8",
        dialect: Dialect::AArch64,
        reads: &[ReadMode::Plain, ReadMode::Plain, ReadMode::Plain, ReadMode::Acquire, ReadMode::AcquirePc],
        writes: &[WriteMode::Plain, WriteMode::Plain, WriteMode::Plain, WriteMode::Release],
        fences: &[
            FenceMode::Dmb(DMB, ArmKind::All),
            FenceMode::Dmb(DMB, ArmKind::Loads),
            FenceMode::Dmb(DMB, ArmKind::Stores),
            FenceMode::Isb,
            FenceMode::Isb,
            FenceMode::Dsb(ArmDomain::InnerShareable, ArmKind::All),
            FenceMode::Dsb(DMB, ArmKind::Loads),
            FenceMode::Dsb(DMB, ArmKind::Stores),
        ],
        amo: true,
        exclusives: true,
        joins: false,
    },
    Idiom {
        model: "armv7",
        dialect: Dialect::Arm,
        reads: &[ReadMode::Plain],
        writes: &[WriteMode::Plain],
        fences: &[
            FenceMode::Dmb(DMB, ArmKind::All),
            FenceMode::Dmb(DMB, ArmKind::Stores),
            FenceMode::Dsb(DMB, ArmKind::All),
            FenceMode::Isb,
        ],
        amo: false,
        exclusives: true,
        joins: false,
    },
    Idiom {
        model: "power",
        dialect: Dialect::Ppc,
        reads: &[ReadMode::Plain],
        writes: &[WriteMode::Plain],
        fences: &[FenceMode::Sync, FenceMode::Lwsync, FenceMode::Isync, FenceMode::Eieio],
        amo: false,
        exclusives: true,
        joins: false,
    },
    Idiom {
        model: "riscv",
        dialect: Dialect::RiscV,
        reads: &[ReadMode::Plain, ReadMode::Plain, ReadMode::Plain, ReadMode::Acquire],
        writes: &[WriteMode::Plain, WriteMode::Plain, WriteMode::Plain, WriteMode::Release],
        fences: &[
            FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw },
            FenceMode::Riscv { before: RwSet::R, after: RwSet::Rw },
            FenceMode::Riscv { before: RwSet::W, after: RwSet::W },
            FenceMode::Riscv { before: RwSet::R, after: RwSet::R },
            FenceMode::Riscv { before: RwSet::R, after: RwSet::W },
            FenceMode::Riscv { before: RwSet::W, after: RwSet::R },
            FenceMode::Riscv { before: RwSet::W, after: RwSet::Rw },
            FenceMode::Riscv { before: RwSet::Rw, after: RwSet::R },
            FenceMode::Riscv { before: RwSet::Rw, after: RwSet::W },
            FenceMode::RiscvTso,
            FenceMode::RiscvI,
        ],
        amo: true,
        exclusives: true,
        joins: false,
    },
    Idiom {
        model: "lkmm",
        dialect: Dialect::C,
        reads: &[ReadMode::Relaxed, ReadMode::Relaxed, ReadMode::Relaxed, ReadMode::Acquire, ReadMode::Plain],
        writes: &[
            WriteMode::Relaxed,
            WriteMode::Relaxed,
            WriteMode::Relaxed,
            WriteMode::Release,
            WriteMode::Plain,
        ],
        fences: &[
            FenceMode::Mb,
            FenceMode::Rmb,
            FenceMode::Wmb,
            FenceMode::SyncRcu,
            FenceMode::RcuLock,
            FenceMode::RcuUnlock,
        ],
        amo: true,
        exclusives: false,
        joins: true,
    },
];

/// 2 or 3 threads, 3 or 4 of large programs, at most `size` operations in all. In every fourth program
/// threads begin with a read and end with a write, so that load buffering is likely.
pub fn program(seed: u64, size: u64, idiom: &Idiom) -> Program {
    let mut random = Random::new(seed);
    let mut program =
        Program { name: format!("random {seed}"), dialect: idiom.dialect, ..Program::default() };
    let locations = random.pick(&[1, 2, 2, 2, 3]);
    let locations: Vec<u64> =
        (0..locations).map(|at| program.add_global(["x", "y", "z"][at], 4, Vec::new())).collect();
    let threads = if size > 7 { random.pick(&[3, 3, 4]) } else { random.pick(&[2, 2, 2, 3]) };
    let mut left = size;
    for thread in 0..threads {
        let most = left.saturating_sub(threads - 1 - thread).clamp(1, 4);
        let count = 1 + random.below(most);
        left = left.saturating_sub(count);
        let function = thread_code(&mut random, thread, count, &locations, idiom, seed.is_multiple_of(4));
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
    idiom: &Idiom,
    buffers: bool,
) -> porf_ir::Function {
    let mut f = FunctionBuilder::new(&format!("P{thread}"));
    let registers = [f.register("a"), f.register("b")];
    let temporary = f.register("t");
    let mut slots = 0;
    // Most dependencies are on the last value read.
    let mut last = registers[0];
    if buffers {
        let address = random.pick(locations).into();
        f.push(Instr::Load { dst: last, address, size: 4, mode: idiom.reads[0] });
    }
    for _ in 0..if buffers { count.saturating_sub(2) } else { count } {
        let address = random.pick(locations);
        let from = if random.below(4) == 0 { random.pick(&registers) } else { last };
        let dst = random.pick(&registers);
        let (read, write) = (random.pick(idiom.reads), random.pick(idiom.writes));
        match random.below(21) {
            0..5 => {
                f.push(Instr::Load { dst, address: address.into(), size: 4, mode: read });
                last = dst;
            }
            5..8 => {
                let value = (1 + random.below(2)).into();
                f.push(Instr::Store { address: address.into(), value, size: 4, mode: write });
            }
            8 | 9 => {
                f.push(add(temporary, from, random.below(2)));
                f.push(Instr::Store {
                    address: address.into(),
                    value: temporary.into(),
                    size: 4,
                    mode: write,
                });
            }
            10 => {
                // A data dependency on nothing.
                f.push(nothing(temporary, from));
                f.push(add(temporary, temporary, 1 + random.below(2)));
                f.push(Instr::Store {
                    address: address.into(),
                    value: temporary.into(),
                    size: 4,
                    mode: write,
                });
            }
            11 => {
                f.push(nothing(temporary, from));
                f.push(add(temporary, temporary, address));
                f.push(Instr::Load { dst, address: temporary.into(), size: 4, mode: read });
                last = dst;
            }
            12 => {
                f.push(nothing(temporary, from));
                f.push(add(temporary, temporary, address));
                let value = (1 + random.below(2)).into();
                f.push(Instr::Store { address: temporary.into(), value, size: 4, mode: write });
            }
            13 | 14 => {
                let joins = idiom.joins && random.below(2) == 0;
                if joins {
                    f.push(Instr::CtrlMark { slot: slots });
                }
                let (then, after) = (f.label(), f.label());
                f.push(Instr::Bin {
                    dst: temporary,
                    op: BinOp::And,
                    width: Width::W32,
                    a: from.into(),
                    b: 1.into(),
                });
                f.branch(temporary, then, after);
                f.bind(then);
                f.push(Instr::Store { address: address.into(), value: 1.into(), size: 4, mode: write });
                f.bind(after);
                if joins {
                    f.push(Instr::CtrlRestore { slot: slots });
                    slots += 1;
                }
            }
            15 => {
                // A control dependency on nothing.
                let after = f.label();
                f.branch(from, after, after);
                f.bind(after);
            }
            16 if idiom.amo || idiom.exclusives => {
                update(&mut f, random, idiom, address, dst, from, temporary, read, write);
                last = dst;
            }
            // A value that a condition picks.
            18 if idiom.dialect == Dialect::AArch64 => {
                f.push(Instr::Select { dst, cond: from.into(), a: 1.into(), b: (random.below(2)).into() });
                last = dst;
            }
            17 if random.below(3) == 0 => f.push(Instr::Assume { cond: from.into() }),
            _ => f.push(Instr::Fence { mode: random.pick(idiom.fences) }),
        }
    }
    if buffers {
        let (address, value) = (random.pick(locations).into(), (1 + random.below(2)).into());
        f.push(Instr::Store { address, value, size: 4, mode: idiom.writes[0] });
    }
    f.finish()
}

#[allow(clippy::too_many_arguments)]
pub(super) fn update(
    f: &mut FunctionBuilder,
    random: &mut Random,
    idiom: &Idiom,
    address: u64,
    dst: Reg,
    from: Reg,
    temporary: Reg,
    read: ReadMode,
    write: WriteMode,
) {
    // In C, nothing that is not atomic reads and writes at once.
    let c = idiom.dialect == Dialect::C;
    let read = if c && read == ReadMode::Plain { ReadMode::Relaxed } else { read };
    let write = if c && write == WriteMode::Plain { WriteMode::Relaxed } else { write };
    let annotated = idiom.dialect == Dialect::RiscV && random.below(2) == 0;
    let (read, write) = if annotated {
        random.pick(&[
            (ReadMode::Acquire, WriteMode::RiscvAcquire),
            (ReadMode::RiscvRelease, WriteMode::Release),
            (ReadMode::SeqCst, WriteMode::SeqCst),
            (ReadMode::SeqCst, WriteMode::Release),
        ])
    } else {
        (read, write)
    };
    let operand: Operand = if random.below(3) == 0 { from.into() } else { (1 + random.below(2)).into() };
    let address: Operand = address.into();
    if idiom.exclusives && (!idiom.amo || random.below(2) == 0) {
        f.push(Instr::LoadExclusive { dst, address, size: 4, mode: read });
        let value = if random.below(2) == 0 {
            operand
        } else {
            f.push(add(temporary, dst, 1));
            temporary.into()
        };
        if idiom.amo && random.below(6) == 0 {
            f.push(Instr::Store { address, value: 3.into(), size: 4, mode: write });
        }
        let (success, failure) = (0, 1);
        f.push(Instr::StoreExclusive {
            status: temporary,
            success,
            failure,
            address,
            value,
            size: 4,
            mode: write,
        });
        return;
    }
    let kind = if random.below(5) == 0 && idiom.dialect != Dialect::RiscV {
        RmwKind::AmoNoReturn
    } else {
        RmwKind::Amo
    };
    match random.below(3) {
        0 if idiom.dialect != Dialect::RiscV => {
            let expected = if random.below(3) == 0 { from.into() } else { random.below(2).into() };
            let (weak, failure) = (false, random.pick(&[read, ReadMode::Relaxed]));
            let failure = if c { failure } else { read };
            let kind = RmwKind::Amo;
            f.push(Instr::Cas {
                dst,
                address,
                expected,
                new: operand,
                size: 4,
                read,
                write,
                failure,
                weak,
                kind,
            });
        }
        1 => f.push(Instr::Rmw {
            dst,
            op: RmwOp::Exchange,
            address,
            operand,
            size: 4,
            read,
            write,
            kind: RmwKind::Amo,
        }),
        _ => f.push(Instr::Rmw { dst, op: RmwOp::Add, address, operand, size: 4, read, write, kind }),
    }
}

pub(super) fn add(dst: Reg, a: Reg, b: u64) -> Instr {
    Instr::Bin { dst, op: BinOp::Add, width: Width::W64, a: a.into(), b: b.into() }
}

/// 0, computed from a register.
pub(super) fn nothing(dst: Reg, from: Reg) -> Instr {
    Instr::Bin { dst, op: BinOp::Xor, width: Width::W64, a: from.into(), b: from.into() }
}
