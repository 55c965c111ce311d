//! Models whose mo has to be searched for, up to rf: RC11 with SC accesses and fences, SC, SRA, TSO and PSO.
//!
//! A class of executions is consistent if some mo is. The co lists of the graph hold one such mo, a
//! *witness*. A new write goes to its end, which is always consistent. A new read, or the write of a
//! read-modify-write, is consistent if the witness allows it; otherwise another one is searched for
//! ([`MoSearch`]). A witness of a graph is also a witness of its restrictions, so nothing is undone when the
//! search goes back. No answer depends on which witness the graph has.
//!
//! The canonical source of a read is the one with the greatest (thread, index) among the writes that
//! are last in some consistent mo of what was there before: it exists, allows the write of a
//! read-modify-write too, and depends on no witness. Our own construction: tested, not proved.
//!
//! Limits: the search gives up past a budget, and with it the exploration.

use crate::closure::{Closure, Order};
use crate::global_order::GlobalOrder;
use crate::hb::HappensBefore;
use crate::labels::{canonical_without_order, is_there, place};
use crate::mo::{Floor, coherence_floor};
use crate::mo_search::{MoConstraint, MoSearch};
use crate::psc::Psc;
use crate::psc_relation::PscRelation;
use crate::{Choice, MemoryModel};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Memo};
use std::marker::PhantomData;

/// Each class of executions with the same events and rf once: under RC11 with all of its axioms.
pub type RfSc<H> = Witnessed<PscFits<H>, PscRelation>;

/// Under SC, SRA, TSO or PSO.
pub type RfClosure<O> = Witnessed<Closure<O>, GlobalOrder<O>>;

/// A model that keeps a witness for mo. `F` says whether an event fits the witness, `R` is what mo must keep acyclic.
#[derive(Clone, Debug, Default)]
pub struct Witnessed<F, R> {
    search: MoSearch<R>,
    fits: F,
    /// A new witness was found that the graph does not have yet.
    found: bool,
}

/// Whether an event fits an mo.
pub trait Fits {
    /// How happens-before is kept in the clocks of the graph.
    type Hb: HappensBefore;

    /// Whether the graph is consistent with the mo that it has, now that `event` has its source or place.
    fn fits(&mut self, graph: &ExecutionGraph, event: Ev) -> bool;
}

/// By coherence and psc.
#[derive(Clone, Debug, Default)]
pub struct PscFits<H> {
    hb: PhantomData<H>,
    psc: Psc,
}

impl<H: HappensBefore> Fits for PscFits<H> {
    type Hb = H;

    fn fits(&mut self, graph: &ExecutionGraph, event: Ev) -> bool {
        is_above(graph, event, coherence_floor::<H>(graph, event)) && self.psc.allows(graph, event)
    }
}

impl<O: Order> Fits for Closure<O> {
    type Hb = O::Clocks;

    fn fits(&mut self, graph: &ExecutionGraph, event: Ev) -> bool {
        let floor = self.floor(graph, event);
        is_above(graph, event, floor)
    }
}

/// Whether an access is not before what it must not be before.
fn is_above(graph: &ExecutionGraph, event: Ev, floor: u32) -> bool {
    let place = place(graph, event).unwrap_or(u32::MAX);
    if graph.event(event).label.is_read() { place >= floor } else { place > floor }
}

impl<F: Fits, R: MoConstraint> MemoryModel for Witnessed<F, R> {
    type Hb = F::Hb;
    const SEES_CO: bool = false;

    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        self.search.order.sources::<R::Before>(graph, read, out);
    }

    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let (pair, co) = (graph.event(write).pair, graph.co(graph.event(write).loc));
        if !pair.is_some() {
            out.push(Choice::Place(co.len() as u32 + 1));
            return;
        }
        // ATOM: no other read-modify-write of the same source.
        let place = graph.event(graph.rf(pair)).co + 1;
        let next = co.get(place as usize - 1).map_or(Ev::NONE, |&next| graph.event(next).pair);
        if !next.is_some() || graph.rf(next) != graph.rf(pair) {
            out.push(Choice::Place(place));
        }
    }

    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool {
        let graph = linked.graph();
        self.search.order.admits::<R::Before>(graph, read, write)
    }

    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        let graph = linked.graph();
        if place(graph, event).is_none() || self.fits.fits(graph, event) {
            return true;
        }
        self.found = self.search.prepare(graph, |_| true) && self.search.solve(&[]);
        self.found
    }

    fn arrange(&mut self, graph: &mut ExecutionGraph) {
        if std::mem::take(&mut self.found) {
            self.search.arrange(graph);
        }
    }

    fn set_budget(&mut self, branches: u32) {
        self.search.budget = branches;
    }

    fn gave_up(&self) -> bool {
        self.search.gave_up
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        self.may_all_be_last(graph, &[(loc, write)])
    }

    fn may_all_be_last(&mut self, graph: &ExecutionGraph, last: &[(Loc, Ev)]) -> bool {
        self.search.prepare(graph, |_| true) && self.search.solve(last)
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        let event = graph.event(a);
        let there = |b: Ev| is_there(graph, a, w, b);
        if let Some(canonical) = canonical_without_order(graph, a, w) {
            return canonical;
        }
        if !self.search.order.build::<R::Before>(graph, event.loc, there) {
            return false;
        }
        let mut last: Vec<Ev> = self.search.order.all_last().collect();
        if !last.contains(&event.rf) {
            return false;
        }
        if last.len() == 1 {
            return true;
        }
        last.sort_unstable_by_key(|&write| std::cmp::Reverse(graph.event(write).id));
        self.search.prepare(graph, there)
            && last.into_iter().find(|&write| self.search.solve(&[(event.loc, write)])) == Some(event.rf)
    }
}
