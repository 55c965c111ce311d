//! A cycle of a relation: the reason why it is not acyclic.

use std::fmt;

/// Events each related to the next, the last to the first. A single event is a self-loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cycle {
    events: Vec<usize>,
}

impl Cycle {
    pub(crate) fn new(events: Vec<usize>) -> Self {
        debug_assert!(!events.is_empty());
        Self { events }
    }

    /// The events in order, each once.
    pub fn events(&self) -> &[usize] {
        &self.events
    }

    /// The number of edges, which is the number of events.
    pub fn length(&self) -> usize {
        self.events.len()
    }

    /// The edges, starting at the first event and ending at it.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let next = self.events.iter().cycle().skip(1);
        self.events.iter().copied().zip(next.copied())
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.events {
            write!(f, "{event} -> ")?;
        }
        write!(f, "{}", self.events[0])
    }
}
