//! Is there an mo for these events and this rf that makes a relation acyclic: psc, or the order of SC, SRA, TSO, PSO?
//!
//! The problem is NP-hard in general. *Writes before* ([`WritesBefore`]) gives the part of mo that coherence
//! and atomicity force; any total order above it that keeps rf;rmw chains together is coherent. What is
//! left is the [`MoConstraint`], which only grows with mo: a pair of chains that it forbids one way is ordered the
//! other way, until nothing changes (saturation); if pairs are left that it can tell apart, both ways
//! are tried, first all as they are in the graph. Pairs that it does not see are never tried.
//!
//! Cost: each round tests each open pair twice. Branching is rare; past [`BUDGET`] branches the search
//! gives up, and says so.

use crate::hb::HappensBefore;
use crate::reach::{any, join};
use crate::writes_before::WritesBefore;
use porf_graph::{Ev, ExecutionGraph, Loc};

/// Branches of one search.
const BUDGET: u32 = 4_096;

/// Something that mo must keep acyclic, with the part of mo that is known.
pub trait MoConstraint: Clone + Default {
    /// What coherence follows.
    type Before: HappensBefore;

    /// What does not depend on mo, of the events that are `there` and have their source. Whether it is
    /// acyclic.
    fn build(&mut self, graph: &ExecutionGraph, there: &impl Fn(Ev) -> bool) -> bool;

    /// The parts of a write, the initial one included, with its reads that are `there`.
    fn ends(&self, graph: &ExecutionGraph, loc: Loc, write: Ev, there: &impl Fn(Ev) -> bool) -> Ends;

    /// One write comes before another in mo. Whether it stays acyclic.
    fn order(&mut self, earlier: &Ends, later: &Ends) -> bool;
}

/// What an mo-earlier and an mo-later write contribute. A set of events each.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// As the earlier one: events by mo and fr, and SC fences by eco.
    pub(crate) from: Vec<u64>,
    pub(crate) from_fences: Vec<u64>,
    /// As the later one.
    pub(crate) to: Vec<u64>,
    pub(crate) to_fences: Vec<u64>,
}

impl Ends {
    fn join(&mut self, other: &Ends) {
        join(&mut self.from, &other.from);
        join(&mut self.from_fences, &other.from_fences);
        join(&mut self.to, &other.to);
        join(&mut self.to_fences, &other.to_fences);
    }

    /// Whether the relation has anything to say on the order of two writes.
    fn matters(&self, other: &Ends) -> bool {
        let leads =
            |a: &Ends, b: &Ends| (any(&a.from) && any(&b.to)) || (any(&a.from_fences) && any(&b.to_fences));
        leads(self, other) || leads(other, self)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct MoSearch<R> {
    pub order: WritesBefore,
    chains: Vec<Chain>,
    state: State<R>,
    branches: u32,
    pub budget: u32,
    /// The budget was used up: the last answer means nothing.
    pub gave_up: bool,
}

/// An rf;rmw chain: its writes are neighbours in mo.
#[derive(Clone, Debug)]
struct Chain {
    loc: Loc,
    writes: Vec<Ev>,
    /// The place of the first one in the graph's co.
    place: u32,
    ends: Ends,
}

#[derive(Clone, Debug, Default)]
struct State<R> {
    relation: R,
    /// Row i: the chains that come after the i-th, transitively.
    after: Vec<u64>,
    words: usize,
}

impl<R: Default> Default for MoSearch<R> {
    fn default() -> MoSearch<R> {
        MoSearch {
            order: WritesBefore::default(),
            chains: Vec::new(),
            state: State::default(),
            branches: 0,
            budget: BUDGET,
            gave_up: false,
        }
    }
}

impl<R: MoConstraint> MoSearch<R> {
    /// Takes the events that are `there`; whether what is forced is consistent.
    pub fn prepare(&mut self, graph: &ExecutionGraph, there: impl Fn(Ev) -> bool) -> bool {
        self.chains.clear();
        if !self.state.relation.build(graph, &there) {
            return false;
        }
        let mut forced = Vec::new();
        for loc in (0..graph.location_count() as u32).map(Loc) {
            if !self.order.build::<R::Before>(graph, loc, &there) || !self.add_chains(graph, loc, &there) {
                return false;
            }
            self.forced_pairs(&mut forced);
        }
        self.state.words = self.chains.len().div_ceil(64);
        self.state.after.clear();
        self.state.after.resize(self.chains.len() * self.state.words, 0);
        forced.into_iter().all(|(a, b)| self.state.put(&self.chains, a, b))
    }

    /// Whether there is an mo, once prepared; with `last`, one in which that write is the last of its
    /// location.
    pub fn solve(&mut self, last: &[(Loc, Ev)]) -> bool {
        let mut state = self.state.clone();
        for &(loc, write) in last {
            let is_last = |chain: &Chain| chain.loc == loc && chain.writes.last() == Some(&write);
            let Some(target) = self.chains.iter().position(is_last) else { return false };
            for other in 0..self.chains.len() {
                if other != target && self.chains[other].loc == loc && !state.put(&self.chains, other, target)
                {
                    return false;
                }
            }
        }
        self.branches = 0;
        match self.decide(state) {
            Some(found) => {
                self.state = found;
                true
            }
            None => false,
        }
    }

    /// Puts every location in the order that was found.
    pub fn arrange(&mut self, graph: &mut ExecutionGraph) {
        for loc in (0..graph.location_count() as u32).map(Loc) {
            let mut chains: Vec<usize> =
                (0..self.chains.len()).filter(|&at| self.chains[at].loc == loc).collect();
            let mut co = Vec::with_capacity(graph.co(loc).len());
            while !chains.is_empty() {
                let free = |at: usize| !chains.iter().any(|&other| self.state.is_after(other, at));
                let next = chains.iter().position(|&at| free(at)).expect("an order has a first element");
                let chain = &self.chains[chains.remove(next)];
                co.extend(chain.writes.iter().copied().filter(|&write| write != Ev::INIT));
            }
            graph.set_co(loc, &co);
        }
    }

    fn add_chains(&mut self, graph: &ExecutionGraph, loc: Loc, there: &impl Fn(Ev) -> bool) -> bool {
        for chain in 0..self.order.chains() {
            let writes = self.order.members(chain);
            let ends: Vec<Ends> =
                writes.iter().map(|&write| self.state.relation.ends(graph, loc, write, there)).collect();
            for (at, later) in ends.iter().enumerate() {
                if !ends[..at].iter().all(|earlier| self.state.relation.order(earlier, later)) {
                    return false;
                }
            }
            let mut ends = ends.into_iter();
            let mut all = ends.next().expect("a chain has a head");
            ends.for_each(|more| all.join(&more));
            let place = graph.event(writes[0]).co;
            self.chains.push(Chain { loc, writes, place, ends: all });
        }
        true
    }

    /// Pairs of chains of the location whose order was just built, which are the last ones.
    fn forced_pairs(&self, out: &mut Vec<(usize, usize)>) {
        let (count, start) = (self.order.chains(), self.chains.len() - self.order.chains());
        for a in 0..count {
            out.extend((0..count).filter(|&b| self.order.comes_before(a, b)).map(|b| (start + a, start + b)));
        }
    }

    fn decide(&mut self, mut state: State<R>) -> Option<State<R>> {
        loop {
            let mut changed = false;
            let mut open = None;
            for a in 0..self.chains.len() {
                for b in a + 1..self.chains.len() {
                    if !self.is_open(&state, a, b) {
                        continue;
                    }
                    let (mut ab, mut ba) = (state.clone(), state.clone());
                    match (ab.put(&self.chains, a, b), ba.put(&self.chains, b, a)) {
                        (false, false) => return None,
                        (true, false) => (state, changed) = (ab, true),
                        (false, true) => (state, changed) = (ba, true),
                        (true, true) => open = open.or(Some((a, b))),
                    }
                }
            }
            if changed {
                continue;
            }
            let Some((a, b)) = open else { return Some(state) };
            self.branches += 1;
            if self.branches > self.budget {
                self.gave_up = true;
                return None;
            }
            if let Some(found) = self.complete(state.clone()) {
                return Some(found);
            }
            let mut first = state.clone();
            if first.put(&self.chains, a, b)
                && let Some(found) = self.decide(first)
            {
                return Some(found);
            }
            if self.gave_up || !state.put(&self.chains, b, a) {
                return None;
            }
        }
    }

    /// Orders all pairs that are left as the graph has them, if that is possible: it mostly is.
    fn complete(&self, mut state: State<R>) -> Option<State<R>> {
        for a in 0..self.chains.len() {
            for b in a + 1..self.chains.len() {
                let (one, two) = if self.chains[a].place < self.chains[b].place { (a, b) } else { (b, a) };
                if self.is_open(&state, one, two) && !state.put(&self.chains, one, two) {
                    return None;
                }
            }
        }
        Some(state)
    }

    /// Whether the relation can tell the two orders of a pair apart, and neither is fixed.
    fn is_open(&self, state: &State<R>, a: usize, b: usize) -> bool {
        let (one, two) = (&self.chains[a], &self.chains[b]);
        one.loc == two.loc && !state.is_after(a, b) && !state.is_after(b, a) && one.ends.matters(&two.ends)
    }
}

impl<R: MoConstraint> State<R> {
    fn is_after(&self, a: usize, b: usize) -> bool {
        self.after[a * self.words + b / 64] & 1 << (b % 64) != 0
    }

    /// Chain `a` comes before `b`, with all that follows. Whether that is possible.
    fn put(&mut self, chains: &[Chain], a: usize, b: usize) -> bool {
        if self.is_after(a, b) {
            return true;
        }
        if a == b || self.is_after(b, a) {
            return false;
        }
        for x in 0..chains.len() {
            if x != a && !self.is_after(x, a) {
                continue;
            }
            for y in 0..chains.len() {
                if (y == b || self.is_after(b, y)) && !self.is_after(x, y) {
                    self.after[x * self.words + y / 64] |= 1 << (y % 64);
                    if !self.relation.order(&chains[x].ends, &chains[y].ends) {
                        return false;
                    }
                }
            }
        }
        true
    }
}
