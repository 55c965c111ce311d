//! What a conjunction of literals implies: the light solver.
//!
//! Union-find over equalities, a set of values per class, disequalities between classes, and linear
//! constraints. Incomplete in one direction only, as [`linear`] is: "contradictory" and "implied" are
//! certain, their absence is not.

use super::difference::{Differences, is_difference, sides};
use super::linear;
use super::literal::{Lin, LinOp, Literal, ProcId, Simplified, Var};

/// The closure of a conjunction.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Sorted; `class[i]` is the class of `vars[i]`.
    vars: Vec<Var>,
    class: Vec<u16>,
    sets: Vec<u64>,
    process: Vec<Option<ProcId>>,
    /// A representative of each class, for linear constraints over processes.
    representative: Vec<Var>,
    disequal: Vec<(u16, u16)>,
    linear: Vec<Lin>,
    differences: Differences,
    /// There is no other linear constraint.
    only_differences: bool,
}

impl Facts {
    /// `None` if the literals contradict each other. `domains[s]`: all values of the symbol `s`, as a set.
    pub fn new(literals: &[Literal], domains: &[u64]) -> Option<Facts> {
        let mut vars = Vec::with_capacity(literals.len() * 2);
        for literal in literals {
            literal.vars(&mut |var| vars.push(var));
        }
        vars.sort_unstable();
        vars.dedup();
        let mut parent: Vec<u16> = (0..vars.len() as u16).collect();
        let place = |var: Var| vars.binary_search(&var).map_or(0, |at| at as u16);
        for literal in literals {
            if let Literal::Eq(a, b) = literal {
                let (a, b) = (find(&parent, place(*a)), find(&parent, place(*b)));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let class: Vec<u16> = (0..vars.len() as u16).map(|i| find(&parent, i)).collect();
        let mut facts = Facts {
            sets: vars.iter().map(|var| domains.get(var.symbol()).copied().unwrap_or(u64::MAX)).collect(),
            process: vec![None; vars.len()],
            representative: class.iter().map(|c| vars[*c as usize]).collect(),
            disequal: Vec::new(),
            linear: Vec::new(),
            differences: Differences::default(),
            only_differences: true,
            vars,
            class,
        };
        for (i, var) in facts.vars.iter().enumerate() {
            if let Some(process) = var.as_process() {
                let class = facts.class[i] as usize;
                if facts.process[class].is_some_and(|other| other != process) {
                    return None;
                }
                facts.process[class] = Some(process);
                facts.representative[class] = *var;
            }
        }
        for literal in literals {
            match literal {
                Literal::In(var, set) => {
                    let class = facts.class_of(*var)?;
                    facts.sets[class as usize] &= set;
                    if facts.sets[class as usize] == 0 {
                        return None;
                    }
                }
                Literal::Neq(a, b) => {
                    let (a, b) = (facts.class_of(*a)?, facts.class_of(*b)?);
                    if a == b {
                        return None;
                    }
                    facts.disequal.push((a.min(b), a.max(b)));
                }
                Literal::Lin(lin) => {
                    let lin = facts.represent(lin);
                    facts.linear.push(lin);
                }
                Literal::Eq(..) => {}
            }
        }
        facts.propagate()?;
        if !facts.linear.is_empty() {
            let false_alone =
                |lin: &Lin| matches!(Literal::Lin(lin.clone()).simplify(|_| u64::MAX), Simplified::False);
            if facts.linear.iter().any(false_alone) {
                return None;
            }
            facts.differences = Differences::new(&facts.linear)?;
            facts.only_differences = facts.linear.iter().all(is_difference);
            if !facts.only_differences && linear::contradictory(&facts.linear) {
                return None;
            }
        }
        Some(facts)
    }

    /// A class with one value takes it from the classes it differs from, until nothing changes.
    fn propagate(&mut self) -> Option<()> {
        loop {
            let mut changed = false;
            for i in 0..self.disequal.len() {
                let (a, b) = self.disequal[i];
                for (a, b) in [(a as usize, b as usize), (b as usize, a as usize)] {
                    let single = self.sets[a];
                    if single.is_power_of_two() && self.sets[b] & single != 0 && self.sets[b] != u64::MAX {
                        self.sets[b] &= !single;
                        changed = true;
                        if self.sets[b] == 0 {
                            return None;
                        }
                    }
                }
            }
            if !changed {
                return Some(());
            }
        }
    }

    fn represent(&self, lin: &Lin) -> Lin {
        let represent =
            |var: Var| self.class_of(var).map_or(var, |class| self.representative[class as usize]);
        Lin::new(
            lin.op,
            lin.terms.iter().map(|(var, k)| (represent(*var), *k)).collect(),
            lin.constant,
            lin.real,
        )
    }

    fn class_of(&self, var: Var) -> Option<u16> {
        self.vars.binary_search(&var).ok().map(|at| self.class[at])
    }

    /// The values an enumerated variable may have; all bits set if nothing is known.
    pub fn values(&self, var: Var) -> u64 {
        self.class_of(var).map_or(u64::MAX, |class| self.sets[class as usize])
    }

    /// Whether the literal certainly holds wherever the conjunction does.
    pub fn implies(&self, literal: &Literal) -> bool {
        match literal {
            Literal::In(var, set) => self.values(*var) & !set == 0,
            Literal::Eq(a, b) => {
                if a == b {
                    return true;
                }
                let (Some(a), Some(b)) = (self.class_of(*a), self.class_of(*b)) else { return false };
                let (x, y) = (self.sets[a as usize], self.sets[b as usize]);
                a == b || (x == y && x.is_power_of_two())
            }
            Literal::Neq(a, b) => {
                let process = |var: Var| match self.class_of(var) {
                    Some(class) => self.process[class as usize],
                    None => var.as_process(),
                };
                if let (Some(p), Some(q)) = (process(*a), process(*b)) {
                    return p != q;
                }
                let (Some(a), Some(b)) = (self.class_of(*a), self.class_of(*b)) else { return false };
                let (x, y) = (self.sets[a as usize], self.sets[b as usize]);
                a != b && ((x != u64::MAX && x & y == 0) || self.disequal.contains(&(a.min(b), a.max(b))))
            }
            Literal::Lin(lin) => match self.implies_difference(lin, |var| var) {
                Some(answer) => answer,
                None => self.implies_linear(&self.represent(lin)),
            },
        }
    }

    /// Whether a difference constraint, its variables renamed, certainly holds; `None` if that is not settled by
    /// differences alone.
    pub fn implies_difference(&self, lin: &Lin, rename: impl Fn(Var) -> Var) -> Option<bool> {
        if !self.only_differences || !is_difference(lin) {
            return None;
        }
        let represent = |var: Var| {
            let var = rename(var);
            self.class_of(var).map_or(var, |class| self.representative[class as usize])
        };
        let (x, y) = sides(lin);
        let (x, y) = (x.map(represent), y.map(represent));
        if x == y {
            // Nothing but the constant is left.
            return Some(match lin.op {
                LinOp::Le => lin.constant <= 0,
                LinOp::Lt => lin.constant < 0,
                LinOp::Eq => lin.constant == 0,
                LinOp::Neq => lin.constant != 0,
            });
        }
        Some(self.differences.implies_difference(lin.op, x, y, -lin.constant))
    }

    fn implies_linear(&self, lin: &Lin) -> bool {
        if self.linear.contains(lin) {
            return true;
        }
        if let Simplified::True = Literal::Lin(lin.clone()).simplify(|_| u64::MAX) {
            return true;
        }
        match self.differences.implies(lin) {
            Some(true) => return true,
            // Closed and nothing else to reason with: the answer is final.
            _ if self.only_differences => return false,
            _ => {}
        }
        // Only constraints over known variables can help.
        let known = |var: &Var| self.linear.iter().any(|other| other.terms.iter().any(|(v, _)| v == var));
        if !lin.terms.iter().all(|(var, _)| known(var)) {
            return false;
        }
        let refutes = |extra: Lin| {
            let mut all = self.linear.clone();
            all.push(extra);
            linear::contradictory(&all)
        };
        match lin.op {
            LinOp::Le | LinOp::Lt | LinOp::Neq => refutes(lin.negate()),
            LinOp::Eq => {
                let le = Lin { op: LinOp::Le, ..lin.clone() };
                let ge = Lin {
                    op: LinOp::Le,
                    terms: lin.terms.iter().map(|(var, k)| (*var, -k)).collect(),
                    constant: -lin.constant,
                    real: lin.real,
                };
                refutes(le.negate()) && refutes(ge.negate())
            }
        }
    }

    /// Variables equal to `var`, other than itself.
    pub fn equals(&self, var: Var) -> impl Iterator<Item = Var> + '_ {
        let class = self.class_of(var);
        (self.vars.iter().zip(&self.class))
            .filter(move |(other, c)| Some(**c) == class && **other != var)
            .map(|(other, _)| *other)
    }
}

fn find(parent: &[u16], mut at: u16) -> u16 {
    while parent[at as usize] != at {
        at = parent[at as usize];
    }
    at
}
