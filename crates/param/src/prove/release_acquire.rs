//! Release–acquire: which edges a new event adds, and which reads may take a new write.
//!
//! Source of the model: Lahav, Giannarakis, Vafeiadis, "Taming Release-Acquire Consistency", POPL 2016. An execution
//! is consistent if hb = (po ∪ rf)⁺ has no cycle, each location has a coherence order mo that agrees with hb, no read
//! takes a write w where w mo w' hb the read, and nothing is mo-between a locked write and what it read.
//!
//! The search runs backward along an order that contains hb: the order in which the machine of
//! [`crate::explore::Messages`] takes its steps. A new event happens before all that its process does later, and before
//! what happens after a read that takes it; nothing else. So a read that does not take a new write needs that the write
//! does not happen before it, or that its source is mo-later:
//!
//! - Where one process writes a location, or locked steps alone do, hb orders all writes of the location, and mo is the
//!   order of the search. No source is mo-later. Locked writes of such a location are a *chain*: each happens before the
//!   next, and a waiting locked read takes the next one that is found.
//! - Any other location is *racy*. A read may miss a write that happens before it (*late*): its source, found later, is
//!   mo-after the missed write e. So the source happens neither before e nor before a read of e.
//! - A write serves one locked step at most, and so does the initial value.
//!
//! What mo must be besides (two processes that agree on the order of two writes, for example) is forgotten. That only
//! admits more executions: safe stays safe, and a spurious trace fails its replay.
//!
//! Fences are a chain of their own.

use super::literal::{ProcId, Var};
use super::weak::{Choice, Edges, Entry, Mask, NewEvent, Weak};

/// Release–acquire in the order of happens-before.
pub struct ReleaseAcquire<'a> {
    /// Per symbol, whether several processes write a location and one of the writes is not locked.
    pub racy: &'a [bool],
    /// Per symbol, whether only locked steps write it.
    pub chained: &'a [bool],
}

impl Edges for ReleaseAcquire<'_> {
    fn successors(&self, weak: &Weak, event: &NewEvent<'_>) -> Mask {
        let mut mask = weak.entry(Entry::Any(event.thread)); // po
        for location in event.writes.iter().filter(|location| event.locked && self.chained(**location)) {
            mask |= weak.entry(Entry::Location(*location)); // rf, from one locked step to the next
        }
        if event.drains {
            mask |= weak.entry(Entry::Fences);
        }
        mask
    }

    fn entries(&self, event: &NewEvent<'_>) -> Vec<Entry> {
        let mut entries = vec![Entry::Any(event.thread)];
        let chained = event.writes.iter().filter(|location| event.locked && self.chained(**location));
        entries.extend(chained.map(|location| Entry::Location(*location)));
        entries.extend(event.drains.then_some(Entry::Fences));
        entries
    }

    fn choices(&self, _: &NewEvent<'_>, location: Var, _: ProcId) -> &'static [Choice] {
        if self.racy[location.symbol()] {
            &[Choice::Reads, Choice::Before, Choice::Late]
        } else {
            &[Choice::Reads, Choice::Before]
        }
    }

    fn happens_before(&self) -> bool {
        true
    }

    fn chained(&self, location: Var) -> bool {
        self.chained[location.symbol()]
    }
}

/// Whether locked steps can share a new write so: one of them takes it at most, and the next of a chain must.
pub fn locked_reads_agree(weak: &Weak, edges: &dyn Edges, reads: &[(u8, Var, Choice)]) -> bool {
    let locked = |node: u8, location: Var| weak.nodes[node as usize].swaps.contains(&location);
    let takes = |(node, location, choice): &(u8, Var, Choice)| {
        (*choice == Choice::Reads && locked(*node, *location)).then_some(*location)
    };
    reads.iter().enumerate().all(|(at, read)| match takes(read) {
        Some(location) => !reads[..at].iter().any(|other| takes(other) == Some(location)),
        None => !(edges.chained(read.1) && locked(read.0, read.1)),
    })
}

/// Whether two locked steps wait for the same location: the initial value serves one.
pub fn share_a_location(weak: &Weak) -> bool {
    let swaps = weak.nodes.iter().flat_map(|node| &node.swaps);
    swaps.enumerate().any(|(at, location)| {
        weak.nodes.iter().flat_map(|node| &node.swaps).take(at).any(|other| other == location)
    })
}
