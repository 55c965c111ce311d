//! Errors with allocated memory that only the whole execution shows.
//!
//! The allocation of an object must happen before every access to it, an access must lie inside the
//! object, read something that was written, and happen before the object is freed; an object is freed
//! once. An address names its allocation ([`porf_ir::layout`]), so that only frees are searched for.
//!
//! Cost: O(frees) for an access; O(locations) and what accesses the object for a free.

use crate::history::{History, Tag};
use porf_event::{Access, EventId, Label};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::{FaultKind, layout};

/// What is wrong with an event, and the other event that makes it so.
pub(crate) struct MemoryError {
    pub kind: FaultKind,
    pub message: String,
    pub other: Ev,
}

/// What of an event may be wrong.
enum Subject {
    /// An access to allocated memory, and the allocation.
    Access(Access, EventId),
    /// A free of an address.
    Free(u64),
}

#[inline]
fn subject(label: &Label) -> Option<Subject> {
    match label {
        Label::Read { access, .. } | Label::Write { access, .. } => {
            layout::allocation(access.location.0).map(|made| Subject::Access(*access, made))
        }
        Label::Free { location } => Some(Subject::Free(location.0)),
        Label::Init
        | Label::Fence { .. }
        | Label::Create { .. }
        | Label::Join { .. }
        | Label::End
        | Label::Alloc { .. }
        | Label::Choice { .. }
        | Label::Block { .. } => None,
    }
}

/// Whether an event may be wrong: an access to allocated memory, or a free.
#[inline]
pub(crate) fn concerns(label: &Label) -> bool {
    subject(label).is_some()
}

/// Looks at an event that has its source or place; `before`: whether one event happens before another.
///
/// An access has at most one error. A free has one for each access that it is not ordered with.
///
/// All of an execution is right if this was asked of each event when it was the newest, or of all at the end.
#[inline]
pub(crate) fn check(graph: &ExecutionGraph, event: Ev, before: &impl Fn(Ev, Ev) -> bool) -> Vec<MemoryError> {
    match subject(&graph.event(event).label) {
        None => Vec::new(),
        Some(Subject::Access(access, made)) => {
            check_access(graph, event, access, made, before).into_iter().collect()
        }
        Some(Subject::Free(address)) => check_free(graph, event, address, before),
    }
}

/// Whether an error is none, because of what the access is for: it only moves bytes, which may never have been
/// written; or the thread leaves a barrier or a condition variable, and whoever destroys that waits for it.
/// `before` gives the state of a thread before an event.
pub(crate) fn is_excused(
    graph: &ExecutionGraph,
    history: &History<'_>,
    error: &MemoryError,
    event: Ev,
    before: impl Fn(Ev) -> Tag,
) -> bool {
    match error.kind {
        FaultKind::Uninitialised => {
            let before = before(event);
            history.only_moves(before) || history.only_fetches(before)
        }
        FaultKind::UseAfterFree => {
            let access = match graph.event(event).label {
                Label::Free { .. } => error.other,
                _ => event,
            };
            !graph.event(access).label.is_plain() && history.only_moves(before(access))
        }
        _ => false,
    }
}

fn check_access(
    graph: &ExecutionGraph,
    event: Ev,
    access: Access,
    allocation: EventId,
    before: &impl Fn(Ev, Ev) -> bool,
) -> Option<MemoryError> {
    let address = access.location.0;
    let Some((made, start, size)) = allocated(graph, allocation) else {
        let message = format!("access through {address:#x}, where nothing was allocated");
        return error(FaultKind::BadAddress, message, Ev::NONE);
    };
    if !before(made, event) {
        let message = "access to memory whose allocation does not happen before it".to_string();
        return error(FaultKind::BadAddress, message, made);
    }
    if address < start || address + u64::from(access.size) > start + size {
        let offset = address as i64 - start as i64;
        let bytes = access.size;
        let message = format!("access of {bytes} bytes at offset {offset} of an object of {size} bytes");
        return error(FaultKind::OutOfBounds, message, made);
    }
    if let Some(free) = frees(graph, allocation).filter(|&free| !before(event, free)).last() {
        let message = if before(free, event) {
            "access to memory that was freed"
        } else {
            "access to memory that another thread frees at the same time"
        };
        return error(FaultKind::UseAfterFree, message.to_string(), free);
    }
    if graph.event(event).label.is_read()
        && graph.rf(event) == Ev::INIT
        && layout::starts_uninitialised(address)
    {
        let message = "read of memory that was never written".to_string();
        return error(FaultKind::Uninitialised, message, made);
    }
    None
}

fn check_free(
    graph: &ExecutionGraph,
    event: Ev,
    address: u64,
    before: &impl Fn(Ev, Ev) -> bool,
) -> Vec<MemoryError> {
    let bad = |message: String, other: Ev| vec![MemoryError { kind: FaultKind::BadFree, message, other }];
    let found = layout::allocation(address).and_then(|allocation| {
        allocated(graph, allocation).map(|(made, start, _)| (allocation, made, start))
    });
    let Some((allocation, made, start)) = found else {
        return bad("free of an address that was not allocated".to_string(), Ev::NONE);
    };
    if address != start {
        let inside = address as i64 - start as i64;
        return bad(format!("free of an address {inside} bytes inside an object"), made);
    }
    if !before(made, event) {
        return bad("free of memory whose allocation does not happen before it".to_string(), made);
    }
    if let Some(first) = frees(graph, allocation).filter(|free| *free != event).last() {
        return bad("memory is freed twice".to_string(), first);
    }
    let is_inside = |loc: &Loc| layout::allocation(graph.location(*loc).0) == Some(allocation);
    let cells = (0..graph.location_count() as u32).map(Loc).filter(is_inside);
    let mut unordered: Vec<Ev> =
        cells.flat_map(|loc| graph.accesses(loc)).filter(|&other| !before(other, event)).collect();
    unordered.sort_unstable();
    let wrong = |other: Ev| MemoryError {
        kind: FaultKind::UseAfterFree,
        message: "memory is freed while another thread uses it".to_string(),
        other,
    };
    unordered.into_iter().map(wrong).collect()
}

/// The event that made an object, with the object's address and size.
fn allocated(graph: &ExecutionGraph, allocation: EventId) -> Option<(Ev, u64, u64)> {
    let made = graph.find(allocation)?;
    let Label::Alloc { location, size } = graph.event(made).label else { return None };
    Some((made, location.0, size))
}

/// The events that free an object, newest first.
pub(crate) fn frees(graph: &ExecutionGraph, allocation: EventId) -> impl Iterator<Item = Ev> + '_ {
    graph.frees().filter(move |&other| {
        let label = graph.event(other).label;
        matches!(label, Label::Free { location } if layout::allocation(location.0) == Some(allocation))
    })
}

fn error(kind: FaultKind, message: String, other: Ev) -> Option<MemoryError> {
    Some(MemoryError { kind, message, other })
}
