//! Fences of all dialects. They only have names here; the models say what they order.

use std::fmt;

/// A fence, in the words of its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FenceMode {
    /// C11: `atomic_thread_fence(memory_order_acquire)`.
    Acquire,
    /// C11: `atomic_thread_fence(memory_order_release)`.
    Release,
    /// C11: `atomic_thread_fence(memory_order_acq_rel)`.
    AcqRel,
    /// C11: `atomic_thread_fence(memory_order_seq_cst)`.
    SeqCst,
    /// x86: `MFENCE`.
    Mfence,
    /// x86: `SFENCE`.
    Sfence,
    /// x86: `LFENCE`.
    Lfence,
    /// Arm: data memory barrier.
    Dmb(ArmDomain, ArmKind),
    /// Arm: data synchronisation barrier.
    Dsb(ArmDomain, ArmKind),
    /// Arm: instruction synchronisation barrier.
    Isb,
    /// POWER: `sync`.
    Sync,
    /// POWER: `lwsync`.
    Lwsync,
    /// POWER: `isync`.
    Isync,
    /// POWER: `eieio`.
    Eieio,
    /// RISC-V: `fence before,after`.
    Riscv {
        /// Which earlier accesses it orders.
        before: RwSet,
        /// Which later accesses it orders.
        after: RwSet,
    },
    /// RISC-V: `fence.tso`.
    RiscvTso,
    /// RISC-V: `fence.i`.
    RiscvI,
    /// Linux kernel: `smp_mb`.
    Mb,
    /// Linux kernel: `smp_rmb`.
    Rmb,
    /// Linux kernel: `smp_wmb`.
    Wmb,
    /// Linux kernel: `barrier`.
    Barrier,
    /// Linux kernel: `smp_mb__before_atomic`.
    BeforeAtomic,
    /// Linux kernel: `smp_mb__after_atomic`.
    AfterAtomic,
    /// Linux kernel: `smp_mb__after_spinlock`.
    AfterSpinlock,
    /// Linux kernel: `smp_mb__after_unlock_lock`.
    AfterUnlockLock,
    /// Linux kernel: `smp_mb__after_srcu_read_unlock`.
    AfterSrcuReadUnlock,
    /// Linux kernel: `rcu_read_lock`.
    RcuLock,
    /// Linux kernel: `rcu_read_unlock`.
    RcuUnlock,
    /// Linux kernel: `synchronize_rcu`.
    SyncRcu,
    /// Linux kernel: `synchronize_srcu`. The label carries the address of the SRCU domain.
    SyncSrcu,
}

/// The shareability domain of an Arm barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ArmDomain {
    /// `SY`.
    Full,
    /// `ISH`.
    InnerShareable,
    /// `OSH`.
    OuterShareable,
    /// `NSH`.
    NonShareable,
}

/// Which accesses an Arm barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ArmKind {
    /// All accesses.
    All,
    /// Loads before it with all accesses after it.
    Loads,
    /// Stores with stores.
    Stores,
}

/// Reads, writes, or both: one side of a RISC-V fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RwSet {
    /// Reads.
    R,
    /// Writes.
    W,
    /// Reads and writes.
    Rw,
}

impl FenceMode {
    /// Whether it is a C11 fence that acquires.
    pub fn is_acquire(self) -> bool {
        matches!(self, FenceMode::Acquire | FenceMode::AcqRel | FenceMode::SeqCst)
    }

    /// Whether it is a C11 fence that releases.
    pub fn is_release(self) -> bool {
        matches!(self, FenceMode::Release | FenceMode::AcqRel | FenceMode::SeqCst)
    }

    /// Whether, on its architecture, it orders every access before it with every access after it.
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
