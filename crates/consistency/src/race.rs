//! Data races: conflicting accesses, one of them non-atomic, that happens-before does not order.

use crate::hb::HappensBefore;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph};

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
            && (is_plain(&that.label) || is_plain(&this.label))
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

fn is_plain(label: &Label) -> bool {
    match label {
        Label::Read { mode, .. } => !mode.is_atomic(),
        Label::Write { mode, .. } => !mode.is_atomic(),
        _ => false,
    }
}
