//! The choices that an event has, co-latest first.

use super::Weaver;
use crate::error::Error;
use porf_consistency::Checker;
use porf_event::{EventId, Label};
use porf_graph::{Ev, ExecutionGraph, Partial};

impl<C: Checker> Weaver<'_, C> {
    /// Gives an event a choice. Whether the graph is consistent then.
    pub(super) fn choose(&mut self, event: Ev, choice: u32) -> Result<bool, Error> {
        match self.partial.graph.event(event).label {
            Label::Read { .. } => {
                self.read_from(event, Ev(choice))?;
                self.consistent_now(event)
            }
            Label::Choice { options, .. } => {
                let EventId { thread, index } = self.partial.graph.event(event).id;
                self.partial.graph.set_label(event, Label::Choice { options, chosen: choice }, 0);
                self.partial.settle(thread, index);
                self.forward(thread)?;
                Ok(true)
            }
            Label::Write { .. } => {
                self.unplace(event);
                self.partial.graph.place(event, choice);
                self.consistent_now(event)
            }
            _ => Ok(true),
        }
    }
}

/// All writes that a read could take its value from, co-latest first.
pub(super) fn sources(partial: &Partial, read: Ev) -> Vec<Ev> {
    let co = partial.graph.co(partial.graph.event(read).loc);
    co.iter().rev().copied().chain([Ev::INIT]).collect()
}

/// The places that a write without one could have, co-latest first.
pub(super) fn places(partial: &Partial, write: Ev) -> Vec<u32> {
    let graph = &partial.graph;
    let event = graph.event(write);
    let co = graph.co(event.loc);
    if !event.pair.is_some() {
        return (1..=co.len() as u32 + 1).rev().collect();
    }
    // ATOM: only own earlier writes may come between the source and the write.
    let after = graph.event(graph.rf(event.pair)).co;
    let own = |w: &&Ev| is_before(partial, **w, event.id);
    let between = co[after as usize..].iter().take_while(own).count() as u32;
    (after + 1..=after + 1 + between).rev().collect()
}

/// Whether a thread writes a location between its load-linked and its store-conditional: on Arm others may then
/// write there too, though not if that write is missing, and a part of a consistent graph need not be so.
pub(crate) fn is_split(graph: &ExecutionGraph, write: Ev) -> bool {
    let this = graph.event(write);
    let events = graph.thread(this.id.thread).events();
    let writes = |ev: &Ev| graph.event(*ev).label.is_write() && graph.event(*ev).loc == this.loc;
    events.iter().filter(|&&ev| writes(&ev) && graph.event(ev).pair.is_some()).any(|&ev| {
        let from = graph.event(graph.event(ev).pair).id.index as usize;
        events[from..graph.event(ev).id.index as usize].iter().any(writes)
    })
}

fn is_before(partial: &Partial, event: Ev, than: EventId) -> bool {
    let id = partial.graph.event(event).id;
    id.thread == than.thread && id.index < than.index
}
