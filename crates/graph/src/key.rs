//! When two graphs are the same execution, independent of the order in which they were built.
//!
//! Tests compare engines by these keys. Cost: O(events log events).

use crate::{Ev, ExecutionGraph};
use porf_event::{EventId, Label, Location};

/// Events with their labels, rf and, if wanted, co: equal keys are equal executions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalKey {
    events: Vec<(EventId, Label)>,
    rf: Vec<(EventId, EventId)>,
    co: Vec<(Location, Vec<EventId>)>,
}

impl CanonicalKey {
    /// From lists in any order. `rf` holds (read, source) pairs, `co` the writes of each location
    /// without the initial one; leave it empty for an equivalence that does not see co.
    pub fn from_parts(
        events: impl IntoIterator<Item = (EventId, Label)>,
        rf: impl IntoIterator<Item = (EventId, EventId)>,
        co: impl IntoIterator<Item = (Location, Vec<EventId>)>,
    ) -> CanonicalKey {
        let mut events: Vec<_> = events.into_iter().collect();
        let mut rf: Vec<_> = rf.into_iter().collect();
        let mut co: Vec<_> = co.into_iter().filter(|(_, writes)| !writes.is_empty()).collect();
        events.sort_unstable_by_key(|(id, _)| *id);
        rf.sort_unstable();
        co.sort_unstable();
        CanonicalKey { events, rf, co }
    }

    /// The key under the equivalence that sees co, or under the one that does not.
    pub fn of(graph: &ExecutionGraph, with_co: bool) -> CanonicalKey {
        let id = |ev: Ev| graph.event(ev).id;
        let reads = graph.all().filter(|&ev| graph.event(ev).rf.is_some());
        let co = graph.locations.iter().filter(|_| with_co);
        CanonicalKey::from_parts(
            graph.all().map(|ev| (id(ev), graph.event(ev).label)),
            reads.map(|read| (id(read), id(graph.rf(read)))),
            co.map(|loc| (loc.location, loc.co.iter().map(|&w| id(w)).collect())),
        )
    }

    /// The events with their labels, by id.
    pub fn events(&self) -> &[(EventId, Label)] {
        &self.events
    }

    /// (read, source) pairs.
    pub fn rf(&self) -> &[(EventId, EventId)] {
        &self.rf
    }

    /// The writes of each location in co order, without the initial one.
    pub fn co(&self) -> &[(Location, Vec<EventId>)] {
        &self.co
    }
}
