//! The visited cubes: what is known to lead to an unsafe state, and whether a new cube adds to it.

use super::compile::Compiled;
use super::cube::{Cube, Signature};
use super::facts::Facts;
use super::literal::{Literal, Var};
use super::subsume::Prepared;

/// Units derived in one cover check before it is given up.
const MAX_UNITS: usize = 24;

#[derive(Default)]
pub struct Visited {
    cubes: Vec<(usize, Prepared)>,
}

impl Visited {
    /// Adds a cube under its node number and removes what it makes superfluous.
    pub fn add(&mut self, compiled: &Compiled<'_>, node: usize, cube: Cube) {
        let prepared = Prepared::new(cube);
        let named = compiled.system.named;
        self.cubes.retain(|(_, old)| {
            !(prepared.signature.may_cover(old.signature)
                && Facts::new(&old.cube.literals, &compiled.domains)
                    .is_none_or(|facts| prepared.covers(&old.cube, &facts, named).is_some()))
        });
        self.cubes.push((node, prepared));
    }

    pub fn cubes(&self) -> impl Iterator<Item = (usize, &Cube)> {
        self.cubes.iter().map(|(node, prepared)| (*node, &prepared.cube))
    }

    /// Whether the cube of one of these nodes covers `cube`.
    pub fn subsumes_among(&self, compiled: &Compiled<'_>, nodes: &[usize], cube: &Cube) -> bool {
        let Some(facts) = Facts::new(&cube.literals, &compiled.domains) else { return true };
        let (signature, named) = (cube.signature(), compiled.system.named);
        // They are the last that were added.
        (self.cubes.iter().rev().take(nodes.len())).any(|(node, old)| {
            nodes.contains(node)
                && old.signature.may_cover(signature)
                && old.covers(cube, &facts, named).is_some()
        })
    }

    /// Whether one visited cube covers `cube`.
    pub fn subsumes(&self, compiled: &Compiled<'_>, cube: &Cube) -> bool {
        let Some(facts) = Facts::new(&cube.literals, &compiled.domains) else { return true };
        self.subsumes_with(compiled, cube, &facts, cube.signature())
    }

    fn subsumes_with(
        &self,
        compiled: &Compiled<'_>,
        cube: &Cube,
        facts: &Facts,
        signature: Signature,
    ) -> bool {
        let named = compiled.system.named;
        (self.cubes.iter())
            .any(|(_, old)| old.signature.may_cover(signature) && old.covers(cube, facts, named).is_some())
    }

    /// Whether the visited cubes together cover `cube`: a cube that holds but for one literal makes that
    /// literal's negation known; derive such units until one cube covers what is left.
    pub fn covers(&self, compiled: &Compiled<'_>, cube: &Cube) -> bool {
        let Some(mut facts) = Facts::new(&cube.literals, &compiled.domains) else { return true };
        let mut cube = cube.clone();
        if self.subsumes_with(compiled, &cube, &facts, cube.signature()) {
            return true;
        }
        let named = compiled.system.named;
        for _ in 0..MAX_UNITS {
            let mut unit: Option<Literal> = None;
            let signature = cube.signature();
            for (_, old) in self.cubes.iter().filter(|(_, old)| old.signature.may_almost_cover(signature)) {
                let mut missing = None;
                unit = old.embed(&cube, &facts, named, 1, &mut missing, &mut |_, missing| {
                    let missing = missing?;
                    // A split on a read that the cube does not make would invent that read.
                    let invented = |var: Var| {
                        var.node().is_some() && !cube.literals.iter().any(|l| l.mentions(|v| v == var))
                    };
                    if missing.mentions(invented) {
                        return None;
                    }
                    let negated = missing.negate(compiled.full()).pop()?;
                    (!facts.implies(&negated)).then_some(negated)
                });
                if unit.is_some() {
                    break;
                }
            }
            let Some(unit) = unit else { return false };
            cube.literals.push(unit);
            let Some(literals) = super::cube::tidy(compiled, std::mem::take(&mut cube.literals)) else {
                return true;
            };
            cube.literals = literals;
            match Facts::new(&cube.literals, &compiled.domains) {
                Some(next) => facts = next,
                None => return true,
            }
            if self.subsumes_with(compiled, &cube, &facts, cube.signature()) {
                return true;
            }
        }
        false
    }
}
