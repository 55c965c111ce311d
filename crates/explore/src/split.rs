//! Read-modify-writes in whose middle their own thread writes to the same location.
//!
//! On some machines others may then write between the halves too, though not if the write in the middle is
//! missing: a part of a consistent graph need not be consistent.

use porf_graph::{Ev, ExecutionGraph};

/// Whether its thread writes between `write` and the read that it belongs to.
pub(crate) fn is_split(graph: &ExecutionGraph, write: Ev) -> bool {
    let this = graph.event(write);
    if !this.pair.is_some() {
        return false;
    }
    let (from, to) = (graph.event(this.pair).id.index as usize + 1, this.id.index as usize);
    let between = &graph.thread(this.id.thread).events()[from..to];
    between.iter().any(|&ev| graph.event(ev).label.is_write() && graph.event(ev).loc == this.loc)
}

/// Whether that is so of any write of its thread to its location.
pub(crate) fn has_split(graph: &ExecutionGraph, write: Ev) -> bool {
    let this = graph.event(write);
    let same = |&&ev: &&Ev| graph.event(ev).label.is_write() && graph.event(ev).loc == this.loc;
    graph.thread(this.id.thread).events().iter().filter(same).any(|&ev| is_split(graph, ev))
}
