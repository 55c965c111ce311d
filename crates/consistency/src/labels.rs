//! What several checkers ask about an event because of its label.

pub(crate) use porf_event::{no_access, silent};

use porf_event::Label;
use porf_graph::{Ev, Event, ExecutionGraph};

/// Whether an event is no open choice of the program, or has its first value.
#[inline]
pub(crate) fn has_first_value(event: &Event) -> bool {
    !matches!(event.label, Label::Choice { chosen, .. } if chosen != 0)
}

/// Up to reads-from: whether `b` is there when `a` is chosen canonically for the sake of the write `w`.
#[inline]
pub(crate) fn is_there(graph: &ExecutionGraph, a: Ev, w: Ev, b: Ev) -> bool {
    (b < a || graph.in_prefix(b, w)) && b != w
}

/// Up to reads-from: whether `a` was chosen canonically for the sake of the write `w`; `None` if that depends on
/// which write is the last one of those that are there.
#[inline]
pub(crate) fn canonical_without_order(graph: &ExecutionGraph, a: Ev, w: Ev) -> Option<bool> {
    let event = graph.event(a);
    match event.label {
        Label::Read { .. } if event.rf != Ev::INIT && !is_there(graph, a, w, event.rf) => Some(false),
        Label::Read { .. } => None,
        Label::Write { .. } => Some(true),
        no_access!() => Some(has_first_value(event)),
    }
}

/// The place in co of a write, or of what a read takes its value from.
#[inline]
pub(crate) fn place(graph: &ExecutionGraph, event: Ev) -> Option<u32> {
    let this = graph.event(event);
    match this.label {
        Label::Read { .. } => Some(graph.event(this.rf).co),
        Label::Write { .. } => Some(this.co),
        no_access!() => None,
    }
}
