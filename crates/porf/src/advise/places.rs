//! The places of the user's text that have an ordering.

use crate::names;
use crate::trace::{StackFrame, Trace};
use porf_ir::{Change, MemoryOrder, Operation, Program, Site};
use porf_verdict::SourceLocation;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// An atomic access or a fence in the user's text, or a gap where a fence can go. Templates and inlined
/// functions make several instructions of one place; all of them have its ordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is; of a gap, where its access is.
    pub location: SourceLocation,
    /// What it does; a gap is a fence that is not there yet.
    pub operation: Operation,
    /// The ordering that the program gives it.
    pub order: MemoryOrder,
    /// Of a gap: on which side of which access.
    pub gap: Option<(Side, Operation)>,
    sites: Vec<Site>,
}

/// A side of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Right before it.
    Before,
    /// Right after it.
    After,
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
            let Some(location) = own(program, site) else { continue };
            let operation = site.operation;
            let entry = places
                .entry((location.clone(), operation))
                .or_insert_with(|| Some(Place { location, operation, order, gap: None, sites: Vec::new() }));
            match entry {
                Some(place) if place.order == order => place.sites.push(site),
                entry => *entry = None,
            }
        }
        places.into_values().flatten().collect()
    }

    /// The gaps before accesses, and after those that read, at the given locations.
    pub(super) fn gaps(program: &Program, at: &HashSet<&SourceLocation>) -> Vec<Place> {
        let mut gaps: BTreeMap<(SourceLocation, Side, Operation), Vec<Site>> = BTreeMap::new();
        for (site, _) in program.sites() {
            let Some(location) = own(program, site).filter(|location| at.contains(location)) else {
                continue;
            };
            let sides: &[Side] = match site.operation {
                Operation::Load | Operation::Update => &[Side::Before, Side::After],
                Operation::Store => &[Side::Before],
                Operation::Failure | Operation::Fence => &[],
            };
            for &side in sides {
                gaps.entry((location.clone(), side, site.operation)).or_default().push(site);
            }
        }
        let gap = |((location, side, beside), sites)| Place {
            location,
            operation: Operation::Fence,
            order: MemoryOrder::Relaxed,
            gap: Some((side, beside)),
            sites,
        };
        gaps.into_iter().map(gap).collect()
    }

    /// The instructions of this place; of a gap, those that it is beside.
    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// What gives this place an ordering.
    pub(super) fn set(&self, order: MemoryOrder) -> impl Iterator<Item = Change> + '_ {
        self.sites.iter().map(move |&site| match self.gap {
            None => Change::Order(site, order),
            Some((Side::Before, _)) => Change::Fence { function: site.function, before: site.at, order },
            Some((Side::After, _)) => Change::Fence { function: site.function, before: site.at + 1, order },
        })
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

    /// The ordering that the place gets, as its language names it.
    pub fn order_name(&self) -> &'static str {
        match self.place.location.file.ends_with(".rs") {
            true => self.order.rust_name(),
            false => self.order.name(),
        }
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Suggestion { place: Place { location, operation, gap, .. }, order } = self;
        let name = self.order_name();
        match (gap, operation, order) {
            (Some((side, beside)), ..) => {
                let side = if *side == Side::Before { "before" } else { "after" };
                write!(f, "a fence, {name}, {side} the {} at {location}", beside.word())
            }
            (None, Operation::Fence, MemoryOrder::Relaxed) => write!(f, "no fence at {location}"),
            _ => write!(f, "{name} for the {} at {location}", operation.word()),
        }
    }
}

/// Where a site is, if that is in the user's own text.
fn own(program: &Program, site: Site) -> Option<SourceLocation> {
    let span = program.function(site.function).spans[site.at as usize];
    let file = program.file(site.function).to_string();
    let location = SourceLocation { file, line: span.line, column: span.column };
    let frame = StackFrame { function: String::new(), location };
    (!names::is_library(&frame)).then_some(frame.location)
}

/// The places that an execution comes through.
pub(super) fn visited(trace: &Trace) -> HashSet<&SourceLocation> {
    trace.events.iter().flat_map(|event| &event.stack).map(|frame| &frame.location).collect()
}
