//! The equivalence that does not see co, for RA, and for RC11 and IMM without SC accesses and fences.
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
//! mean nothing. Cost: accesses to the location times threads that have one, per read.
//! A chain is one node; what an access has seen of a thread is the last access that it covers: earlier ones
//! come before that one, or are it.

use crate::hb::HappensBefore;
use crate::labels::{canonical_without_order, is_there};
use crate::order::Architecture;
use crate::{Choice, MemoryModel};
use porf_graph::{Ev, ExecutionGraph, Loc, Memo};
use std::marker::PhantomData;

/// Each class of executions with the same events and rf once. `IMM`: po | rf may have cycles, which the search looks
/// for. Where it has none, what co must fit is what it must fit under RC11 ([`ImmWeak`](crate::ImmWeak)).
#[derive(Clone, Debug)]
pub struct Rf<H, const IMM: bool = false> {
    order: WritesBefore,
    hb: PhantomData<H>,
}

impl<H, const IMM: bool> Default for Rf<H, IMM> {
    fn default() -> Self {
        Rf { order: WritesBefore::default(), hb: PhantomData }
    }
}

impl<H: HappensBefore, const IMM: bool> MemoryModel for Rf<H, IMM> {
    type Hb = H;
    const SEES_CO: bool = false;
    const ARCHITECTURE: Option<Architecture> = if IMM { Some(Architecture::Imm) } else { None };

    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        self.order.sources::<H>(graph, read, out);
    }

    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let (pair, co) = (graph.event(write).pair, graph.co(graph.event(write).loc));
        // Nobody has seen the write, and it has seen what its read has: only its source may be taken.
        let takes = |other: &Ev| {
            let other = graph.event(*other).pair;
            other.is_some() && graph.rf(other) == graph.rf(pair)
        };
        if !pair.is_some() || !co.iter().any(takes) {
            out.push(Choice::Place(co.len() as u32 + 1));
        }
    }

    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool {
        let graph = linked.graph();
        self.order.admits::<H>(graph, read, write)
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        self.order.relate::<H>(graph, loc, |_| true) && self.order.all_last().any(|last| last == write)
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        let event = graph.event(a);
        let there = |b: Ev| is_there(graph, a, w, b);
        if let Some(canonical) = canonical_without_order(graph, a, w) {
            return canonical;
        }
        if !self.order.find_chains(graph, event.loc, there) || !self.order.is_end(event.rf, graph) {
            return false;
        }
        if self.order.chains() == 1 {
            return true;
        }
        // What is there is part of a consistent graph: no need to look for cycles.
        self.order.find_edges::<H>(graph, event.loc, there)
            && self.order.all_last().max_by_key(|&write| graph.event(write).id) == Some(event.rf)
    }
}

/// Writes-before at one location. Position 0 is the initial write, chain 0 begins with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WritesBefore {
    writes: Vec<Ev>,
    /// The position of a write by its place in co; [`ABSENT`] if it is not there.
    positions: Vec<usize>,
    /// By position: its chain and its place in it.
    chain: Vec<usize>,
    rank: Vec<u32>,
    /// By position: the read-modify-write that reads it, or 0.
    next: Vec<usize>,
    /// By chain: the position of the first write.
    heads: Vec<usize>,
    /// Accesses of all threads, thread by thread, in program order.
    accesses: Vec<Access>,
    blocks: Vec<Block>,
    /// Row c: the chains that come before chain c, of which chain 0 is not one. Transitive after `close`.
    before: Vec<u64>,
    words: usize,
    work: Vec<usize>,
    marks: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    thread: u16,
    index: u32,
    /// The position of the write that it is or reads.
    at: u32,
    event: Ev,
}

/// The accesses of one thread, and how many of them were seen by the access in question.
#[derive(Clone, Copy, Debug)]
struct Block {
    thread: usize,
    start: usize,
    end: usize,
    seen: usize,
}

const ABSENT: usize = usize::MAX;

impl WritesBefore {
    /// The writes that a read without a source may read from. The graph is consistent without it.
    pub fn sources<H: HappensBefore>(&mut self, graph: &ExecutionGraph, read: Ev, out: &mut Vec<Choice>) {
        let loc = graph.event(read).loc;
        let ok = self.relate::<H>(graph, loc, |_| true);
        debug_assert!(ok, "the graph is consistent");
        self.floors::<H>(graph, graph.po_pred(read));
        let may_read = (0..self.writes.len()).rev().filter(|&at| self.may_read(at));
        out.extend(may_read.map(|at| Choice::Source(self.writes[at])));
    }

    pub fn admits<H: HappensBefore>(&mut self, graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
        let loc = graph.event(read).loc;
        if !self.build::<H>(graph, loc, |_| true) {
            return false;
        }
        self.floors::<H>(graph, graph.po_pred(read));
        self.may_read(self.position(graph, write))
    }

    /// Computes the order of the writes that are `there`, transitively. Whether it is an order.
    pub fn build<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        self.relate::<H>(graph, loc, there) && self.close()
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.heads.len()
    }

    /// The writes of a chain.
    pub fn members(&self, chain: usize) -> Vec<Ev> {
        let mut at = self.heads[chain];
        let mut members = vec![self.writes[at]];
        while self.next[at] != 0 {
            at = self.next[at];
            members.push(self.writes[at]);
        }
        members
    }

    /// Whether one chain comes before another, once the order is built.
    pub fn comes_before(&self, earlier: usize, later: usize) -> bool {
        earlier != later && (earlier == 0 || self.is_before(earlier, later))
    }

    /// The writes that no other one comes after, in a consistent graph.
    pub fn all_last(&mut self) -> impl Iterator<Item = Ev> {
        let chains = self.chains();
        self.marks.clear();
        self.marks.resize(chains, 0);
        self.marks[0] = u8::from(chains > 1);
        for later in 1..chains {
            for_each_bit(&self.before[later * self.words..(later + 1) * self.words], |earlier| {
                self.marks[earlier] = 1;
            });
        }
        let ends = (0..self.writes.len()).filter(|&at| self.next[at] == 0 && self.marks[self.chain[at]] == 0);
        ends.map(|at| self.writes[at])
    }

    /// Whether no read-modify-write reads from a write.
    fn is_end(&self, write: Ev, graph: &ExecutionGraph) -> bool {
        self.next[self.position(graph, write)] == 0
    }

    /// Chains and what comes directly before what. Fails if that is no order for a reason that is seen at once.
    fn relate<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        self.find_chains(graph, loc, &there) && self.find_edges::<H>(graph, loc, there)
    }

    /// rf;rmw chains. Whether every write is the source of at most one read-modify-write.
    fn find_chains(&mut self, graph: &ExecutionGraph, loc: Loc, there: impl Fn(Ev) -> bool) -> bool {
        self.writes.clear();
        self.writes.push(Ev::INIT);
        self.positions.clear();
        self.positions.push(0);
        for &write in graph.co(loc) {
            let is_there = there(write);
            self.positions.push(if is_there { self.writes.len() } else { ABSENT });
            if is_there {
                self.writes.push(write);
            }
        }
        let n = self.writes.len();
        self.next.clear();
        self.next.resize(n, 0);
        self.heads.clear();
        self.heads.push(0);
        for at in 1..n {
            let pair = graph.event(self.writes[at]).pair;
            if !pair.is_some() {
                self.heads.push(at);
                continue;
            }
            let source = self.position(graph, graph.rf(pair));
            if source == ABSENT || self.next[source] != 0 {
                return false;
            }
            self.next[source] = at;
        }
        self.chain.clear();
        self.chain.resize(n, 0);
        self.rank.clear();
        self.rank.resize(n, 0);
        for (chain, &head) in self.heads.iter().enumerate() {
            let (mut at, mut rank) = (head, 0);
            self.chain[at] = chain;
            while self.next[at] != 0 {
                at = self.next[at];
                rank += 1;
                self.chain[at] = chain;
                self.rank[at] = rank;
            }
        }
        true
    }

    /// Which chain comes directly before which. Fails if a chain would have to come before itself, or
    /// another one before the initial write.
    fn find_edges<H: HappensBefore>(
        &mut self,
        graph: &ExecutionGraph,
        loc: Loc,
        there: impl Fn(Ev) -> bool,
    ) -> bool {
        let chains = self.chains();
        self.words = chains.div_ceil(64);
        self.before.clear();
        self.before.resize(chains * self.words, 0);
        self.find_accesses(graph, loc, there);
        for own in 0..self.blocks.len() {
            self.blocks.iter_mut().for_each(|block| block.seen = block.start);
            let Block { start, end, .. } = self.blocks[own];
            for at in start..end {
                let Access { at: write, event, .. } = self.accesses[at];
                if at > start && !self.put(self.accesses[at - 1].at as usize, write as usize) {
                    return false;
                }
                let clock = graph.clock(H::HB, event);
                for other in 0..self.blocks.len() {
                    if other == own || !self.advance(other, clock) {
                        continue;
                    }
                    let last = self.accesses[self.blocks[other].seen - 1];
                    if !self.put(last.at as usize, write as usize) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn find_accesses(&mut self, graph: &ExecutionGraph, loc: Loc, there: impl Fn(Ev) -> bool) {
        self.accesses.clear();
        for (at, &write) in self.writes.iter().enumerate() {
            let own = (at != 0).then_some(write);
            for event in graph.readers(write, loc).chain(own).filter(|&event| there(event)) {
                let id = graph.event(event).id;
                self.accesses.push(Access { thread: id.thread.0, index: id.index, at: at as u32, event });
            }
        }
        self.accesses.sort_unstable();
        self.blocks.clear();
        for (at, access) in self.accesses.iter().enumerate() {
            match self.blocks.last_mut() {
                Some(block) if block.thread == access.thread as usize => block.end = at + 1,
                _ => {
                    let thread = access.thread as usize;
                    self.blocks.push(Block { thread, start: at, end: at + 1, seen: at });
                }
            }
        }
    }

    /// Goes on to the last access of a block that a clock covers. Whether there is a new one.
    fn advance(&mut self, block: usize, clock: &[u32]) -> bool {
        let Block { thread, end, seen, .. } = self.blocks[block];
        let mut now = seen;
        while now < end && self.accesses[now].index < clock[thread] {
            now += 1;
        }
        self.blocks[block].seen = now;
        now > seen
    }

    /// One write comes before another. Whether that is possible.
    fn put(&mut self, earlier: usize, later: usize) -> bool {
        let (from, to) = (self.chain[earlier], self.chain[later]);
        if from == to {
            return self.rank[earlier] <= self.rank[later];
        }
        if from != 0 {
            self.before[to * self.words + from / 64] |= 1 << (from % 64);
        }
        to != 0
    }

    /// Notes what a read behind `event` cannot read any more: a chain that comes before one that was seen, and in
    /// those what comes before what was seen. `marks` holds the first, `work` the second.
    fn floors<H: HappensBefore>(&mut self, graph: &ExecutionGraph, event: Ev) {
        let chains = self.chains();
        self.blocks.iter_mut().for_each(|block| block.seen = block.start);
        self.marks.clear();
        self.marks.resize(chains, 0);
        // The least rank that may be read, by chain; then the chains to look at.
        self.work.clear();
        self.work.resize(chains, 0);
        let clock = graph.clock(H::HB, event);
        for block in 0..self.blocks.len() {
            if !self.advance(block, clock) {
                continue;
            }
            let last = self.accesses[self.blocks[block].seen - 1].at as usize;
            let chain = self.chain[last];
            self.work[chain] = self.work[chain].max(self.rank[last] as usize);
            if chain != 0 {
                self.marks[0] = 1;
                self.work.push(chain);
            }
        }
        while self.work.len() > chains {
            let later = self.work.pop().unwrap_or_default();
            let (marks, work) = (&mut self.marks, &mut self.work);
            for_each_bit(&self.before[later * self.words..(later + 1) * self.words], |earlier| {
                if marks[earlier] == 0 {
                    marks[earlier] = 1;
                    work.push(earlier);
                }
            });
        }
    }

    /// Whether the read that `floors` was asked for may read from the write at a position.
    fn may_read(&self, at: usize) -> bool {
        let chain = self.chain[at];
        self.marks[chain] == 0 && self.rank[at] as usize >= self.work[chain]
    }

    fn position(&self, graph: &ExecutionGraph, write: Ev) -> usize {
        self.positions[graph.event(write).co as usize]
    }

    fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.before[later * self.words + earlier / 64] & 1 << (earlier % 64) != 0
    }

    /// Makes `before` transitive. Whether no chain comes before itself.
    fn close(&mut self) -> bool {
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let (chains, words) = (self.chains(), self.words);
        self.marks.clear();
        self.marks.resize(chains, 0);
        for root in 1..chains {
            self.work.clear();
            self.work.push(root);
            while let Some(&chain) = self.work.last() {
                if self.marks[chain] == DONE {
                    self.work.pop();
                    continue;
                }
                let first = self.marks[chain] == 0;
                self.marks[chain] = OPEN;
                let (mut waits, mut cycle) = (false, false);
                let (marks, work) = (&self.marks, &mut self.work);
                if first {
                    for_each_bit(&self.before[chain * words..(chain + 1) * words], |earlier| {
                        cycle |= marks[earlier] == OPEN;
                        if marks[earlier] == 0 {
                            waits = true;
                            work.push(earlier);
                        }
                    });
                }
                if cycle {
                    return false;
                }
                if !waits {
                    self.work.pop();
                    self.inherit(chain);
                    self.marks[chain] = DONE;
                }
            }
        }
        true
    }

    /// What comes before a chain that comes before this one comes before this one.
    fn inherit(&mut self, chain: usize) {
        let words = self.words;
        for word in 0..words {
            let mut bits = self.before[chain * words + word];
            while bits != 0 {
                let earlier = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                for at in 0..words {
                    self.before[chain * words + at] |= self.before[earlier * words + at];
                }
            }
        }
    }
}

fn for_each_bit(row: &[u64], mut found: impl FnMut(usize)) {
    for (word, &bits) in row.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            found(word * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}
