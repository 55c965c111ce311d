//! The approximation's oracle: which conjunctions no reachable state of a small instance satisfies.
//!
//! Source: Conchon, Goel, Krstić, Mebsout, Zaïdi, "Invariants for Finite Instances and Beyond" (BRAB), FMCAD
//! 2013. Added: the states are those of the store-buffer machine, and a read that a cube waits for may happen
//! in any state that pending writes still lead to, so candidates speak of reads, of which writes precede them
//! and of writes that are still pending when they are overtaken; states met on random runs of a larger instance
//! keep away what is true only because a process is lacking; numbers are compared by what the cube implies of
//! their difference, not by its own literals alone.
//! The oracle only proposes: a candidate is proved like an `unsafe` formula, or thrown away.
//!
//! The smallest conjunctions are not always the best guesses. Many are true of every state only because of how
//! unboundedly many processes stand together (in a queue, say), and no conjunction proves them. So there are two
//! kinds of [`Candidates`].

use super::compile::Compiled;
use super::cube::Cube;
use super::facts::Facts;
use super::literal::{Lin, LinOp, Literal, Simplified, Var};
use super::pool::{Pool, States};
use super::subsume::{Prepared, Target};
use super::work::Work;
use crate::explore::Trace;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// Which candidates take the place of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// None: the search is exact.
    None,
    /// The smallest parts of the cube, and as little order as possible.
    Bold,
    /// Parts that keep every read, with the order of reads, and what is said of single variables: equations and
    /// comparisons between variables go. A read of a write that is still pending at a later write of its own process
    /// (*late*) says more than the state of a process does, so then only the states of processes with other reads
    /// stay. All sizes compete, and the cube itself.
    Careful,
    /// Parts of any size: literals go one by one, in several orders, as long as no state satisfies the rest. Then sets of
    /// values grow and equations become comparisons, also as long as no state says otherwise. As in the generalisation
    /// of IC3 (Bradley, VMCAI 2011), with states in the place of induction.
    Cores,
}

/// The states behind candidates: all of a small instance, and some of a larger one.
pub struct Behind {
    states: Vec<Arc<States>>,
    /// The processes of the small instance.
    most: u8,
    /// Whether these are all states of the instance that was asked for.
    whole: bool,
}

pub struct Oracle<'a> {
    compiled: &'a Compiled<'a>,
    candidates: Candidates,
    work: &'a Work<'a>,
    /// All states of a small instance, and some of a larger one.
    pools: Vec<Pool<'a>>,
    /// The most processes of a candidate.
    most: u8,
    whole: bool,
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

/// Literals in a candidate, besides those that are always kept.
const MAX_LITERALS: usize = 4;
/// Atoms of a cube beyond which candidates have one literal less, and one less again.
const SEVERAL_ATOMS: usize = 10;
const MANY_ATOMS: usize = 24;
/// One state of the larger instance for so many of the small one's limit, and no more than `MAX_SAMPLE`.
const SAMPLE: usize = 3;
const MAX_SAMPLE: usize = 10_000;
/// Candidates that are compared: bold ones of one size, careful ones of all.
const MAX_BOLD: usize = 6;
const MAX_CAREFUL: usize = 24;
/// Orders in which literals are dropped.
const ORDERS: usize = 5;
/// Pairs of numbers by which a cube is split.
const MAX_SPLITS: usize = 10;

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

    fn forbids(&self, compiled: &Compiled<'_>, candidate: &Cube, work: &Work<'_>) -> bool {
        if (self.roots.iter())
            .any(|(literals, times)| *times >= MAX_ORDERS && *literals == candidate.literals)
        {
            return true;
        }
        let prepared = Prepared::new(candidate.clone());
        self.cubes.iter().any(|cube| {
            prepared.signature.may_cover(cube.signature())
                && Target::new(compiled, cube).is_some_and(|target| prepared.covers(&target, work))
        })
    }
}

impl Behind {
    /// The states of the largest instance up to `processes` that fits into `limit` states, and a sample of a larger.
    pub fn explore(
        compiled: &Compiled<'_>,
        (processes, limit): (u8, usize),
        work: &Work<'_>,
    ) -> Result<Behind, Box<(Trace, usize)>> {
        let bound = compiled.system.number_procs.unwrap_or(u8::MAX);
        let largest = bound.min(processes).max(1);
        let mut most = largest;
        let small = loop {
            let states = States::explore(compiled, most, limit, work)?;
            if states.fits || most <= 2 {
                break states;
            }
            most -= 1;
        };
        let whole = small.fits && most == largest;
        let mut states = vec![Arc::new(small)];
        // What needs as many processes as there are is often true for lack of one more.
        if most + 2 <= bound && !compiled.system.named {
            let limit = (limit / SAMPLE).min(MAX_SAMPLE);
            states.push(Arc::new(States::sample(compiled, most + 2, limit, work)));
        }
        Ok(Behind { states, most, whole })
    }
}

impl<'a> Oracle<'a> {
    /// Candidates of one kind that these states do not contradict.
    pub fn new(
        compiled: &'a Compiled<'a>,
        candidates: Candidates,
        behind: &Behind,
        work: &'a Work<'a>,
    ) -> Oracle<'a> {
        let pools = behind.states.iter().map(|states| Pool::new(compiled, states.clone())).collect();
        let Behind { most, whole, .. } = *behind;
        Oracle { compiled, candidates, work, pools, most, whole, known: HashMap::new() }
    }

    /// Whether every state of the instance that was asked for is behind the candidates.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Reachable states behind the candidates.
    pub fn len(&self) -> usize {
        self.pools.iter().map(Pool::len).sum()
    }

    /// Parts of `cube` that no state satisfies and that are not refuted, the smallest first.
    pub fn candidates(&mut self, cube: &Cube, refuted: &Refuted) -> Vec<Cube> {
        let mut found: Vec<Cube> = Vec::new();
        let atoms = self.atoms(cube);
        if self.candidates == Candidates::Cores {
            return self.cores(cube, atoms, refuted);
        }
        let bold = self.candidates == Candidates::Bold;
        let many = usize::from(atoms.len() > SEVERAL_ATOMS) + usize::from(atoms.len() > MANY_ATOMS);
        let most = if bold { MAX_BOLD } else { MAX_CAREFUL };
        let (kept, free): (Vec<Literal>, Vec<Literal>) =
            atoms.into_iter().partition(|atom| !bold && is_kept(cube, atom));
        for size in usize::from(kept.is_empty())..=(MAX_LITERALS - many).min(free.len()) {
            for subset in subsets(free.len(), size) {
                if !self.work.spend(1 + size as u64) {
                    return Vec::new();
                }
                let literals: Vec<Literal> =
                    kept.iter().chain(subset.iter().map(|i| &free[*i])).cloned().collect();
                if literals.iter().all(|literal| self.only_constants(literal)) {
                    continue; // says nothing of the run
                }
                let normal = Cube::normalise(self.compiled, literals, cube.weak.clone(), cube.procs);
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
                if found.len() == most {
                    return found;
                }
            }
            if bold && !found.is_empty() {
                break;
            }
        }
        found
    }

    /// For each two numbers of the cube whose order it leaves open: the cube in each of the three cases.
    pub fn comparisons(&self, cube: &Cube) -> Vec<Vec<Cube>> {
        let numbers = numbers(cube);
        let Some(facts) = Facts::new(&cube.literals, &self.compiled.domains) else { return Vec::new() };
        let mut found = Vec::new();
        for (i, &(x, real)) in numbers.iter().enumerate() {
            for &(y, other) in &numbers[i + 1..] {
                if x.as_process().is_some() || y.as_process().is_some() || real != other {
                    continue;
                }
                let cases =
                    [strictly(x, y, real), strictly(y, x, real), difference(x, y, 0, LinOp::Eq, real)];
                if cases.iter().any(|case| facts.implies(&Literal::Lin(case.clone()))) {
                    continue;
                }
                let cubes: Vec<Cube> = (cases.into_iter())
                    .filter_map(|case| {
                        let literals = cube.literals.iter().cloned().chain([Literal::Lin(case)]).collect();
                        let part = Cube::normalise(self.compiled, literals, cube.weak.clone(), cube.procs);
                        part.map(|(part, _)| part)
                    })
                    .collect();
                found.push(cubes);
                if found.len() == MAX_SPLITS {
                    return found;
                }
            }
        }
        found
    }

    /// Smallest parts of the cube, each with its wider version first.
    fn cores(&mut self, cube: &Cube, atoms: Vec<Literal>, refuted: &Refuted) -> Vec<Cube> {
        let mut found: Vec<Cube> = Vec::new();
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for order in 0..ORDERS {
            let mut literals = atoms.clone();
            match order {
                0 => {}
                1 => literals.reverse(),
                _ => shuffle(&mut literals, &mut random),
            }
            let Some(core) = self.core(cube, literals, refuted) else { continue };
            let wide = self.wider(core.clone(), refuted);
            for candidate in [wide, core] {
                if candidate != *cube && !found.contains(&candidate) {
                    found.push(candidate);
                }
            }
        }
        found
    }

    /// What is left when no literal can go; the first ones go first, those of one process together.
    fn core(&mut self, cube: &Cube, mut literals: Vec<Literal>, refuted: &Refuted) -> Option<Cube> {
        let part = |oracle: &Self, literals: &[Literal]| {
            if literals.iter().all(|literal| oracle.only_constants(literal)) {
                return None; // says nothing of the run
            }
            let normal = Cube::normalise(oracle.compiled, literals.to_vec(), cube.weak.clone(), cube.procs);
            normal.map(|(part, _)| part).filter(|part| !part.literals.is_empty())
        };
        let mut best = part(self, &literals)?;
        for process in 0..cube.procs {
            let of = |literal: &Literal| literal.mentions(|var| var.indices().any(|p| p == process));
            let less: Vec<Literal> = literals.iter().filter(|literal| !of(literal)).cloned().collect();
            if less.len() < literals.len()
                && let Some(smaller) = part(self, &less)
                && self.acceptable(&smaller, refuted)
            {
                (literals, best) = (less, smaller);
            }
        }
        let mut at = 0;
        while at < literals.len() {
            if !self.work.spend(literals.len() as u64) {
                return None;
            }
            let mut less = literals.clone();
            less.remove(at);
            match part(self, &less).filter(|smaller| self.acceptable(smaller, refuted)) {
                Some(smaller) => (literals, best) = (less, smaller),
                None => at += 1,
            }
        }
        if best.procs > self.most || !self.acceptable(&best, refuted) {
            return None;
        }
        self.relax(&mut best, refuted);
        Some(best)
    }

    /// The cube with larger sets of values and comparisons for equations, as far as no state is in it.
    fn wider(&mut self, cube: Cube, refuted: &Refuted) -> Cube {
        let mut wide = cube;
        // Literals change their place and number on the way: each is looked for anew.
        for literal in wide.literals.clone() {
            let wider: Vec<Literal> = match &literal {
                Literal::In(var, set) => {
                    let all = self.compiled.full()(var.symbol());
                    (0..64)
                        .map(|v| 1 << v)
                        .filter(|v| all & !set & v != 0)
                        .map(|v| Literal::In(*var, v))
                        .collect()
                }
                Literal::Lin(lin) if lin.op == LinOp::Eq => {
                    let minus = lin.terms.iter().map(|(var, k)| (*var, -k)).collect();
                    vec![
                        Literal::Lin(Lin { op: LinOp::Le, ..lin.clone() }),
                        Literal::Lin(Lin::new(LinOp::Le, minus, -lin.constant, lin.real)),
                    ]
                }
                _ => Vec::new(),
            };
            let mut now = literal;
            for more in wider {
                let next = match (&now, more) {
                    (Literal::In(var, set), Literal::In(_, value)) => Literal::In(*var, set | value),
                    (_, other) => other,
                };
                let mut larger = wide.clone();
                let Some(place) = larger.literals.iter_mut().find(|literal| **literal == now) else { break };
                *place = next.clone();
                let Some(larger) = self.renormal(larger) else { continue };
                // A set of all values is no literal, and a process may be gone: nothing is renamed on the way.
                if larger.procs == wide.procs
                    && larger.literals.contains(&next)
                    && larger.weak.nodes.len() == wide.weak.nodes.len()
                    && self.acceptable(&larger, refuted)
                {
                    (wide, now) = (larger, next);
                }
            }
        }
        wide
    }

    fn acceptable(&mut self, candidate: &Cube, refuted: &Refuted) -> bool {
        !self.satisfied(candidate)
            && !candidate.meets_init(self.compiled, self.work)
            && !refuted.forbids(self.compiled, candidate, self.work)
    }

    /// Drops what the candidate says of the order, as long as it stays acceptable. A careful candidate keeps the
    /// order of reads.
    fn relax(&mut self, candidate: &mut Cube, refuted: &Refuted) {
        if candidate.weak.is_empty() {
            return;
        }
        let bold = self.candidates != Candidates::Careful;
        // Nothing of the order; then only what late reads follow.
        for late in [false, true].into_iter().skip(usize::from(!bold)) {
            let mut bare = candidate.clone();
            bare.weak.entries.clear();
            for (i, node) in bare.weak.nodes.iter_mut().enumerate().filter(|_| bold) {
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
        while let Some(mut less) = less_order(candidate, bold, kept) {
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
        let numbers = numbers(cube);
        let Some(facts) = Facts::new(&cube.literals, &self.compiled.domains) else { return atoms };
        for (i, &(x, real)) in numbers.iter().enumerate() {
            for &(y, other) in &numbers[i + 1..] {
                // Two processes compare as the cube says, whole numbers and reals not at all.
                if (x.as_process().is_some() && y.as_process().is_some()) || real != other {
                    continue;
                }
                // The strongest that is implied, without an offset: what loops add and take away is gone.
                let known = [
                    difference(x, y, 0, LinOp::Eq, real),
                    strictly(x, y, real),
                    strictly(y, x, real),
                    difference(x, y, 0, LinOp::Le, real),
                    difference(y, x, 0, LinOp::Le, real),
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
    pub fn satisfied(&mut self, cube: &Cube) -> bool {
        if let Some(known) = self.known.get(cube) {
            return *known;
        }
        let answer = self.pools.iter_mut().any(|pool| pool.satisfies(cube, self.work));
        self.known.insert(cube.clone(), answer);
        answer
    }
}

/// Whether a careful candidate keeps the literal.
fn is_kept(cube: &Cube, literal: &Literal) -> bool {
    if literal.mentions(|var| var.node().is_some()) {
        return true;
    }
    let Literal::In(var, _) = literal else { return false };
    let nodes = &cube.weak.nodes;
    if nodes.iter().all(|node| node.late.is_empty()) {
        return true;
    }
    // The state of a process that makes a read which is not late.
    let punctual = |read: Var| {
        read.node().map(|node| &nodes[node as usize]).is_some_and(|node| {
            !node.late.iter().any(|(location, _)| *location == read.location())
                && var.indices().any(|process| process == node.thread)
        })
    };
    cube.literals.iter().any(|other| other.mentions(punctual))
}

/// The cube without its `at`-th constraint: first those of late reads, then those of entries, then the order
/// between reads. Only those of entries, unless it is `bold`.
fn less_order(cube: &Cube, bold: bool, mut at: usize) -> Option<Cube> {
    let mut less = cube.clone();
    let count = cube.weak.nodes.len();
    for (a, node) in cube.weak.nodes.iter().enumerate().filter(|_| bold) {
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
    for (a, node) in cube.weak.nodes.iter().enumerate().filter(|_| bold) {
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

/// The numbers that a cube speaks of, and whether they are reals.
fn numbers(cube: &Cube) -> Vec<(Var, bool)> {
    let mut numbers: Vec<(Var, bool)> = Vec::new();
    for literal in &cube.literals {
        if let Literal::Lin(lin) = literal {
            numbers.extend(lin.terms.iter().map(|(var, _)| (*var, lin.real)));
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// x − y + constant, compared with 0.
fn difference(x: Var, y: Var, constant: i64, op: LinOp, real: bool) -> Lin {
    Lin::new(op, SmallVec::from_slice(&[(x, 1), (y, -1)]), constant, real)
}

/// x < y.
fn strictly(x: Var, y: Var, real: bool) -> Lin {
    if real { difference(x, y, 0, LinOp::Lt, real) } else { difference(x, y, 1, LinOp::Le, real) }
}

fn shuffle(literals: &mut [Literal], random: &mut u64) {
    for at in (1..literals.len()).rev() {
        // xorshift64
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        literals.swap(at, (*random >> 32) as usize % (at + 1));
    }
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
