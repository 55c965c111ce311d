//! The places of the user's text that have an ordering.

use crate::names;
use crate::trace::{StackFrame, Trace};
use porf_ir::{Change, MemoryOrder, Operation, Program, Site};
use porf_verdict::SourceLocation;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// An atomic access or a fence in the user's text. Templates and inlined functions make several
/// instructions of one place; all of them have its ordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub location: SourceLocation,
    /// What it does.
    pub operation: Operation,
    /// The ordering that the program gives it.
    pub order: MemoryOrder,
    sites: Vec<Site>,
}

/// Another ordering for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The place.
    pub place: Place,
    /// The ordering that it gets.
    pub order: MemoryOrder,
}

impl Place {
    /// The places of a program, in the order of its text. What belongs to a library is left out, and so is
    /// a place whose ordering depends on the run.
    pub fn all(program: &Program) -> Vec<Place> {
        let mut places: BTreeMap<(SourceLocation, Operation), Option<Place>> = BTreeMap::new();
        for (site, order) in program.sites() {
            let span = program.function(site.function).spans[site.at as usize];
            let file = program.file(site.function).to_string();
            let location = SourceLocation { file, line: span.line, column: span.column };
            let operation = site.operation;
            if names::is_library(&StackFrame { function: String::new(), location: location.clone() }) {
                continue;
            }
            let entry = places
                .entry((location.clone(), operation))
                .or_insert_with(|| Some(Place { location, operation, order, sites: Vec::new() }));
            match entry {
                Some(place) if place.order == order => place.sites.push(site),
                entry => *entry = None,
            }
        }
        places.into_values().flatten().collect()
    }

    /// The instructions of this place.
    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// What gives this place an ordering.
    pub(super) fn set(&self, order: MemoryOrder) -> impl Iterator<Item = Change> + '_ {
        self.sites.iter().map(move |&site| Change::Order(site, order))
    }

    /// The orderings that are stronger than the present one, weakest first.
    pub fn stronger(&self) -> impl DoubleEndedIterator<Item = MemoryOrder> + use<> {
        let present = self.order;
        self.operation.orders().iter().copied().filter(move |order| present.is_weaker_than(*order))
    }

    /// The orderings that are weaker than the present one, weakest first.
    pub fn weaker(&self) -> impl DoubleEndedIterator<Item = MemoryOrder> + use<> {
        let present = self.order;
        self.operation.orders().iter().copied().filter(move |order| order.is_weaker_than(present))
    }
}

impl Suggestion {
    /// What makes a program obey it: see [`Program::with`].
    pub fn changes(&self) -> Vec<Change> {
        self.place.set(self.order).collect()
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Suggestion { place: Place { location, operation, .. }, order } = self;
        match (operation, order) {
            (Operation::Fence, MemoryOrder::Relaxed) => write!(f, "no fence at {location}"),
            _ => write!(f, "{order} for the {} at {location}", operation.word()),
        }
    }
}

/// The places that an execution comes through.
pub(super) fn visited(trace: &Trace) -> HashSet<&SourceLocation> {
    trace.events.iter().flat_map(|event| &event.stack).map(|frame| &frame.location).collect()
}
