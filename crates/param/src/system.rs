//! An array system: the program with names resolved and types checked.
//!
//! This is all that the explorer ([`crate::explore`]) and the prover ([`crate::prove`]) share. Formulas
//! keep their shape: each engine gives them their meaning on its own.

use crate::Memory;
use crate::syntax::{Comparison, Diagnostic, Span};

/// Index into [`System::types`].
pub type TypeId = usize;
pub const PROC: TypeId = 0;
pub const INT: TypeId = 1;
pub const REAL: TypeId = 2;
pub const BOOL: TypeId = 3;

#[derive(Clone, Debug)]
pub struct System {
    pub types: Vec<Type>,
    pub symbols: Vec<Symbol>,
    /// `number_procs`: at most so many processes.
    pub number_procs: Option<u8>,
    /// Some `#i` occurs: processes are not interchangeable.
    pub named: bool,
    /// Reals are kept as integers, this many to the unit.
    pub real_scale: i64,
    pub init: StateSet,
    pub unsafes: Vec<StateSet>,
    pub invariants: Vec<StateSet>,
    pub transitions: Vec<Transition>,
    /// Why the system has no meaning under a weak model (it has one under SC all the same).
    pub weak_errors: Vec<Diagnostic>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub name: String,
    pub kind: TypeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    Proc,
    Int,
    Real,
    Enum(Vec<String>),
    Abstract,
}

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub ty: TypeId,
    pub dims: usize,
    pub weak: bool,
    pub constant: bool,
}

/// `init` (for all parameters), `unsafe` and `invariant` (for some, pairwise distinct).
#[derive(Clone, Debug)]
pub struct StateSet {
    pub name: Option<String>,
    pub params: Vec<String>,
    pub body: Formula,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Transition {
    pub name: String,
    pub params: Vec<String>,
    /// The parameter that acts on weak memory.
    pub acting: Option<usize>,
    pub guard: Formula,
    /// The guard demands `fence()`: the store buffer of the acting process is empty.
    pub fence: bool,
    /// Reads and writes weak memory: one locked step that drains the buffer and writes memory directly.
    pub locked: bool,
    pub updates: Vec<Update>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Update {
    pub symbol: usize,
    pub indices: Vec<Index>,
    pub value: UpdateValue,
}

/// Where an update writes: one cell, or one for each process bound to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    Fixed(Proc),
    Bound(u8),
}

#[derive(Clone, Debug)]
pub enum UpdateValue {
    Any,
    /// The first case that holds in the old state gives the value; none: the cell keeps its value.
    Cases(Vec<(Formula, Term)>),
}

/// A process: a variable (a slot of the environment) or a constant `#i`, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proc {
    Slot(u8),
    Const(u8),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    True,
    False,
    Compare(TypeId, Term, Comparison, Term),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    Forall(Quantified),
    Exists(Quantified),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Quantified {
    pub slot: u8,
    /// The processes over which the variable does not range.
    pub excluded: Vec<Proc>,
    pub body: Box<Formula>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    Proc(Proc),
    /// A constructor of the enumeration that the context fixes.
    Enum(u8),
    Access(Access),
    /// Every numeric term: Σ coefficient · access + constant.
    Linear(Vec<(i64, Access)>, i64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub symbol: usize,
    pub indices: Vec<Proc>,
    /// The process that reads, if the symbol is weak and a process is known.
    pub by: Option<Proc>,
}

impl System {
    pub fn has_weak(&self) -> bool {
        self.symbols.iter().any(|symbol| symbol.weak)
    }

    /// Why the system has no meaning with this memory. Whether or not a variable is weak, what processes share
    /// must be.
    pub fn refused_under(&self, memory: Memory) -> Option<&Diagnostic> {
        if memory == Memory::Sc { None } else { self.weak_errors.first() }
    }

    /// The invariants over constants alone: assumptions about the configuration, not claims to prove.
    pub fn axioms(&self) -> impl Iterator<Item = &StateSet> {
        self.invariants.iter().filter(|set| self.only_constants(&set.body))
    }

    /// The other invariants: claims.
    pub fn lemmas(&self) -> impl Iterator<Item = &StateSet> {
        self.invariants.iter().filter(|set| !self.only_constants(&set.body))
    }

    fn only_constants(&self, formula: &Formula) -> bool {
        let mut only = true;
        formula.accesses(&mut |access| only &= self.symbols[access.symbol].constant);
        only
    }

    /// The constructors of an enumeration; empty for every other type.
    pub fn constructors(&self, ty: TypeId) -> &[String] {
        match &self.types[ty].kind {
            TypeKind::Enum(names) => names,
            _ => &[],
        }
    }
}

impl Formula {
    /// Visits every access of the formula.
    pub fn accesses(&self, visit: &mut impl FnMut(&Access)) {
        match self {
            Formula::True | Formula::False => {}
            Formula::Compare(_, left, _, right) => {
                left.accesses(visit);
                right.accesses(visit);
            }
            Formula::Not(inner) => inner.accesses(visit),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|part| part.accesses(visit)),
            Formula::If(a, b, c) => [a, b, c].into_iter().for_each(|part| part.accesses(visit)),
            Formula::Forall(quantified) | Formula::Exists(quantified) => quantified.body.accesses(visit),
        }
    }
}

impl Term {
    pub fn accesses(&self, visit: &mut impl FnMut(&Access)) {
        match self {
            Term::Access(access) => visit(access),
            Term::Linear(parts, _) => parts.iter().for_each(|(_, access)| visit(access)),
            Term::Proc(_) | Term::Enum(_) => {}
        }
    }
}
