//! The approximation's oracle: which conjunctions no reachable state of a small instance satisfies.
//!
//! Source: Conchon, Goel, Krstić, Mebsout, Zaïdi, "Invariants for Finite Instances and Beyond" (BRAB), FMCAD
//! 2013. The states come from the store-buffer explorer, so candidates may speak of what a process reads. The
//! oracle only proposes: a candidate is proved like an `unsafe` formula, or thrown away.

use super::compile::Compiled;
use super::cube::Cube;
use super::literal::{LinOp, Literal, Var};
use super::weak::{Entry, Node, Weak};
use crate::explore::{Instance, Limits, State, reachable};
use std::collections::HashMap;

pub struct Oracle<'a> {
    compiled: &'a Compiled<'a>,
    instance: Instance<'a>,
    states: Vec<State>,
    /// The states that satisfy a literal over the processes of the instance; a read's node is its process.
    cache: HashMap<Literal, Vec<u64>>,
}

/// Literals in a candidate.
const MAX_LITERALS: usize = 3;

impl<'a> Oracle<'a> {
    /// The states of the largest instance up to `processes` that fits into `limit` states.
    pub fn new(compiled: &'a Compiled<'a>, processes: u8, limit: usize) -> Oracle<'a> {
        let system = compiled.system;
        let most = system.number_procs.unwrap_or(processes).min(processes).max(1);
        let mut chosen = None;
        for n in (1..=most).rev() {
            let limits = Limits { states: limit, buffer: 2, initial: 20_000 };
            let exploration = reachable(system, compiled.model, n, limits);
            let fits = !exploration.cut.states;
            chosen = Some((n, exploration.states));
            if fits || n == 2.min(most) {
                break;
            }
        }
        let (n, states) = chosen.unwrap_or((1, Vec::new()));
        Oracle { compiled, instance: Instance::new(system, compiled.model, n), states, cache: HashMap::new() }
    }

    /// Reachable states behind the candidates.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// The most general part of `cube` that no state satisfies and that is not in `refuted`.
    pub fn candidate(&mut self, cube: &Cube, refuted: &[Cube]) -> Option<Cube> {
        if self.states.is_empty() {
            return None;
        }
        let count = cube.literals.len();
        for size in 1..=MAX_LITERALS.min(count) {
            for subset in subsets(count, size) {
                if size == count {
                    continue;
                }
                let literals: Vec<Literal> = subset.iter().map(|i| cube.literals[*i].clone()).collect();
                if literals.iter().all(|literal| self.only_constants(literal)) {
                    continue; // says nothing of the run
                }
                let weak = if cube.weak.is_empty() { Weak::default() } else { forget_order(&cube.weak) };
                let Some((candidate, _)) = Cube::normalise(self.compiled, literals, weak, cube.procs) else {
                    continue;
                };
                if candidate.procs > self.instance.processes
                    || refuted.contains(&candidate)
                    || candidate.literals.is_empty()
                    || candidate == *cube
                    || self.satisfied(&candidate)
                    || candidate.meets_init(self.compiled)
                {
                    continue;
                }
                return Some(candidate);
            }
        }
        None
    }

    fn only_constants(&self, literal: &Literal) -> bool {
        let mut only = true;
        literal.vars(&mut |var| {
            only &= var.as_process().is_some() || self.compiled.system.symbols[var.symbol()].constant;
        });
        only
    }

    /// Whether some state satisfies the cube (its order constraints aside).
    fn satisfied(&mut self, cube: &Cube) -> bool {
        let threads: Vec<u8> = cube.weak.nodes.iter().map(|node| node.thread).collect();
        let mut maps = Vec::new();
        self.instance.distinct_environments(cube.procs as usize, &mut |env| maps.push(*env));
        maps.iter().any(|env| {
            let mut all: Option<Vec<u64>> = None;
            for literal in &cube.literals {
                let concrete = literal.map(|p| env[p as usize], |node| env[threads[node as usize] as usize]);
                let bits = self.bits(concrete);
                match &mut all {
                    None => all = Some(bits.to_vec()),
                    Some(all) => all.iter_mut().zip(bits).for_each(|(a, b)| *a &= b),
                }
                if all.as_ref().is_some_and(|all| all.iter().all(|word| *word == 0)) {
                    return false;
                }
            }
            true
        })
    }

    fn bits(&mut self, literal: Literal) -> &[u64] {
        let (instance, states) = (&self.instance, &self.states);
        self.cache.entry(literal).or_insert_with_key(|literal| {
            let mut bits = vec![0; states.len().div_ceil(64)];
            for (i, state) in states.iter().enumerate() {
                if holds(instance, literal, state) {
                    bits[i / 64] |= 1 << (i % 64);
                }
            }
            bits
        })
    }
}

fn holds(instance: &Instance<'_>, literal: &Literal, state: &State) -> bool {
    let value = |var: Var| read(instance, var, state);
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

/// Only that each read follows what its process did before, where the cube says so.
fn forget_order(weak: &Weak) -> Weak {
    let mut bare = Weak::default();
    for (i, node) in weak.nodes.iter().enumerate() {
        bare.nodes.push(Node { thread: node.thread, reach: 1 << i, late: Vec::new() });
        bare.add_entry(Entry::Any(node.thread), weak.entry(Entry::Any(node.thread)) & 1 << i);
    }
    bare
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
