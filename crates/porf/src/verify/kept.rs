//! The violations that a search keeps: the smallest, or with `--all` the smallest of each kind and place.
//!
//! An execution with fewer threads, or with as many threads and fewer events, replaces a larger one. A violation
//! in which something goes wrong replaces one in which something does not happen (a deadlock, a loop that never
//! ends).

use crate::answer::{Found, Shown, source};
use crate::trace::StackFrame;
use porf_explore::Task;
use porf_verdict::{SourceLocation, Violation, ViolationKind};

/// What tells one violation from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    kind: ViolationKind,
    /// In the order of the text: the two accesses of a race, every thread of a deadlock; one otherwise.
    at: Vec<SourceLocation>,
    /// What happens, if that is all that is known.
    message: String,
}

impl Place {
    /// `at`: the calls that lead to each part of the violation.
    pub fn new(kind: ViolationKind, at: &[Vec<StackFrame>], message: &str) -> Place {
        let places = at.iter().filter_map(|calls| source(calls));
        let mut at: Vec<SourceLocation> = places.map(|frame| frame.location.clone()).collect();
        at.sort();
        at.dedup();
        let message = if at.is_empty() { message.to_string() } else { String::new() };
        Place { kind, at, message }
    }
}

/// How good a witness is: the smaller, the better.
type Rank = (bool, (usize, usize));

#[derive(Default)]
pub(super) struct Kept {
    list: Vec<Entry>,
}

struct Entry {
    rank: Rank,
    /// `None` if only one violation is kept.
    place: Option<Place>,
    found: Found,
    /// The execution that shows it, for a checkpoint.
    task: Option<Task>,
}

/// Where a violation that is worth keeping goes.
pub(super) struct Slot {
    at: usize,
    rank: Rank,
    place: Option<Place>,
}

impl Kept {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where a violation goes, if it is new or its execution smaller than the one that shows it so far.
    /// `place` is given if those at other places are kept too.
    pub fn slot(&self, kind: ViolationKind, size: (usize, usize), place: Option<Place>) -> Option<Slot> {
        let waits = matches!(kind, ViolationKind::Deadlock | ViolationKind::Liveness);
        let rank = (waits, size);
        let at = match self.list.iter().position(|entry| entry.place == place) {
            Some(known) if self.list[known].rank <= rank => return None,
            Some(known) => known,
            None => self.list.len(),
        };
        Some(Slot { at, rank, place })
    }

    pub fn put(&mut self, slot: Slot, kind: ViolationKind, message: String, shown: Shown, task: Task) {
        let location = |stack: &[StackFrame]| source(stack).map(|frame| frame.location.clone());
        let related = shown
            .related
            .iter()
            .filter_map(|one| location(&one.stack).map(|place| (one.message.clone(), place)))
            .collect();
        let violation = Violation { kind, message, location: location(&shown.stack), related };
        let found = Found { violation, shown: Some(shown) };
        let entry = Entry { rank: slot.rank, place: slot.place, found, task: Some(task) };
        if slot.at < self.list.len() {
            self.list[slot.at] = entry;
        } else {
            self.list.push(entry);
        }
    }

    /// A violation that no execution shows.
    pub fn put_alone(&mut self, violation: Violation) {
        let found = Found { violation, shown: None };
        self.list.push(Entry { rank: Rank::default(), place: None, found, task: None });
    }

    /// The executions that show what was found.
    pub fn tasks(&self) -> Vec<Task> {
        self.list.iter().filter_map(|entry| entry.task.clone()).collect()
    }

    /// The best witness first.
    pub fn into_found(mut self) -> Vec<Found> {
        self.list.sort_by(|one, other| (one.rank, &one.place).cmp(&(other.rank, &other.place)));
        self.list.into_iter().map(|entry| entry.found).collect()
    }
}
