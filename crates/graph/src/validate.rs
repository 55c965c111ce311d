//! Well-formedness of execution graphs.
//!
//! - Threads list their events by index, and nothing else.
//! - Every read that has a source has one of the same location and value (a write or the initial
//!   one), and is in that source's list of readers exactly once.
//! - co holds writes of its location only, each once, and each write knows its place.
//! - The write of a read-modify-write has its read before it in the same thread.
//! - The list of frees has all of them, newest first.
//! - Insertion order respects po.
//! - porf clocks are exact and porf has no cycle.

use crate::{Ev, ExecutionGraph, Loc};
use porf_event::{EventId, Label, no_access};

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// `initial` gives the initial value of a location.
pub fn validate(graph: &ExecutionGraph, initial: impl Fn(Loc) -> u64) -> Result<(), Malformed> {
    let fail = |ev: Ev, what: String| Err(Malformed(format!("{} ({ev:?}): {what}", graph.event(ev).id)));
    let mut seen = 0;
    for (number, thread) in graph.threads().iter().enumerate() {
        let mut last = Ev::INIT;
        for (index, &ev) in thread.events().iter().enumerate() {
            if !ev.is_some() {
                continue;
            }
            seen += 1;
            let EventId { thread, index: claimed } = graph.event(ev).id;
            if (thread.as_usize(), claimed as usize) != (number, index) {
                return fail(ev, format!("stands at T{number}.{index}"));
            }
            if ev < last {
                return fail(ev, "is older than its po-predecessor".into());
            }
            last = ev;
        }
    }
    if seen + 1 != graph.len() {
        return fail(Ev::INIT, format!("{} events, {seen} in threads", graph.len() - 1));
    }
    for ev in graph.all() {
        let event = graph.event(ev);
        match event.label {
            Label::Read { value, .. } if event.rf.is_some() => {
                let source = graph.event(event.rf);
                let written = if event.rf == Ev::INIT {
                    initial(event.loc)
                } else {
                    if !source.label.is_write() || source.loc != event.loc {
                        return fail(ev, format!("reads from {}", source.id));
                    }
                    source.label.value().unwrap_or(0)
                };
                if written != value {
                    return fail(ev, format!("reads {value}, but {} wrote {written}", source.id));
                }
                if graph.readers(event.rf, event.loc).filter(|&r| r == ev).count() != 1 {
                    return fail(ev, "is not once among the readers of its source".into());
                }
            }
            Label::Write { rmw, .. } => {
                if event.co != ExecutionGraph::UNPLACED
                    && graph.co(event.loc).get(event.co as usize - 1) != Some(&ev)
                {
                    return fail(ev, format!("is not at its place {} of co", event.co));
                }
                if rmw.is_pair() && graph.event(event.pair).id.thread != event.id.thread {
                    return fail(ev, "has no read of its own".into());
                }
            }
            Label::Read { .. } | no_access!() => {}
        }
    }
    let frees = graph.all().rev().filter(|&ev| matches!(graph.event(ev).label, Label::Free { .. }));
    if !graph.frees().eq(frees) {
        return fail(Ev::INIT, "the list of frees is wrong".into());
    }
    for loc in (0..graph.location_count() as u32).map(Loc) {
        for (at, &write) in graph.co(loc).iter().enumerate() {
            if graph.event(write).co as usize != at + 1 || graph.event(write).loc != loc {
                return fail(write, "stands in co where it does not belong".into());
            }
        }
    }
    check_porf(graph)
}

/// Recomputes porf by search and compares.
fn check_porf(graph: &ExecutionGraph) -> Result<(), Malformed> {
    for ev in graph.all() {
        let mut below = vec![false; graph.len()];
        let mut work = preds(graph, ev);
        while let Some(pred) = work.pop() {
            if pred == ev {
                return Err(Malformed(format!("{}: porf has a cycle", graph.event(ev).id)));
            }
            if !std::mem::replace(&mut below[pred.as_usize()], true) {
                work.extend(preds(graph, pred));
            }
        }
        for other in graph.all().filter(|&other| other != ev) {
            if graph.in_prefix(other, ev) != below[other.as_usize()] {
                let (a, b) = (graph.event(other).id, graph.event(ev).id);
                return Err(Malformed(format!("the porf clock of {b} is wrong about {a}")));
            }
        }
    }
    Ok(())
}

fn preds(graph: &ExecutionGraph, ev: Ev) -> Vec<Ev> {
    if ev == Ev::INIT {
        return Vec::new();
    }
    let event = graph.event(ev);
    let mut preds = vec![graph.po_pred(ev)];
    if event.rf.is_some() {
        preds.push(event.rf);
    }
    if let Label::Join { child } = event.label {
        preds.extend(graph.thread_end(child));
    }
    preds
}
