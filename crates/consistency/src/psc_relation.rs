//! psc as a relation between the SC events of a graph, for an mo that need not be total.
//!
//! [`Psc`](crate::psc::Psc) asks whether one new event closes a cycle, given a total co. Here mo grows pair by
//! pair. What does not depend on mo is there from the start, and each pair of mo adds its part; psc is monotone
//! in mo. psc is kept transitively closed, so that a cycle is noticed at once.
//!
//! With w mo w', psc grows by two products of sets of SC events: what reaches w or a read of w by
//! ([SC] ∪ [Fsc];hb) times what w' reaches by ([SC] ∪ hb;[Fsc]), for mo and fr; and the fences before w
//! or a read of w times those after w' or a read of it, for [Fsc];hb;eco;hb;[Fsc].
//!
//! Cost: quadratic in the events to build, SC events times their words for a pair.

use crate::hb::{HappensBefore, Rc11Hb};
use crate::mo_search::{Ends, MoConstraint};
use crate::psc::{is_sc, is_sc_access, is_sc_fence};
use crate::reach::{Reach, any, join};
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};

const HB: usize = Rc11Hb::<true>::HB;

#[derive(Clone, Debug, Default)]
pub struct PscRelation {
    events: Vec<Ev>,
    /// Between the SC events.
    psc: Reach,
}

impl MoConstraint for PscRelation {
    type Before = Rc11Hb<true>;

    fn build(&mut self, graph: &ExecutionGraph, there: &impl Fn(Ev) -> bool) -> bool {
        let settled = |e: Ev| there(e) && (!graph.event(e).label.is_read() || graph.rf(e).is_some());
        self.events.clear();
        self.events.extend(graph.all().filter(|&e| settled(e)));
        self.psc.reset(self.events.iter().copied().filter(|&e| is_sc(graph, e)));
        if self.psc.events().is_empty() {
            return true;
        }
        let from: Vec<(Ev, Vec<u64>)> =
            self.events.iter().map(|&e| (e, self.sources(graph, e))).filter(|(_, set)| any(set)).collect();
        let to: Vec<(Ev, Vec<u64>)> =
            self.events.iter().map(|&e| (e, self.targets(graph, e))).filter(|(_, set)| any(set)).collect();
        let mut ok = true;
        for (a, sources) in &from {
            for (b, targets) in &to {
                if ok && a != b && ordered_without_mo(graph, *a, *b) {
                    ok = self.psc.add(sources, targets);
                }
            }
        }
        // [Fsc];hb;rf;hb;[Fsc], the part of eco that is not mo; [Fsc];hb;[Fsc] is in scb by sb or below.
        for at in 0..self.events.len() {
            let e = self.events[at];
            if ok && is_sc_fence(graph, e) {
                let fences = self.fences_before(graph, e);
                let mut this = self.psc.empty_set();
                self.psc.mark(&mut this, |x| x == e);
                ok = self.psc.add(&fences, &this);
            }
            if ok && graph.event(e).label.is_read() && graph.rf(e) != Ev::INIT {
                let (fences, later) = (self.fences_before(graph, graph.rf(e)), self.fences_after(graph, e));
                ok = self.psc.add(&fences, &later);
            }
        }
        ok
    }

    fn ends(&self, graph: &ExecutionGraph, loc: Loc, write: Ev, there: &impl Fn(Ev) -> bool) -> Ends {
        let none = || self.psc.empty_set();
        let mut ends = match write {
            Ev::INIT => Ends { from: none(), from_fences: none(), to: none(), to_fences: none() },
            _ => Ends {
                from: self.sources(graph, write),
                from_fences: self.fences_before(graph, write),
                to: self.targets(graph, write),
                to_fences: self.fences_after(graph, write),
            },
        };
        for read in graph.readers(write, loc).filter(|&read| there(read)) {
            join(&mut ends.from, &self.sources(graph, read));
            join(&mut ends.from_fences, &self.fences_before(graph, read));
            join(&mut ends.to_fences, &self.fences_after(graph, read));
        }
        ends
    }

    fn order(&mut self, earlier: &Ends, later: &Ends) -> bool {
        self.psc.add(&earlier.from, &later.to) && self.psc.add(&earlier.from_fences, &later.to_fences)
    }
}

impl PscRelation {
    /// [SC] ∪ [Fsc];hb?, backwards from an event.
    fn sources(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.fences_before(graph, e);
        self.psc.mark(&mut set, |x| x == e);
        set
    }

    /// [SC] ∪ hb?;[Fsc], from an event.
    fn targets(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.fences_after(graph, e);
        self.psc.mark(&mut set, |x| x == e);
        set
    }

    fn fences_before(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.psc.empty_set();
        self.psc.mark(&mut set, |f| f != e && is_sc_fence(graph, f) && graph.clock_covers(HB, e, f));
        set
    }

    fn fences_after(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.psc.empty_set();
        self.psc.mark(&mut set, |f| f != e && is_sc_fence(graph, f) && graph.clock_covers(HB, f, e));
        set
    }
}

/// sb ∪ sb≠loc;hb;sb≠loc ∪ hb∩loc.
fn ordered_without_mo(graph: &ExecutionGraph, a: Ev, b: Ev) -> bool {
    let (of_a, of_b) = (graph.event(a), graph.event(b));
    if of_a.id.thread == of_b.id.thread {
        return of_a.id.index < of_b.id.index;
    }
    if !graph.clock_covers(HB, b, a) {
        return false;
    }
    if is_access(&of_a.label) && of_a.loc == of_b.loc {
        return true;
    }
    let differs = |x: Ev, y: Ev| x.is_some() && different_location(graph, x, y);
    // The first event after a, the last one before b: those between them are hb-between.
    let after = &graph.thread(of_a.id.thread).events()[of_a.id.index as usize + 1..];
    let before = &graph.thread(of_b.id.thread).events()[..of_b.id.index as usize];
    let first = after.iter().copied().find(|&c| differs(c, a));
    let last = before.iter().rev().copied().find(|&d| differs(d, b));
    matches!((first, last), (Some(c), Some(d)) if graph.clock_covers(HB, d, c))
}

/// Not (both accesses, of the same location).
fn different_location(graph: &ExecutionGraph, a: Ev, b: Ev) -> bool {
    graph.event(a).loc == Loc::NONE || graph.event(a).loc != graph.event(b).loc
}

fn is_access(label: &Label) -> bool {
    matches!(label, Label::Read { .. } | Label::Write { .. })
}

/// Whether psc has anything to say about the successors of an event in mo or fr.
pub(crate) fn is_in_psc(graph: &ExecutionGraph, event: Ev) -> bool {
    is_sc_access(graph, event) || crate::psc::has_fence_below(graph, event)
}
