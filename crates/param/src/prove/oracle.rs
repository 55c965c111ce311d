//! The approximation's oracle: which conjunctions no reachable state of a small instance satisfies.
//!
//! Source: Conchon, Goel, Krstić, Mebsout, Zaïdi, "Invariants for Finite Instances and Beyond" (BRAB), FMCAD
//! 2013. Added: the states are those of the store-buffer machine, and a read that a cube waits for may happen
//! in any state that pending writes still lead to, so candidates speak of reads, of which writes precede them
//! and of writes that are still pending when they are overtaken; states met on random runs of a larger instance
//! keep away what is true only because a process is lacking; numbers are compared by what the cube implies of
//! their difference, not by its own literals alone.
//! The oracle only proposes: a candidate is proved like an `unsafe` formula, or thrown away.

use super::compile::Compiled;
use super::cube::Cube;
use super::facts::Facts;
use super::literal::{Lin, LinOp, Literal, Simplified, Var};
use super::pool::Pool;
use super::subsume::Prepared;
use crate::explore::Trace;
use smallvec::SmallVec;
use std::collections::HashMap;

pub struct Oracle<'a> {
    compiled: &'a Compiled<'a>,
    /// All states of a small instance, and some of a larger one.
    pools: Vec<Pool<'a>>,
    /// The most processes of a candidate.
    most: u8,
    whole: bool,
    /// A run to an unsafe state, if the exploration met one.
    pub trace: Option<(Trace, usize)>,
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
const MAX_LITERALS: usize = 4;
/// Atoms of a cube beyond which candidates have one literal less.
const SEVERAL_ATOMS: usize = 10;
/// One state of the larger instance for so many of the small one's limit, and no more than `MAX_SAMPLE`.
const SAMPLE: usize = 3;
const MAX_SAMPLE: usize = 10_000;
/// Candidates of one size that are compared.
const MAX_ALTERNATIVES: usize = 6;
/// The same once more.
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
    /// The states of the largest instance up to `processes` that fits into `limit` states, and a sample of a larger.
    pub fn new(compiled: &'a Compiled<'a>, processes: u8, limit: usize) -> Oracle<'a> {
        let most = compiled.system.number_procs.unwrap_or(u8::MAX);
        let largest = most.min(processes).max(1);
        let mut n = largest;
        let mut trace = None;
        let whole = loop {
            let (pool, found) = Pool::all(compiled, n, limit);
            trace = trace.or(found);
            if pool.fits || n <= 2 {
                break pool;
            }
            n -= 1;
        };
        let mut pools = vec![whole];
        // What needs as many processes as there are is often true for lack of one more.
        if n + 2 <= most && !compiled.system.named {
            pools.push(Pool::sample(compiled, n + 2, (limit / SAMPLE).min(MAX_SAMPLE)));
        }
        let fits = pools[0].fits && n == largest;
        Oracle { compiled, pools, most: n, whole: fits, trace, known: HashMap::new() }
    }

    /// Whether every state of the instance that was asked for is behind the candidates.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Reachable states behind the candidates.
    pub fn len(&self) -> usize {
        self.pools.iter().map(|pool| pool.states.len()).sum()
    }

    /// The most general parts of `cube` that no state satisfies and that are not refuted.
    pub fn candidates(&mut self, cube: &Cube, refuted: &Refuted) -> Vec<Cube> {
        let mut found: Vec<Cube> = Vec::new();
        let atoms = self.atoms(cube);
        let order = &cube.weak;
        let many = usize::from(atoms.len() > SEVERAL_ATOMS) + usize::from(atoms.len() > MANY_ATOMS);
        let largest = MAX_LITERALS - many;
        for size in 1..=largest.min(atoms.len()) {
            for subset in subsets(atoms.len(), size) {
                let literals: Vec<Literal> = subset.iter().map(|i| atoms[*i].clone()).collect();
                if literals.iter().all(|literal| self.only_constants(literal)) {
                    continue; // says nothing of the run
                }
                let normal = Cube::normalise(self.compiled, literals, order.clone(), cube.procs);
                let Some((mut candidate, _)) = normal else { continue };
                if candidate.procs > self.most
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
        // Nothing of the order; then only what late reads follow.
        for late in [false, true] {
            let mut bare = candidate.clone();
            bare.weak.entries.clear();
            for (i, node) in bare.weak.nodes.iter_mut().enumerate() {
                node.reach = 1 << i;
                if !late {
                    node.late.clear();
                }
            }
            if let Some(bare) = self.renormal(bare)
                && self.acceptable(&bare, refuted)
            {
                *candidate = bare;
                return;
            }
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
        let answer = self.pools.iter_mut().any(|pool| pool.satisfies(cube));
        self.known.insert(cube.clone(), answer);
        answer
    }
}

/// The cube without its `at`-th constraint: first those of late reads, then those of entries, then the order between reads.
fn less_order(cube: &Cube, mut at: usize) -> Option<Cube> {
    let mut less = cube.clone();
    let count = cube.weak.nodes.len();
    for (a, node) in cube.weak.nodes.iter().enumerate() {
        for late in 0..node.late.len() {
            if at == 0 {
                less.weak.nodes[a].late.remove(late);
                return Some(less);
            }
            at -= 1;
            for b in (0..count).filter(|b| node.late[late].1 >> b & 1 == 1) {
                if at == 0 {
                    less.weak.nodes[a].late[late].1 &= !(1 << b);
                    return Some(less);
                }
                at -= 1;
            }
        }
    }
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
