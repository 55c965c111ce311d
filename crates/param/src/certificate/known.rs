//! Which cubes can matter to an obligation: a filter that keeps the problems small.

use crate::prove::Cube;
use crate::prove::literal::{Literal, Var};
use crate::syntax::Comparison;
use crate::system::*;
use std::collections::{BTreeMap, BTreeSet};

/// The state before a step, as far as it is known without the solver: used to leave out clauses that cannot
/// matter. Leaving one out makes an obligation harder, never easier.
#[derive(Default)]
pub struct Known {
    pub cells: BTreeSet<Var>,
    pub values: BTreeMap<Var, u64>,
}

impl Known {
    /// Conjuncts of the guard that fix a plain cell.
    pub fn guard(&mut self, waits: &[bool], guard: &Formula, env: &[u8; 16]) {
        match guard {
            Formula::And(parts) => parts.iter().for_each(|part| self.guard(waits, part, env)),
            Formula::Compare(_, Term::Access(access), Comparison::Eq, Term::Enum(value))
                if !waits[access.symbol] =>
            {
                let cell = super::format_smt::cell(access, env);
                *self.values.entry(cell).or_insert(u64::MAX) &= 1 << value;
            }
            _ => {}
        }
    }

    /// A cube that clashes with a known value is false anyway, one about more than one unknown cell is of no use.
    pub fn may_matter(&self, cube: &Cube, place: &(impl Fn(u8) -> u8 + Copy)) -> bool {
        let mut unknown = 0;
        for literal in &cube.literals {
            if let Literal::In(var, set) = literal
                && var.node().is_none()
                && let Some(value) = self.values.get(&var.map(place, |n| n))
                && value & set == 0
            {
                return false;
            }
            unknown += usize::from(literal.mentions(|var| {
                var.node().is_none()
                    && var.as_process().is_none()
                    && !self.cells.contains(&var.map(place, |n| n))
            }));
        }
        unknown <= 1
    }
}
