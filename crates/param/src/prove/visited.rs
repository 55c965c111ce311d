//! The visited cubes: what is known to lead to an unsafe state, and whether a new cube adds to it.

use super::compile::Compiled;
use super::cube::Cube;
use super::literal::{Literal, Var};
use super::subsume::{Prepared, Target};
use super::work::Work;

/// Units derived in one cover check before it is given up.
const MAX_UNITS: usize = 24;

#[derive(Default)]
pub struct Visited {
    cubes: Vec<(usize, Prepared)>,
}

impl Visited {
    /// Adds a cube under its node number and removes what it makes superfluous.
    pub fn add(&mut self, compiled: &Compiled<'_>, node: usize, cube: Cube, work: &Work<'_>) {
        let prepared = Prepared::new(cube);
        self.cubes.retain(|(_, old)| {
            !(prepared.signature.may_cover(old.signature)
                && Target::new(compiled, &old.cube).is_none_or(|target| prepared.covers(&target, work)))
        });
        self.cubes.push((node, prepared));
    }

    pub fn cubes(&self) -> impl Iterator<Item = (usize, &Cube)> {
        self.cubes.iter().map(|(node, prepared)| (*node, &prepared.cube))
    }

    /// Whether the cube of one of these nodes covers `cube`.
    pub fn subsumes_among(
        &self,
        compiled: &Compiled<'_>,
        nodes: &[usize],
        cube: &Cube,
        work: &Work<'_>,
    ) -> bool {
        let Some(target) = Target::new(compiled, cube) else { return true };
        // They are the last that were added.
        (self.cubes.iter().rev().take(nodes.len())).any(|(node, old)| {
            nodes.contains(node) && old.signature.may_cover(target.signature) && old.covers(&target, work)
        })
    }

    /// Whether one visited cube covers `cube`.
    pub fn subsumes(&self, compiled: &Compiled<'_>, cube: &Cube, work: &Work<'_>) -> bool {
        Target::new(compiled, cube).is_none_or(|target| self.subsumes_target(&target, work))
    }

    /// The same for a cube that is compared with others too.
    pub fn subsumes_target(&self, target: &Target<'_>, work: &Work<'_>) -> bool {
        (self.cubes.iter())
            .any(|(_, old)| old.signature.may_cover(target.signature) && old.covers(target, work))
    }

    /// Whether the visited cubes together cover `cube`: a cube that holds but for one literal makes that
    /// literal's negation known; derive such units until one cube covers what is left.
    pub fn covers(&self, compiled: &Compiled<'_>, cube: &Cube, work: &Work<'_>) -> bool {
        let mut cube = cube.clone();
        for _ in 0..=MAX_UNITS {
            let Some(target) = Target::new(compiled, &cube) else { return true };
            if self.subsumes_target(&target, work) {
                return true;
            }
            let Some(unit) = self.unit(compiled, &target, work) else { return false };
            let literals = cube.literals.iter().cloned().chain([unit]).collect();
            let Some(literals) = super::cube::tidy(compiled, literals) else { return true };
            cube.literals = literals;
        }
        false
    }

    /// The negation of the one literal that keeps a visited cube from covering the target.
    fn unit(&self, compiled: &Compiled<'_>, target: &Target<'_>, work: &Work<'_>) -> Option<Literal> {
        // A split on a read that the cube does not make would invent that read.
        let invented =
            |var: Var| var.node().is_some() && !target.cube.literals.iter().any(|l| l.mentions(|v| v == var));
        let almost = self.cubes.iter().filter(|(_, old)| old.signature.may_almost_cover(target.signature));
        almost.map(|(_, old)| old).find_map(|old| {
            old.embed(target, 1, work, &mut |missing| {
                let missing = missing.filter(|missing| !missing.mentions(invented))?;
                let negated = missing.negate(compiled.full()).pop()?;
                (!target.facts.implies(&negated)).then_some(negated)
            })
        })
    }
}
