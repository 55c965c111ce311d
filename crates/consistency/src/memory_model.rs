//! What an explorer asks of a memory model.
//!
//! A [`MemoryModel`] is asked only about an event that is last in its thread and comes before no other event in
//! porf, because that is how an execution graph grows. It answers which sources a read may take, which places
//! in co a write may have, and whether a choice is the *canonical* one, which every search makes first.

use crate::choice::Choice;
use crate::hb::HappensBefore;
use crate::order::Architecture;
use porf_graph::{Ev, ExecutionGraph, Loc, Memo};

/// A memory model together with an equivalence of executions.
pub trait MemoryModel {
    /// How happens-before is kept in the clocks of the graph.
    type Hb: HappensBefore;
    /// Whether executions that differ only in co are different.
    const SEES_CO: bool;
    /// For a model that does not keep program order: what it keeps. Executions in which po | rf has no
    /// cycle are searched for as with other models.
    const ARCHITECTURE: Option<Architecture> = None;

    /// Appends the writes that `read`, the newest of its thread and without a source, may read from.
    /// Its clocks are not set: they are those of what is before it.
    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>);

    /// Appends the places that `write`, the newest of its thread and not yet placed, may have.
    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>);

    /// Whether `read`, the newest of its thread and without a source, may read from `write`.
    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool;

    /// Whether the graph is consistent now that `event` has its source or place. That choice came from one of
    /// the functions above; here is checked what they cannot know.
    fn allows(&mut self, _linked: &impl Memo, _event: Ev) -> bool {
        true
    }

    /// Puts the writes of each location in the order that `allows` found, where co is a witness only.
    #[inline]
    fn arrange(&mut self, _graph: &mut ExecutionGraph) {}

    /// How often a search for a witness may branch.
    fn set_budget(&mut self, _branches: u32) {}

    /// Whether some answer could not be found within the budget. Then no later answer counts.
    #[inline]
    fn gave_up(&self) -> bool {
        false
    }

    /// Whether a write can be the last of its location forever, if no other comes.
    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool;

    /// The same for several at once.
    fn may_all_be_last(&mut self, graph: &ExecutionGraph, last: &[(Loc, Ev)]) -> bool {
        let agrees = |&(loc, write): &(Loc, Ev)| last.iter().all(|&(l, w)| l != loc || w == write);
        last.iter().all(|one| agrees(one) && self.may_be_last(graph, one.0, one.1))
    }

    /// Whether `a` has the choice that would be made first when it is added, as an event that is last
    /// in porf, to what is older than `a` or below `w`.
    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool;
}
