//! The approximation's oracle: which conjunctions no reachable state of a small instance satisfies.
//!
//! Source: Conchon, Goel, Krstić, Mebsout, Zaïdi, "Invariants for Finite Instances and Beyond" (BRAB), FMCAD
//! 2013. Added: the states are those of the store-buffer machine, and a read that a cube waits for may happen
//! in any state that pending writes still lead to, so candidates speak of reads and of which writes precede
//! them; numbers are compared by what the cube implies of their difference, not by its own literals alone.
//! The oracle only proposes: a candidate is proved like an `unsafe` formula, or thrown away.

use super::compile::Compiled;
use super::cube::Cube;
use super::facts::Facts;
use super::literal::{Lin, LinOp, Literal, Simplified, Var};
use super::subsume::Prepared;
use super::weak::{Entry, Weak};
use crate::explore::{Instance, Limits, State, Step, Trace, reachable};
use smallvec::SmallVec;
use std::collections::HashMap;

pub struct Oracle<'a> {
    compiled: &'a Compiled<'a>,
    instance: Instance<'a>,
    states: Vec<State>,
    /// All states of the instance are known.
    fits: bool,
    /// A run to an unsafe state, if the exploration met one.
    pub trace: Option<(Trace, usize)>,
    /// Per state, the states that commits alone lead to, itself first.
    futures: Vec<SmallVec<[u32; 4]>>,
    /// The states that satisfy a literal over the processes of the instance; a read's node is its process.
    cache: HashMap<Literal, Vec<u64>>,
    /// Whether some state satisfies a cube: an attempt asks what the one before asked.
    known: HashMap<Cube, bool>,
}

/// Cubes that are reachable, or that the prover cannot tell from reachable ones: no candidate may cover one.
#[derive(Default)]
pub struct Refuted {
    cubes: Vec<Cube>,
    /// The literals of refuted candidates, and how often each was refuted under some order of its reads.
    roots: Vec<(Vec<Literal>, usize)>,
}

/// How often a candidate may be tried again with more order.
const MAX_ORDERS: usize = 2;

/// Literals in a candidate.
const MAX_LITERALS: usize = 3;
/// Initial states of the small instance: with more, a sample.
const MAX_INITIAL: usize = 8;
/// Candidates of one size that are compared.
const MAX_ALTERNATIVES: usize = 6;
/// Atoms of a cube beyond which only smaller candidates are tried.
const MANY_ATOMS: usize = 24;

impl Refuted {
    /// Adds the cubes that led to a candidate, which is the last.
    pub fn add(&mut self, chain: Vec<Cube>) {
        if let Some(root) = chain.last() {
            match self.roots.iter_mut().find(|(literals, _)| *literals == root.literals) {
                Some((_, times)) => *times += 1,
                None => self.roots.push((root.literals.clone(), 1)),
            }
        }
        for cube in chain {
            if !self.cubes.contains(&cube) {
                self.cubes.push(cube);
            }
        }
    }

    fn forbids(&self, compiled: &Compiled<'_>, candidate: &Cube) -> bool {
        if (self.roots.iter())
            .any(|(literals, times)| *times >= MAX_ORDERS && *literals == candidate.literals)
        {
            return true;
        }
        let prepared = Prepared::new(candidate.clone());
        self.cubes.iter().any(|cube| {
            prepared.signature.may_cover(cube.signature())
                && Facts::new(&cube.literals, &compiled.domains)
                    .is_some_and(|facts| prepared.covers(cube, &facts, compiled.system.named).is_some())
        })
    }
}

impl<'a> Oracle<'a> {
    /// The states of the largest instance up to `processes` that fits into `limit` states.
    pub fn new(compiled: &'a Compiled<'a>, processes: u8, limit: usize) -> Oracle<'a> {
        let system = compiled.system;
        let most = system.number_procs.unwrap_or(processes).min(processes).max(1);
        let mut chosen = None;
        let mut trace = None;
        let mut fits = false;
        for n in (1..=most).rev() {
            let limits = Limits { states: limit, buffer: 2, initial: MAX_INITIAL };
            let exploration = reachable(system, compiled.model, n, limits);
            fits = !exploration.cut.states;
            trace = trace.or(exploration.trace);
            chosen = Some((n, exploration.states));
            if fits || n == 2.min(most) {
                break;
            }
        }
        let (n, states) = chosen.unwrap_or((1, Vec::new()));
        let instance = Instance::new(system, compiled.model, n);
        let futures = futures(&instance, &states);
        Oracle {
            compiled,
            instance,
            states,
            fits,
            trace,
            futures,
            cache: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Whether every state of the instance with so many processes is behind the candidates.
    pub fn is_whole(&self, processes: u8) -> bool {
        let most = self.compiled.system.number_procs.unwrap_or(processes).min(processes);
        self.fits && self.instance.processes >= most
    }

    /// Reachable states behind the candidates.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// The most general parts of `cube` that no state satisfies and that are not refuted.
    pub fn candidates(&mut self, cube: &Cube, refuted: &Refuted) -> Vec<Cube> {
        let mut found: Vec<Cube> = Vec::new();
        let atoms = self.atoms(cube);
        let order = without_late(&cube.weak);
        let largest = if atoms.len() > MANY_ATOMS { MAX_LITERALS - 1 } else { MAX_LITERALS };
        for size in 1..=largest.min(atoms.len()) {
            for subset in subsets(atoms.len(), size) {
                let literals: Vec<Literal> = subset.iter().map(|i| atoms[*i].clone()).collect();
                if literals.iter().all(|literal| self.only_constants(literal)) {
                    continue; // says nothing of the run
                }
                let normal = Cube::normalise(self.compiled, literals, order.clone(), cube.procs);
                let Some((mut candidate, _)) = normal else { continue };
                if candidate.procs > self.instance.processes
                    || candidate.literals.is_empty()
                    || candidate == *cube
                    || !self.acceptable(&candidate, refuted)
                {
                    continue;
                }
                self.relax(&mut candidate, refuted);
                if !found.contains(&candidate) {
                    found.push(candidate);
                }
                if found.len() == MAX_ALTERNATIVES {
                    return found;
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    fn acceptable(&mut self, candidate: &Cube, refuted: &Refuted) -> bool {
        !self.satisfied(candidate)
            && !candidate.meets_init(self.compiled)
            && !refuted.forbids(self.compiled, candidate)
    }

    /// Drops what the candidate says of the order, as long as it stays acceptable.
    fn relax(&mut self, candidate: &mut Cube, refuted: &Refuted) {
        if candidate.weak.is_empty() {
            return;
        }
        let mut bare = candidate.clone();
        bare.weak.entries.clear();
        bare.weak.nodes.iter_mut().enumerate().for_each(|(i, node)| node.reach = 1 << i);
        if let Some(bare) = self.renormal(bare)
            && self.acceptable(&bare, refuted)
        {
            *candidate = bare;
            return;
        }
        let mut kept = 0;
        while let Some(mut less) = less_order(candidate, kept) {
            less.weak.close();
            let less = Some(less).filter(|less| less != candidate).and_then(|less| self.renormal(less));
            match less.filter(|less| self.acceptable(less, refuted)) {
                Some(less) => *candidate = less,
                None => kept += 1,
            }
        }
    }

    /// Processes that only the order spoke of are gone.
    fn renormal(&self, cube: Cube) -> Option<Cube> {
        Cube::normalise(self.compiled, cube.literals, cube.weak, cube.procs).map(|(cube, _)| cube)
    }

    /// The literals of the cube and what they imply of the difference of two numbers.
    fn atoms(&self, cube: &Cube) -> Vec<Literal> {
        let mut atoms = cube.literals.clone();
        let mut numbers: Vec<(Var, bool)> = Vec::new();
        for literal in &cube.literals {
            if let Literal::Lin(lin) = literal {
                numbers.extend(lin.terms.iter().map(|(var, _)| (*var, lin.real)));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let Some(facts) = Facts::new(&cube.literals, &self.compiled.domains) else { return atoms };
        for (i, &(x, real)) in numbers.iter().enumerate() {
            for &(y, _) in &numbers[i + 1..] {
                if x.as_process().is_some() && y.as_process().is_some() {
                    continue;
                }
                let difference = |k: i64, constant: i64, op: LinOp| {
                    Lin::new(op, SmallVec::from_slice(&[(x, k), (y, -k)]), constant, real)
                };
                let strict =
                    |k: i64| if real { difference(k, 0, LinOp::Lt) } else { difference(k, 1, LinOp::Le) };
                // The strongest that is implied, without an offset: what loops add and take away is gone.
                let known = [
                    difference(1, 0, LinOp::Eq),
                    strict(1),
                    strict(-1),
                    difference(1, 0, LinOp::Le),
                    difference(-1, 0, LinOp::Le),
                ]
                .into_iter()
                .filter_map(|lin| match Literal::Lin(lin).simplify(self.compiled.full()) {
                    Simplified::Literal(literal) => Some(literal),
                    _ => None,
                })
                .find(|literal| facts.implies(literal));
                atoms.extend(known.filter(|literal| !cube.literals.contains(literal)));
            }
        }
        // A difference with an offset is one of infinitely many, and excluded only by the size of the instance.
        atoms.retain(|literal| match literal {
            Literal::Lin(lin) if lin.terms.len() > 1 => {
                lin.constant == 0 || (lin.constant == 1 && lin.op == LinOp::Le)
            }
            _ => true,
        });
        atoms
    }

    fn only_constants(&self, literal: &Literal) -> bool {
        let mut only = true;
        literal.vars(&mut |var| {
            only &= var.as_process().is_some() || self.compiled.system.symbols[var.symbol()].constant;
        });
        only
    }

    /// Whether some state satisfies the cube, its reads placed in what pending writes may still make of it.
    fn satisfied(&mut self, cube: &Cube) -> bool {
        if let Some(known) = self.known.get(cube) {
            return *known;
        }
        let answer = self.find(cube);
        self.known.insert(cube.clone(), answer);
        answer
    }

    fn find(&mut self, cube: &Cube) -> bool {
        let mut maps = Vec::new();
        self.instance.distinct_environments(cube.procs as usize, &mut |env| maps.push(*env));
        maps.iter().any(|env| self.satisfied_by(cube, env))
    }

    fn satisfied_by(&mut self, cube: &Cube, env: &[u8; 16]) -> bool {
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
            let mut mixed = false;
            literal.vars(&mut |var| {
                mixed |= var.node().is_none() && var.as_process().is_none();
            });
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
        let words = self.states.len().div_ceil(64);
        let plain = plain.unwrap_or_else(|| vec![u64::MAX; words]);
        let mut at_node: Vec<Vec<u64>> = Vec::new();
        for literals in by_node {
            let mut all = vec![u64::MAX; words];
            for literal in literals {
                let bits = self.bits(literal);
                all.iter_mut().zip(bits).for_each(|(a, b)| *a &= b);
            }
            at_node.push(all);
        }
        let view = View { oracle: self, cube, env, threads: &threads, at_node: &at_node, joint: &joint };
        (0..self.states.len()).any(|s| {
            plain[s / 64] >> (s % 64) & 1 == 1 && (threads.is_empty() || view.place(s, &mut Vec::new()))
        })
    }

    fn bits(&mut self, literal: Literal) -> &[u64] {
        let (instance, states) = (&self.instance, &self.states);
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
    oracle: &'a Oracle<'a>,
    cube: &'a Cube,
    env: &'a [u8; 16],
    threads: &'a [u8],
    at_node: &'a [Vec<u64>],
    joint: &'a [Literal],
}

impl View<'_> {
    fn place(&self, state: usize, placed: &mut Vec<usize>) -> bool {
        let node = placed.len();
        if node == self.threads.len() {
            return self.joint.iter().all(|literal| {
                holds(literal, &|var| {
                    let at = var.node().map_or(state, |node| placed[node as usize]);
                    let var = match var.node() {
                        Some(node) => var.read_by(self.threads[node as usize]),
                        None => var,
                    };
                    read(&self.oracle.instance, var, &self.oracle.states[at])
                })
            });
        }
        self.oracle.futures[state].iter().any(|&future| {
            let future = future as usize;
            if self.at_node[node][future / 64] >> (future % 64) & 1 == 0
                || !self.ordered(node, future, placed)
            {
                return false;
            }
            placed.push(future);
            let found = self.place(state, placed);
            placed.pop();
            found
        })
    }

    /// Whether what the cube puts before the node, and the node before others, is so if it happens in `future`.
    fn ordered(&self, node: usize, future: usize, placed: &[usize]) -> bool {
        let weak = &self.cube.weak;
        let leads = |from: usize, to: usize| self.oracle.futures[from].contains(&(to as u32));
        for (other, at) in placed.iter().enumerate() {
            if weak.nodes[other].reach >> node & 1 == 1 && !leads(*at, future) {
                return false;
            }
            if weak.nodes[node].reach >> other & 1 == 1 && !leads(future, *at) {
                return false;
            }
        }
        let instance = &self.oracle.instance;
        let buffers = &self.oracle.states[future].buffers;
        let process = |p: u8| self.env[p as usize];
        weak.entries.iter().filter(|(_, mask)| mask >> node & 1 == 1).all(|(entry, _)| match entry {
            Entry::Any(_) => true,
            Entry::Write(p) => buffers.get(process(*p) as usize).is_none_or(Vec::is_empty),
            Entry::Location(location) | Entry::Own(_, location) => {
                let cell = instance.cell(location.symbol(), location.indices().map(process));
                let writer = match entry {
                    Entry::Own(p, _) => Some(process(*p) as usize),
                    _ => None,
                };
                (buffers.iter().enumerate())
                    .filter(|(p, _)| writer.is_none_or(|writer| writer == *p))
                    .all(|(_, buffer)| buffer.iter().flatten().all(|(c, _)| *c as usize != cell))
            }
        })
    }
}

/// The cube without its `at`-th order constraint: first those of entries, then those between reads.
fn less_order(cube: &Cube, mut at: usize) -> Option<Cube> {
    let mut less = cube.clone();
    let count = cube.weak.nodes.len();
    for entry in 0..cube.weak.entries.len() {
        for node in (0..count).filter(|node| cube.weak.entries[entry].1 >> node & 1 == 1) {
            if at == 0 {
                less.weak.entries[entry].1 &= !(1 << node);
                less.weak.entries.retain(|(_, mask)| *mask != 0);
                return Some(less);
            }
            at -= 1;
        }
    }
    for (a, node) in cube.weak.nodes.iter().enumerate() {
        for b in (0..count).filter(|b| *b != a && node.reach >> b & 1 == 1) {
            if at == 0 {
                less.weak.nodes[a].reach &= !(1 << b);
                return Some(less);
            }
            at -= 1;
        }
    }
    None
}

/// Per state, the known states that commits alone lead to.
fn futures(instance: &Instance<'_>, states: &[State]) -> Vec<SmallVec<[u32; 4]>> {
    let number: HashMap<&State, u32> =
        states.iter().enumerate().map(|(i, state)| (state, i as u32)).collect();
    let mut futures: Vec<SmallVec<[u32; 4]>> = Vec::with_capacity(states.len());
    for at in 0..states.len() {
        let mut found: SmallVec<[u32; 4]> = SmallVec::from_slice(&[at as u32]);
        let mut next = 0;
        while next < found.len() {
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

fn holds(literal: &Literal, value: &dyn Fn(Var) -> i64) -> bool {
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

fn read(instance: &Instance<'_>, var: Var, state: &State) -> i64 {
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

fn without_late(weak: &Weak) -> Weak {
    let mut weak = weak.clone();
    weak.nodes.iter_mut().for_each(|node| node.late.clear());
    weak
}

/// All subsets of `0..count` with `size` elements.
fn subsets(count: usize, size: usize) -> Vec<Vec<usize>> {
    let mut result: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        result = (result.iter())
            .flat_map(|subset| {
                let from = subset.last().map_or(0, |last| last + 1);
                (from..count).map(move |next| subset.iter().copied().chain([next]).collect())
            })
            .collect();
    }
    result
}
