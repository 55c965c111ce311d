//! Consistency of execution graphs whose threads may have holes: what exploration with dependency
//! prefixes asks of a model.

use crate::labels::silent;
use crate::order::Architecture;
use porf_cat::Diagnostic;
use porf_event::{Label, Value};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc};
use porf_relation::Relation;

/// The initial contents of a location: its size in bytes and its value.
pub type Initial<'i> = &'i dyn Fn(Loc) -> (u8, Value);

/// A memory model: is this graph consistent?
///
/// The search finds every execution once if:
/// - consistency is kept by restriction to prefixes: sets that are closed under rf, dependencies, and the
///   order that the architecture keeps (all of po, if there is no architecture);
/// - that order has no cycle in consistent graphs (where it has one, executions are not found);
/// - an event that is last in its thread can always be added: a read of the co-last write, a write at
///   the co-last place.
pub trait Checker {
    /// The architecture, whose static order is part of prefixes; none for models that keep program order.
    fn architecture(&self) -> Option<Architecture>;

    /// Whether the graph, in which every read has a source and every write a place, is consistent. It
    /// was before `changed` came, or before the reads of `changed` took their value from it.
    fn consistent(
        &mut self,
        linked: &impl Linked,
        initial: Initial<'_>,
        changed: Ev,
    ) -> Result<bool, Diagnostic>;

    /// The accesses of a consistent graph that race, where the model has races and looks for them.
    fn races(&mut self, _: &impl Linked) -> Result<Vec<(Ev, Ev)>, Diagnostic> {
        Ok(Vec::new())
    }

    /// What happens before what in a consistent graph, by [`Ev`]: it decides whether memory that comes and goes is
    /// there. On a machine what is before in (po | rf)+, which may have cycles.
    fn happens_before(&mut self, linked: &impl Linked, _: Initial<'_>) -> Result<Relation, Diagnostic> {
        let mut order = porf(linked.graph());
        order.close();
        Ok(order)
    }

    /// The names of the flags that the model raises on a consistent graph, races aside.
    fn flags(&mut self, _: &impl Linked, _initial: Initial<'_>) -> Result<Vec<String>, Diagnostic> {
        Ok(Vec::new())
    }
}

/// po | rf, creation and joining of threads being part of po; of po what is next.
pub(crate) fn porf(graph: &ExecutionGraph) -> Relation {
    let mut order = Relation::empty(graph.len());
    for thread in graph.threads() {
        let mut last = thread.creator;
        for &ev in thread.events() {
            let rf = graph.event(ev).rf;
            let joined = match graph.event(ev).label {
                Label::Join { child } => graph.thread_end(child).unwrap_or(Ev::NONE),
                Label::Read { .. }
                | Label::Write { .. }
                | Label::Fence { .. }
                | Label::Create { .. }
                | silent!() => Ev::NONE,
            };
            for before in [last, rf, joined].into_iter().filter(|before| before.is_some()) {
                order.insert(before.as_usize(), ev.as_usize());
            }
            last = ev;
        }
    }
    order
}
