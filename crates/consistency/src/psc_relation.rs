//! psc as a relation between the SC events of a graph, for an mo that need not be total.
//!
//! [`Psc`](crate::psc::Psc) asks whether one new event closes a cycle, given a total co. Here mo comes
//! piece by piece: what does not depend on it is there from the start, each pair of mo adds its part,
//! and psc is kept transitively closed, so that a cycle is noticed at once. psc is monotone in mo.
//!
//! With w mo w', psc grows by two products of sets of SC events: what reaches w or a read of w by
//! ([SC] ∪ [Fsc];hb) times what w' reaches by ([SC] ∪ hb;[Fsc]), for mo and fr; and the fences before w
//! or a read of w times those after w' or a read of it, for [Fsc];hb;eco;hb;[Fsc].
//!
//! Cost: quadratic in the events to build, SC events times their words for a pair.

use crate::hb::{HappensBefore, Rc11Hb};
use crate::psc::{is_sc, is_sc_access, is_sc_fence};
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};

const HB: usize = Rc11Hb::<true>::HB;

#[derive(Clone, Debug, Default)]
pub(crate) struct PscRelation {
    events: Vec<Ev>,
    sc: Vec<Ev>,
    words: usize,
    /// Row i: the SC events that psc+ leads to from the i-th.
    pub after: Vec<u64>,
}

/// What an mo-earlier and an mo-later write contribute to psc. A set of SC events each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    /// As the earlier one: SC events by mo and fr, and fences by eco.
    pub from: Vec<u64>,
    pub from_fences: Vec<u64>,
    /// As the later one.
    pub to: Vec<u64>,
    pub to_fences: Vec<u64>,
}

impl PscRelation {
    /// What does not depend on mo, of the events that are `there` and have their source. Whether it is
    /// acyclic.
    pub fn build(&mut self, graph: &ExecutionGraph, there: impl Fn(Ev) -> bool) -> bool {
        let settled = |e: Ev| there(e) && (!graph.event(e).label.is_read() || graph.rf(e).is_some());
        self.events.clear();
        self.events.extend(graph.all().filter(|&e| settled(e)));
        self.sc.clear();
        self.sc.extend(self.events.iter().copied().filter(|&e| is_sc(graph, e)));
        self.words = self.sc.len().div_ceil(64);
        self.after.clear();
        self.after.resize(self.sc.len() * self.words, 0);
        if self.sc.is_empty() {
            return true;
        }
        let events = std::mem::take(&mut self.events);
        let from: Vec<(Ev, Vec<u64>)> =
            events.iter().map(|&e| (e, self.sources(graph, e))).filter(|(_, set)| any(set)).collect();
        let to: Vec<(Ev, Vec<u64>)> =
            events.iter().map(|&e| (e, self.targets(graph, e))).filter(|(_, set)| any(set)).collect();
        self.events = events;
        let mut ok = true;
        for (a, sources) in &from {
            for (b, targets) in &to {
                if ok && a != b && ordered_without_mo(graph, *a, *b) {
                    ok = self.add(sources, targets);
                }
            }
        }
        // [Fsc];hb;rf;hb;[Fsc], the part of eco that is not mo; [Fsc];hb;[Fsc] is in scb by sb or below.
        for at in 0..self.events.len() {
            let e = self.events[at];
            if ok && is_sc_fence(graph, e) {
                let fences = self.fences_before(graph, e);
                let mut this = vec![0; self.words];
                self.mark(&mut this, |x| x == e);
                ok = self.add(&fences, &this);
            }
            if ok && graph.event(e).label.is_read() && graph.rf(e) != Ev::INIT {
                let (fences, later) = (self.fences_before(graph, graph.rf(e)), self.fences_after(graph, e));
                ok = self.add(&fences, &later);
            }
        }
        ok
    }

    /// The parts of a write, the initial one included, with its reads that are `there`.
    pub fn ends(&self, graph: &ExecutionGraph, loc: Loc, write: Ev, there: impl Fn(Ev) -> bool) -> Ends {
        let mut ends = Ends::default();
        if write == Ev::INIT {
            for set in [&mut ends.from, &mut ends.from_fences, &mut ends.to, &mut ends.to_fences] {
                set.resize(self.words, 0);
            }
        } else {
            ends.from = self.sources(graph, write);
            ends.from_fences = self.fences_before(graph, write);
            ends.to = self.targets(graph, write);
            ends.to_fences = self.fences_after(graph, write);
        }
        for read in graph.readers(write, loc).filter(|&read| there(read)) {
            join(&mut ends.from, &self.sources(graph, read));
            join(&mut ends.from_fences, &self.fences_before(graph, read));
            join(&mut ends.to_fences, &self.fences_after(graph, read));
        }
        ends
    }

    /// One write comes before another in mo. Whether psc stays acyclic.
    pub fn order(&mut self, earlier: &Ends, later: &Ends) -> bool {
        self.add(&earlier.from, &later.to) && self.add(&earlier.from_fences, &later.to_fences)
    }

    /// Every event of `from` comes before every one of `to`. Whether that makes no cycle.
    fn add(&mut self, from: &[u64], to: &[u64]) -> bool {
        if !any(from) || !any(to) {
            return true;
        }
        let mut reached = to.to_vec();
        for at in 0..self.sc.len() {
            if has(to, at) {
                join(&mut reached, &self.after[at * self.words..(at + 1) * self.words]);
            }
        }
        if intersect(&reached, from) {
            return false;
        }
        for at in 0..self.sc.len() {
            let row = &mut self.after[at * self.words..(at + 1) * self.words];
            if has(from, at) || intersect(row, from) {
                join(row, &reached);
            }
        }
        true
    }

    /// [SC] ∪ [Fsc];hb?, backwards from an event.
    fn sources(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.fences_before(graph, e);
        self.mark(&mut set, |x| x == e);
        set
    }

    /// [SC] ∪ hb?;[Fsc], from an event.
    fn targets(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = self.fences_after(graph, e);
        self.mark(&mut set, |x| x == e);
        set
    }

    fn fences_before(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = vec![0; self.words];
        self.mark(&mut set, |f| f != e && is_sc_fence(graph, f) && graph.clock_covers(HB, e, f));
        set
    }

    fn fences_after(&self, graph: &ExecutionGraph, e: Ev) -> Vec<u64> {
        let mut set = vec![0; self.words];
        self.mark(&mut set, |f| f != e && is_sc_fence(graph, f) && graph.clock_covers(HB, f, e));
        set
    }

    fn mark(&self, set: &mut [u64], holds: impl Fn(Ev) -> bool) {
        for (at, &e) in self.sc.iter().enumerate() {
            if holds(e) {
                set[at / 64] |= 1 << (at % 64);
            }
        }
    }
}

impl Ends {
    pub fn join(&mut self, other: &Ends) {
        join(&mut self.from, &other.from);
        join(&mut self.from_fences, &other.from_fences);
        join(&mut self.to, &other.to);
        join(&mut self.to_fences, &other.to_fences);
    }

    /// Whether psc has anything to say on the order of two writes.
    pub fn matters(&self, other: &Ends) -> bool {
        let leads =
            |a: &Ends, b: &Ends| (any(&a.from) && any(&b.to)) || (any(&a.from_fences) && any(&b.to_fences));
        leads(self, other) || leads(other, self)
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

fn any(set: &[u64]) -> bool {
    set.iter().any(|&word| word != 0)
}

fn has(set: &[u64], at: usize) -> bool {
    set[at / 64] & 1 << (at % 64) != 0
}

fn join(set: &mut [u64], other: &[u64]) {
    for (word, &more) in set.iter_mut().zip(other) {
        *word |= more;
    }
}

fn intersect(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}
