//! The syntax tree of a cat file. It keeps names and operators as they are written; later stages give
//! them their meaning.

use std::sync::Arc;

use crate::span::Span;

/// A name, shared by the places where it occurs.
pub type Name = Arc<str>;

/// One file: its title and its statements.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The words before the first statement: an architecture, a title, or both.
    pub header: Vec<String>,
    /// Whether the file says that it computes dependencies itself.
    pub catdep: bool,
    /// In the order of the text.
    pub statements: Vec<Statement>,
}

/// A statement and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Where it begins.
    pub span: Span,
    /// What it says.
    pub kind: StatementKind,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `let x = e and y = e'`.
    Let(Vec<Binding>),
    /// `let rec x = e and y = e' when test`.
    Rec(Vec<Binding>, Option<Test>),
    /// `acyclic e as name`, `flag ~empty e as name`, ….
    Test(Require, Test),
    /// `show x, y`.
    Show(Vec<Name>),
    /// `show e as x`.
    ShowAs(Expr, Name),
    /// `unshow x, y`.
    Unshow(Vec<Name>),
    /// `include "file"`.
    Include(String),
    /// `procedure name(parameters) = body end`.
    Procedure {
        /// Its name.
        name: Name,
        /// What it takes.
        parameters: Pattern,
        /// What it does.
        body: Arc<[Statement]>,
        /// Whether it may call itself: `procedure rec`.
        recursive: bool,
    },
    /// `call name(argument) as label`.
    Call {
        /// The procedure.
        name: Name,
        /// What it is given.
        argument: Expr,
        /// The name of the call.
        label: Option<Name>,
    },
    /// `enum E = 'a || 'b`.
    Enum(Name, Vec<Name>),
    /// `forall name in set do body end`.
    Forall {
        /// The variable.
        name: Name,
        /// The values that it takes.
        set: Expr,
        /// What is done for each of them.
        body: Vec<Statement>,
    },
    /// `with x from e`.
    With(Name, Expr),
    /// `match subject with || 'a -> … || _ -> … end`.
    Match {
        /// A tag.
        subject: Expr,
        /// What is done for which tag.
        arms: Vec<(Name, Vec<Statement>)>,
        /// What is done for all other tags.
        otherwise: Option<Vec<Statement>>,
    },
    /// `if "variant" then … else … end`.
    If {
        /// Which variants must be on.
        condition: Variant,
        /// What is done if they are.
        then: Vec<Statement>,
        /// What is done if they are not.
        otherwise: Vec<Statement>,
    },
    /// `debug e`.
    Debug(Expr),
    /// `instructions R[…]` and `default R[…]` of bell files.
    Instructions {
        /// Whether it says `default`.
        default: bool,
        /// The kind of instruction.
        name: Name,
        /// The annotations that it may carry.
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

/// What a test asks of a relation or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// It has no cycle.
    Acyclic,
    /// It relates no event to itself.
    Irreflexive,
    /// It has nothing in it.
    Empty,
}

impl Property {
    /// As a model says it.
    pub fn word(self) -> &'static str {
        match self {
            Property::Acyclic => "acyclic",
            Property::Irreflexive => "irreflexive",
            Property::Empty => "empty",
        }
    }
}

/// A test: `~acyclic e as name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Where it begins.
    pub span: Span,
    /// Whether a `~` stands before it.
    pub negated: bool,
    /// What is asked.
    pub property: Property,
    /// What it is asked of.
    pub expr: Expr,
    /// The name after `as`.
    pub name: Option<Name>,
}

/// A definition: `pattern = expr`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Where it begins.
    pub span: Span,
    /// What is defined.
    pub pattern: Pattern,
    /// What it stands for.
    pub expr: Expr,
}

/// What a binding or a parameter list names; `None` is `_`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `x`.
    One(Option<Name>),
    /// `(x, y)`.
    Tuple(Vec<Option<Name>>),
}

/// An expression and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where it begins.
    pub span: Span,
    /// What it says.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `0`, the empty relation.
    Zero,
    /// `_`, everything: all events or all pairs.
    Universe,
    /// `'a`.
    Tag(Name),
    /// A name.
    Var(Name),
    /// An operator with one operand.
    Unary(Unary, Arc<Expr>),
    /// An operator with two operands.
    Binary(Binary, Arc<Expr>, Arc<Expr>),
    /// `a | b | c`. Unions and compositions are associative and kept flat.
    Union(Vec<Expr>),
    /// `a ; b ; c`.
    Sequence(Vec<Expr>),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{a, b}`.
    Set(Vec<Expr>),
    /// `f(a)`.
    Apply(Arc<Expr>, Arc<Expr>),
    /// `fun x -> e`.
    Fun(Arc<Function>),
    /// `let x = e in e'`.
    Let(Vec<Binding>, Arc<Expr>),
    /// `let rec x = e in e'`.
    Rec(Vec<Binding>, Arc<Expr>),
    /// `try e with e'`.
    Try(Arc<Expr>, Arc<Expr>),
    /// `if condition then e else e'`.
    If(Arc<Condition>, Arc<Expr>, Arc<Expr>),
    /// `match subject with || 'a -> e || _ -> e' end`.
    Match {
        /// A tag.
        subject: Arc<Expr>,
        /// The value for each tag.
        arms: Vec<(Name, Expr)>,
        /// The value for all other tags.
        otherwise: Option<Arc<Expr>>,
    },
    /// `match subject with || {} -> e || x ++ rest -> e' end`.
    MatchSet {
        /// A set.
        subject: Arc<Expr>,
        /// The value if it is empty.
        empty: Arc<Expr>,
        /// The value if it is not.
        element: SetArm,
    },
}

/// A function with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// What it takes.
    pub parameters: Pattern,
    /// What it gives.
    pub body: Expr,
}

/// `x ++ rest -> e` or `before | x ++ after -> e`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetArm {
    /// The part before the element, in the second form.
    pub before: Option<Option<Name>>,
    /// The element.
    pub element: Option<Name>,
    /// The other elements.
    pub rest: Option<Name>,
    /// The value.
    pub body: Arc<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `r+`.
    Plus,
    /// `r*`.
    Star,
    /// `r?`.
    Optional,
    /// `~r`.
    Complement,
    /// `r^-1`.
    Inverse,
    /// `[S]`.
    Identity,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a & b`.
    Intersection,
    /// `a \ b`.
    Difference,
    /// `A * B`.
    Product,
    /// `x ++ S`.
    Add,
}

/// The condition of an expression `if`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `a = b`.
    Equal(Expr, Expr),
    /// `a subset b`.
    Subset(Expr, Expr),
    /// `a in b`.
    In(Expr, Expr),
    /// Whether variants are on.
    Variant(Variant),
}

/// A condition on variants.
#[derive(Clone, Debug, PartialEq)]
pub enum Variant {
    /// `"name"`.
    Named(String),
    /// `not v`.
    Not(Box<Variant>),
    /// `v && w`.
    And(Box<Variant>, Box<Variant>),
    /// `v || w`.
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
