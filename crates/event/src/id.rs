//! Identities of threads and events.

use std::fmt;

/// A thread of one execution, numbered from 0 in the order of creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct ThreadId(pub u16);

/// The `index`-th event of `thread`, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The thread that the event belongs to.
    pub thread: ThreadId,
    /// Its position in program order, from 0.
    pub index: u32,
}

impl ThreadId {
    /// The owner of the initial writes: no thread of the program.
    pub const INIT: ThreadId = ThreadId(u16::MAX);

    /// The number, to index with.
    #[inline]
    pub fn as_usize(self) -> usize {
        usize::from(self.0)
    }
}

impl EventId {
    /// The initial write, which comes before every other write of every location.
    pub const INIT: EventId = EventId { thread: ThreadId::INIT, index: 0 };

    /// The event of a thread at a position.
    pub fn new(thread: ThreadId, index: u32) -> EventId {
        EventId { thread, index }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == ThreadId::INIT { write!(f, "init") } else { write!(f, "T{}", self.0) }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == EventId::INIT { write!(f, "init") } else { write!(f, "{}.{}", self.thread, self.index) }
    }
}
