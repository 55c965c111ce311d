//! The syntax tree, as written.

use super::Span;

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name itself.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// `number_procs N`: a finite instance.
    pub number_procs: Option<(u32, Span)>,
    /// In the order of the text.
    pub types: Vec<TypeDecl>,
    /// In the order of the text.
    pub symbols: Vec<SymbolDecl>,
    /// In the order of the text.
    pub items: Vec<Item>,
}

/// `type name` (abstract) or `type name = A | B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDecl {
    /// What the type is called.
    pub name: Ident,
    /// Empty for an abstract type.
    pub constructors: Vec<Ident>,
}

/// The word that begins a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// `const`: the same in all states of a run.
    Const,
    /// `var`: one value.
    Var,
    /// `array`: one value for each process, or tuple of processes.
    Array,
}

/// The declaration of a constant, a variable or an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolDecl {
    /// Which of the three.
    pub kind: SymbolKind,
    /// `weak`: accesses follow the weak memory model.
    pub weak: bool,
    /// What it is called.
    pub name: Ident,
    /// The names of the index types, `proc` in a well-typed program; empty for a variable.
    pub dims: Vec<Ident>,
    /// The type of its value, or of a cell.
    pub ty: Ident,
}

/// What follows the declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The initial states.
    Init(StateSet),
    /// States that must not be reached.
    Unsafe(StateSet),
    /// States that are claimed not to be reached.
    Invariant(StateSet),
    /// Configurations that are assumed not to be.
    Assume(StateSet),
    /// An abbreviation.
    Predicate(StateSet),
    /// A step of the system.
    Transition(Transition),
}

/// A formula over processes: `init`, `unsafe`, `invariant` or a `predicate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSet {
    /// Predicates have one; the others may.
    pub name: Option<Ident>,
    /// Processes.
    pub params: Vec<Ident>,
    /// The formula.
    pub body: Expr,
    /// From the first word to the closing brace.
    pub span: Span,
}

/// `transition name (params) requires { guard } { updates }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// What it is called.
    pub name: Ident,
    /// Processes, pairwise distinct.
    pub params: Vec<Ident>,
    /// The bracketed parameter: the process that acts.
    pub acting: Option<usize>,
    /// When it can happen; without one, always.
    pub guard: Option<Expr>,
    /// What changes, all at once.
    pub updates: Vec<Update>,
}

/// `target[indices] := value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The variable or array.
    pub target: Ident,
    /// The cell; a process that is no parameter stands for all processes.
    pub indices: Vec<ProcRef>,
    /// What is written there.
    pub value: UpdateValue,
    /// The whole update.
    pub span: Span,
}

/// The right side of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateValue {
    /// One value.
    Term(Term),
    /// `case` and its branches: the first that holds.
    Case(Vec<Switch>),
    /// `X := ?`
    Any,
}

/// `| guard : value`, or `| _ : value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// `None` for `_`.
    pub guard: Option<Expr>,
    /// The value where it holds.
    pub value: Term,
}

/// A process, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcRef {
    /// A parameter or a bound variable.
    Var(Ident),
    /// `#3`
    Const(u32, Span),
}

/// A value, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it is.
    pub span: Span,
}

/// The forms of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A process.
    Proc(ProcRef),
    /// A variable, a constant, a constructor or an array cell, read by `by` if that is written.
    Access {
        /// `[p]` before a weak access.
        by: Option<ProcRef>,
        /// What is read.
        name: Ident,
        /// Empty for everything but an array.
        indices: Vec<ProcRef>,
    },
    /// A whole number.
    Int(i64),
    /// The digits as written.
    Real(String),
    /// `a + b`
    Add(Box<Term>, Box<Term>),
    /// `a - b`
    Sub(Box<Term>, Box<Term>),
    /// `a * b`
    Mul(Box<Term>, Box<Term>),
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Eq,
    /// `<>`
    Neq,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// Over which processes a variable ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// All processes.
    Forall,
    /// Some process.
    Exists,
    /// All but the parameters.
    ForallOther,
    /// Some process that is no parameter.
    ExistsOther,
}

/// A formula, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is.
    pub span: Span,
}

/// The forms of formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// `true`
    True,
    /// `false`
    False,
    /// `fence()`: the buffer of the acting process is empty.
    Fence,
    /// Two values and how they compare.
    Compare(Term, Comparison, Term),
    /// A predicate for these processes.
    Call(Ident, Vec<ProcRef>),
    /// `not a`
    Not(Box<Expr>),
    /// `a && b`
    And(Box<Expr>, Box<Expr>),
    /// `a || b`
    Or(Box<Expr>, Box<Expr>),
    /// `a => b`
    Implies(Box<Expr>, Box<Expr>),
    /// `a <=> b`
    Iff(Box<Expr>, Box<Expr>),
    /// `if a then b else c`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `forall_other p. a` and the like.
    Quantified {
        /// Over which processes the variable ranges.
        quantifier: Quantifier,
        /// The variable.
        var: Ident,
        /// Processes over which it does not range, where the text lists them.
        distinct: Vec<ProcRef>,
        /// The formula.
        body: Box<Expr>,
    },
}

impl ProcRef {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            ProcRef::Var(ident) => ident.span,
            ProcRef::Const(_, span) => *span,
        }
    }
}
