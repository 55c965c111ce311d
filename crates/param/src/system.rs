//! An array system: the program with names resolved and types checked.
//!
//! This is all that the explorer ([`crate::explore`]) and the prover ([`mod@crate::prove`]) share. Formulas
//! keep their shape: each engine gives them their meaning on its own.

use crate::Memory;
use crate::syntax::{Comparison, Diagnostic, Span};

/// Index into [`System::types`].
pub type TypeId = usize;
/// `proc`, which every system has.
pub const PROC: TypeId = 0;
/// `int`, which every system has.
pub const INT: TypeId = 1;
/// `real`, which every system has.
pub const REAL: TypeId = 2;
/// `bool`, an enumeration that every system has.
pub const BOOL: TypeId = 3;

/// An array system.
#[derive(Clone, Debug)]
pub struct System {
    /// The types of every system first, then those of the text.
    pub types: Vec<Type>,
    /// Constants, variables and arrays.
    pub symbols: Vec<Symbol>,
    /// `number_procs`: at most so many processes.
    pub number_procs: Option<u8>,
    /// Some `#i` occurs: processes are not interchangeable.
    pub named: bool,
    /// Reals are kept as integers, this many to the unit.
    pub real_scale: i64,
    /// The initial states.
    pub init: StateSet,
    /// The states that must not be reached.
    pub unsafes: Vec<StateSet>,
    /// The states that are claimed not to be reached.
    pub invariants: Vec<StateSet>,
    /// The steps.
    pub transitions: Vec<Transition>,
    /// Why the system has no meaning under a weak model (it has one under SC all the same).
    pub weak_errors: Vec<Diagnostic>,
}

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// As in the text.
    pub name: String,
    /// What its values are.
    pub kind: TypeKind,
}

/// The sorts of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// Processes.
    Proc,
    /// Whole numbers.
    Int,
    /// Reals.
    Real,
    /// These constructors.
    Enum(Vec<String>),
    /// Values of which nothing is known but whether they are equal.
    Abstract,
}

/// A constant, a variable or an array.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// As in the text.
    pub name: String,
    /// The type of its value, or of a cell.
    pub ty: TypeId,
    /// The number of indices: 0 for a constant or a variable.
    pub dims: usize,
    /// Accesses follow the weak memory model.
    pub weak: bool,
    /// It never changes.
    pub constant: bool,
}

/// `init` (for all parameters), `unsafe` and `invariant` (for some, pairwise distinct).
#[derive(Clone, Debug)]
pub struct StateSet {
    /// As in the text, if it has one.
    pub name: Option<String>,
    /// The names of the processes; parameter `i` is slot `i`.
    pub params: Vec<String>,
    /// What holds in these states.
    pub body: Formula,
    /// Its place in the text.
    pub span: Span,
}

/// A step of the system.
#[derive(Clone, Debug)]
pub struct Transition {
    /// As in the text.
    pub name: String,
    /// The names of the processes; parameter `i` is slot `i`.
    pub params: Vec<String>,
    /// The parameter that acts on weak memory.
    pub acting: Option<usize>,
    /// When it can happen.
    pub guard: Formula,
    /// The guard demands `fence()`: the store buffer of the acting process is empty.
    pub fence: bool,
    /// One locked step that drains the buffer and writes memory directly: it reads and writes weak memory, or the
    /// guard demands `lock()`.
    pub locked: bool,
    /// It reads and writes weak memory: it is locked whatever the guard says.
    pub swaps: bool,
    /// What changes, all at once.
    pub updates: Vec<Update>,
    /// Its place in the text.
    pub span: Span,
}

/// A change of one cell, or of one for each process.
#[derive(Clone, Debug)]
pub struct Update {
    /// An index into [`System::symbols`].
    pub symbol: usize,
    /// The cell.
    pub indices: Vec<Index>,
    /// What is written.
    pub value: UpdateValue,
}

/// Where an update writes: one cell, or one for each process bound to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One process.
    Fixed(Proc),
    /// All processes, each bound to this slot in turn.
    Bound(u8),
}

/// What an update writes.
#[derive(Clone, Debug)]
pub enum UpdateValue {
    /// Any value of the type.
    Any,
    /// The first case that holds in the old state gives the value; none: the cell keeps its value.
    Cases(Vec<(Formula, Term)>),
}

/// A process: a variable (a slot of the environment) or a constant `#i`, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proc {
    /// A variable: a slot of the environment.
    Slot(u8),
    /// A constant `#i`, from 0.
    Const(u8),
}

/// A condition on states.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// Holds always.
    True,
    /// Never holds.
    False,
    /// Two values of one type and how they compare.
    Compare(TypeId, Term, Comparison, Term),
    /// It does not hold.
    Not(Box<Formula>),
    /// All hold.
    And(Vec<Formula>),
    /// One of them holds.
    Or(Vec<Formula>),
    /// Where the first holds the second does, elsewhere the third.
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    /// It holds for all processes.
    Forall(Quantified),
    /// It holds for some process.
    Exists(Quantified),
}

/// A formula under a quantifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantified {
    /// The slot that the variable takes.
    pub slot: u8,
    /// The processes over which the variable does not range.
    pub excluded: Vec<Proc>,
    /// What holds of it.
    pub body: Box<Formula>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A process.
    Proc(Proc),
    /// A constructor of the enumeration that the context fixes.
    Enum(u8),
    /// What a cell holds, of any type but a number.
    Access(Access),
    /// Every numeric term: Σ coefficient · access + constant.
    Linear(Vec<(i64, Access)>, i64),
}

/// A read of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// An index into [`System::symbols`].
    pub symbol: usize,
    /// The cell; empty for a variable.
    pub indices: Vec<Proc>,
    /// The process that reads, if the symbol is weak and a process is known.
    pub by: Option<Proc>,
}

impl System {
    /// Whether some symbol is weak.
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

    pub(crate) fn only_constants(&self, formula: &Formula) -> bool {
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

impl Transition {
    /// Visits every access that is read: those of the guard and those of what is written.
    pub fn accesses(&self, visit: &mut impl FnMut(&Access)) {
        self.guard.accesses(visit);
        for update in &self.updates {
            if let UpdateValue::Cases(cases) = &update.value {
                for (condition, value) in cases {
                    condition.accesses(visit);
                    value.accesses(visit);
                }
            }
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
    /// Visits every access of the term.
    pub fn accesses(&self, visit: &mut impl FnMut(&Access)) {
        match self {
            Term::Access(access) => visit(access),
            Term::Linear(parts, _) => parts.iter().for_each(|(_, access)| visit(access)),
            Term::Proc(_) | Term::Enum(_) => {}
        }
    }
}
