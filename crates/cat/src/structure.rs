//! What a model is evaluated on: the fixed part of an execution.

use porf_relation::{EventSet, Relation};

use crate::node::Kind;

/// The events of one execution and the sets and relations among them that do not depend on rf and co.
///
/// Names are herd's. Required are the sets `R`, `W` and `IW` (one initial write for each location, an event like
/// any other, in no thread) and the relations `po`, `loc`, `int` and `ext`. Everything else has a default, mostly
/// the empty set: see `defaults.rs`. `rf`, `co` and what follows from them are not asked for.
pub trait Structure {
    /// The number of events.
    fn len(&self) -> usize;

    /// Whether there are no events.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The set of that name, if there is one.
    fn set(&self, name: &str) -> Option<EventSet>;

    /// The relation of that name, if there is one.
    fn relation(&self, name: &str) -> Option<Relation>;

    /// Whether `name` is a set or a relation here. Override it if building the set is a slow way to find out.
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
