//! What an event does.
//!
//! Code that decides something by the label of an event lists every label, so that a new one is a compile
//! error there. [`silent!`](crate::silent) and [`no_access!`](crate::no_access) stand for the long lists.

use crate::{FenceMode, Location, ReadMode, ThreadId, Value, WriteMode};
use std::fmt;

/// The closed list of actions that a memory model or the scheduler can see.
///
/// A read-modify-write is two adjacent events: a read and a write with the same [`RmwKind`]. A read
/// without its write (a failed compare-and-swap) stays alone. The `value` of a read is the value of the
/// write that it reads from, and 0 until that write is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The initial write of every location.
    Init,
    /// A load, or the read of a read-modify-write.
    Read {
        /// What it reads.
        access: Access,
        /// Its ordering.
        mode: ReadMode,
        /// Whether it belongs to a read-modify-write.
        rmw: RmwKind,
        /// The value read.
        value: Value,
    },
    /// A store, or the write of a read-modify-write.
    Write {
        /// What it writes.
        access: Access,
        /// Its ordering.
        mode: WriteMode,
        /// Whether it belongs to a read-modify-write.
        rmw: RmwKind,
        /// The value written.
        value: Value,
    },
    /// A barrier, or an RCU primitive.
    Fence {
        /// Which one.
        mode: FenceMode,
        /// The object that the fence names (SRCU), or 0.
        location: Location,
    },
    /// Starts a thread.
    Create {
        /// The new thread.
        child: ThreadId,
    },
    /// Waits for the end of a thread.
    Join {
        /// The thread that ends.
        child: ThreadId,
    },
    /// The last event of a thread. A join waits for it.
    End,
    /// Allocates memory.
    Alloc {
        /// The first byte.
        location: Location,
        /// In bytes.
        size: u64,
    },
    /// Frees memory.
    Free {
        /// The first byte.
        location: Location,
    },
    /// A choice that the program leaves open: a nondeterministic value, or whether a weak CAS or a
    /// store-exclusive fails.
    Choice {
        /// How many options there are.
        options: u32,
        /// The one that was chosen, below `options`.
        chosen: u32,
    },
    /// The thread stops here for the rest of this execution.
    Block {
        /// Why.
        reason: BlockReason,
    },
}

/// The cell that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// Its first byte.
    pub location: Location,
    /// In bytes: 1, 2, 4, 8 or 16.
    pub size: u8,
}

/// Whether a read or write is half of a read-modify-write, and of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RmwKind {
    /// It is an ordinary access.
    #[default]
    None,
    /// One instruction that reads and writes: fetch-and-add, exchange, compare-and-swap.
    Amo,
    /// As `Amo`, but the old value is not returned (AArch64 `STADD`, LKMM `atomic_inc`).
    AmoNoReturn,
    /// The read of a compare-and-swap (or add-unless) that did not write. It stands alone, but fences
    /// that refer to atomic operations still count it as one.
    Failed,
    /// Load-linked / store-conditional: `LDXR`/`STXR`, `lwarx`/`stwcx.`, `lr`/`sc`.
    Exclusive,
    /// The last iteration of a loop around such a pair: both halves, one right after the other.
    Loop,
    /// As `Amo`: a thread arrives at a barrier and is counted. The order of arrival cannot be observed.
    Barrier,
    /// An operation on a lock, which is one cell: lock reads and writes it, unlock writes it.
    Lock(LockKind),
}

/// The operations on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LockKind {
    /// Takes the lock.
    Acquire,
    /// Reads the lock and continues: a `trylock` that finds it taken, LKMM's `spin_is_locked`.
    Test,
    /// Releases the lock.
    Release,
}

/// Why a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BlockReason {
    /// An `assume` does not hold: this execution is of no interest.
    Assume,
    /// An await or spin loop would read the same values again. It waits for another write.
    Spin,
    /// The same in a loop that looks at a clock: it waits for another write, or until it is later.
    Clock,
    /// The lock is held by another thread.
    Lock,
    /// A shorter execution leads to the same continuations, so nothing is lost if this one ends.
    Retry,
    /// A loop ran more often than the bound allows.
    Bound,
    /// The thread ended the process, and it is not the first thread.
    Exit,
    /// A violation was found here.
    Fault,
}

impl RmwKind {
    /// Whether an event of this kind is one half of a pair of a read and a write.
    pub fn is_pair(self) -> bool {
        !matches!(self, RmwKind::None | RmwKind::Failed | RmwKind::Lock(LockKind::Test | LockKind::Release))
    }
}

/// A pattern for the labels that no memory model speaks of: they order nothing.
#[macro_export]
macro_rules! silent {
    () => {
        $crate::Label::Init
            | $crate::Label::End
            | $crate::Label::Alloc { .. }
            | $crate::Label::Free { .. }
            | $crate::Label::Choice { .. }
            | $crate::Label::Block { .. }
    };
}

/// A pattern for the labels that neither read nor write.
#[macro_export]
macro_rules! no_access {
    () => {
        $crate::silent!()
            | $crate::Label::Fence { .. }
            | $crate::Label::Create { .. }
            | $crate::Label::Join { .. }
    };
}

impl Label {
    /// What a read or write accesses.
    #[inline]
    pub fn access(&self) -> Option<Access> {
        match self {
            Label::Read { access, .. } | Label::Write { access, .. } => Some(*access),
            no_access!() => None,
        }
    }

    /// The location that a read or write accesses.
    pub fn location(&self) -> Option<Location> {
        self.access().map(|access| access.location)
    }

    /// Whether it is a read.
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self, Label::Read { .. })
    }

    /// Whether it is a write.
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self, Label::Write { .. })
    }

    /// Whether it is a non-atomic access.
    #[inline]
    pub fn is_plain(&self) -> bool {
        match self {
            Label::Read { mode, .. } => !mode.is_atomic(),
            Label::Write { mode, .. } => !mode.is_atomic(),
            no_access!() => false,
        }
    }

    /// Whether it belongs to a read-modify-write, and of which kind.
    #[inline]
    pub fn rmw(&self) -> RmwKind {
        match self {
            Label::Read { rmw, .. } | Label::Write { rmw, .. } => *rmw,
            no_access!() => RmwKind::None,
        }
    }

    /// The value read or written.
    pub fn value(&self) -> Option<Value> {
        match self {
            Label::Read { value, .. } | Label::Write { value, .. } => Some(*value),
            no_access!() => None,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Init => write!(f, "init"),
            Label::Read { access, mode, value, .. } => write!(f, "R{mode} {:#x}={value}", access.location.0),
            Label::Write { access, mode, value, .. } => write!(f, "W{mode} {:#x}={value}", access.location.0),
            Label::Fence { mode, .. } => write!(f, "F{mode}"),
            Label::Create { child } => write!(f, "create {child}"),
            Label::Join { child } => write!(f, "join {child}"),
            Label::End => write!(f, "end"),
            Label::Alloc { location, size } => write!(f, "alloc {:#x} ({size} bytes)", location.0),
            Label::Free { location } => write!(f, "free {:#x}", location.0),
            Label::Choice { chosen, .. } => write!(f, "choice {chosen}"),
            Label::Block { reason } => write!(f, "block ({reason:?})"),
        }
    }
}
