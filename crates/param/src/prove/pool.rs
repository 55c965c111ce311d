//! Reachable states of one finite instance, and which of them satisfy a cube.
//!
//! A state is one of the store-buffer machine, and a read that a cube waits for happens in a state that pending
//! writes still lead to. All reads of a cube lie on one run, so the states they happen in lead to one another.

use super::compile::{Compiled, Conjunction};
use super::cube::Cube;
use super::literal::{LinOp, Literal, Var};
use super::messages::Reads;
use super::weak::{Entry, Mask};
use super::work::Work;
use crate::Memory;
use crate::explore::{Cut, Instance, Limits, State, Step, Trace, explore_while};
use crate::system::PROC;
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// States of an instance, explored once for all searches that look at them.
pub struct States {
    processes: u8,
    /// Each once.
    pub all: Vec<State>,
    /// All states of the instance are known.
    pub fits: bool,
    /// With a state, all its renamings are known.
    symmetric: bool,
    /// Per state, the states that commits alone lead to, itself first.
    futures: Vec<SmallVec<[u32; 4]>>,
}

/// States with what one search asked of them.
pub struct Pool<'a> {
    instance: Instance<'a>,
    known: Arc<States>,
    /// The states that satisfy a literal over the processes of the instance; a read's node is its process.
    cache: HashMap<Literal, Vec<u64>>,
    /// The states in which a process, or every process, has no write pending, to a cell or at all.
    drained: HashMap<(Option<u8>, Option<usize>), Vec<u64>>,
}

/// Steps of work that a state is worth when it is explored.
const STATE: u64 = 32;
/// Pending groups of one process.
const MAX_BUFFER: usize = 2;
/// Initial states: with more, a sample.
const MAX_INITIAL: usize = 8;
/// Steps of a random run.
const RUN: usize = 150;
/// Places of reads tried for one cube; beyond, it counts as satisfied.
const MAX_PLACES: usize = 4_000_000;
/// Pending groups in a state of the sample: reads are placed in all orders in which these reach memory.
const MAX_PENDING: usize = 3;

impl States {
    /// The states of an instance, as far as the limit allows, or a run to an unsafe one.
    pub fn explore(
        compiled: &Compiled<'_>,
        processes: u8,
        limit: usize,
        work: &Work<'_>,
    ) -> Result<States, Box<(Trace, usize)>> {
        let system = compiled.system;
        let limits = Limits { states: limit, buffer: MAX_BUFFER, initial: MAX_INITIAL, stop_at_unsafe: true };
        let go_on = || work.spend(STATE);
        let exploration = explore_while(system, compiled.memory, processes, limits, &go_on);
        if let Some(found) = exploration.trace {
            return Err(Box::new(found));
        }
        let fits = !exploration.cut.states && !exploration.cut.stopped;
        let symmetric = fits && !exploration.cut.initial && !system.named && !orders_processes(compiled);
        let instance = Instance::new(system, compiled.memory, processes);
        Ok(States::new(&instance, exploration.states, fits, symmetric, work))
    }

    /// States met on random runs of a larger instance, the same each time.
    pub fn sample(compiled: &Compiled<'_>, processes: u8, limit: usize, work: &Work<'_>) -> States {
        let instance = Instance::new(compiled.system, compiled.memory, processes);
        let mut cut = Cut::default();
        let initial = instance.initial_states(MAX_INITIAL, &mut cut);
        let mut known: HashSet<State> = HashSet::new();
        let mut states: Vec<State> = Vec::new();
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut choose = |count: usize| {
            // xorshift64
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 32) as usize % count
        };
        // As many runs as would fill the sample twice over: a small system has fewer states.
        for _ in 0..2 * limit / RUN {
            if initial.is_empty() || states.len() >= limit {
                break;
            }
            let mut state = initial[choose(initial.len())].clone();
            for _ in 0..RUN {
                let pending: usize = state.buffers.iter().map(Vec::len).sum();
                if pending <= MAX_PENDING && known.insert(state.clone()) {
                    states.push(state.clone());
                }
                let mut next = Vec::new();
                instance.successors(&state, MAX_BUFFER, &mut cut, &mut |_, after| next.push(after));
                if next.is_empty() || !work.spend(STATE) {
                    break;
                }
                state = next.swap_remove(choose(next.len()));
            }
        }
        // What commits lead to is reached as well, and is where reads are placed.
        let mut at = 0;
        while at < states.len() && states.len() < 2 * limit && work.spend(STATE) {
            let state = states[at].clone();
            instance.commits(&state, &mut |_, after| {
                if known.insert(after.clone()) {
                    states.push(after);
                }
            });
            at += 1;
        }
        States::new(&instance, states, false, false, work)
    }

    fn new(instance: &Instance<'_>, all: Vec<State>, fits: bool, symmetric: bool, work: &Work<'_>) -> States {
        let futures = futures(instance, &all, work);
        States { processes: instance.processes, all, fits, symmetric, futures }
    }
}

impl<'a> Pool<'a> {
    /// Nothing was asked of the states so far.
    pub fn new(compiled: &Compiled<'a>, known: Arc<States>) -> Pool<'a> {
        let instance = Instance::new(compiled.system, compiled.memory, known.processes);
        Pool { instance, known, cache: HashMap::new(), drained: HashMap::new() }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.known.all.len()
    }

    /// Whether some state satisfies the cube, its reads placed in what pending writes may still make of it.
    pub fn satisfies(&mut self, cube: &Cube, work: &Work<'_>) -> bool {
        if cube.procs > self.instance.processes {
            return false;
        }
        if self.known.symmetric {
            let identity = std::array::from_fn(|p| p as u8);
            return self.satisfied_by(cube, &identity, work);
        }
        let mut maps = Vec::new();
        self.instance.distinct_environments(cube.procs as usize, &mut |env| maps.push(*env));
        maps.iter().any(|env| self.satisfied_by(cube, env, work))
    }

    fn satisfied_by(&mut self, cube: &Cube, env: &[u8; 16], work: &Work<'_>) -> bool {
        let threads: Vec<u8> = cube.weak.nodes.iter().map(|node| env[node.thread as usize]).collect();
        let mut plain: Option<Vec<u64>> = None;
        let mut by_node: Vec<Vec<Literal>> = vec![Vec::new(); threads.len()];
        // Literals over reads of several moments, with their nodes kept.
        let mut joint: Vec<Literal> = Vec::new();
        for literal in &cube.literals {
            let mut nodes: SmallVec<[u8; 2]> = SmallVec::new();
            literal.vars(&mut |var| nodes.extend(var.node()));
            nodes.sort_unstable();
            nodes.dedup();
            let concrete = || literal.map(|p| env[p as usize], |node| threads[node as usize]);
            match nodes.as_slice() {
                [] => {
                    let bits = self.bits(concrete());
                    match &mut plain {
                        None => plain = Some(bits.to_vec()),
                        Some(all) => all.iter_mut().zip(bits).for_each(|(a, b)| *a &= b),
                    }
                    if plain.as_ref().is_some_and(|all| all.iter().all(|word| *word == 0)) {
                        return false;
                    }
                }
                // Plain variables do not change while writes commit.
                [node] => by_node[*node as usize].push(concrete()),
                _ => joint.push(literal.map(|p| env[p as usize], |n| n)),
            }
        }
        let words = self.known.all.len().div_ceil(64);
        if self.instance.memory == Memory::Ra {
            let plain = plain.unwrap_or_else(|| vec![u64::MAX; words]);
            let reads = Reads::new(&self.instance, cube, env, work);
            return (self.known.all.iter().enumerate())
                .any(|(s, state)| plain[s / 64] >> (s % 64) & 1 == 1 && reads.found_in(state));
        }
        if !work.spend((words * (1 + cube.literals.len() + cube.weak.entries.len())) as u64) {
            return true;
        }
        let mut plain = plain.unwrap_or_else(|| vec![u64::MAX; words]);
        let mut at_node: Vec<Vec<u64>> = Vec::new();
        for literals in by_node {
            let mut all = vec![u64::MAX; words];
            for literal in literals {
                let bits = self.bits(literal);
                all.iter_mut().zip(bits).for_each(|(a, b)| *a &= b);
            }
            at_node.push(all);
        }
        for (entry, mask) in &cube.weak.entries {
            let cell = |location: &Var| {
                self.instance.cell(location.symbol(), location.indices().map(|p| env[p as usize]))
            };
            let (process, cell) = match entry {
                Entry::Any(_) | Entry::Fences => continue,
                Entry::Write(p) => (Some(env[*p as usize]), None),
                Entry::Location(location) => (None, Some(cell(location))),
                Entry::Own(p, location) => (Some(env[*p as usize]), Some(cell(location))),
            };
            let drained = self.drained(process, cell);
            for (_, all) in at_node.iter_mut().enumerate().filter(|(node, _)| mask >> node & 1 == 1) {
                all.iter_mut().zip(drained).for_each(|(a, b)| *a &= b);
            }
        }
        // The source of a late read is pending.
        for (location, _) in cube.weak.nodes.iter().flat_map(|node| &node.late) {
            let cell = self.instance.cell(location.symbol(), location.indices().map(|p| env[p as usize]));
            let drained = self.drained(None, Some(cell));
            plain.iter_mut().zip(drained).for_each(|(a, b)| *a &= !b);
        }
        let view = View {
            pool: self,
            cube,
            env,
            threads: &threads,
            at_node: &at_node,
            joint: &joint,
            tried: Cell::new(0),
            work,
        };
        (0..self.known.all.len())
            .any(|s| plain[s / 64] >> (s % 64) & 1 == 1 && (threads.is_empty() || view.satisfied_in(s)))
    }

    fn drained(&mut self, process: Option<u8>, cell: Option<usize>) -> &[u64] {
        let states = &self.known.all;
        self.drained.entry((process, cell)).or_insert_with(|| {
            let mut bits = vec![0; states.len().div_ceil(64)];
            for (i, state) in states.iter().enumerate() {
                let pending = (state.buffers.iter().enumerate())
                    .filter(|(p, _)| process.is_none_or(|process| process as usize == *p))
                    .flat_map(|(_, buffer)| buffer.iter().flatten())
                    .any(|(c, _)| cell.is_none_or(|cell| cell == *c as usize));
                if !pending {
                    bits[i / 64] |= 1 << (i % 64);
                }
            }
            bits
        })
    }

    fn bits(&mut self, literal: Literal) -> &[u64] {
        let (instance, states) = (&self.instance, &self.known.all);
        self.cache.entry(literal).or_insert_with_key(|literal| {
            let mut bits = vec![0; states.len().div_ceil(64)];
            for (i, state) in states.iter().enumerate() {
                if holds(literal, &|var| read(instance, var, state)) {
                    bits[i / 64] |= 1 << (i % 64);
                }
            }
            bits
        })
    }
}

/// The reads of a cube, to be placed one after the other in the futures of a state.
struct View<'a> {
    pool: &'a Pool<'a>,
    cube: &'a Cube,
    env: &'a [u8; 16],
    threads: &'a [u8],
    at_node: &'a [Vec<u64>],
    joint: &'a [Literal],
    /// Places tried so far.
    tried: Cell<usize>,
    work: &'a Work<'a>,
}

impl View<'_> {
    /// Whether all reads find their place on a run of commits from `state`.
    fn satisfied_in(&self, state: usize) -> bool {
        let may = |node: usize, at: usize| self.at_node[node][at / 64] >> (at % 64) & 1 == 1;
        let futures = &self.pool.known.futures[state];
        let each = (0..self.threads.len()).all(|node| futures.iter().any(|at| may(node, *at as usize)));
        each && self.place(state, state, 0, &mut vec![state; self.threads.len()])
    }

    /// Places the reads that are not in `done`, in the order they happen, from the state `at` on.
    fn place(&self, state: usize, at: usize, done: Mask, placed: &mut Vec<usize>) -> bool {
        let nodes = &self.cube.weak.nodes;
        if done.count_ones() as usize == nodes.len() {
            return self.late(state, placed) && self.joint_hold(state, placed);
        }
        (0..nodes.len()).filter(|node| done >> node & 1 == 0).any(|node| {
            let before = |other: usize| nodes[other].reach >> node & 1 == 1;
            let after = |other: usize| nodes[node].reach >> other & 1 == 1;
            // What is left of that comes first; what is done already but comes after must be of the same moment.
            if (0..nodes.len()).any(|other| done >> other & 1 == 0 && before(other) && !after(other)) {
                return false;
            }
            let moment = (0..nodes.len()).find(|other| done >> other & 1 == 1 && after(*other));
            self.pool.known.futures[at].iter().any(|&future| {
                let future = future as usize;
                self.tried.set(self.tried.get() + 1);
                if self.tried.get() > MAX_PLACES || !self.work.spend(1) {
                    return true;
                }
                if self.at_node[node][future / 64] >> (future % 64) & 1 == 0
                    || moment.is_some_and(|other| placed[other] != future)
                {
                    return false;
                }
                placed[node] = future;
                self.place(state, future, done | 1 << node, placed)
            })
        })
    }

    /// The literals over reads of several moments.
    fn joint_hold(&self, state: usize, placed: &[usize]) -> bool {
        self.joint.iter().all(|literal| {
            holds(literal, &|var| {
                let at = var.node().map_or(state, |node| placed[node as usize]);
                let var = match var.node() {
                    Some(node) => var.read_by(self.threads[node as usize]),
                    None => var,
                };
                read(&self.pool.instance, var, &self.pool.known.all[at])
            })
        })
    }

    /// Whether each late read finds its write: one that is pending in `state` and stays so until all that the
    /// cube puts before it has happened.
    fn late(&self, state: usize, placed: &[usize]) -> bool {
        let instance = &self.pool.instance;
        let pending = |at: usize, p: usize, cell: usize| {
            let buffer = self.pool.known.all[at].buffers.get(p);
            buffer.map_or(0, |groups| groups.iter().flatten().filter(|(c, _)| *c as usize == cell).count())
        };
        self.cube.weak.nodes.iter().enumerate().all(|(node, reads)| {
            let (reader, read) = (self.threads[node] as usize, placed[node]);
            reads.late.iter().all(|(location, floor)| {
                let cell = instance.cell(location.symbol(), location.indices().map(|p| self.env[p as usize]));
                // Its own pending write is what a process reads.
                let own = pending(read, reader, cell) > 0;
                (0..instance.processes as usize).filter(|writer| !own || *writer == reader).any(|writer| {
                    let left = if own { 0 } else { pending(read, writer, cell) };
                    let still = |at: usize| pending(at, writer, cell) > left;
                    still(state)
                        && (placed.iter().enumerate())
                            .filter(|(n, _)| floor >> n & 1 == 1)
                            .all(|(_, at)| still(*at))
                })
            })
        })
    }
}

/// Per state, the known states that commits alone lead to.
fn futures(instance: &Instance<'_>, states: &[State], work: &Work<'_>) -> Vec<SmallVec<[u32; 4]>> {
    let number: HashMap<&State, u32> =
        states.iter().enumerate().map(|(i, state)| (state, i as u32)).collect();
    let mut futures: Vec<SmallVec<[u32; 4]>> = Vec::with_capacity(states.len());
    for at in 0..states.len() {
        let mut found: SmallVec<[u32; 4]> = SmallVec::from_slice(&[at as u32]);
        let mut next = 0;
        while next < found.len() && work.spend(STATE) {
            instance.commits(&states[found[next] as usize], &mut |_: Step, after: State| {
                if let Some(&after) = number.get(&after)
                    && !found.contains(&after)
                {
                    found.push(after);
                }
            });
            next += 1;
        }
        futures.push(found);
    }
    futures
}

pub fn holds(literal: &Literal, value: &dyn Fn(Var) -> i64) -> bool {
    match literal {
        Literal::In(var, set) => set >> value(*var) & 1 == 1,
        Literal::Eq(a, b) => value(*a) == value(*b),
        Literal::Neq(a, b) => value(*a) != value(*b),
        Literal::Lin(lin) => {
            let sum = lin.terms.iter().map(|(var, k)| k * value(*var)).sum::<i64>() + lin.constant;
            match lin.op {
                LinOp::Le => sum <= 0,
                LinOp::Lt => sum < 0,
                LinOp::Eq => sum == 0,
                LinOp::Neq => sum != 0,
            }
        }
    }
}

pub fn read(instance: &Instance<'_>, var: Var, state: &State) -> i64 {
    if let Some(process) = var.as_process() {
        return i64::from(process);
    }
    let cell = instance.cell(var.symbol(), var.indices());
    if let Some(thread) = var.node()
        && let Some(buffer) = state.buffers.get(thread as usize)
        && let Some((_, value)) =
            buffer.iter().rev().find_map(|group| group.iter().find(|(c, _)| *c as usize == cell))
    {
        return i64::from(*value);
    }
    i64::from(state.cells[cell])
}

/// Whether the system compares processes by their order, so that not every renaming of a state is reachable.
fn orders_processes(compiled: &Compiled<'_>) -> bool {
    let orders = |literals: &[Literal]| {
        literals.iter().any(|literal| match literal {
            Literal::Lin(lin) => lin.terms.iter().any(|(var, _)| {
                var.as_process().is_some() || compiled.system.symbols[var.symbol()].ty == PROC
            }),
            _ => false,
        })
    };
    let conjunction = |conjunction: &Conjunction| {
        orders(&conjunction.literals)
            || conjunction.universals.iter().any(|universal| universal.body.iter().any(|body| orders(body)))
    };
    compiled.init.disjuncts.iter().any(conjunction)
        || compiled.rules.iter().any(|rule| {
            rule.guards.iter().any(conjunction)
                || (rule.updates.iter())
                    .any(|effect| effect.alternatives.iter().any(|(conditions, _)| orders(conditions)))
        })
}
