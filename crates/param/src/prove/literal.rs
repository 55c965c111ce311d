//! Variables, literals and their simplification: the data of a cube.
//!
//! Indices of arrays are processes, and processes are pairwise distinct constants, so terms are flat: no
//! congruence closure is needed. An enumerated variable carries the *set* of values it may have, which makes
//! implication between such literals a set inclusion.

use smallvec::SmallVec;
use std::fmt;

/// A process of a cube, or a slot of a transition before it is instantiated.
pub type ProcId = u8;

/// Process constants `#i` before instantiation.
pub const NAMED: u8 = 128;

const NO_INDEX: u8 = 255;
const NO_NODE: u8 = 255;
/// The read node that a transition is about to create.
pub const NEW_NODE: u8 = 254;
const PROC_SYMBOL: u16 = u16::MAX;
const PLACEHOLDERS: u16 = 0xF000;

/// A global, an array cell, the value that a read node finds in a location, or a process itself.
///
/// Packed in one word, so that the binary searches of the solver compare integers: symbol (16 bits), node (8),
/// three indices (8 each).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(u64);

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}{:?}", self.0 >> 32, self.indices().collect::<Vec<_>>())?;
        self.node().map_or(Ok(()), |node| write!(f, "@{node}"))
    }
}

impl Var {
    fn new(symbol: u16, node: u8, indices: [u8; 3]) -> Var {
        let [a, b, c] = indices.map(u64::from);
        Var(u64::from(symbol) << 32 | u64::from(node) << 24 | a << 16 | b << 8 | c)
    }

    /// A cell of a symbol; a variable has no indices.
    pub fn cell(symbol: usize, indices: &[ProcId]) -> Var {
        let mut padded = [NO_INDEX; 3];
        padded[..indices.len()].copy_from_slice(indices);
        Var::new(symbol as u16, NO_NODE, padded)
    }

    /// The process itself, as a value.
    pub fn process(process: ProcId) -> Var {
        Var::new(PROC_SYMBOL, NO_NODE, [process, NO_INDEX, NO_INDEX])
    }

    /// A placeholder that stands for the `i`-th variable of a simultaneous substitution.
    pub fn placeholder(i: usize) -> Var {
        Var::new(PLACEHOLDERS + i as u16, NO_NODE, [NO_INDEX; 3])
    }

    /// The same location, as node `node` reads it.
    pub fn read_by(self, node: u8) -> Var {
        Var(self.0 & !(0xFF << 24) | u64::from(node) << 24)
    }

    /// The location that is read, or the variable itself.
    pub fn location(self) -> Var {
        self.read_by(NO_NODE)
    }

    /// The node that reads the location, if the variable is what a node finds there.
    pub fn node(self) -> Option<u8> {
        let node = (self.0 >> 24) as u8;
        (node != NO_NODE).then_some(node)
    }

    /// The process, if the variable stands for one.
    pub fn as_process(self) -> Option<ProcId> {
        (self.symbol() == PROC_SYMBOL as usize).then_some((self.0 >> 16) as u8)
    }

    /// The index of its symbol; processes and placeholders have numbers beyond all symbols.
    pub fn symbol(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// The processes that index it.
    pub fn indices(self) -> impl Iterator<Item = ProcId> {
        [16, 8, 0]
            .into_iter()
            .map(move |shift| (self.0 >> shift) as u8)
            .take_while(|index| *index != NO_INDEX)
    }

    /// The variable with its processes and its node renamed.
    pub fn map(self, procs: impl Fn(ProcId) -> ProcId, nodes: impl Fn(u8) -> u8) -> Var {
        let mut bits = self.0;
        for shift in [16, 8, 0] {
            let index = (self.0 >> shift) as u8;
            if index == NO_INDEX {
                break;
            }
            bits = bits & !(0xFF << shift) | u64::from(procs(index)) << shift;
        }
        let var = Var(bits);
        match self.node() {
            Some(node) => var.read_by(nodes(node)),
            None => var,
        }
    }
}

/// Σ coefficient · variable + constant ⋈ 0, terms sorted by variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lin {
    /// How the sum compares with 0.
    pub op: LinOp,
    /// Coefficients, none of them 0, and their variables.
    pub terms: LinTerms,
    /// Added to the sum.
    pub constant: i64,
    /// Over the reals, where nothing is rounded; over the integers otherwise.
    pub real: bool,
}

/// Most sums have two variables or fewer.
pub type LinTerms = SmallVec<[(Var, i64); 2]>;

/// How a sum compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinOp {
    /// ≤
    Le,
    /// Over reals only; over integers `x < 0` is `x + 1 <= 0`.
    Lt,
    /// =
    Eq,
    /// ≠
    Neq,
}

/// A condition on the values of variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// The enumerated variable has one of these values.
    In(Var, u64),
    /// Both have the same value; neither is a number.
    Eq(Var, Var),
    /// Their values differ; neither is a number.
    Neq(Var, Var),
    /// A linear condition on numbers.
    Lin(Lin),
}

/// What a variable is replaced by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A constructor of its enumeration.
    Enum(u8),
    /// Another variable of its type.
    Var(Var),
    /// A sum of variables and a constant.
    Linear(LinTerms, i64),
    /// Any value at all.
    Any,
}

/// A literal after simplification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simplified {
    /// Holds always.
    True,
    /// Never holds.
    False,
    /// Says something.
    Literal(Literal),
}

impl Literal {
    /// Visits every variable of the literal.
    pub fn vars(&self, visit: &mut impl FnMut(Var)) {
        match self {
            Literal::In(var, _) => visit(*var),
            Literal::Eq(a, b) | Literal::Neq(a, b) => {
                visit(*a);
                visit(*b);
            }
            Literal::Lin(lin) => lin.terms.iter().for_each(|(var, _)| visit(*var)),
        }
    }

    /// Whether one of its variables is wanted.
    pub fn mentions(&self, wanted: impl Fn(Var) -> bool) -> bool {
        let mut found = false;
        self.vars(&mut |var| found |= wanted(var));
        found
    }

    /// The literal with its processes and nodes renamed.
    pub fn map(&self, procs: impl Fn(ProcId) -> ProcId + Copy, nodes: impl Fn(u8) -> u8 + Copy) -> Literal {
        let rename = |var: Var| var.map(procs, nodes);
        match self {
            Literal::In(var, set) => Literal::In(rename(*var), *set),
            Literal::Eq(a, b) => Literal::Eq(rename(*a), rename(*b)),
            Literal::Neq(a, b) => Literal::Neq(rename(*a), rename(*b)),
            Literal::Lin(lin) => Literal::Lin(Lin {
                op: lin.op,
                terms: lin.terms.iter().map(|(var, k)| (rename(*var), *k)).collect(),
                constant: lin.constant,
                real: lin.real,
            }),
        }
    }

    /// Truth where it is evident, a normal form otherwise. `full(symbol)`: all values of its type.
    pub fn simplify(self, full: impl Fn(usize) -> u64) -> Simplified {
        match self {
            Literal::In(var, set) => {
                let all = full(var.symbol());
                match set & all {
                    0 => Simplified::False,
                    set if set == all => Simplified::True,
                    set => Simplified::Literal(Literal::In(var, set)),
                }
            }
            Literal::Eq(a, b) if a == b => Simplified::True,
            Literal::Neq(a, b) if a == b => Simplified::False,
            Literal::Eq(a, b) if a.as_process().is_some() && b.as_process().is_some() => Simplified::False,
            Literal::Neq(a, b) if a.as_process().is_some() && b.as_process().is_some() => Simplified::True,
            Literal::Eq(a, b) => Simplified::Literal(Literal::Eq(a.min(b), a.max(b))),
            Literal::Neq(a, b) => Simplified::Literal(Literal::Neq(a.min(b), a.max(b))),
            Literal::Lin(lin) => lin.simplify(),
        }
    }

    /// Replaces `var` by `by`; `full` as in [`Literal::simplify`]. `Any` is not replaced here.
    pub fn substitute(&self, var: Var, by: &Operand, full: impl Fn(usize) -> u64) -> Simplified {
        if !self.mentions(|other| other == var) {
            return Simplified::Literal(self.clone());
        }
        let replaced = match (self, by) {
            (Literal::In(_, set), Operand::Enum(value)) => {
                return if set >> value & 1 == 1 { Simplified::True } else { Simplified::False };
            }
            (Literal::In(_, set), Operand::Var(new)) => Literal::In(*new, *set),
            (Literal::Eq(a, b) | Literal::Neq(a, b), Operand::Var(new)) => {
                let swap = |old: Var| if old == var { *new } else { old };
                if matches!(self, Literal::Eq(..)) {
                    Literal::Eq(swap(*a), swap(*b))
                } else {
                    Literal::Neq(swap(*a), swap(*b))
                }
            }
            (Literal::Eq(a, b) | Literal::Neq(a, b), Operand::Enum(value)) => {
                let equal = matches!(self, Literal::Eq(..));
                if a == b {
                    return if equal { Simplified::True } else { Simplified::False };
                }
                let other = if *a == var { *b } else { *a };
                let bit = 1_u64 << value;
                Literal::In(other, if equal { bit } else { full(other.symbol()) & !bit })
            }
            (Literal::Lin(lin), Operand::Var(new)) => Literal::Lin(lin.replace(var, &[(*new, 1)], 0)),
            (Literal::Lin(lin), Operand::Linear(terms, constant)) => {
                Literal::Lin(lin.replace(var, terms, *constant))
            }
            // A numeric variable occurs in linear literals only, an enumerated one never does.
            _ => unreachable!("the types of {self:?} and {by:?} differ: checked by typing"),
        };
        replaced.simplify(full)
    }

    /// The negation, as alternatives.
    pub fn negate(&self, full: impl Fn(usize) -> u64) -> Vec<Literal> {
        match self {
            Literal::In(var, set) => vec![Literal::In(*var, full(var.symbol()) & !set)],
            Literal::Eq(a, b) => vec![Literal::Neq(*a, *b)],
            Literal::Neq(a, b) => vec![Literal::Eq(*a, *b)],
            Literal::Lin(lin) => vec![Literal::Lin(lin.negate())],
        }
    }
}

impl Lin {
    /// The condition with equal variables added up.
    pub fn new(op: LinOp, terms: LinTerms, constant: i64, real: bool) -> Lin {
        let mut lin = Lin { op, terms, constant, real };
        lin.sort();
        lin
    }

    fn sort(&mut self) {
        self.terms.sort_unstable();
        let mut merged: LinTerms = SmallVec::new();
        for (var, k) in self.terms.drain(..) {
            match merged.last_mut() {
                Some((last, sum)) if *last == var => *sum += k,
                _ => merged.push((var, k)),
            }
        }
        merged.retain(|(_, k)| *k != 0);
        self.terms = merged;
    }

    fn replace(&self, var: Var, by: &[(Var, i64)], constant: i64) -> Lin {
        let mut lin = Lin { op: self.op, terms: SmallVec::new(), constant: self.constant, real: self.real };
        for (old, k) in &self.terms {
            if *old == var {
                lin.constant += k * constant;
                lin.terms.extend(by.iter().map(|(new, j)| (*new, k * j)));
            } else {
                lin.terms.push((*old, *k));
            }
        }
        lin.sort();
        lin
    }

    /// The condition that holds where this one does not.
    pub fn negate(&self) -> Lin {
        let minus = || self.terms.iter().map(|(var, k)| (*var, -k)).collect();
        match self.op {
            LinOp::Le if self.real => {
                Lin { op: LinOp::Lt, terms: minus(), constant: -self.constant, real: true }
            }
            // Over the integers, not (t <= 0) is 1 - t <= 0.
            LinOp::Le => Lin { op: LinOp::Le, terms: minus(), constant: 1 - self.constant, real: false },
            LinOp::Lt => Lin { op: LinOp::Le, terms: minus(), constant: -self.constant, real: self.real },
            LinOp::Eq => Lin { op: LinOp::Neq, ..self.clone() },
            LinOp::Neq => Lin { op: LinOp::Eq, ..self.clone() },
        }
    }

    fn simplify(mut self) -> Simplified {
        self.sort();
        if self.terms.is_empty() {
            let holds = match self.op {
                LinOp::Le => self.constant <= 0,
                LinOp::Lt => self.constant < 0,
                LinOp::Eq => self.constant == 0,
                LinOp::Neq => self.constant != 0,
            };
            return if holds { Simplified::True } else { Simplified::False };
        }
        let gcd = self.terms.iter().fold(0, |gcd, (_, k)| gcd_of(gcd, k.abs()));
        let whole = gcd == 0 || self.constant % gcd == 0;
        if gcd > 1 && (whole || !self.real) {
            match self.op {
                // Integer tightening: the constant is rounded up.
                LinOp::Le => self.constant = self.constant.div_euclid(gcd) + i64::from(!whole),
                LinOp::Eq if !whole => return Simplified::False,
                LinOp::Neq if !whole => return Simplified::True,
                _ => self.constant /= gcd,
            }
            self.terms.iter_mut().for_each(|(_, k)| *k /= gcd);
        }
        if matches!(self.op, LinOp::Eq | LinOp::Neq) && self.terms[0].1 < 0 {
            self.terms.iter_mut().for_each(|(_, k)| *k = -*k);
            self.constant = -self.constant;
        }
        // Two distinct processes are never equal: p <= q means p < q.
        if self.op == LinOp::Le
            && self.constant == 0
            && self.terms.len() == 2
            && self.terms.iter().all(|(var, k)| var.as_process().is_some() && k.abs() == 1)
        {
            self.constant = 1;
        }
        Simplified::Literal(Literal::Lin(self))
    }
}

fn gcd_of(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd_of(b, a % b) }
}
