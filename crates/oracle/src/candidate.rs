//! A choice of one trace per thread: the event structure of candidate executions.
//!
//! Events are numbered: first one initial write per location, then the memory accesses and fences of
//! each thread in program order. Choices and other events that no model knows are left out. An access of several
//! pieces is one event for each of them, with the same id ([`pieces`](crate::pieces)).

use crate::Trace;
use crate::pieces::{self, Pieces};
use porf_event::{
    Access, Dependencies, EventId, Label, Location, RmwKind, ThreadId, Value, no_access, silent,
};
use porf_ir::Program;
use smallvec::SmallVec;

/// The events of a choice of traces; rf and co are still open.
#[derive(Clone, Debug)]
pub struct Candidate<'t> {
    /// By number.
    pub events: Vec<CandidateEvent<'t>>,
    /// The location of each initial write: event `i` initialises `locations[i]`.
    pub locations: Vec<Location>,
    /// Whether some access is several events.
    pub is_mixed: bool,
    /// One for each thread.
    pub traces: Vec<&'t Trace>,
    /// Pairs of the read and the write of a read-modify-write.
    pub rmw: Vec<(usize, usize)>,
}

/// An event of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct CandidateEvent<'t> {
    /// Its thread and its position there. Events of one access have the same.
    pub id: EventId,
    /// What it does.
    pub label: Label,
    /// `None` for initial writes.
    pub dependencies: Option<&'t Dependencies>,
    /// Index into `Candidate::locations`, for accesses.
    pub location: Option<usize>,
}

impl<'t> Candidate<'t> {
    pub(crate) fn new(program: &Program, traces: &[&'t Trace], cuts: &Pieces) -> Candidate<'t> {
        let mut accesses: Vec<Access> = Vec::new();
        for (label, _) in traces.iter().flat_map(|trace| trace.events.iter()) {
            if let Some(access) = label.access() {
                accesses.extend(cuts.of(access));
            }
        }
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
        let (mut rmw, mut is_mixed) = (Vec::new(), false);
        for (thread, trace) in traces.iter().enumerate() {
            let mut open_reads: SmallVec<[usize; 4]> = SmallVec::new();
            for (index, (label, dependencies)) in trace.events.iter().enumerate() {
                let id = EventId::new(ThreadId(thread as u16), index as u32);
                let dependencies = Some(dependencies);
                let access = match label {
                    Label::Read { access, .. } | Label::Write { access, .. } => *access,
                    Label::Fence { .. } => {
                        events.push(CandidateEvent { id, label: *label, dependencies, location: None });
                        continue;
                    }
                    // Threads that are created at run time were refused before.
                    silent!() | Label::Create { .. } | Label::Join { .. } => continue,
                };
                let first = events.len();
                for piece in cuts.of(access) {
                    let location = locations.binary_search(&piece.location).expect("collected above");
                    let label = pieces::label(label, piece);
                    events.push(CandidateEvent { id, label, dependencies, location: Some(location) });
                }
                let numbers = first..events.len();
                is_mixed |= numbers.len() > 1;
                if label.rmw().is_pair() {
                    match label {
                        Label::Read { .. } => open_reads = numbers.collect(),
                        Label::Write { .. } => {
                            let reads = std::mem::take(&mut open_reads);
                            rmw.extend(
                                reads.iter().flat_map(|&read| numbers.clone().map(move |w| (read, w))),
                            );
                        }
                        no_access!() => {}
                    }
                }
            }
        }
        Candidate { events, locations, is_mixed, traces: traces.to_vec(), rmw }
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

    /// The number of an event; of one of them if the access has several.
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
