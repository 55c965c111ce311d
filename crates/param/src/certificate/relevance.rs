//! Which cubes can matter to an obligation: a filter that keeps the problems small.
//!
//! A cube that is left out makes an obligation harder to refute, never easier.

use super::cube::{Cell, Cube, Literal, Place};
use super::scene::{Env, cell_of};
use crate::syntax::Comparison;
use crate::system::{Formula, Term};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the state before a step without asking the solver.
#[derive(Clone, Default)]
pub struct Known {
    /// Cells that the obligation speaks of.
    pub cells: BTreeSet<Cell>,
    /// Cells of which the values are known.
    pub values: BTreeMap<Cell, u64>,
}

impl Known {
    /// Conjuncts of the guard that fix a cell.
    pub fn guard(&mut self, buffered: &[bool], guard: &Formula, env: &Env) {
        match guard {
            Formula::And(parts) => parts.iter().for_each(|part| self.guard(buffered, part, env)),
            Formula::Compare(_, Term::Access(access), Comparison::Eq, Term::Enum(value))
                if !buffered[access.symbol] =>
            {
                *self.values.entry(cell_of(access, env)).or_insert(u64::MAX) &= 1 << value;
            }
            _ => {}
        }
    }

    /// A cube that clashes with a known value is false anyway; one about more than one unknown cell is of no use.
    pub fn may_matter(&self, cube: &Cube, processes: &[u8]) -> bool {
        let mut unknown = 0;
        for literal in &cube.literals {
            if let Literal::In(Place::Cell(cell), set) = literal
                && self.values.get(&cell.map(processes)).is_some_and(|values| values & set == 0)
            {
                return false;
            }
            let open = |place: &Place| match place {
                Place::Cell(cell) => !self.cells.contains(&cell.map(processes)),
                Place::Process(_) | Place::Read(..) => false,
            };
            unknown += usize::from(literal.places().iter().any(open));
        }
        unknown <= 1
    }

    /// With the cells that one cube alone leaves open: a case split on such a cell may be followed by another.
    pub fn widen<'a>(&self, instances: impl Iterator<Item = (&'a Cube, &'a [u8])>) -> Known {
        let mut widened = self.clone();
        for (cube, processes) in instances {
            if self.may_matter(cube, processes) {
                for place in cube.literals.iter().flat_map(Literal::places) {
                    if let Place::Cell(cell) = place {
                        widened.cells.insert(cell.map(processes));
                    }
                }
            }
        }
        widened
    }
}
