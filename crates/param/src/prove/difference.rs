//! Difference constraints, closed: x − y ≤ c for all pairs at once.
//!
//! Most arithmetic of array systems compares two variables or one with a number. Those constraints are kept
//! in a matrix closed under composition, which answers implication by one look. A bound is `2c + 1` for
//! "≤ c" and `2c` for "< c", so that smaller numbers are stronger bounds.

use super::literal::{Lin, LinOp, Var};

const NONE: i64 = i64::MAX;
/// Numbers beyond this are left to the general procedure, which checks for overflow.
const LARGE: i64 = 1 << 50;

#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Sorted; index 0 of the matrix is zero, variable `i` is at `i + 1`.
    vars: Vec<Var>,
    bounds: Vec<i64>,
    distinct: Vec<(usize, usize, i64)>,
}

impl Differences {
    /// Closes the difference constraints among `constraints`; the others are ignored. `None`: contradictory.
    pub fn new(constraints: &[Lin]) -> Option<Differences> {
        let mut vars: Vec<Var> = Vec::new();
        for lin in constraints.iter().filter(|lin| is_difference(lin)) {
            vars.extend(lin.terms.iter().map(|(var, _)| *var));
        }
        vars.sort_unstable();
        vars.dedup();
        let size = vars.len() + 1;
        let mut bounds = vec![NONE; size * size];
        (0..size).for_each(|i| bounds[i * size + i] = 1);
        let mut closed = Differences { vars, bounds, distinct: Vec::new() };
        for lin in constraints.iter().filter(|lin| is_difference(lin)) {
            let (i, j, c) = closed.place(lin)?;
            match lin.op {
                LinOp::Le => closed.tighten(i, j, 2 * c + 1),
                LinOp::Lt => closed.tighten(i, j, 2 * c),
                LinOp::Eq => {
                    closed.tighten(i, j, 2 * c + 1);
                    closed.tighten(j, i, 1 - 2 * c);
                }
                LinOp::Neq => closed.distinct.push((i, j, c)),
            }
        }
        let whole = constraints.iter().all(|lin| !lin.real);
        loop {
            closed.close()?;
            let mut changed = false;
            for at in 0..closed.distinct.len() {
                let (i, j, c) = closed.distinct[at];
                let (up, down) = (closed.bounds[i * size + j], closed.bounds[j * size + i]);
                if up == 2 * c + 1 && down == 1 - 2 * c {
                    return None;
                }
                // x − y ≤ c and x − y ≠ c: below c.
                if up == 2 * c + 1 {
                    closed.tighten(i, j, if whole { 2 * c - 1 } else { 2 * c });
                    changed = true;
                }
                if down == 1 - 2 * c {
                    closed.tighten(j, i, if whole { -1 - 2 * c } else { -2 * c });
                    changed = true;
                }
            }
            if !changed {
                return Some(closed);
            }
        }
    }

    /// Whether a difference constraint follows; `None` if it is not of that form or over unknown variables.
    pub fn implies(&self, lin: &Lin) -> Option<bool> {
        if !is_difference(lin) {
            return None;
        }
        let (i, j, c) = self.place(lin)?;
        Some(self.holds(lin.op, i, j, c))
    }

    /// Whether x − y ⋈ c follows, with zero for an absent variable; `false` if one is unknown.
    pub fn implies_difference(&self, op: LinOp, x: Option<Var>, y: Option<Var>, c: i64) -> bool {
        match (self.index(x), self.index(y)) {
            (Some(i), Some(j)) => self.holds(op, i, j, c),
            _ => false,
        }
    }

    fn holds(&self, op: LinOp, i: usize, j: usize, c: i64) -> bool {
        let size = self.vars.len() + 1;
        let (up, down) = (self.bounds[i * size + j], self.bounds[j * size + i]);
        match op {
            LinOp::Le => up <= 2 * c + 1,
            LinOp::Lt => up <= 2 * c,
            LinOp::Eq => up <= 2 * c + 1 && down <= 1 - 2 * c,
            LinOp::Neq => {
                up <= 2 * c
                    || down <= -2 * c
                    || self.distinct.contains(&(i, j, c))
                    || self.distinct.contains(&(j, i, -c))
            }
        }
    }

    /// The constraint as x_i − x_j ⋈ c; `None` if a variable is unknown.
    fn place(&self, lin: &Lin) -> Option<(usize, usize, i64)> {
        let (x, y) = sides(lin);
        Some((self.index(x)?, self.index(y)?, -lin.constant))
    }

    fn index(&self, var: Option<Var>) -> Option<usize> {
        match var {
            Some(var) => self.vars.binary_search(&var).ok().map(|at| at + 1),
            None => Some(0),
        }
    }

    fn tighten(&mut self, i: usize, j: usize, bound: i64) {
        let size = self.vars.len() + 1;
        let old = &mut self.bounds[i * size + j];
        *old = (*old).min(bound);
    }

    fn close(&mut self) -> Option<()> {
        let size = self.vars.len() + 1;
        for k in 0..size {
            for i in 0..size {
                let first = self.bounds[i * size + k];
                if first == NONE {
                    continue;
                }
                for j in 0..size {
                    let second = self.bounds[k * size + j];
                    if second == NONE {
                        continue;
                    }
                    let sum = (first & !1) + (second & !1) + (first & second & 1);
                    let old = &mut self.bounds[i * size + j];
                    *old = (*old).min(sum);
                }
            }
        }
        (0..size).all(|i| self.bounds[i * size + i] >= 1).then_some(())
    }
}

/// The variables x and y of a difference x − y + c.
pub fn sides(lin: &Lin) -> (Option<Var>, Option<Var>) {
    let with = |positive: bool| lin.terms.iter().find(|(_, k)| (*k > 0) == positive).map(|(var, _)| *var);
    (with(true), with(false))
}

/// ±x + c or x − y + c, with numbers that cannot overflow.
pub fn is_difference(lin: &Lin) -> bool {
    lin.constant.abs() < LARGE
        && match lin.terms.as_slice() {
            [(_, k)] => k.abs() == 1,
            [(_, a), (_, b)] => a.abs() == 1 && *a == -b,
            _ => false,
        }
}
