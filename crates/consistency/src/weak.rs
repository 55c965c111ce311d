//! WRC11: RC11 without a total co, up to rf.
//!
//! Source: Kokologiannakis, Lahav, Sagonas, Vafeiadis, "Effective stateless model checking for C/C++
//! concurrency", POPL 2018, §5: mo := ∪x [Wx];(hb ∪ rfx)+;[Wx], everywhere that RC11 speaks of mo.
//! As there, a write is the source of at most one read-modify-write.
//!
//! Everything about a location x is computed from scratch when a read of x gets its source or the
//! write of a read-modify-write comes: an event *knows* a write of x if that is hb ∪ rfx before it,
//! which is what its thread and those it synchronised with have written or read, transitively.
//!
//! For SC accesses and fences the whole of psc is computed when a read takes a source that is not
//! mo-last: nothing else has a successor in mo or fr that could close a cycle.
//!
//! The canonical source is the mo-last write with the greatest (thread, index) of those that are there:
//! a read of an mo-last write is always consistent, and so is the write of a read-modify-write after
//! it. Our own construction, tested and not proved.

use crate::hb::{HappensBefore, Rc11Hb};
use crate::labels::{canonical_without_order, is_there};
use crate::mo_search::{Ends, MoConstraint};
use crate::psc_relation::{PscRelation, is_in_psc};
use crate::{Choice, MemoryModel};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Memo};

const HB: usize = Rc11Hb::<true>::HB;

/// Each class of executions with the same events and rf once, under WRC11; `SC`: whether there are SC
/// accesses or fences.
#[derive(Clone, Debug, Default)]
pub struct WeakMo<const SC: bool> {
    /// Accesses to the location in question, writes first.
    accesses: Vec<Ev>,
    /// How many of them are writes.
    writes: usize,
    /// Row i: the accesses that are (hb ∪ rfx)+ before access i.
    below: Vec<u64>,
    words: usize,
    psc: PscRelation,
}

impl<const SC: bool> MemoryModel for WeakMo<SC> {
    type Hb = Rc11Hb<true>;
    const SEES_CO: bool = false;

    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let loc = graph.event(read).loc;
        for source in std::iter::once(Ev::INIT).chain(graph.co(loc).iter().copied()) {
            if self.consistent(graph, loc, Some((read, source)), None, |_| true) {
                out.push(Choice::Source(source));
            }
        }
    }

    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let loc = graph.event(write).loc;
        let pair = graph.event(write).pair;
        if !pair.is_some() || self.consistent(graph, loc, None, Some(write), |_| true) {
            out.push(Choice::Place(graph.co(loc).len() as u32 + 1));
        }
    }

    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool {
        let graph = linked.graph();
        self.consistent(graph, graph.event(read).loc, Some((read, write)), None, |_| true)
    }

    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        let graph = linked.graph();
        if !SC || !graph.event(event).label.is_read() || !is_in_psc(graph, event) {
            return true;
        }
        let source = graph.rf(event);
        self.is_mo_last(graph, graph.event(event).loc, source) || self.is_psc_acyclic(graph)
    }

    /// Its mo does not know that a write after the source of a read-modify-write is after its write too, in
    /// every total mo: that is looked at here.
    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        if !self.is_mo_last(graph, loc, write) {
            return false;
        }
        let position = |write: Ev| self.accesses[..self.writes].iter().position(|&w| w == write);
        let mut chain = Vec::new();
        let mut next = Some(write);
        while let Some(write) = next {
            let Some(at) = position(write) else { return false };
            chain.push(at);
            if (0..self.writes).any(|other| self.is_below(at, other) && !chain.contains(&other)) {
                return false;
            }
            let pair = graph.event(write).pair;
            next = pair.is_some().then(|| graph.rf(pair));
        }
        true
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        let event = graph.event(a);
        let there = |b: Ev| is_there(graph, a, w, b);
        if let Some(canonical) = canonical_without_order(graph, a, w) {
            return canonical;
        }
        self.consistent(graph, event.loc, None, None, there) && {
            let last = (0..self.writes).filter(|&at| self.is_last(at)).map(|at| self.accesses[at]);
            last.max_by_key(|&write| (write != Ev::INIT).then_some(graph.event(write).id)) == Some(event.rf)
        }
    }
}

impl<const SC: bool> WeakMo<SC> {
    /// Whether what is `there` at a location is consistent, with a read that takes its value from a
    /// source, or a write that is not placed yet.
    fn consistent(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        reading: Option<(Ev, Ev)>,
        extra: Option<Ev>,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        let read = reading.map(|(read, _)| read);
        let here = |e: Ev| there(e) && Some(e) != read;
        self.accesses.clear();
        self.accesses.push(Ev::INIT);
        self.accesses.extend(graph.co(loc).iter().copied().chain(extra).filter(|&w| there(w)));
        let writes = self.accesses.len();
        self.writes = writes;
        for at in 0..writes {
            let source = self.accesses[at];
            self.accesses.extend(graph.readers(source, loc).filter(|&r| here(r)));
        }
        self.accesses.extend(read);
        let n = self.accesses.len();
        let source_of = |e: Ev| match reading {
            Some((read, source)) if read == e => source,
            _ => graph.rf(e),
        };
        // The clock of the read in question may still hold what its present source gave it; what
        // another source would give it is below that source.
        let before = |a: Ev, b: Ev| {
            if Some(b) == read {
                graph.clock_covers(HB, graph.po_pred(b), a)
            } else {
                graph.clock_covers(HB, b, a)
            }
        };
        self.words = n.div_ceil(64);
        self.below.clear();
        self.below.resize(n * self.words, 0);
        for b in 1..n {
            for a in 0..n {
                let (ea, eb) = (self.accesses[a], self.accesses[b]);
                if a != b && (before(ea, eb) || (b >= writes && source_of(eb) == ea)) {
                    self.below[b * self.words + a / 64] |= 1 << (a % 64);
                }
            }
        }
        self.close(n);
        self.check(graph, writes, n, source_of, before)
    }

    fn check(
        &self,
        graph: &ExecutionGraph,
        writes: usize,
        n: usize,
        source_of: impl Fn(Ev) -> Ev,
        before: impl Fn(Ev, Ev) -> bool,
    ) -> bool {
        let position = |e: Ev| self.accesses[..writes].iter().position(|&w| w == e);
        for at in 0..n {
            if self.is_below(at, at) {
                return false;
            }
        }
        for r in writes..n {
            let Some(source) = position(source_of(self.accesses[r])) else { return false };
            // COHERENCE: nothing that r knows by happens-before, itself or by a read of it, is
            // mo-after its source.
            for w in 0..writes {
                if w != source && self.is_below(source, w) {
                    let (ew, er) = (self.accesses[w], self.accesses[r]);
                    let known = before(ew, er)
                        || (writes..n).any(|q| {
                            q != r && source_of(self.accesses[q]) == ew && before(self.accesses[q], er)
                        });
                    if known {
                        return false;
                    }
                }
            }
        }
        // ATOMICITY: the write of a read-modify-write is mo-next to its source.
        for w in 1..writes {
            let pair = graph.event(self.accesses[w]).pair;
            if !pair.is_some() {
                continue;
            }
            let Some(source) = position(source_of(pair)) else { return false };
            for other in 1..writes {
                let pair = graph.event(self.accesses[other]).pair;
                if other != w
                    && ((self.is_below(source, other) && self.is_below(other, w))
                        || (pair.is_some() && position(source_of(pair)) == Some(source)))
                {
                    return false;
                }
            }
        }
        true
    }

    /// ACYCLIC psc, with all sources in place.
    fn is_psc_acyclic(&mut self, graph: &ExecutionGraph) -> bool {
        let mut psc = std::mem::take(&mut self.psc);
        let mut ok = psc.build(graph, &|_| true);
        for loc in (0..graph.location_count() as u32).map(Loc) {
            ok = ok && self.consistent(graph, loc, None, None, |_| true);
            if !ok {
                break;
            }
            let ends: Vec<Ends> =
                self.accesses[..self.writes].iter().map(|&w| psc.ends(graph, loc, w, &|_| true)).collect();
            for a in 0..self.writes {
                for b in 0..self.writes {
                    ok = ok && (a == b || !self.is_below(a, b) || psc.order(&ends[a], &ends[b]));
                }
            }
        }
        self.psc = psc;
        ok
    }

    /// Whether no write of its location is mo-after a write.
    fn is_mo_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        self.consistent(graph, loc, None, None, |_| true) && {
            let at = self.accesses[..self.writes].iter().position(|&w| w == write);
            at.is_some_and(|at| self.is_last(at))
        }
    }

    /// Whether no write is mo-after the one at a position.
    fn is_last(&self, at: usize) -> bool {
        (0..self.writes).all(|other| other == at || !self.is_below(at, other))
    }

    /// Whether `a` is below `b`.
    fn is_below(&self, a: usize, b: usize) -> bool {
        self.below[b * self.words + a / 64] & 1 << (a % 64) != 0
    }

    fn close(&mut self, n: usize) {
        for via in 0..n {
            for to in 0..n {
                if self.is_below(via, to) {
                    for word in 0..self.words {
                        self.below[to * self.words + word] |= self.below[via * self.words + word];
                    }
                }
            }
        }
    }
}
