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
//! The canonical source is the first consistent one by descending (thread, index); our own
//! construction, tested and not proved. Limits: SC accesses and fences are refused by the explorer.

use crate::MemoryModel;
use crate::hb::{HappensBefore, Rc11Hb};
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};

const HB: usize = Rc11Hb::<true>::HB;

/// Each class of executions with the same events and rf once, under WRC11.
#[derive(Clone, Debug, Default)]
pub struct WeakMo {
    candidates: Vec<Ev>,
    /// Accesses to the location in question, writes first.
    accesses: Vec<Ev>,
    /// Row i: the accesses that are (hb ∪ rfx)+ before access i.
    below: Vec<u64>,
    words: usize,
}

impl MemoryModel for WeakMo {
    type Hb = Rc11Hb<true>;
    const SEES_CO: bool = false;

    fn sources(&mut self, graph: &ExecutionGraph, read: Ev, out: &mut Vec<u32>) {
        let loc = graph.event(read).loc;
        for source in std::iter::once(Ev::INIT).chain(graph.co(loc).iter().copied()) {
            if self.consistent(graph, loc, Some((read, source)), None, |_| true) {
                out.push(source.0);
            }
        }
    }

    fn places(&mut self, graph: &ExecutionGraph, write: Ev, out: &mut Vec<u32>) {
        let loc = graph.event(write).loc;
        let pair = graph.event(write).pair;
        if !pair.is_some() || self.consistent(graph, loc, None, Some(write), |_| true) {
            out.push(graph.co(loc).len() as u32 + 1);
        }
    }

    fn admits(&mut self, graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
        self.consistent(graph, graph.event(read).loc, Some((read, write)), None, |_| true)
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        self.consistent(graph, loc, None, None, |_| true) && {
            let writes = 1 + graph.co(loc).len();
            let at = self.accesses[..writes].iter().position(|&w| w == write);
            at.is_some_and(|at| (0..writes).all(|other| other == at || !self.is_below(at, other)))
        }
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        let event = graph.event(a);
        match event.label {
            Label::Choice { chosen, .. } => return chosen == 0,
            Label::Read { .. } => {}
            _ => return true,
        }
        let there = |b: Ev| (b < a || graph.in_prefix(b, w)) && b != w;
        if event.rf != Ev::INIT && !there(event.rf) {
            return false;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(graph.co(event.loc).iter().copied().filter(|&b| there(b)));
        candidates.sort_unstable_by_key(|&b| std::cmp::Reverse(graph.event(b).id));
        candidates.push(Ev::INIT);
        let first = candidates
            .iter()
            .copied()
            .find(|&source| {
                !is_taken(graph, event.loc, source, there)
                    && self.consistent(graph, event.loc, Some((a, source)), None, there)
            })
            .unwrap_or(Ev::NONE);
        self.candidates = candidates;
        first == event.rf
    }
}

/// Whether a write is the source of a read-modify-write already.
fn is_taken(graph: &ExecutionGraph, loc: Loc, source: Ev, there: impl Fn(Ev) -> bool) -> bool {
    graph.co(loc).iter().any(|&w| {
        let pair = graph.event(w).pair;
        there(w) && pair.is_some() && graph.rf(pair) == source
    })
}

impl WeakMo {
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
