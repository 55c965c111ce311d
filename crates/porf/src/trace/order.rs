//! The order in which an execution is told.

use super::TraceEvent;
use porf_event::{EventId, Label, silent};
use std::collections::HashMap;

/// Orders events, given in the order in which they were found, and says whether the order is an interleaving.
///
/// If po, rf, co and fr have no cycle, the order extends them: each read comes after the write that it reads from and
/// before the one that overwrites it. If they have one, each event still comes after what it reads from, is started by
/// or waits for. Where no event is free to come next, as in load buffering, the oldest does. Threads run on for as
/// long as they can.
pub(super) fn explained(found: Vec<TraceEvent>, co: Option<&[Vec<EventId>]>) -> (Vec<TraceEvent>, bool) {
    let after = before_of(&found);
    if let Some(co) = co
        && let Some(order) = linear(&found, &with_co(after.clone(), &found, co), false)
    {
        return (arranged(found, &order), true);
    }
    let order = linear(&found, &after, true).unwrap_or_default();
    (arranged(found, &order), false)
}

/// For each event, by its place, the events that come before it.
type Before = Vec<Vec<usize>>;

/// po between threads, and rf. po within a thread is the order of its events.
fn before_of(found: &[TraceEvent]) -> Before {
    let places = places(found);
    let mut before: Before = vec![Vec::new(); found.len()];
    for (at, event) in found.iter().enumerate() {
        if let Some(&source) = event.rf.as_ref().and_then(|source| places.get(source)) {
            before[at].push(source);
        }
        let of_child = |child| found.iter().enumerate().filter(move |(_, other)| other.id.thread == child);
        match event.label {
            Label::Create { child } => of_child(child).for_each(|(other, _)| before[other].push(at)),
            Label::Join { child } => before[at].extend(of_child(child).map(|(other, _)| other)),
            Label::Read { .. } | Label::Write { .. } | Label::Fence { .. } | silent!() => {}
        }
    }
    before
}

/// And co, and fr.
fn with_co(mut before: Before, found: &[TraceEvent], co: &[Vec<EventId>]) -> Before {
    let places = places(found);
    let mut readers: HashMap<EventId, Vec<usize>> = HashMap::new();
    // Readers of an initial write, by location.
    let mut early: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, event) in found.iter().enumerate() {
        match (event.rf, event.label.access()) {
            (Some(EventId::INIT), Some(access)) => early.entry(access.location.0).or_default().push(at),
            (Some(source), _) => readers.entry(source).or_default().push(at),
            _ => {}
        }
    }
    let none = Vec::new();
    for order in co {
        let mut last: Option<EventId> = None;
        for &write in order {
            let Some(&at) = places.get(&write) else { continue };
            let of_init = || found[at].label.access().and_then(|access| early.get(&access.location.0));
            let overwritten = last.map_or_else(of_init, |last| readers.get(&last)).unwrap_or(&none);
            before[at].extend(overwritten.iter().copied().filter(|&read| read != at));
            before[at].extend(last.and_then(|last| places.get(&last)));
            last = Some(write);
        }
    }
    before
}

fn places(found: &[TraceEvent]) -> HashMap<EventId, usize> {
    found.iter().enumerate().map(|(at, event)| (event.id, at)).collect()
}

/// The places of the events in the new order; `None` if there is none, unless it may be `forced`.
fn linear(found: &[TraceEvent], before: &Before, forced: bool) -> Option<Vec<usize>> {
    let mut threads: Vec<Vec<usize>> = Vec::new();
    for (at, event) in found.iter().enumerate() {
        let thread = event.id.thread.as_usize();
        if threads.len() <= thread {
            threads.resize(thread + 1, Vec::new());
        }
        threads[thread].push(at);
    }
    let mut next = vec![0; threads.len()];
    let mut done = vec![false; found.len()];
    let mut order = Vec::with_capacity(found.len());
    let mut current = 0;
    while order.len() < found.len() {
        let heads = threads.iter().zip(&next).enumerate();
        let heads = heads.filter_map(|(thread, (events, &next))| Some((thread, *events.get(next)?)));
        let waits = |at: usize| before[at].iter().any(|&earlier| !done[earlier]);
        let (thread, at) = heads.min_by_key(|&(thread, at)| (waits(at), thread != current, at))?;
        if waits(at) && !forced {
            return None;
        }
        done[at] = true;
        next[thread] += 1;
        current = thread;
        order.push(at);
    }
    Some(order)
}

fn arranged(found: Vec<TraceEvent>, order: &[usize]) -> Vec<TraceEvent> {
    let mut found: Vec<Option<TraceEvent>> = found.into_iter().map(Some).collect();
    order.iter().filter_map(|&at| found[at].take()).collect()
}
