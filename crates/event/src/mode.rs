//! Orderings of memory accesses. A mode that cannot occur cannot be written.
//!
//! One vocabulary serves all dialects: C11 uses all of the first five, AArch64 maps `LDAPR` to
//! [`ReadMode::AcquirePc`], `LDAR` to [`ReadMode::Acquire`] and `STLR` to [`WriteMode::Release`],
//! LKMM's `READ_ONCE` is [`ReadMode::Relaxed`], RISC-V's `.aq.rl` is [`ReadMode::SeqCst`].

use std::fmt;

/// The ordering of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadMode {
    /// Not atomic: C's `*p`, or any ordinary load of an assembly language.
    Plain,
    /// Atomic, without ordering.
    Relaxed,
    /// Arm's `LDAPR` (RCpc): not ordered after an earlier store-release.
    AcquirePc,
    /// Acquire.
    Acquire,
    /// Sequentially consistent.
    SeqCst,
    /// RISC-V only: `lr.rl`, a load that carries a release annotation.
    RiscvRelease,
    /// Linux kernel: the load by which `srcu_read_lock` enters a critical section.
    SrcuLock,
}

/// The ordering of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteMode {
    /// Not atomic: C's `*p = v`, or any ordinary store of an assembly language.
    Plain,
    /// Atomic, without ordering.
    Relaxed,
    /// Release.
    Release,
    /// Sequentially consistent.
    SeqCst,
    /// RISC-V only: `sc.aq` or the store half of an `amo….aq`, a store that carries an acquire annotation.
    RiscvAcquire,
    /// Linux kernel: the store by which `srcu_read_unlock` leaves a critical section.
    SrcuUnlock,
}

impl ReadMode {
    /// Whether it is not plain.
    pub fn is_atomic(self) -> bool {
        self != ReadMode::Plain
    }

    /// Whether it acquires, as C11 understands it.
    pub fn is_acquire(self) -> bool {
        matches!(self, ReadMode::AcquirePc | ReadMode::Acquire | ReadMode::SeqCst)
    }
}

impl WriteMode {
    /// Whether it is not plain.
    pub fn is_atomic(self) -> bool {
        self != WriteMode::Plain
    }

    /// Whether it releases, as C11 understands it.
    pub fn is_release(self) -> bool {
        matches!(self, WriteMode::Release | WriteMode::SeqCst)
    }
}

impl fmt::Display for ReadMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReadMode::Plain => "na",
            ReadMode::Relaxed => "rlx",
            ReadMode::AcquirePc => "acqpc",
            ReadMode::Acquire => "acq",
            ReadMode::SeqCst => "sc",
            ReadMode::RiscvRelease => "rl",
            ReadMode::SrcuLock => "srcu-lock",
        })
    }
}

impl fmt::Display for WriteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WriteMode::Plain => "na",
            WriteMode::Relaxed => "rlx",
            WriteMode::Release => "rel",
            WriteMode::SeqCst => "sc",
            WriteMode::RiscvAcquire => "aq",
            WriteMode::SrcuUnlock => "srcu-unlock",
        })
    }
}
