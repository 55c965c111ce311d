//! Which events of an execution are worth a line.
//!
//! Three kinds of events explain nothing: a thread's dealings with objects of the heap or a stack that no other
//! thread of the execution touches; non-atomic accesses and allocations that a library makes on its behalf; and the
//! accesses by which Rust's std starts and ends threads, counts panics and the like. Three or more of them in a row,
//! or any that happen nowhere in the user's code, become one line that says how many.

use porf::names::is_library;
use porf::trace::{Trace, TraceEvent};
use porf_event::{EventId, Label, RmwKind, ThreadId};
use porf_ir::layout;
use std::collections::{HashMap, HashSet};

/// A line.
pub(crate) enum Row<'t> {
    Event(&'t TraceEvent),
    Folded { thread: ThreadId, events: &'t [TraceEvent] },
}

/// Fewer events than this are shown rather than counted.
const WORTH_IT: usize = 3;

/// The lines of an execution.
pub(crate) fn fold<'t>(trace: &'t Trace, marked: &[EventId]) -> Vec<Row<'t>> {
    let mut owner: HashMap<EventId, Option<ThreadId>> = HashMap::new();
    for event in &trace.events {
        if let Some(object) = object(event) {
            let thread = event.id.thread;
            let known = owner.entry(object).or_insert(Some(thread));
            *known = known.filter(|known| *known == thread);
        }
    }
    let explains_nothing = |event: &TraceEvent| {
        let own = object(event).is_some_and(|object| owner[&object].is_some());
        !marked.contains(&event.id) && (own || is_plumbing(event) || is_inside_std(event))
    };
    let mut rows = Vec::new();
    let mut rest = trace.events.as_slice();
    while let Some(first) = rest.first() {
        let same = |event: &&TraceEvent| event.id.thread == first.id.thread && explains_nothing(event);
        let run = rest.iter().take_while(same).count();
        let nowhere = run > 0 && rest[..run].iter().all(|event| event.source().is_none_or(is_library));
        let taken = if run >= WORTH_IT || nowhere {
            rows.push(Row::Folded { thread: first.id.thread, events: &rest[..run] });
            run
        } else {
            rows.extend(rest[..run.max(1)].iter().map(Row::Event));
            run.max(1)
        };
        rest = &rest[taken..];
    }
    rows
}

/// The events that have no line of their own.
pub(crate) fn folded(trace: &Trace, marked: &[EventId]) -> HashSet<EventId> {
    let hidden = fold(trace, marked).into_iter().filter_map(|row| match row {
        Row::Event(_) => None,
        Row::Folded { events, .. } => Some(events),
    });
    hidden.flatten().map(|event| event.id).collect()
}

/// Whether it is the inside of a library: of a container, of the start of a thread.
fn is_plumbing(event: &TraceEvent) -> bool {
    let plain = match event.label {
        Label::Read { mode, rmw, .. } => !mode.is_atomic() && rmw == RmwKind::None,
        Label::Write { mode, rmw, .. } => !mode.is_atomic() && rmw == RmwKind::None,
        Label::Alloc { .. } | Label::Free { .. } => true,
        _ => false,
    };
    plain && event.stack.first().is_none_or(is_library)
}

/// Whether it is Rust's std at its own business: with its own variables, with threads, or outside of the
/// user's code. Only that threads start and end is worth telling.
fn is_inside_std(event: &TraceEvent) -> bool {
    if matches!(event.label, Label::Create { .. } | Label::Join { .. }) {
        return false;
    }
    let own = event.stack.iter().position(|frame| !is_library(frame));
    let inside = &event.stack[..own.unwrap_or(event.stack.len())];
    let is_std = |frame: &porf::trace::StackFrame| frame.location.file.starts_with("/rustc/");
    event.location.starts_with("std::")
        || own.is_none() && inside.iter().any(is_std)
        || inside.iter().any(|frame| is_std(frame) && frame.function.contains("std::thread::"))
}

/// The allocated object that an event deals with.
fn object(event: &TraceEvent) -> Option<EventId> {
    match event.label {
        Label::Read { access, .. } | Label::Write { access, .. } => layout::allocation(access.location.0),
        Label::Alloc { location, .. } | Label::Free { location } => layout::allocation(location.0),
        _ => None,
    }
}
