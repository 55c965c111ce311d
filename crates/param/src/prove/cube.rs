//! Cubes: ∃ distinct processes. a conjunction of literals, with its weak part.

use super::compile::{Clauses, Compiled, Conjunction};
use super::facts::Facts;
use super::literal::*;
use super::release_acquire::share_a_location;
use super::weak::{Entry, MAX_NODES, Mask, Node, Order, Weak};
use super::work::Work;
use crate::Memory;

/// A set of states: some distinct processes satisfy all literals, and the weak part is not cyclic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    /// How many processes it speaks of; they are numbered from 0.
    pub procs: u8,
    /// Sorted, without duplicates; one `In` per variable.
    pub literals: Vec<Literal>,
    /// Reads that still wait for their write; empty under SC.
    pub weak: Weak,
}

/// The most processes a cube may have.
pub const MAX_PROCS: u8 = 16;

/// An odd number that spreads bits.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// No process.
pub const GONE: u8 = 255;

/// A cube and how the processes it was made from are numbered in it ([`GONE`]: no longer mentioned).
pub type Renamed = (Cube, Vec<u8>);

impl Cube {
    /// Normal form; `None` if the literals contradict each other.
    pub fn normalise(
        compiled: &Compiled<'_>,
        literals: Vec<Literal>,
        mut weak: Weak,
        procs: u8,
    ) -> Option<Renamed> {
        let mut literals = tidy(compiled, literals)?;
        let facts = Facts::new(&literals, &compiled.domains)?;
        literals = close(&literals, &facts, compiled);
        let mut reads: Mask = 0;
        for literal in &literals {
            literal.vars(&mut |var| reads |= var.node().map_or(0, |node| 1 << node));
        }
        // A late read stays late only while it waits; the nodes of its floor stay with it.
        let waits = |node: usize, location: Var| {
            let read = location.read_by(node as u8);
            literals.iter().any(|literal| literal.mentions(|var| var == read))
        };
        for (at, node) in weak.nodes.iter_mut().enumerate() {
            node.late.retain(|(location, _)| waits(at, *location));
            node.swaps.retain(|location| waits(at, *location));
        }
        let floors = weak.nodes.iter().flat_map(|node| &node.late).fold(0, |mask, (_, floor)| mask | floor);
        let numbers = weak.retain(reads | floors);
        let mut used = vec![false; procs as usize];
        for literal in &literals {
            literal.vars(&mut |var| var.indices().for_each(|p| used[p as usize] = true));
        }
        weak.processes(&mut |p| used[p as usize] = true);
        let mut rename = vec![GONE; procs as usize];
        let mut next = 0;
        for (process, used) in used.into_iter().enumerate() {
            if compiled.system.named {
                rename[process] = process as u8;
                next = procs;
            } else if used {
                rename[process] = next;
                next += 1;
            }
        }
        let by = |p: ProcId| rename[p as usize];
        for literal in &mut literals {
            *literal = match literal.map(by, |n| numbers[n as usize]).simplify(compiled.full()) {
                Simplified::Literal(literal) => literal,
                _ => unreachable!("renaming changes no truth value"),
            };
        }
        literals.sort_unstable();
        weak.rename(by);
        Some((Cube { procs: next, literals, weak }, rename))
    }

    /// Whether some initial state may be in the cube; "yes" if the work is over.
    pub fn meets_init(&self, compiled: &Compiled<'_>, work: &Work<'_>) -> bool {
        if self.weak.nodes.iter().any(|node| !node.late.is_empty()) {
            return false; // nothing is older than the initial value
        }
        if share_a_location(&self.weak) {
            return false;
        }
        // What is read is initial memory.
        let literals: Vec<Literal> = self.literals.iter().map(at_memory).collect();
        let procs = self.procs.max(1);
        let mut instances = Vec::new();
        let params = compiled.init.params;
        let count = usize::from(procs).pow(params as u32);
        for mut code in 0..count {
            let mut env = [0; 16];
            for slot in env.iter_mut().take(params) {
                *slot = (code % usize::from(procs)) as u8;
                code /= usize::from(procs);
            }
            instances.push(env);
        }
        satisfiable(compiled, &compiled.init, &instances, literals, procs, work)
    }

    /// The distinct variables of the literals.
    pub fn vars(&self) -> Vec<Var> {
        let mut vars = Vec::new();
        for literal in &self.literals {
            literal.vars(&mut |var| {
                if var.as_process().is_none() {
                    vars.push(var);
                }
            });
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Per process, the least one that it can be swapped with, each with its nodes, without changing the cube.
    ///
    /// Being such *twins* is an equivalence: swapping p with q and q with r swaps p with r.
    pub fn twins(&self) -> Vec<ProcId> {
        let profiles = self.profiles();
        let mut twins: Vec<ProcId> = (0..self.procs).collect();
        for process in 1..self.procs {
            let first = |other: &ProcId| {
                twins[*other as usize] == *other
                    && profiles[*other as usize] == profiles[process as usize]
                    && self.swaps(*other, process)
            };
            if let Some(other) = (0..process).find(first) {
                twins[process as usize] = other;
            }
        }
        twins
    }

    /// How swapping two processes renames the nodes: those of one become those of the other, in order.
    pub fn swapped_nodes(&self, a: ProcId, b: ProcId) -> Vec<u8> {
        let mut nodes: Vec<u8> = (0..self.weak.nodes.len() as u8).collect();
        let of = |process: ProcId| {
            (0..self.weak.nodes.len()).filter(move |n| self.weak.nodes[*n].thread == process)
        };
        for (x, y) in of(a).zip(of(b)) {
            nodes.swap(x, y);
        }
        nodes
    }

    /// Whether swapping two processes, each with its nodes, changes nothing.
    fn swaps(&self, a: ProcId, b: ProcId) -> bool {
        let swap = |p: ProcId| swapped(a, b, p);
        let nodes = self.swapped_nodes(a, b);
        let kept = |literal: &Literal| match literal.map(swap, |n| nodes[n as usize]).simplify(|_| u64::MAX) {
            Simplified::Literal(literal) => self.literals.binary_search(&literal).is_ok(),
            _ => false,
        };
        self.literals.iter().all(kept) && self.weak.is_symmetric(swap, &nodes)
    }

    /// What the literals say of each process, regardless of the others: equal for twins.
    fn profiles(&self) -> Vec<u64> {
        let mut profiles = vec![0_u64; self.procs as usize];
        for literal in &self.literals {
            let (kind, detail) = match literal {
                Literal::In(_, set) => (1, *set),
                Literal::Eq(..) => (2, 0),
                Literal::Neq(..) => (3, 0),
                Literal::Lin(lin) => (4, lin.terms.len() as u64),
            };
            let mut symbols = 0_u64;
            literal
                .vars(&mut |var| symbols = symbols.wrapping_add((var.symbol() as u64 + 1).wrapping_mul(MIX)));
            let shape = (symbols ^ detail).wrapping_mul(MIX) ^ kind;
            literal.vars(&mut |var| {
                for p in var.indices() {
                    let profile = &mut profiles[p as usize];
                    *profile = profile.wrapping_add(shape.wrapping_mul(MIX));
                }
            });
        }
        profiles
    }

    /// What the literals speak of, as a filter for subsumption.
    pub fn signature(&self) -> Signature {
        let mut signature = Signature::default();
        for literal in &self.literals {
            literal.vars(&mut |var| {
                if var.as_process().is_none() {
                    signature.symbols |= 1 << ((var.symbol() * 2 + usize::from(var.node().is_some())) % 64);
                }
            });
            if let Literal::In(var, set) = literal
                && set.is_power_of_two()
            {
                let place =
                    var.symbol() * 7 + set.trailing_zeros() as usize * 2 + usize::from(var.node().is_some());
                signature.values |= 1 << (place % 64);
            }
        }
        signature
    }
}

/// Where swapping `a` and `b` takes a process.
pub fn swapped(a: ProcId, b: ProcId, process: ProcId) -> ProcId {
    match process {
        p if p == a => b,
        p if p == b => a,
        p => p,
    }
}

/// Bits of the symbols that a cube mentions and of the values it fixes: a cube covers only those with more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    symbols: u64,
    values: u64,
}

impl Signature {
    pub fn may_cover(self, other: Signature) -> bool {
        self.symbols & !other.symbols == 0 && self.values & !other.values == 0
    }

    /// The same with one literal to spare.
    pub fn may_almost_cover(self, other: Signature) -> bool {
        (self.values & !other.values).count_ones() <= 1
    }
}

fn satisfiable(
    compiled: &Compiled<'_>,
    init: &Clauses,
    instances: &[[u8; 16]],
    literals: Vec<Literal>,
    procs: u8,
    work: &Work<'_>,
) -> bool {
    if !work.spend(literals.len() as u64) {
        return true;
    }
    let Some((env, rest)) = instances.split_first() else {
        return Facts::new(&literals, &compiled.domains).is_some()
            && !excluded(compiled, &literals, procs, work);
    };
    init.disjuncts.iter().any(|disjunct| {
        let mut sets = vec![literals.clone()];
        match instantiate(compiled, &disjunct.literals, env) {
            Some(more) => sets[0].extend(more),
            None => return false,
        }
        for universal in &disjunct.universals {
            for process in 0..procs {
                if universal.excluded.iter().any(|p| resolve(*p, env) == process) {
                    continue;
                }
                let mut env = *env;
                env[universal.slot as usize] = process;
                let bodies: Vec<_> =
                    universal.body.iter().filter_map(|b| instantiate(compiled, b, &env)).collect();
                sets = (sets.iter())
                    .flat_map(|set| bodies.iter().map(|body| set.iter().chain(body).cloned().collect()))
                    .collect();
            }
        }
        sets.into_iter().any(|set| {
            tidy(compiled, set).is_some_and(|set| {
                // A single disjunct needs no early check; several would branch for nothing.
                (init.disjuncts.len() == 1 || Facts::new(&set, &compiled.domains).is_some())
                    && satisfiable(compiled, init, rest, set, procs, work)
            })
        })
    })
}

/// Whether the assumptions exclude every state with these literals.
fn excluded(compiled: &Compiled<'_>, literals: &[Literal], procs: u8, work: &Work<'_>) -> bool {
    !compiled.axioms.is_empty()
        && Cube::normalise(compiled, literals.to_vec(), Weak::default(), procs)
            .is_none_or(|(cube, _)| compiled.assumed.covers(compiled, &cube, work))
}

fn at_memory(literal: &Literal) -> Literal {
    let mut moved = literal.clone();
    match &mut moved {
        Literal::In(var, _) => *var = var.location(),
        Literal::Eq(a, b) | Literal::Neq(a, b) => {
            *a = a.location();
            *b = b.location();
        }
        Literal::Lin(lin) => {
            let terms = lin.terms.iter().map(|(var, k)| (var.location(), *k)).collect();
            *lin = Lin::new(lin.op, terms, lin.constant, lin.real);
        }
    }
    moved
}

/// The process of a slot.
pub fn resolve(slot: u8, env: &[u8; 16]) -> ProcId {
    if slot >= NAMED { slot - NAMED } else { env[slot as usize] }
}

/// The literals under an environment, without the true ones; `None` if one is false.
pub fn instantiate(compiled: &Compiled<'_>, literals: &[Literal], env: &[u8; 16]) -> Option<Vec<Literal>> {
    let mut result = Vec::with_capacity(literals.len());
    for literal in literals {
        match literal.map(|slot| resolve(slot, env), |node| node).simplify(compiled.full()) {
            Simplified::True => {}
            Simplified::False => return None,
            Simplified::Literal(literal) => result.push(literal),
        }
    }
    Some(result)
}

/// The cubes of a state set. `named`: over every choice of the named processes.
pub fn cubes(compiled: &Compiled<'_>, clauses: &Clauses) -> Vec<Cube> {
    let mut result = Vec::new();
    for disjunct in &clauses.disjuncts {
        let limit = if compiled.system.named { compiled.system.number_procs.unwrap_or(0) } else { 0 };
        environments(clauses.params, disjunct, limit, compiled.system.named, MAX_PROCS, &mut |env, procs| {
            if let Some(cube) = cube_of(compiled, disjunct, env, procs)
                && compiled.system.number_procs.is_none_or(|max| cube.procs <= max)
                && !result.contains(&cube)
            {
                result.push(cube);
            }
        });
    }
    result
}

fn cube_of(compiled: &Compiled<'_>, disjunct: &Conjunction, env: &[u8; 16], procs: u8) -> Option<Cube> {
    let literals = instantiate(compiled, &disjunct.literals, env)?;
    if compiled.memory == Memory::Sc {
        return Cube::normalise(compiled, literals, Weak::default(), procs).map(|(cube, _)| cube);
    }
    // One node per process that reads, all at the same moment: each reaches all. (Under release–acquire there is no
    // such moment, and each reads by itself.)
    let mut threads: Vec<u8> = Vec::new();
    for literal in &disjunct.literals {
        literal.vars(&mut |var| {
            if let Some(slot) = var.node()
                && !threads.contains(&slot)
            {
                threads.push(slot);
            }
        });
    }
    if threads.len() > MAX_NODES {
        return None;
    }
    let all: Mask = ((1_u64 << threads.len()) - 1) as Mask;
    let mut weak = Weak::default();
    for (at, slot) in threads.iter().enumerate() {
        let thread = resolve(*slot, env);
        let reach = if compiled.order == Order::HappensBefore { 1 << at } else { all };
        weak.nodes.push(Node { thread, reach, late: Vec::new(), swaps: Vec::new() });
        if compiled.order != Order::Issue {
            weak.add_entry(Entry::Any(thread), reach);
        }
    }
    let number = |slot: u8| threads.iter().position(|s| *s == slot).unwrap_or(0) as u8;
    let literals = literals.iter().map(|literal| literal.map(|p| p, number)).collect();
    Cube::normalise(compiled, literals, weak, procs).map(|(cube, _)| cube)
}

/// Every way to give processes to `params` pairwise distinct slots and to the existentials: one of the
/// `known` processes or, unless `closed`, a fresh one (fresh ones in order, so no two ways are renamings of
/// each other). `visit` gets the environment and the number of processes so far.
pub fn environments(
    params: usize,
    conjunction: &Conjunction,
    known: u8,
    closed: bool,
    max: u8,
    visit: &mut impl FnMut(&[u8; 16], u8),
) {
    let mut env = [0; 16];
    choose(0, params, &conjunction.existentials, known, closed, max, &mut env, visit);
}

#[expect(clippy::too_many_arguments, reason = "one recursive choice; the arguments are its state")]
fn choose(
    at: usize,
    params: usize,
    existentials: &[(u8, Vec<u8>)],
    known: u8,
    closed: bool,
    max: u8,
    env: &mut [u8; 16],
    visit: &mut impl FnMut(&[u8; 16], u8),
) {
    if at == params + existentials.len() {
        return visit(env, known);
    }
    let end = if closed || known >= max { known } else { known + 1 };
    for process in 0..end {
        let slot = if at < params { at } else { existentials[at - params].0 as usize };
        let free = if at < params {
            !env[..at].contains(&process)
        } else {
            !existentials[at - params].1.iter().any(|other| resolve(*other, env) == process)
        };
        if free {
            env[slot] = process;
            let known = known.max(process + 1);
            choose(at + 1, params, existentials, known, closed, max, env, visit);
        }
    }
}

/// Simplified, sorted, one `In` per variable; `None` if evidently false.
pub fn tidy(compiled: &Compiled<'_>, literals: Vec<Literal>) -> Option<Vec<Literal>> {
    let mut result: Vec<Literal> = Vec::with_capacity(literals.len());
    for literal in literals {
        match literal.simplify(compiled.full()) {
            Simplified::True => {}
            Simplified::False => return None,
            Simplified::Literal(literal) => result.push(literal),
        }
    }
    result.sort_unstable();
    result.dedup();
    let mut merged: Vec<Literal> = Vec::with_capacity(result.len());
    for literal in result {
        if let (Some(Literal::In(last, set)), Literal::In(var, more)) = (merged.last_mut(), &literal)
            && last == var
        {
            *set &= more;
            if *set == 0 {
                return None;
            }
            continue;
        }
        merged.push(literal);
    }
    Some(merged)
}

/// Rewrites with what the solver knows: sets as small as they are, equalities resolved to values where there
/// is one, disequalities that follow from sets dropped.
fn close(literals: &[Literal], facts: &Facts, compiled: &Compiled<'_>) -> Vec<Literal> {
    let mut result = Vec::with_capacity(literals.len());
    for literal in literals {
        match literal {
            Literal::In(var, _) => result.push(Literal::In(*var, facts.values(*var))),
            Literal::Eq(a, b) => {
                let set = facts.values(*a);
                let process = facts.equals(*a).chain([*a]).find(|var| var.as_process().is_some());
                if set.is_power_of_two()
                    && compiled.domains.get(a.symbol()).is_some_and(|all| *all != u64::MAX)
                {
                    result.push(Literal::In(*a, set));
                    result.push(Literal::In(*b, set));
                } else if let Some(process) = process {
                    for var in [*a, *b] {
                        if var != process {
                            result.push(Literal::Eq(var.min(process), var.max(process)));
                        }
                    }
                } else {
                    result.push(literal.clone());
                    if set != u64::MAX && Some(&set) != compiled.domains.get(a.symbol()) {
                        result.push(Literal::In(*a, set));
                        result.push(Literal::In(*b, set));
                    }
                }
            }
            Literal::Neq(a, b) => {
                if facts.values(*a) & facts.values(*b) != 0 || facts.values(*a) == u64::MAX {
                    result.push(literal.clone());
                }
                // A value that the disequality took away stays away.
                for var in [*a, *b] {
                    let set = facts.values(var);
                    if set != u64::MAX && compiled.domains.get(var.symbol()).is_some_and(|all| *all != set) {
                        result.push(Literal::In(var, set));
                    }
                }
            }
            Literal::Lin(_) => result.push(literal.clone()),
        }
    }
    result.sort_unstable();
    result.dedup();
    result
}
