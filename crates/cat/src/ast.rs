//! The syntax tree of a cat file. Names and operators are kept as written; meaning comes later.

use std::sync::Arc;

use crate::diagnostic::Span;

pub type Name = Arc<str>;

/// One file: its title and its statements.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The words before the first statement: an architecture, a title, or both.
    pub header: Vec<String>,
    /// Whether the file says that it computes dependencies itself.
    pub catdep: bool,
    pub statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    Let(Vec<Binding>),
    Rec(Vec<Binding>, Option<Test>),
    Test(Require, Test),
    Show(Vec<Name>),
    ShowAs(Expr, Name),
    Unshow(Vec<Name>),
    Include(String),
    Procedure {
        name: Name,
        parameters: Pattern,
        body: Arc<[Statement]>,
        recursive: bool,
    },
    Call {
        name: Name,
        argument: Expr,
        label: Option<Name>,
    },
    Enum(Name, Vec<Name>),
    Forall {
        name: Name,
        set: Expr,
        body: Vec<Statement>,
    },
    With(Name, Expr),
    Match {
        subject: Expr,
        arms: Vec<(Name, Vec<Statement>)>,
        otherwise: Option<Vec<Statement>>,
    },
    If {
        condition: Variant,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Debug(Expr),
    /// `instructions R[…]` and `default R[…]` of bell files.
    Instructions {
        default: bool,
        name: Name,
        annotations: Vec<Expr>,
    },
}

/// What a failing test means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Require {
    /// The execution is inconsistent.
    Check,
    /// A *passing* test raises the flag that the test names.
    Flag,
    /// The program has undefined behaviour.
    UndefinedUnless,
    /// The input is wrong.
    Assert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    Acyclic,
    Irreflexive,
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    pub span: Span,
    pub negated: bool,
    pub property: Property,
    pub expr: Expr,
    pub name: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub span: Span,
    pub pattern: Pattern,
    pub expr: Expr,
}

/// What a binding or a parameter list names; `None` is `_`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    One(Option<Name>),
    Tuple(Vec<Option<Name>>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `0`, the empty relation.
    Zero,
    /// `_`, everything: all events or all pairs.
    Universe,
    Tag(Name),
    Var(Name),
    Unary(Unary, Arc<Expr>),
    Binary(Binary, Arc<Expr>, Arc<Expr>),
    /// Unions and compositions are associative and kept flat.
    Union(Vec<Expr>),
    Sequence(Vec<Expr>),
    Tuple(Vec<Expr>),
    Set(Vec<Expr>),
    Apply(Arc<Expr>, Arc<Expr>),
    Fun(Arc<Function>),
    Let(Vec<Binding>, Arc<Expr>),
    Rec(Vec<Binding>, Arc<Expr>),
    Try(Arc<Expr>, Arc<Expr>),
    If(Arc<Condition>, Arc<Expr>, Arc<Expr>),
    Match {
        subject: Arc<Expr>,
        arms: Vec<(Name, Expr)>,
        otherwise: Option<Arc<Expr>>,
    },
    MatchSet {
        subject: Arc<Expr>,
        empty: Arc<Expr>,
        element: SetArm,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub parameters: Pattern,
    pub body: Expr,
}

/// `x ++ rest -> e` or `before | x ++ after -> e`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetArm {
    pub before: Option<Option<Name>>,
    pub element: Option<Name>,
    pub rest: Option<Name>,
    pub body: Arc<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Plus,
    Star,
    Optional,
    Complement,
    Inverse,
    /// `[S]`.
    Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Intersection,
    Difference,
    Product,
    /// `x ++ S`.
    Add,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Equal(Expr, Expr),
    Subset(Expr, Expr),
    In(Expr, Expr),
    Variant(Variant),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Variant {
    Named(String),
    Not(Box<Variant>),
    And(Box<Variant>, Box<Variant>),
    Or(Box<Variant>, Box<Variant>),
}

impl Pattern {
    /// The names that the pattern binds.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let (one, many) = match self {
            Pattern::One(name) => (name.as_ref(), &[] as &[Option<Name>]),
            Pattern::Tuple(names) => (None, names.as_slice()),
        };
        one.into_iter().chain(many.iter().flatten())
    }
}

impl Expr {
    /// Whether `name` occurs, free or bound: a cheap over-approximation of "is free in".
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.visit(&mut |inner| found |= matches!(&inner.kind, ExprKind::Var(other) if &**other == name));
        found
    }

    /// Calls `f` on this expression and all within it.
    pub fn visit<'e>(&'e self, f: &mut impl FnMut(&'e Expr)) {
        use ExprKind::*;
        f(self);
        match &self.kind {
            Zero | Universe | Tag(_) | Var(_) => {}
            Unary(_, e) => e.visit(f),
            Binary(_, a, b) | Apply(a, b) | Try(a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Union(es) | Sequence(es) | Tuple(es) | Set(es) => es.iter().for_each(|e| e.visit(f)),
            Fun(function) => function.body.visit(f),
            Let(bindings, e) | Rec(bindings, e) => {
                bindings.iter().for_each(|binding| binding.expr.visit(f));
                e.visit(f);
            }
            If(condition, a, b) => {
                match &**condition {
                    Condition::Equal(x, y) | Condition::Subset(x, y) | Condition::In(x, y) => {
                        x.visit(f);
                        y.visit(f);
                    }
                    Condition::Variant(_) => {}
                }
                a.visit(f);
                b.visit(f);
            }
            Match { subject, arms, otherwise } => {
                subject.visit(f);
                arms.iter().for_each(|(_, e)| e.visit(f));
                otherwise.iter().for_each(|e| e.visit(f));
            }
            MatchSet { subject, empty, element } => {
                subject.visit(f);
                empty.visit(f);
                element.body.visit(f);
            }
        }
    }
}
