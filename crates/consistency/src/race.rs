//! Data races: conflicting accesses, one of them non-atomic, that happens-before does not order.

use crate::hb::HappensBefore;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};

/// An older access that `event`, the newest of its thread with its source or place, races with.
///
/// Nothing happens after `event` yet, so that only one direction has to be looked at.
pub fn race<H: HappensBefore>(graph: &ExecutionGraph, event: Ev) -> Option<Ev> {
    let this = graph.event(event);
    if !matches!(this.label, Label::Read { .. } | Label::Write { .. }) || !graph.has_plain(this.loc) {
        return None;
    }
    let races = |&other: &Ev| {
        let that = graph.event(other);
        that.id.thread != this.id.thread
            && (that.label.is_plain() || this.label.is_plain())
            && !graph.clock_covers(H::HB, event, other)
    };
    let co = graph.co(this.loc);
    if let Some(&write) = co.iter().find(|write| races(write)) {
        return Some(write);
    }
    if this.label.is_read() {
        return None;
    }
    std::iter::once(&Ev::INIT)
        .chain(co)
        .find_map(|&source| graph.readers(source, this.loc).find(|read| races(read)))
}

/// Whether any two accesses to a location race, in a graph with all its clocks.
pub fn has_race(graph: &ExecutionGraph, loc: Loc, hb: usize) -> bool {
    if !graph.has_plain(loc) {
        return false;
    }
    let accesses: Vec<Ev> = graph
        .co(loc)
        .iter()
        .copied()
        .chain(
            std::iter::once(Ev::INIT)
                .chain(graph.co(loc).iter().copied())
                .flat_map(|w| graph.readers(w, loc)),
        )
        .collect();
    accesses.iter().enumerate().any(|(at, &a)| {
        accesses[..at].iter().any(|&b| {
            let (this, that) = (graph.event(a), graph.event(b));
            this.id.thread != that.id.thread
                && (this.label.is_write() || that.label.is_write())
                && (this.label.is_plain() || that.label.is_plain())
                && !graph.clock_covers(hb, a, b)
                && !graph.clock_covers(hb, b, a)
        })
    })
}
