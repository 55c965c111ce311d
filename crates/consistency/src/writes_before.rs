//! The equivalence that does not see co, for RA and for RC11 without SC accesses and fences.
//!
//! Source: Abdulla, Atig, Jonsson, Ngo, "Optimal stateless model checking under the release-acquire
//! semantics", OOPSLA 2018 (weak traces, saturation), with read-modify-writes contracted to chains.
//! Whether some co makes a graph consistent is decided per location by *writes before*: j before i if
//! j or a read of j happens before i or a read of i; between different rf;rmw chains the end of j's
//! then comes before the head of i's; the chain that begins with the initial write comes before all
//! others. There is such a co iff that has no cycle and no write is the source of two
//! read-modify-writes.
//!
//! The canonical source of a read is the one with the greatest (thread, index) among the writes that
//! are last in writes-before; a write has no choice. That construction is our own: it is tested
//! against brute force, not proved.
//!
//! In this policy the co lists of the graph hold the writes of a location in insertion order, and
//! mean nothing. Cost: quadratic in the accesses to the location, per read and per write of a
//! read-modify-write.

use crate::MemoryModel;
use crate::hb::HappensBefore;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};
use std::marker::PhantomData;

/// Each class of executions with the same events and rf once.
#[derive(Clone, Debug)]
pub struct Rf<H> {
    order: Order,
    hb: PhantomData<H>,
}

impl<H> Default for Rf<H> {
    fn default() -> Self {
        Rf { order: Order::default(), hb: PhantomData }
    }
}

impl<H: HappensBefore> MemoryModel for Rf<H> {
    type Hb = H;
    const SEES_CO: bool = false;

    fn sources(&mut self, graph: &ExecutionGraph, read: Ev, out: &mut Vec<u32>) {
        self.order.sources::<H>(graph, read, out);
    }

    fn places(&mut self, graph: &ExecutionGraph, write: Ev, out: &mut Vec<u32>) {
        let (pair, loc) = (graph.event(write).pair, graph.event(write).loc);
        let place = graph.co(loc).len() as u32 + 1;
        if !pair.is_some() || self.order.build_with::<H>(graph, loc, Some(write), |_| true) {
            out.push(place);
        }
    }

    fn admits(&mut self, graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
        self.order.admits::<H>(graph, read, write)
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        self.order.build::<H>(graph, loc, |_| true) && self.order.is_last(self.order.position(write))
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
        if !self.order.build::<H>(graph, event.loc, there) {
            return false;
        }
        let last = self.order.last(graph);
        last == event.rf
    }
}

/// Writes-before at one location, as a matrix of bits. Position 0 is the initial write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    writes: Vec<Ev>,
    /// The chain a write belongs to: its first and its last write.
    head: Vec<usize>,
    tail: Vec<usize>,
    /// Row i: the writes that come after i, transitively.
    after: Vec<u64>,
    words: usize,
    /// The writes that the read in question, or something before it, has seen.
    seen: Vec<u64>,
}

/// How many writes of the same chain come before.
fn members_before(order: &Order, at: usize) -> usize {
    (0..order.writes.len())
        .filter(|&other| order.head[other] == order.head[at] && order.is_after(other, at))
        .count()
}

impl Order {
    /// The writes that a read without a source may read from.
    pub fn sources<H: HappensBefore>(&mut self, graph: &ExecutionGraph, read: Ev, out: &mut Vec<u32>) {
        let loc = graph.event(read).loc;
        let ok = self.build::<H>(graph, loc, |_| true);
        debug_assert!(ok, "the graph is consistent");
        self.see::<H>(graph, loc, graph.po_pred(read), |_| true);
        for at in (0..self.writes.len()).rev() {
            if self.may_read(at) {
                out.push(self.writes[at].0);
            }
        }
    }

    pub fn admits<H: HappensBefore>(&mut self, graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
        let loc = graph.event(read).loc;
        if !self.build::<H>(graph, loc, |_| true) {
            return false;
        }
        self.see::<H>(graph, loc, graph.po_pred(read), |_| true);
        self.may_read(self.position(write))
    }

    /// The first writes of all chains.
    pub fn heads(&self) -> impl Iterator<Item = Ev> + use<> {
        let heads: Vec<Ev> =
            (0..self.writes.len()).filter(|&at| self.head[at] == at).map(|at| self.writes[at]).collect();
        heads.into_iter()
    }

    /// The writes of a chain, by its first one.
    pub fn chain(&self, head: Ev) -> Vec<Ev> {
        let head = self.position(head);
        let mut members: Vec<usize> = (0..self.writes.len()).filter(|&at| self.head[at] == head).collect();
        members.sort_unstable_by_key(|&at| members_before(self, at));
        members.into_iter().map(|at| self.writes[at]).collect()
    }

    /// Whether one write comes before another.
    pub fn comes_before(&self, earlier: Ev, later: Ev) -> bool {
        self.is_after(self.position(earlier), self.position(later))
    }

    /// The writes that no other one comes after.
    pub fn all_last(&self) -> Vec<Ev> {
        (0..self.writes.len()).filter(|&at| self.is_last(at)).map(|at| self.writes[at]).collect()
    }

    pub fn build<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        self.build_with::<H>(graph, loc, None, there)
    }

    /// Computes the order of the writes that are `there`, and `extra`, which is not placed yet.
    /// Whether it is an order.
    fn build_with<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        extra: Option<Ev>,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        self.writes.clear();
        self.writes.push(Ev::INIT);
        self.writes.extend(graph.co(loc).iter().copied().chain(extra).filter(|&w| there(w)));
        let n = self.writes.len();
        self.words = n.div_ceil(64);
        self.after.clear();
        self.after.resize(n * self.words, 0);
        if !self.chains(graph) {
            return false;
        }
        let initial = self.tail[0];
        for i in 1..n {
            self.add(0, i);
            if self.head[i] != 0 && initial != 0 {
                self.add(initial, i);
            }
            let write = self.writes[i];
            self.see::<H>(graph, loc, write, &there);
            if !self.join_seen(i) {
                return false;
            }
        }
        for i in 0..n {
            for read in graph.readers(self.writes[i], loc) {
                if there(read) {
                    self.see::<H>(graph, loc, read, &there);
                    if !self.join_seen(i) {
                        return false;
                    }
                }
            }
        }
        self.close();
        (0..n).all(|i| !self.is_after(i, i))
    }

    /// rf;rmw chains. Whether every write is the source of at most one read-modify-write.
    fn chains(&mut self, graph: &ExecutionGraph) -> bool {
        let n = self.writes.len();
        self.head.clear();
        self.head.extend(0..n);
        self.tail.clear();
        self.tail.extend(0..n);
        // Sources may be newer than what reads them: follow links instead of relying on the order.
        let mut next = std::mem::take(&mut self.seen);
        next.clear();
        next.resize(n, 0);
        let mut ok = true;
        for at in 1..n {
            let pair = graph.event(self.writes[at]).pair;
            if pair.is_some() {
                let source = self.position(graph.rf(pair));
                if source == usize::MAX || next[source] != 0 {
                    ok = false;
                    break;
                }
                next[source] = at as u64;
            }
        }
        if ok {
            for start in 0..n {
                if start == 0 || !graph.event(self.writes[start]).pair.is_some() {
                    let mut end = start;
                    while next[end] != 0 {
                        end = next[end] as usize;
                        self.head[end] = start;
                    }
                    let mut at = start;
                    loop {
                        self.tail[at] = end;
                        if at == end {
                            break;
                        }
                        at = next[at] as usize;
                    }
                }
            }
        }
        self.seen = next;
        ok
    }

    fn position(&self, write: Ev) -> usize {
        self.writes.iter().position(|&w| w == write).unwrap_or(usize::MAX)
    }

    /// Notes which writes are `event`, or before it in hb, themselves or by a read of them.
    fn see<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        event: Ev,
        there: impl Fn(Ev) -> bool,
    ) {
        self.seen.clear();
        self.seen.resize(self.words, 0);
        for at in 1..self.writes.len() {
            let write = self.writes[at];
            let before = |e: Ev| there(e) && graph.clock_covers(H::HB, event, e);
            if before(write) || graph.readers(write, loc).any(before) {
                self.seen[at / 64] |= 1 << (at % 64);
            }
        }
    }

    /// What was seen comes before `i`. Whether that is possible for the chain of the initial write.
    fn join_seen(&mut self, i: usize) -> bool {
        for j in 1..self.writes.len() {
            if j == i || self.seen[j / 64] & 1 << (j % 64) == 0 {
                continue;
            }
            self.add(j, i);
            if self.head[i] != self.head[j] {
                if self.head[i] == 0 {
                    return false;
                }
                self.add(self.tail[j], self.head[i]);
            }
        }
        true
    }

    /// Whether the read whose writes were seen may read from the write at `i`.
    fn may_read(&self, i: usize) -> bool {
        (1..self.writes.len()).all(|j| {
            if j == i || self.seen[j / 64] & 1 << (j % 64) == 0 {
                return true;
            }
            if self.head[i] == self.head[j] {
                !self.is_after(i, j)
            } else {
                self.head[i] != 0 && !self.is_after(self.head[i], self.tail[j])
            }
        })
    }

    /// The write with the greatest identity among those that no other one comes after.
    fn last(&self, graph: &ExecutionGraph) -> Ev {
        (1..self.writes.len())
            .filter(|&i| self.is_last(i))
            .map(|i| self.writes[i])
            .max_by_key(|&write| graph.event(write).id)
            .unwrap_or(Ev::INIT)
    }

    fn is_last(&self, i: usize) -> bool {
        self.after[i * self.words..(i + 1) * self.words].iter().all(|&word| word == 0)
    }

    fn add(&mut self, from: usize, to: usize) {
        self.after[from * self.words + to / 64] |= 1 << (to % 64);
    }

    fn is_after(&self, from: usize, to: usize) -> bool {
        self.after[from * self.words + to / 64] & 1 << (to % 64) != 0
    }

    fn close(&mut self) {
        let (n, words) = (self.writes.len(), self.words);
        for via in 0..n {
            for from in 0..n {
                if self.is_after(from, via) {
                    for word in 0..words {
                        self.after[from * words + word] |= self.after[via * words + word];
                    }
                }
            }
        }
    }
}
