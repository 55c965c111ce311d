//! Fences of all dialects. What one orders is the model's business; here they only have names.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FenceMode {
    // C11: atomic_thread_fence
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    // x86
    Mfence,
    Sfence,
    Lfence,
    // Arm
    Dmb(ArmDomain, ArmKind),
    Dsb(ArmDomain, ArmKind),
    Isb,
    // POWER
    Sync,
    Lwsync,
    Isync,
    Eieio,
    // RISC-V
    Riscv {
        before: RwSet,
        after: RwSet,
    },
    RiscvTso,
    RiscvI,
    // Linux kernel
    Mb,
    Rmb,
    Wmb,
    Barrier,
    BeforeAtomic,
    AfterAtomic,
    AfterSpinlock,
    AfterUnlockLock,
    AfterSrcuReadUnlock,
    RcuLock,
    RcuUnlock,
    SyncRcu,
    /// Waits for the grace period of the SRCU domain at an address, carried by the label.
    SyncSrcu,
}

/// The shareability domain of an Arm barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArmDomain {
    Full,
    InnerShareable,
    OuterShareable,
    NonShareable,
}

/// Which accesses an Arm barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArmKind {
    All,
    Loads,
    Stores,
}

/// Reads, writes, or both: one side of a RISC-V fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RwSet {
    R,
    W,
    Rw,
}

impl FenceMode {
    /// C11 fences, and what the language engines treat as such.
    pub fn is_acquire(self) -> bool {
        matches!(self, FenceMode::Acquire | FenceMode::AcqRel | FenceMode::SeqCst)
    }

    pub fn is_release(self) -> bool {
        matches!(self, FenceMode::Release | FenceMode::AcqRel | FenceMode::SeqCst)
    }

    /// Orders every access before it before every access after it, on its architecture.
    pub fn is_full(self) -> bool {
        matches!(
            self,
            FenceMode::SeqCst
                | FenceMode::Mfence
                | FenceMode::Dmb(_, ArmKind::All)
                | FenceMode::Dsb(_, ArmKind::All)
                | FenceMode::Sync
                | FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw }
                | FenceMode::Mb
        )
    }
}

impl fmt::Display for FenceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenceMode::Acquire => write!(f, "acq"),
            FenceMode::Release => write!(f, "rel"),
            FenceMode::AcqRel => write!(f, "acqrel"),
            FenceMode::SeqCst => write!(f, "sc"),
            FenceMode::Mfence => write!(f, "mfence"),
            FenceMode::Sfence => write!(f, "sfence"),
            FenceMode::Lfence => write!(f, "lfence"),
            FenceMode::Dmb(domain, kind) => write!(f, "dmb.{domain}{kind}"),
            FenceMode::Dsb(domain, kind) => write!(f, "dsb.{domain}{kind}"),
            FenceMode::Isb => write!(f, "isb"),
            FenceMode::Sync => write!(f, "sync"),
            FenceMode::Lwsync => write!(f, "lwsync"),
            FenceMode::Isync => write!(f, "isync"),
            FenceMode::Eieio => write!(f, "eieio"),
            FenceMode::Riscv { before, after } => write!(f, "fence.{before}.{after}"),
            FenceMode::RiscvTso => write!(f, "fence.tso"),
            FenceMode::RiscvI => write!(f, "fence.i"),
            FenceMode::Mb => write!(f, "mb"),
            FenceMode::Rmb => write!(f, "rmb"),
            FenceMode::Wmb => write!(f, "wmb"),
            FenceMode::Barrier => write!(f, "barrier"),
            FenceMode::BeforeAtomic => write!(f, "before-atomic"),
            FenceMode::AfterAtomic => write!(f, "after-atomic"),
            FenceMode::AfterSpinlock => write!(f, "after-spinlock"),
            FenceMode::AfterUnlockLock => write!(f, "after-unlock-lock"),
            FenceMode::AfterSrcuReadUnlock => write!(f, "after-srcu-read-unlock"),
            FenceMode::RcuLock => write!(f, "rcu-lock"),
            FenceMode::RcuUnlock => write!(f, "rcu-unlock"),
            FenceMode::SyncRcu => write!(f, "sync-rcu"),
            FenceMode::SyncSrcu => write!(f, "sync-srcu"),
        }
    }
}

impl fmt::Display for ArmDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArmDomain::Full => "sy",
            ArmDomain::InnerShareable => "ish",
            ArmDomain::OuterShareable => "osh",
            ArmDomain::NonShareable => "nsh",
        })
    }
}

impl fmt::Display for ArmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArmKind::All => "",
            ArmKind::Loads => ".ld",
            ArmKind::Stores => ".st",
        })
    }
}

impl fmt::Display for RwSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RwSet::R => "r",
            RwSet::W => "w",
            RwSet::Rw => "rw",
        })
    }
}
