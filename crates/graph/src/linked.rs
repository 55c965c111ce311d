//! Execution graphs together with the dependencies of their events.
//!
//! The owner of the graph decides where dependencies are kept, and when they are computed.

use crate::{Ev, ExecutionGraph, Partial};
use smallvec::SmallVec;

/// Sets of events of one thread, by index.
pub type Words = SmallVec<[u64; 2]>;

/// An event that another one needs, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The event that is needed.
    pub event: Ev,
    pub(crate) kinds: u8,
}

/// What models that keep dependencies ask of a graph.
pub trait Linked {
    /// The graph itself.
    fn graph(&self) -> &ExecutionGraph;

    /// The events of the same thread that an event needs, in no order.
    fn needs(&self, event: Ev) -> impl Iterator<Item = Need> + '_;

    /// For a read: whether its ordering, and whether a write follows it, depends on the value that it reads
    /// (a compare-and-swap).
    fn is_conditional(&self, event: Ev) -> bool;

    /// Whether it is a later event of the same access as the event before it in its thread.
    #[inline]
    fn continues(&self, _event: Ev) -> bool {
        false
    }
}

/// A graph that remembers what a model found out about an event.
pub trait Memo: Linked {
    /// What was found about an event, or is found now. It must depend on nothing but the event, its thread up
    /// to it, and `variant`, which is 0 or 1.
    fn memo(&self, event: Ev, variant: usize, find: impl FnOnce() -> Words) -> &[u64];
}

impl Need {
    /// By its address.
    pub const ADDR: u8 = 1;
    /// By its data.
    pub const DATA: u8 = 2;
    /// By control.
    pub const CTRL: u8 = 4;
    /// As [`ADDR`](Self::ADDR), by a value that a condition only picked.
    pub const PICK_ADDR: u8 = 8;
    /// As [`DATA`](Self::DATA), picked.
    pub const PICK_DATA: u8 = 16;
    /// As [`CTRL`](Self::CTRL), picked.
    pub const PICK_CTRL: u8 = 32;
    /// Of the read of a compare-and-swap, on what it compares with.
    pub const CAS: u8 = 64;

    /// An event that is needed, and how.
    pub fn new(event: Ev, kinds: u8) -> Need {
        Need { event, kinds }
    }

    /// Whether it is needed in one of these ways.
    #[inline]
    pub fn is(self, kinds: u8) -> bool {
        self.kinds & kinds != 0
    }

    /// All ways in which it is needed.
    #[inline]
    pub fn kinds(self) -> u8 {
        self.kinds
    }
}

impl Linked for Partial {
    fn graph(&self) -> &ExecutionGraph {
        &self.graph
    }

    fn needs(&self, event: Ev) -> impl Iterator<Item = Need> + '_ {
        self.links(event).needs.iter().copied()
    }

    fn is_conditional(&self, event: Ev) -> bool {
        self.links(event).conditional
    }

    #[inline]
    fn continues(&self, event: Ev) -> bool {
        self.links(event).continues
    }
}
