//! The search: from the unsafe cubes backward, until the initial states are met or nothing new comes.
//!
//! Small cubes first (they are general, so they cover much). With the approximation on, a cube is replaced by
//! a more general candidate that no small instance contradicts; a candidate that turns out to be reachable is
//! remembered and the search starts again without it. Whatever the guesses, *safe* means that the visited
//! cubes are closed under pre-images and exclude the initial states: an inductive invariant.

use super::compile::{Compiled, compile};
use super::cube::{Cube, GONE, cubes};
use super::laws::Laws;
use super::oracle::{Behind, Candidates, Oracle, Refuted};
use super::pre::{Overflow, Predecessor, predecessors};
use super::robust;
use super::seeds::seeds;
use super::slice;
use super::subsume::{Prepared, Target};
use super::turns::Turns;
use super::visited::Visited;
use super::weak::{Edges, Order, edges};
use super::work::Work;
use crate::Memory;
use crate::explore::Trace;
use crate::law::Law;
use crate::syntax::Diagnostic;
use crate::system::System;
use porf_verdict::Limit;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What to search, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The memory under the weak symbols.
    pub memory: Memory,
    /// How steps are taken back under a weak model; PSO with racy locations has no choice.
    pub order: Order,
    /// Guess invariants from a small instance.
    pub candidates: Candidates,
    /// The most processes and states of that instance.
    pub small: (u8, usize),
    /// Search parts of the system that speak of fewer symbols: see `prove/slice.rs`.
    pub sliced: bool,
    /// Search whether the system is robust, not whether it is safe: see `prove/robust.rs`.
    pub robust: bool,
    /// Threads of the prover.
    pub jobs: usize,
    /// Cubes whose pre-image is computed.
    pub max_nodes: usize,
    /// Steps of work: see `prove/work.rs`.
    pub max_work: u64,
    /// From the start of the search.
    pub max_time: Duration,
    /// Refuted candidates after which the approximation is given up.
    pub max_restarts: usize,
    /// Set from outside to end the search.
    pub interrupt: Option<&'a AtomicBool>,
}

/// An instance that is explored in a moment.
pub const SMALL: (u8, usize) = (3, 30_000);

/// Processes that the cubes on the way to a candidate may have more than the candidate. Cores say little, and their
/// proofs name more.
const MAX_GROWTH: u8 = 1;
const MAX_GROWTH_OF_CORES: u8 = 2;

/// Some minutes.
pub const MAX_WORK: u64 = 10_000_000_000;

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            memory: Memory::Tso,
            order: Order::Coherence,
            candidates: Candidates::Bold,
            small: SMALL,
            sliced: false,
            robust: false,
            jobs: 1,
            max_nodes: 100_000,
            max_work: MAX_WORK,
            max_time: Duration::from_secs(600),
            max_restarts: usize::MAX,
            interrupt: None,
        }
    }
}

/// What a search has found.
pub struct Search {
    /// Safe, unsafe, or why neither is known.
    pub outcome: Outcome,
    /// The laws that the outcome rests on.
    pub laws: Vec<Law>,
    /// The order that was used.
    pub order: Order,
    /// What it took.
    pub statistics: Statistics,
}

impl Search {
    fn unknown(limit: Limit, order: Order) -> Search {
        Search {
            outcome: Outcome::Unknown(limit),
            laws: Vec::new(),
            order,
            statistics: Statistics::default(),
        }
    }
}

/// How a search can end.
pub enum Outcome {
    /// The negations of these cubes, with the laws, are an inductive invariant that excludes every unsafe state.
    Safe(Vec<Cube>),
    /// Transition instances from an initial to an unsafe state, possibly spurious.
    Unsafe(AbstractTrace),
    /// A run of the small instance behind the candidates, and the `unsafe` it reaches.
    Reached(Box<(Trace, usize)>),
    /// The negations of these cubes, with the laws, are an inductive invariant of the watched system, and exclude exposed
    /// steps: what the memory allows, sequential consistency does.
    Robust(Vec<Cube>),
    /// A limit was reached.
    Unknown(Limit),
}

/// A path of the backward search, read forward.
#[derive(Clone, Debug)]
pub struct AbstractTrace {
    /// How many take part.
    pub processes: u8,
    /// Transition index and processes.
    pub steps: Vec<(usize, Vec<u8>)>,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Cubes whose pre-image was computed, over all attempts.
    pub nodes: usize,
    /// Candidates that the last attempt relied on.
    pub candidates: usize,
    /// Attempts that were given up because a candidate turned out to be reachable.
    pub restarts: usize,
    /// States of the small instance behind the candidates.
    pub oracle_states: usize,
    /// Whether those are all states of the instance that was asked for.
    pub oracle_is_whole: bool,
    /// Steps of work.
    pub work: u64,
    /// Claimed invariants that turned out to be reachable and were dropped.
    pub dropped_lemmas: usize,
}

/// Proves or refutes the system; errors are in its text.
pub fn search(system: &System, options: Options<'_>) -> Result<Search, Diagnostic> {
    search_among(system, options, None, &mut |_| true)
}

/// The same as one of several searches, with its number among them. `judge` is asked before the turn is passed on:
/// whether the outcome is an answer, so that the others end.
pub fn search_among(
    system: &System,
    options: Options<'_>,
    turns: Option<(&Turns, usize)>,
    judge: &mut dyn FnMut(&Outcome) -> bool,
) -> Result<Search, Diagnostic> {
    let work = Work::new(options.max_work, options.max_time, options.interrupt).among(turns);
    let found = match (options.robust, options.sliced) {
        (true, _) => robustness(system, options, &work),
        (false, true) => in_slices(system, options, &work),
        (false, false) => whole(system, options, &work),
    };
    work.end(found.as_ref().is_ok_and(|search| judge(&search.outcome)));
    found
}

/// Searches the system as it is.
fn whole(system: &System, options: Options<'_>, work: &Work<'_>) -> Result<Search, Diagnostic> {
    let mut compiled = compile(system, options.memory, options.order)?;
    // Another search may have answered before this one had a turn.
    if let Some(limit) = work.stopped() {
        return Ok(Search::unknown(limit, compiled.order));
    }
    compiled.laws = Laws::of(&compiled);
    let mut assumed = Visited::default();
    for cube in compiled.axioms.iter().flat_map(|axiom| cubes(&compiled, axiom)) {
        assumed.add(&compiled, usize::MAX, cube, work);
    }
    compiled.assumed = assumed;
    Ok(attempts(&compiled, options, work))
}

/// Searches slices of the system, until one is safe. What a slice can reach says nothing of the system.
fn in_slices(system: &System, options: Options<'_>, work: &Work<'_>) -> Result<Search, Diagnostic> {
    if work.stopped().is_none() {
        for set in slice::sets(system, options.memory, work) {
            let search = whole(&slice::without(system, &set), options, work)?;
            if matches!(search.outcome, Outcome::Safe(_)) {
                return Ok(search);
            }
        }
    }
    let limit = work.stopped().unwrap_or(Limit::Other("no part of the system was proved safe".into()));
    let mut search = Search::unknown(limit, options.order);
    search.statistics.work = work.done();
    Ok(search)
}

/// Searches whether the system is robust. An exposed step says nothing of its safety.
fn robustness(system: &System, options: Options<'_>, work: &Work<'_>) -> Result<Search, Diagnostic> {
    let unknown = |why: &str| {
        let limit = work.stopped().unwrap_or(Limit::Other(why.into()));
        let mut search = Search::unknown(limit, options.order);
        search.statistics.work = work.done();
        Ok(search)
    };
    let Some(watched) = robust::watched(system, options.memory) else {
        return unknown("robustness is not looked at for this system");
    };
    if work.stopped().is_some() || robust::refuted(&watched, work) {
        return unknown("the system is not robust");
    }
    let mut search = whole(&watched, Options { memory: Memory::Sc, ..options }, work)?;
    search.outcome = match search.outcome {
        Outcome::Safe(cubes) => Outcome::Robust(cubes),
        Outcome::Unknown(limit) => Outcome::Unknown(limit),
        _ => Outcome::Unknown(Limit::Other("the system is not known to be robust".into())),
    };
    Ok(search)
}

/// The laws of the system in the order of issue: each holds in every reachable state.
pub fn laws(system: &System, memory: Memory) -> Result<Vec<Law>, Diagnostic> {
    let compiled = compile(system, memory, Order::Issue)?;
    Ok(Laws::of(&compiled).all().cloned().collect())
}

fn attempts(compiled: &Compiled<'_>, options: Options<'_>, work: &Work<'_>) -> Search {
    let edges = edges(compiled.memory, compiled.order, &compiled.racy, &compiled.chained);
    let mut statistics = Statistics::default();
    let mut oracle = None;
    if options.candidates != Candidates::None {
        let explore = || Behind::explore(compiled, options.small, work);
        // A slice and a watched system are other systems than those of the searches beside them.
        let behind = match options.sliced || options.robust {
            true => explore().map(Arc::new),
            false => work.once(options.small, explore),
        };
        match behind {
            Ok(behind) => oracle = Some(Oracle::new(compiled, options.candidates, &behind, work)),
            Err(found) => {
                statistics.work = work.done();
                return Search {
                    outcome: Outcome::Reached(found),
                    laws: Vec::new(),
                    order: compiled.order,
                    statistics,
                };
            }
        }
    }
    statistics.oracle_states = oracle.as_ref().map_or(0, Oracle::len);
    statistics.oracle_is_whole = oracle.as_ref().is_some_and(Oracle::is_whole);
    let seeds = match &mut oracle {
        Some(oracle) if options.candidates == Candidates::Careful => seeds(compiled, &*edges, oracle, work),
        _ => Vec::new(),
    };
    let mut refuted = Refuted::default();
    let mut dropped: Vec<Cube> = Vec::new();
    let pool = (options.jobs > 1)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().ok())
        .flatten();
    loop {
        let mut attempt = Attempt {
            compiled,
            edges: &*edges,
            options,
            work,
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            visited: Visited::default(),
            statistics: &mut statistics,
        };
        attempt.know(&seeds);
        let end = match &pool {
            Some(pool) => pool.install(|| attempt.run(oracle.as_mut(), &refuted, &dropped)),
            None => attempt.run(oracle.as_mut(), &refuted, &dropped),
        };
        let outcome = match end {
            End::Safe(cubes) => Outcome::Safe(cubes),
            End::Unsafe(trace) => Outcome::Unsafe(trace),
            End::Unknown(limit) => Outcome::Unknown(limit),
            End::Refuted(cubes) => {
                refuted.add(cubes);
                statistics.restarts += 1;
                statistics.candidates = 0;
                if statistics.restarts > options.max_restarts {
                    Outcome::Unknown(Limit::Other("too many invariant candidates were refuted".into()))
                } else {
                    continue;
                }
            }
            End::NoLemma(cube) => {
                dropped.push(cube);
                statistics.dropped_lemmas += 1;
                statistics.candidates = 0;
                continue;
            }
        };
        statistics.work = work.done();
        return Search { outcome, laws: compiled.laws.used(), order: compiled.order, statistics };
    }
}

enum End {
    Safe(Vec<Cube>),
    Unsafe(AbstractTrace),
    Unknown(Limit),
    /// A candidate was reached: the cubes on the way to it. Or it has outgrown what a proof of it may need.
    Refuted(Vec<Cube>),
    NoLemma(Cube),
}

/// Where a chain of cubes started.
#[derive(Clone, Debug)]
enum Root {
    Unsafe,
    Lemma(Box<Cube>),
    Candidate,
}

struct Node {
    cube: Cube,
    root: Root,
    depth: u32,
    /// The cube this one is a predecessor of, and the step between them.
    parent: Option<(usize, usize, Vec<u8>, Vec<u8>)>,
}

type Priority = (u8, usize, u8, u32, usize);

struct Attempt<'a> {
    compiled: &'a Compiled<'a>,
    edges: &'a dyn Edges,
    options: Options<'a>,
    work: &'a Work<'a>,
    nodes: Vec<Node>,
    /// Smallest first: processes, literals and reads, candidates, depth, age.
    queue: BinaryHeap<Reverse<Priority>>,
    visited: Visited,
    statistics: &'a mut Statistics,
}

/// What the parallel part finds out about a queued node.
enum Expanded {
    Initial,
    Covered,
    Predecessors(Result<Vec<Predecessor>, Overflow>),
}

impl Attempt<'_> {
    /// Starts from cubes that are unreachable together.
    fn know(&mut self, seeds: &[Cube]) {
        for cube in seeds {
            let node = Node { cube: cube.clone(), root: Root::Candidate, depth: 0, parent: None };
            self.visited.add(self.compiled, self.nodes.len(), cube.clone(), self.work);
            self.nodes.push(node);
        }
    }

    fn run(&mut self, mut oracle: Option<&mut Oracle<'_>>, refuted: &Refuted, dropped: &[Cube]) -> End {
        for axiom in &self.compiled.axioms {
            for cube in cubes(self.compiled, axiom) {
                self.visited.add(self.compiled, usize::MAX, cube, self.work);
            }
        }
        for clauses in &self.compiled.unsafes {
            for cube in cubes(self.compiled, clauses) {
                self.push(Node { cube, root: Root::Unsafe, depth: 0, parent: None });
            }
        }
        for clauses in &self.compiled.lemmas {
            for cube in cubes(self.compiled, clauses) {
                if !dropped.contains(&cube) {
                    let root = Root::Lemma(Box::new(cube.clone()));
                    self.push(Node { cube, root, depth: 0, parent: None });
                }
            }
        }
        loop {
            // Several cubes for each worker: one alone is too little to be worth waking it. Careful candidates depend
            // on all that is known, so there it is one cube after the other.
            let one = self.options.jobs == 1 || self.options.candidates == Candidates::Careful;
            let most = if one { 1 } else { 4 * self.options.jobs };
            self.work.has_open(self.queue.len());
            let mut batch = Vec::new();
            while batch.len() < most
                && let Some(Reverse((.., id))) = self.queue.pop()
            {
                batch.push(id);
            }
            if batch.is_empty() {
                return End::Safe(
                    self.visited
                        .cubes()
                        .filter(|(id, _)| *id != usize::MAX)
                        .map(|(_, cube)| cube.clone())
                        .collect(),
                );
            }
            if let Some(limit) = self.limit() {
                return End::Unknown(limit);
            }
            if let Some(oracle) = oracle.as_deref_mut() {
                for id in &mut batch {
                    self.approximate(oracle, refuted, id);
                }
            }
            let expanded: Vec<Expanded> = if batch.len() > 1 {
                batch.par_iter().map(|id| self.expand_and_compare(*id)).collect()
            } else {
                batch.iter().map(|id| self.expand(*id)).collect()
            };
            // What was found when the work was over may be incomplete.
            if let Some(limit) = self.limit() {
                return End::Unknown(limit);
            }
            let several = batch.len() > 1;
            for (&id, expanded) in batch.iter().zip(expanded) {
                match expanded {
                    Expanded::Covered => {}
                    Expanded::Initial => {
                        return match &self.nodes[id].root {
                            Root::Unsafe => End::Unsafe(self.trace(id)),
                            Root::Lemma(cube) => End::NoLemma((**cube).clone()),
                            Root::Candidate => End::Refuted(self.chain(id)),
                        };
                    }
                    Expanded::Predecessors(predecessors) => {
                        if let Some(candidate) = self.outgrown(id) {
                            return End::Refuted(vec![candidate]);
                        }
                        let predecessors = match predecessors {
                            Ok(predecessors) => predecessors,
                            Err(overflow) => return End::Unknown(Limit::Other(overflow.why().into())),
                        };
                        if several
                            && self.visited.subsumes_among(
                                self.compiled,
                                &batch,
                                &self.nodes[id].cube,
                                self.work,
                            )
                        {
                            continue;
                        }
                        self.statistics.nodes += 1;
                        let cube = self.nodes[id].cube.clone();
                        self.visited.add(self.compiled, id, cube, self.work);
                        for predecessor in predecessors {
                            // Of several, each was compared with what was visited before them.
                            let known = if several {
                                self.visited.subsumes_among(
                                    self.compiled,
                                    &batch,
                                    &predecessor.cube,
                                    self.work,
                                )
                            } else {
                                self.visited.subsumes(self.compiled, &predecessor.cube, self.work)
                            };
                            if known {
                                continue;
                            }
                            let (root, depth) = (self.nodes[id].root.clone(), self.nodes[id].depth + 1);
                            let Predecessor { cube, transition, procs, rename } = predecessor;
                            self.push(Node {
                                cube,
                                root,
                                depth,
                                parent: Some((id, transition, procs, rename)),
                            });
                        }
                    }
                }
            }
        }
    }

    fn expand(&self, id: usize) -> Expanded {
        let cube = &self.nodes[id].cube;
        if cube.meets_init(self.compiled, self.work) {
            return Expanded::Initial;
        }
        if self.covered(cube) {
            return Expanded::Covered;
        }
        Expanded::Predecessors(predecessors(self.compiled, self.edges, cube, self.work))
    }

    /// Whether the visited cubes and the laws leave nothing of the cube.
    fn covered(&self, cube: &Cube) -> bool {
        let laws = &self.compiled.laws;
        laws.refute(self.compiled, cube)
            || self.visited.covers(self.compiled, cube, self.work)
            || laws.covers(self.compiled, cube, &self.visited, self.work)
    }

    /// Without the predecessors that a visited cube covers: comparing is most of the work.
    fn expand_and_compare(&self, id: usize) -> Expanded {
        match self.expand(id) {
            Expanded::Predecessors(Ok(mut predecessors)) => {
                predecessors.retain(|predecessor| {
                    !self.visited.subsumes(self.compiled, &predecessor.cube, self.work)
                });
                Expanded::Predecessors(Ok(predecessors))
            }
            other => other,
        }
    }

    /// Replaces a node that adds something by a candidate, or by several that cover it together, if there are any.
    fn approximate(&mut self, oracle: &mut Oracle<'_>, refuted: &Refuted, id: &mut usize) {
        let cube = &self.nodes[*id].cube;
        if cube.meets_init(self.compiled, self.work) || self.covered(cube) {
            return;
        }
        let mut candidates: Vec<Cube> = match self.candidate(oracle, refuted, cube) {
            Some((open, candidate)) => {
                if self.options.candidates == Candidates::Careful
                    && self.open(cube).is_some_and(|less| less < open)
                {
                    return;
                }
                vec![candidate]
            }
            None => self.split(oracle, refuted, cube),
        };
        let Some(first) = candidates.pop() else { return };
        self.statistics.candidates += 1 + candidates.len();
        for cube in candidates {
            self.push(Node { cube, root: Root::Candidate, depth: 0, parent: None });
        }
        self.nodes.push(Node { cube: first, root: Root::Candidate, depth: 0, parent: None });
        *id = self.nodes.len() - 1;
    }

    /// The candidate for a cube that leaves the fewest cubes to explain, and how many these are.
    fn candidate(&self, oracle: &mut Oracle<'_>, refuted: &Refuted, cube: &Cube) -> Option<(usize, Cube)> {
        // A candidate takes the place of the cube, so it must cover it.
        let target = Target::new(self.compiled, cube)?;
        let covers = |candidate: &Cube| Prepared::new(candidate.clone()).covers(&target, self.work);
        let candidates = oracle.candidates(cube, refuted).into_iter().filter(covers);
        let scored = candidates.filter_map(|candidate| Some((self.open(&candidate)?, candidate)));
        scored.min_by_key(|(open, _)| *open)
    }

    /// Candidates for a cube that has none, by how two of its numbers compare: one for each of the three cases.
    fn split(&self, oracle: &mut Oracle<'_>, refuted: &Refuted, cube: &Cube) -> Vec<Cube> {
        if self.options.candidates != Candidates::Cores {
            return Vec::new();
        }
        let mut best: Option<(usize, Vec<Cube>)> = None;
        for cases in oracle.comparisons(cube) {
            let found: Option<Vec<(usize, Cube)>> =
                cases.iter().map(|case| self.candidate(oracle, refuted, case)).collect();
            if let Some(found) = found {
                let open = found.iter().map(|(open, _)| open).sum();
                if best.as_ref().is_none_or(|(least, _)| open < *least) {
                    best = Some((open, found.into_iter().map(|(_, candidate)| candidate).collect()));
                }
            }
        }
        best.map(|(_, candidates)| candidates).unwrap_or_default()
    }

    /// The predecessors of a candidate that neither it nor a visited cube covers; `None` if one is initial.
    fn open(&self, candidate: &Cube) -> Option<usize> {
        let prepared = Prepared::new(candidate.clone());
        let mut open = 0;
        for predecessor in predecessors(self.compiled, self.edges, candidate, self.work).ok()? {
            let cube = predecessor.cube;
            if cube.meets_init(self.compiled, self.work) {
                return None;
            }
            let refuted = self.compiled.laws.refute(self.compiled, &cube);
            let known = refuted
                || Target::new(self.compiled, &cube).is_none_or(|target| {
                    prepared.covers(&target, self.work) || self.visited.subsumes_target(&target, self.work)
                });
            open += usize::from(!known);
        }
        Some(open)
    }

    fn push(&mut self, node: Node) {
        let size = node.cube.literals.len() + node.cube.weak.nodes.len();
        let kind = match node.root {
            Root::Candidate => 0,
            _ => 1,
        };
        self.queue.push(Reverse((node.cube.procs, size, kind, node.depth, self.nodes.len())));
        self.nodes.push(node);
    }

    fn limit(&self) -> Option<Limit> {
        self.work.look();
        self.work.stopped().or_else(|| {
            (self.statistics.nodes >= self.options.max_nodes)
                .then_some(Limit::Nodes { limit: self.options.max_nodes as u64 })
        })
    }

    /// The candidate that a node comes from, if the node needs many more processes. A candidate may be true because of
    /// how all processes stand together (nobody waits in a queue whose last one has left), while its predecessors name one
    /// process after the other, without end. Another part of the same cube may need no such chain.
    fn outgrown(&self, id: usize) -> Option<Cube> {
        let Node { cube, root: Root::Candidate, .. } = &self.nodes[id] else { return None };
        let mut at = id;
        while let Some((parent, ..)) = self.nodes[at].parent {
            at = parent;
        }
        let root = &self.nodes[at].cube;
        let is_core = self.options.candidates == Candidates::Cores;
        let growth = if is_core { MAX_GROWTH_OF_CORES } else { MAX_GROWTH };
        (cube.procs > root.procs + growth).then(|| root.clone())
    }

    /// The cubes from a node to its root.
    fn chain(&self, id: usize) -> Vec<Cube> {
        let mut cubes = vec![self.nodes[id].cube.clone()];
        let mut at = id;
        while let Some((parent, ..)) = self.nodes[at].parent {
            cubes.push(self.nodes[parent].cube.clone());
            at = parent;
        }
        cubes
    }

    /// The steps from a node that meets the initial states to its root, processes named throughout.
    fn trace(&self, id: usize) -> AbstractTrace {
        let mut names: Vec<u8> = (0..self.nodes[id].cube.procs).collect();
        let mut processes = self.nodes[id].cube.procs;
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((parent, transition, procs, rename)) = &self.nodes[at].parent {
            let mut outer = Vec::new();
            for new in rename {
                outer.push(match new {
                    &GONE => {
                        processes += 1;
                        processes - 1
                    }
                    new => names[*new as usize],
                });
            }
            steps.push((*transition, procs.iter().map(|p| outer[*p as usize]).collect()));
            names = outer;
            at = *parent;
        }
        AbstractTrace { processes: processes.max(1), steps }
    }
}
