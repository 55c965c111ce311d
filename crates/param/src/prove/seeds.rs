//! Small cubes that are unreachable together: the largest inductive set of guesses.
//!
//! Source: Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java", FME 2001. All cubes of a few literals over
//! two processes that no known state satisfies are taken at once. Those with a predecessor that the others do not cover
//! go, until none is left that has to go. What stays is unreachable, and a search starts with it: cubes that it
//! covers need no candidate of their own, and candidates that rest on it have short proofs.
//!
//! Limits: at most two processes and three literals, one moment of reading, no numbers.

use super::compile::Compiled;
use super::cube::Cube;
use super::literal::{Literal, Var};
use super::oracle::Oracle;
use super::pre::predecessors;
use super::visited::Visited;
use super::weak::{Edges, Entry, Node, Weak};
use super::work::Work;
use crate::Memory;
use crate::system::TypeKind;
use std::collections::HashSet;

/// Atoms up to which cubes have three literals, and two.
const MAX_ATOMS: [usize; 2] = [48, 240];
/// Cubes that are guessed.
const MAX_SEEDS: usize = 1_500;
/// Values of a variable that is looked at.
const MAX_VALUES: usize = 12;

/// Cubes such that none is initial, and their predecessors are covered by them and the laws.
pub fn seeds(
    compiled: &Compiled<'_>,
    edges: &dyn Edges,
    oracle: &mut Oracle<'_>,
    work: &Work<'_>,
) -> Vec<Cube> {
    // Processes with names are no two of many.
    if compiled.system.named {
        return Vec::new();
    }
    let mut guesses: Vec<(Cube, Vec<Cube>)> = Vec::new();
    for cube in guess(compiled, oracle, work) {
        let Ok(before) = predecessors(compiled, edges, &cube, work) else { continue };
        let before: Vec<Cube> = before.into_iter().map(|predecessor| predecessor.cube).collect();
        guesses.push((cube, before));
    }
    loop {
        let mut known = Visited::default();
        for (cube, _) in &guesses {
            known.add(compiled, 0, cube.clone(), work);
        }
        for axiom in compiled.axioms.iter().flat_map(|axiom| super::cube::cubes(compiled, axiom)) {
            known.add(compiled, 0, axiom, work);
        }
        let count = guesses.len();
        guesses.retain(|(_, before)| {
            before
                .iter()
                .all(|cube| compiled.laws.refute(compiled, cube) || known.covers(compiled, cube, work))
        });
        // What was compared when the work was over is not known.
        if work.is_over() {
            return Vec::new();
        }
        if guesses.len() == count {
            return guesses.into_iter().map(|(cube, _)| cube).collect();
        }
    }
}

/// Cubes of few literals that no known state satisfies, none of which is part of another.
fn guess(compiled: &Compiled<'_>, oracle: &mut Oracle<'_>, work: &Work<'_>) -> Vec<Cube> {
    let atoms = atoms(compiled);
    let most = 1 + MAX_ATOMS.iter().filter(|most| atoms.len() <= **most).count();
    let mut found: Vec<Cube> = Vec::new();
    // Those whose larger versions are of interest.
    let mut smaller: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..most {
        let mut larger: Vec<Vec<usize>> = Vec::new();
        let open: HashSet<&Vec<usize>> = smaller.iter().collect();
        for set in &smaller {
            for next in set.last().map_or(0, |last| last + 1)..atoms.len() {
                let set: Vec<usize> = set.iter().copied().chain([next]).collect();
                // All parts are satisfied by some state.
                let part = |without: usize| -> Vec<usize> {
                    set.iter().copied().filter(|at| *at != without).collect()
                };
                if !set.iter().all(|at| open.contains(&part(*at))) {
                    continue;
                }
                if !work.spend(16) || found.len() == MAX_SEEDS {
                    return found;
                }
                let literals: Vec<Literal> = set.iter().map(|at| atoms[*at].clone()).collect();
                let versions = versions(compiled.memory, &literals).into_iter().filter_map(|weak| {
                    let (cube, _) = Cube::normalise(compiled, literals.clone(), weak, 2)?;
                    (cube.literals.len() == set.len()).then_some(cube)
                });
                let mut open = true;
                for cube in versions {
                    if !oracle.satisfied(&cube) {
                        open = !cube.weak.entries.is_empty();
                        if !cube.meets_init(compiled, work) && !found.contains(&cube) {
                            found.push(cube);
                        }
                        break;
                    }
                }
                if open {
                    larger.push(set);
                }
            }
        }
        smaller = larger;
    }
    found
}

/// Where process 0 reads: at any moment, or once what a process has written has left its buffer.
fn versions(memory: Memory, literals: &[Literal]) -> Vec<Weak> {
    if !literals.iter().any(|literal| literal.mentions(|var| var.node().is_some())) {
        return vec![Weak::default()];
    }
    let node = Node { thread: 0, reach: 1, late: Vec::new(), swaps: Vec::new() };
    let after = |writers: &[u8]| Weak {
        nodes: vec![node.clone()],
        entries: writers.iter().map(|writer| (Entry::Write(*writer), 1)).collect(),
    };
    let buffers: &[&[u8]] = if memory == Memory::Ra { &[&[]] } else { &[&[], &[1], &[0], &[0, 1]] };
    buffers.iter().map(|writers| after(writers)).collect()
}

/// What single cells of two processes hold, and which of them are equal.
fn atoms(compiled: &Compiled<'_>) -> Vec<Literal> {
    let system = compiled.system;
    let mut vars: Vec<(Var, usize)> = Vec::new();
    for (at, symbol) in system.symbols.iter().enumerate() {
        let cells: &[&[u8]] = match symbol.dims {
            0 => &[&[]],
            1 => &[&[0], &[1]],
            2 => &[&[0, 1], &[1, 0]],
            _ => &[],
        };
        for indices in cells {
            let var = Var::cell(at, indices);
            vars.push((if compiled.waits[at] { var.read_by(0) } else { var }, symbol.ty));
        }
    }
    let mut atoms = Vec::new();
    for (i, &(var, ty)) in vars.iter().enumerate() {
        let others = || vars[i + 1..].iter().filter(|(_, other)| *other == ty).map(|(other, _)| *other);
        match &system.types[ty].kind {
            TypeKind::Enum(names) if names.len() <= MAX_VALUES => {
                atoms.extend((0..names.len()).map(|value| Literal::In(var, 1 << value)));
            }
            TypeKind::Proc => {
                let equal = |other: Var| Literal::Eq(var.min(other), var.max(other));
                atoms.extend([0, 1].map(|process| equal(Var::process(process))));
                atoms.extend(others().map(equal));
            }
            TypeKind::Abstract => atoms.extend(others().map(|other| Literal::Neq(var, other))),
            _ => {}
        }
    }
    atoms
}
