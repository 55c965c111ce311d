//! A choice of one trace per thread: the event structure of candidate executions.
//!
//! Events are numbered: first one initial write per location, then the memory accesses and fences of
//! each thread in program order. Choices and other events that no model knows are left out.

use crate::Trace;
use porf_event::{Dependencies, EventId, Label, Location, RmwKind, ThreadId, Value, no_access, silent};
use porf_ir::Program;

/// The events of a choice of traces; rf and co are still open.
#[derive(Clone, Debug)]
pub struct Candidate<'t> {
    /// By number.
    pub events: Vec<CandidateEvent<'t>>,
    /// The location of each initial write: event `i` initialises `locations[i]`.
    pub locations: Vec<Location>,
    /// One for each thread.
    pub traces: Vec<&'t Trace>,
    /// Pairs of the read and the write of a read-modify-write.
    pub rmw: Vec<(usize, usize)>,
}

/// An event of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct CandidateEvent<'t> {
    /// Its thread and its position there.
    pub id: EventId,
    /// What it does.
    pub label: Label,
    /// `None` for initial writes.
    pub dependencies: Option<&'t Dependencies>,
    /// Index into `Candidate::locations`, for accesses.
    pub location: Option<usize>,
}

impl<'t> Candidate<'t> {
    pub(crate) fn new(program: &Program, traces: &[&'t Trace]) -> Candidate<'t> {
        let mut accesses: Vec<_> = traces
            .iter()
            .flat_map(|trace| trace.events.iter())
            .filter_map(|(label, _)| label.access())
            .collect();
        accesses.sort();
        accesses.dedup_by_key(|access| access.location);
        let locations: Vec<Location> = accesses.iter().map(|access| access.location).collect();
        let mut events: Vec<CandidateEvent<'t>> = Vec::with_capacity(64);
        for (index, access) in accesses.iter().enumerate() {
            let value = program.initial_value(access.location.0, access.size);
            let label = Label::Write {
                access: *access,
                mode: porf_event::WriteMode::Plain,
                rmw: RmwKind::None,
                value,
            };
            events.push(CandidateEvent {
                id: EventId::new(ThreadId::INIT, index as u32),
                label,
                dependencies: None,
                location: Some(index),
            });
        }
        let mut rmw = Vec::new();
        for (thread, trace) in traces.iter().enumerate() {
            let mut open_read = None;
            for (index, (label, dependencies)) in trace.events.iter().enumerate() {
                let location = match label {
                    Label::Read { access, .. } | Label::Write { access, .. } => {
                        Some(locations.binary_search(&access.location).expect("collected above"))
                    }
                    Label::Fence { .. } => None,
                    // Threads that are created at run time were refused before.
                    silent!() | Label::Create { .. } | Label::Join { .. } => continue,
                };
                let number = events.len();
                if label.rmw().is_pair() {
                    match (label, open_read) {
                        (Label::Read { .. }, _) => open_read = Some(number),
                        (Label::Write { .. }, Some(read)) => {
                            rmw.push((read, number));
                            open_read = None;
                        }
                        (Label::Write { .. }, None) | (no_access!(), _) => {}
                    }
                }
                let id = EventId::new(ThreadId(thread as u16), index as u32);
                events.push(CandidateEvent { id, label: *label, dependencies: Some(dependencies), location });
            }
        }
        Candidate { events, locations, traces: traces.to_vec(), rmw }
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The number of initial writes, which come first.
    pub fn inits(&self) -> usize {
        self.locations.len()
    }

    /// The value that an event reads or writes, 0 for others.
    pub fn value(&self, event: usize) -> Value {
        self.events[event].label.value().unwrap_or(0)
    }

    /// The number of an event.
    pub fn number(&self, id: EventId) -> Option<usize> {
        // The threads come one after the other and their indices rise, so the events are sorted by id,
        // except for the initial writes: they come first but carry the greatest thread number.
        let rest = &self.events[self.inits()..];
        rest.binary_search_by_key(&id, |event| event.id).ok().map(|at| at + self.inits())
    }

    pub(crate) fn po(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.events[a].id, self.events[b].id);
        a.thread == b.thread && a.index < b.index && a.thread != ThreadId::INIT
    }
}
