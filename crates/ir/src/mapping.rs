//! Compilation of C11 atomics to machines, as a pass from programs to programs.
//!
//! Every atomic access becomes the access, with the barriers around it, that compilers emit for it; what
//! is not atomic becomes an ordinary access. Registers stay what they are, so that address, data and
//! control dependencies of the source are those of the machine code: a compiler that optimises may drop
//! some of them.
//!
//! Sources: the tables of mappings by Sewell et al. that go with Batty, Memarian, Owens, Sarkar, Sewell,
//! "Clarifying and compiling C/C++ concurrency: from C++11 to POWER", POPL 2012 (x86, Power with leading
//! sync, ARMv7, AArch64); The RISC-V Instruction Set Manual, volume I, appendix A, "Code porting and
//! mapping guidelines"; for PSO the SPARC Architecture Manual, version 8, appendix K.
//!
//! | | x86 | PSO | ARMv8 | ARMv7 | Power | RISC-V |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | load acquire | mov | ld | ldar | ldr; dmb | ld; cmp; bc; isync | l; fence r,rw |
//! | load seq_cst | mov | ld | ldar | ldr; dmb | sync; ld; cmp; bc; isync | fence rw,rw; l; fence r,rw |
//! | store release | mov | stbar; st | stlr | dmb; str | lwsync; st | fence rw,w; s |
//! | store seq_cst | mov; mfence | stbar; st; membar | stlr | dmb; str; dmb | sync; st | fence rw,w; s |
//! | RMW acquire | lock | swap | ldaxr, stxr | ldrex, strex; dmb | lwarx, stwcx.; isync | amo.aq |
//! | RMW release | lock | swap | ldxr, stlxr | dmb; ldrex, strex | lwsync; lwarx, stwcx. | amo.rl |
//! | RMW seq_cst | lock | swap | ldaxr, stlxr | dmb; ldrex, strex; dmb | sync; lwarx, stwcx.; isync | amo.aqrl |
//! | fence acquire | | | dmb ishld | dmb | lwsync | fence r,rw |
//! | fence release | | stbar | dmb ish | dmb | lwsync | fence rw,w |
//! | fence acq_rel | | stbar | dmb ish | dmb | lwsync | fence.tso |
//! | fence seq_cst | mfence | membar | dmb ish | dmb | sync | fence rw,rw |
//!
//! Deviations and choices:
//! - ARMv8, ARMv7 and Power update by load-linked/store-conditional loops (not by ARMv8.1's atomics), and so
//!   do RISC-V's compare-and-swap and nand: `lr.aq`, `sc.rl`, and `lr.aqrl`, `sc.rl` for seq_cst. A loop is
//!   its last round ([`RmwKind::Loop`]): rounds that fail only read, and nothing depends on what they read.
//! - The branch that ends such a loop waits for the conditional store, and that for the load. On Power and
//!   ARMv7, and wherever a comparison decides, what follows therefore depends by control on the load. No
//!   model here has control dependencies from conditional stores themselves.
//! - A compare-and-swap that fails is a load, with the stronger of its two orderings as to acquire; on
//!   x86 the locked instruction would be a full barrier even then.
//! - A lock is one cell, with the strength of acquire and release: lock and unlock are `ldaxr` and `stlr`,
//!   `amoswap.aq` and `amoswap.rl`, or stand beside `dmb`, `lwsync`, `stbar`.
//! - The ends of `if`s in C litmus tests do not end control dependencies on machines.

use crate::{CmpOp, Function, FunctionId, Instr, Operand, Program, Reg, RmwOp, Span, Target, Width};
use porf_event::{ArmDomain, ArmKind, FenceMode, ReadMode, RmwKind, RwSet, WriteMode};
use porf_model::{Machine, Model};
use std::fmt;

/// Something in a program that no machine code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// The construct, in words.
    pub what: String,
    /// The machine that has no counterpart for it.
    pub machine: Machine,
    /// The function that contains it.
    pub function: FunctionId,
    /// Its place in the source.
    pub span: Span,
}

impl Program {
    /// The same program in the instructions of a machine.
    pub fn compiled_to(&self, machine: Machine) -> Result<Program, Unmapped> {
        let mut compiled = self.clone();
        compiled.dialect = machine.dialect();
        for (at, function) in compiled.functions.iter_mut().enumerate() {
            let unmapped = |(what, span)| Unmapped { what, machine, function: FunctionId(at as u32), span };
            compile(function, machine).map_err(unmapped)?;
        }
        Ok(compiled)
    }
}

fn compile(function: &mut Function, machine: Machine) -> Result<(), (String, Span)> {
    let code = std::mem::take(&mut function.code);
    let spans = std::mem::take(&mut function.spans);
    let moves = std::mem::take(&mut function.moves);
    let mut out = Out { machine, function, moved: Vec::with_capacity(code.len() + 1), joins: Vec::new() };
    for (at, (instr, span)) in code.into_iter().zip(spans).enumerate() {
        let start = out.function.code.len();
        out.moved.push(start as Target);
        out.instr(instr).map_err(|what| (what, span))?;
        out.function.spans.resize(out.function.code.len(), span);
        if moves.binary_search(&(at as Target)).is_ok() {
            let made = start as Target..out.function.code.len() as Target;
            out.function.moves.extend(made);
        }
    }
    let Out { moved, joins, .. } = out;
    for instr in &mut function.code {
        instr.map_targets(|target| moved[target as usize]);
    }
    for at in joins {
        if let Instr::Branch { then, otherwise, .. } = &mut function.code[at] {
            (*then, *otherwise) = (at as Target + 1, at as Target + 1);
        }
    }
    Ok(())
}

struct Out<'f> {
    machine: Machine,
    function: &'f mut Function,
    /// Where each instruction has gone.
    moved: Vec<Target>,
    /// Branches that only make control dependencies: both ways lead to the next instruction.
    joins: Vec<usize>,
}

const FULL_RISCV: FenceMode = FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw };
const ACQUIRE_RISCV: FenceMode = FenceMode::Riscv { before: RwSet::R, after: RwSet::Rw };
const RELEASE_RISCV: FenceMode = FenceMode::Riscv { before: RwSet::Rw, after: RwSet::W };
const DMB: FenceMode = FenceMode::Dmb(ArmDomain::InnerShareable, ArmKind::All);
const DMB_LD: FenceMode = FenceMode::Dmb(ArmDomain::InnerShareable, ArmKind::Loads);

impl Out<'_> {
    fn instr(&mut self, instr: Instr) -> Result<(), String> {
        match instr {
            Instr::Load { dst, address, size, mode } => self.load(dst, address, size, mode),
            Instr::Store { mode, .. } => {
                self.before_write(mode);
                let mode = self.write_mode(mode);
                let Instr::Store { address, value, size, mode: before } = instr else { unreachable!() };
                self.push(Instr::Store { address, value, size, mode });
                self.after_write(before);
            }
            Instr::Rmw { dst, op, address, operand, size, read, write, kind } => {
                let kind = self.update_kind(kind, op);
                self.before_update(read, write);
                let (r, w) = self.update_modes(read, write, kind);
                self.push(Instr::Rmw { dst, op, address, operand, size, read: r, write: w, kind });
                self.after_update(dst, None, read, kind);
            }
            Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind } => {
                let kind = match self.machine {
                    Machine::X86 | Machine::Pso => kind,
                    _ => RmwKind::Loop,
                };
                let read = read.max(failure);
                self.before_update(read, write);
                let (r, w) = self.update_modes(read, write, kind);
                // The register with the expected value may be the one that the old value goes to.
                let compared = match expected {
                    Operand::Reg(reg) if reg == dst && kind == RmwKind::Loop => {
                        let copy = self.register();
                        self.push(Instr::Move { dst: copy, src: expected });
                        copy.into()
                    }
                    expected => expected,
                };
                self.push(Instr::Cas {
                    dst,
                    address,
                    expected: compared,
                    new,
                    size,
                    read: r,
                    write: w,
                    failure: r,
                    weak,
                    kind,
                });
                self.after_update(dst, Some(compared), read, kind);
            }
            Instr::Fence { mode } => {
                if let Some(fence) = self.fence(mode)? {
                    self.push(Instr::Fence { mode: fence });
                }
            }
            Instr::Lock { .. } | Instr::TryLock { .. } => {
                self.push(instr);
                if let Machine::Armv7 | Machine::Power = self.machine {
                    self.fence_for(FenceMode::Acquire);
                }
            }
            Instr::Unlock { .. } => {
                if let Machine::Pso | Machine::Armv7 | Machine::Power = self.machine {
                    self.fence_for(FenceMode::Release);
                }
                self.push(instr);
            }
            Instr::CtrlMark { .. } | Instr::CtrlRestore { .. } => {}
            Instr::FenceAt { .. } | Instr::AddUnless { .. } => {
                return Err("a primitive of the Linux kernel".into());
            }
            Instr::LoadExclusive { .. } | Instr::StoreExclusive { .. } => {
                return Err("an instruction of another machine".into());
            }
            other => self.push(other),
        }
        Ok(())
    }

    fn load(&mut self, dst: Reg, address: Operand, size: u8, mode: ReadMode) {
        if mode == ReadMode::SeqCst {
            match self.machine {
                Machine::Power | Machine::Riscv => self.fence_for(FenceMode::SeqCst),
                _ => {}
            }
        }
        let weaker = match self.machine {
            Machine::Armv8 if mode.is_acquire() => ReadMode::Acquire,
            Machine::X86 | Machine::Pso => mode,
            _ if mode.is_acquire() => ReadMode::Relaxed,
            _ => mode,
        };
        self.push(Instr::Load { dst, address, size, mode: weaker });
        if mode.is_acquire() {
            match self.machine {
                Machine::Power => self.control_isync(dst),
                Machine::Armv7 | Machine::Riscv => self.fence_for(FenceMode::Acquire),
                Machine::X86 | Machine::Pso | Machine::Armv8 => {}
            }
        }
    }

    fn before_write(&mut self, mode: WriteMode) {
        match (self.machine, mode) {
            (Machine::Power, WriteMode::SeqCst) => self.fence_for(FenceMode::SeqCst),
            (Machine::X86 | Machine::Armv8, _) => {}
            (_, mode) if mode.is_release() => self.fence_for(FenceMode::Release),
            _ => {}
        }
    }

    fn after_write(&mut self, mode: WriteMode) {
        if let (Machine::X86 | Machine::Pso | Machine::Armv7, WriteMode::SeqCst) = (self.machine, mode) {
            self.fence_for(FenceMode::SeqCst);
        }
    }

    /// The ordering that a store has in itself.
    fn write_mode(&self, mode: WriteMode) -> WriteMode {
        match self.machine {
            Machine::X86 | Machine::Pso => mode,
            Machine::Armv8 if mode.is_release() => WriteMode::Release,
            _ if mode.is_release() => WriteMode::Relaxed,
            _ => mode,
        }
    }

    fn update_kind(&self, kind: RmwKind, op: RmwOp) -> RmwKind {
        match self.machine {
            Machine::Armv8 | Machine::Armv7 | Machine::Power => RmwKind::Loop,
            Machine::Riscv
                if matches!(op, RmwOp::Nand | RmwOp::AndNot | RmwOp::SubFrom | RmwOp::Float(..)) =>
            {
                RmwKind::Loop
            }
            Machine::Riscv if kind == RmwKind::Barrier => RmwKind::Amo,
            Machine::Riscv | Machine::X86 | Machine::Pso => kind,
        }
    }

    fn before_update(&mut self, read: ReadMode, write: WriteMode) {
        match self.machine {
            Machine::Power if read == ReadMode::SeqCst || write == WriteMode::SeqCst => {
                self.fence_for(FenceMode::SeqCst);
            }
            Machine::Power | Machine::Armv7 if write.is_release() => self.fence_for(FenceMode::Release),
            _ => {}
        }
    }

    /// The orderings that the halves of an update have in themselves.
    fn update_modes(&self, read: ReadMode, write: WriteMode, kind: RmwKind) -> (ReadMode, WriteMode) {
        let sc = read == ReadMode::SeqCst && write == WriteMode::SeqCst;
        match (self.machine, read.is_acquire(), write.is_release()) {
            (Machine::X86 | Machine::Pso, ..) => (read, write),
            (Machine::Armv8, acquire, release) => (
                if acquire { ReadMode::Acquire } else { ReadMode::Relaxed },
                if release { WriteMode::Release } else { WriteMode::Relaxed },
            ),
            (Machine::Riscv, acquire, release) if kind == RmwKind::Loop => (
                match acquire {
                    true if sc => ReadMode::SeqCst,
                    true => ReadMode::Acquire,
                    false => ReadMode::Relaxed,
                },
                if release { WriteMode::Release } else { WriteMode::Relaxed },
            ),
            (Machine::Riscv, true, true) => (ReadMode::SeqCst, WriteMode::SeqCst),
            (Machine::Riscv, true, false) => (ReadMode::Acquire, WriteMode::RiscvAcquire),
            (Machine::Riscv, false, true) => (ReadMode::RiscvRelease, WriteMode::Release),
            _ => (ReadMode::Relaxed, WriteMode::Relaxed),
        }
    }

    /// What stands after an update whose old value is in `dst`: the branch of a loop, a barrier.
    fn after_update(&mut self, dst: Reg, compared: Option<Operand>, read: ReadMode, kind: RmwKind) {
        if kind == RmwKind::Loop {
            match compared {
                Some(compared) => {
                    let equal = self.register();
                    let (op, width) = (CmpOp::Eq, Width::W64);
                    self.push(Instr::Cmp { dst: equal, op, width, a: dst.into(), b: compared });
                    self.control(equal);
                }
                None if matches!(self.machine, Machine::Power | Machine::Armv7) => self.control(dst),
                None => {}
            }
        }
        if read.is_acquire() {
            match self.machine {
                Machine::Power => self.push(Instr::Fence { mode: FenceMode::Isync }),
                Machine::Armv7 => self.fence_for(FenceMode::Acquire),
                _ => {}
            }
        }
    }

    fn fence(&self, mode: FenceMode) -> Result<Option<FenceMode>, String> {
        let strong = match mode {
            FenceMode::SeqCst => true,
            FenceMode::Acquire | FenceMode::Release | FenceMode::AcqRel => false,
            FenceMode::Mfence if matches!(self.machine, Machine::X86 | Machine::Pso) => true,
            FenceMode::Mfence | FenceMode::Sfence | FenceMode::Lfence => {
                return Err("an instruction of another machine".into());
            }
            _ => return Err("a primitive of the Linux kernel".into()),
        };
        let acquires_only = mode == FenceMode::Acquire;
        Ok(match self.machine {
            Machine::X86 => strong.then_some(FenceMode::Mfence),
            Machine::Pso if strong => Some(FenceMode::SeqCst),
            Machine::Pso => (!acquires_only).then_some(FenceMode::Release),
            Machine::Armv8 => Some(if acquires_only { DMB_LD } else { DMB }),
            Machine::Armv7 => Some(DMB),
            Machine::Power => Some(if strong { FenceMode::Sync } else { FenceMode::Lwsync }),
            Machine::Riscv => Some(match mode {
                FenceMode::Acquire => ACQUIRE_RISCV,
                FenceMode::Release => RELEASE_RISCV,
                FenceMode::AcqRel => FenceMode::RiscvTso,
                _ => FULL_RISCV,
            }),
        })
    }

    /// The machine's barrier for one of C's fences.
    fn fence_for(&mut self, mode: FenceMode) {
        if let Ok(Some(mode)) = self.fence(mode) {
            self.push(Instr::Fence { mode });
        }
    }

    /// What follows depends on a register by control.
    fn control(&mut self, cond: Reg) {
        self.joins.push(self.function.code.len());
        // The targets are set when all code is there.
        self.push(Instr::Branch { cond: cond.into(), then: 0, otherwise: 0 });
    }

    fn control_isync(&mut self, cond: Reg) {
        self.control(cond);
        self.push(Instr::Fence { mode: FenceMode::Isync });
    }

    fn push(&mut self, instr: Instr) {
        self.function.code.push(instr);
    }

    fn register(&mut self) -> Reg {
        self.function.registers += 1;
        Reg(self.function.registers - 1)
    }
}

impl fmt::Display for Unmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no counterpart under {}", self.what, Model::of_machine(self.machine))
    }
}
