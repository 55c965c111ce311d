//! Data races: conflicting accesses, one of them non-atomic, that happens-before does not order.
//!
//! Source: C11, 5.1.2.4. Cost: linear in the accesses to the location of an event.

use crate::hb::HappensBefore;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};

/// Whether an event is an access to a location that has plain accesses. No other event can race.
#[inline]
pub fn may_race(graph: &ExecutionGraph, event: Ev) -> bool {
    let this = graph.event(event);
    matches!(this.label, Label::Read { .. } | Label::Write { .. }) && graph.has_plain(this.loc)
}

/// The older accesses that `event`, the newest of its thread with its source or place, races with.
///
/// Nothing happens after `event` yet, so that only one direction has to be looked at.
pub fn races<H: HappensBefore>(graph: &ExecutionGraph, event: Ev) -> impl Iterator<Item = Ev> + '_ {
    let this = graph.event(event);
    let concerned = may_race(graph, event);
    let co = if concerned { graph.co(this.loc) } else { &[] };
    let writes = concerned && this.label.is_write();
    let sources = std::iter::once(&Ev::INIT).chain(co).take(if writes { usize::MAX } else { 0 });
    let readers = sources.flat_map(move |&source| graph.readers(source, this.loc));
    co.iter().copied().chain(readers).filter(move |&other| {
        let that = graph.event(other);
        that.id.thread != this.id.thread
            && (that.label.is_plain() || this.label.is_plain())
            && !graph.clock_covers(H::HB, event, other)
    })
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
