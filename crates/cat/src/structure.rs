//! What a model is evaluated on: the fixed part of an execution.

use porf_relation::{EventSet, Relation};

use crate::node::Kind;

/// The events of one execution and the sets and relations among them that do not depend on rf and co.
///
/// Names are herd's. What must be there: the sets `R`, `W`, `IW` (one initial write for each location, an event
/// like any other, in no thread) and the relations `po`, `loc`, `int`, `ext`. Everything else that is left out
/// has a default, mostly the empty set: see `defaults.rs`. `rf`, `co` and what follows from them are not asked for.
pub trait Structure {
    /// The number of events.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The set of that name, if there is one.
    fn set(&self, name: &str) -> Option<EventSet>;

    /// The relation of that name, if there is one.
    fn relation(&self, name: &str) -> Option<Relation>;

    /// Whether `name` is a set or a relation here. Override it where building the set to find out is slow.
    fn kind(&self, name: &str) -> Option<Kind> {
        if self.set(name).is_some() {
            Some(Kind::Set)
        } else if self.relation(name).is_some() {
            Some(Kind::Relation)
        } else {
            None
        }
    }
}
