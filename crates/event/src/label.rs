//! What an event does.

use crate::{FenceMode, Location, ReadMode, ThreadId, Value, WriteMode};
use std::fmt;

/// The closed list of things that are visible to a memory model or to the scheduler.
///
/// A read-modify-write is two adjacent events, a read and a write with the same [`RmwKind`]; a read
/// whose write did not come (a failed compare-and-swap) stays alone. `value` of a read is the value
/// of the write it reads from, and 0 until that is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The initial write of every location.
    Init,
    Read {
        access: Access,
        mode: ReadMode,
        rmw: RmwKind,
        value: Value,
    },
    Write {
        access: Access,
        mode: WriteMode,
        rmw: RmwKind,
        value: Value,
    },
    /// `location` is meaningful for fences that name an object (SRCU), 0 otherwise.
    Fence {
        mode: FenceMode,
        location: Location,
    },
    /// Starts thread `child`.
    Create {
        child: ThreadId,
    },
    /// Waits for the end of thread `child`.
    Join {
        child: ThreadId,
    },
    /// The last event of a thread, so that a join has something to wait for.
    End,
    Alloc {
        location: Location,
        size: u64,
    },
    Free {
        location: Location,
    },
    /// A choice that the program leaves open: a weak CAS or store-exclusive that may fail, a nondet
    /// value. `chosen` is below `options`.
    Choice {
        options: u32,
        chosen: u32,
    },
    /// The thread stops here for good in this execution.
    Block {
        reason: BlockReason,
    },
}

/// The cell that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    pub location: Location,
    /// In bytes: 1, 2, 4 or 8.
    pub size: u8,
}

/// Whether a read or write is half of a read-modify-write, and of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RmwKind {
    #[default]
    None,
    /// One instruction that reads and writes: fetch-and-add, exchange, compare-and-swap.
    Amo,
    /// As `Amo`, but the old value is not returned (AArch64 `STADD`, LKMM `atomic_inc`).
    AmoNoReturn,
    /// The read of a compare-and-swap (or add-unless) that did not write: alone, but an atomic
    /// operation all the same for fences that speak of such.
    Failed,
    /// Load-linked / store-conditional: `LDXR`/`STXR`, `lwarx`/`stwcx.`, `lr`/`sc`.
    Exclusive,
    /// The last round of a loop of such a pair: both halves, one right after the other.
    Loop,
    /// The operations of a lock, as one cell: lock reads and writes it, unlock writes it.
    Lock(LockKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    Acquire,
    /// `trylock` that finds the lock taken reads it and goes on; LKMM's `spin_is_locked` too.
    Test,
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockReason {
    /// An `assume` does not hold: this execution is of no interest.
    Assume,
    /// An await or spin loop that would read the same again: waits for another write.
    Spin,
    /// The lock is held by another thread.
    Lock,
    /// A loop ran more often than the bound allows.
    Bound,
    /// A violation was found here.
    Fault,
}

impl RmwKind {
    /// Whether an event of this kind is one half of a read and write that belong together.
    pub fn is_pair(self) -> bool {
        !matches!(self, RmwKind::None | RmwKind::Failed | RmwKind::Lock(LockKind::Test | LockKind::Release))
    }
}

impl Label {
    pub fn access(&self) -> Option<Access> {
        match self {
            Label::Read { access, .. } | Label::Write { access, .. } => Some(*access),
            _ => None,
        }
    }

    pub fn location(&self) -> Option<Location> {
        self.access().map(|access| access.location)
    }

    pub fn is_read(&self) -> bool {
        matches!(self, Label::Read { .. })
    }

    pub fn is_write(&self) -> bool {
        matches!(self, Label::Write { .. })
    }

    /// Whether it is a non-atomic access.
    pub fn is_plain(&self) -> bool {
        match self {
            Label::Read { mode, .. } => !mode.is_atomic(),
            Label::Write { mode, .. } => !mode.is_atomic(),
            Label::Init
            | Label::Fence { .. }
            | Label::Create { .. }
            | Label::Join { .. }
            | Label::End
            | Label::Alloc { .. }
            | Label::Free { .. }
            | Label::Choice { .. }
            | Label::Block { .. } => false,
        }
    }

    pub fn rmw(&self) -> RmwKind {
        match self {
            Label::Read { rmw, .. } | Label::Write { rmw, .. } => *rmw,
            _ => RmwKind::None,
        }
    }

    /// The value read or written.
    pub fn value(&self) -> Option<Value> {
        match self {
            Label::Read { value, .. } | Label::Write { value, .. } => Some(*value),
            _ => None,
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
