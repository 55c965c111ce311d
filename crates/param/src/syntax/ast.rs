//! The syntax tree, as written.

use super::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// `number_procs N`: a finite instance.
    pub number_procs: Option<(u32, Span)>,
    pub types: Vec<TypeDecl>,
    pub symbols: Vec<SymbolDecl>,
    pub items: Vec<Item>,
}

/// `type name` (abstract) or `type name = A | B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDecl {
    pub name: Ident,
    pub constructors: Vec<Ident>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    Const,
    Var,
    Array,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolDecl {
    pub kind: SymbolKind,
    pub weak: bool,
    pub name: Ident,
    /// The names of the index types, `proc` in a well-typed program; empty for a variable.
    pub dims: Vec<Ident>,
    pub ty: Ident,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Init(StateSet),
    Unsafe(StateSet),
    Invariant(StateSet),
    Predicate(StateSet),
    Transition(Transition),
}

/// A formula over processes: `init`, `unsafe`, `invariant` or a `predicate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSet {
    pub name: Option<Ident>,
    pub params: Vec<Ident>,
    pub body: Expr,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub name: Ident,
    pub params: Vec<Ident>,
    /// The bracketed parameter: the process that acts.
    pub acting: Option<usize>,
    pub guard: Option<Expr>,
    pub updates: Vec<Update>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub target: Ident,
    pub indices: Vec<ProcRef>,
    pub value: UpdateValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateValue {
    Term(Term),
    Case(Vec<Switch>),
    /// `X := ?`
    Any,
}

/// `| guard : value`, or `| _ : value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub guard: Option<Expr>,
    pub value: Term,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcRef {
    Var(Ident),
    /// `#3`
    Const(u32, Span),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub kind: TermKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    Proc(ProcRef),
    /// A variable, a constant, a constructor or an array cell, read by `by` if that is written.
    Access {
        by: Option<ProcRef>,
        name: Ident,
        indices: Vec<ProcRef>,
    },
    Int(i64),
    /// The digits as written.
    Real(String),
    Add(Box<Term>, Box<Term>),
    Sub(Box<Term>, Box<Term>),
    Mul(Box<Term>, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Eq,
    Neq,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    Forall,
    Exists,
    ForallOther,
    ExistsOther,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    True,
    False,
    Fence,
    Compare(Term, Comparison, Term),
    Call(Ident, Vec<ProcRef>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Iff(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantified { quantifier: Quantifier, var: Ident, distinct: Vec<ProcRef>, body: Box<Expr> },
}

impl ProcRef {
    pub fn span(&self) -> Span {
        match self {
            ProcRef::Var(ident) => ident.span,
            ProcRef::Const(_, span) => *span,
        }
    }
}
