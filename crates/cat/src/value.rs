//! The value of an expression while a model is compiled or evaluated.

use std::{cmp::Ordering, sync::Arc};

use porf_relation::{EventSet, Relation};

use crate::{
    Diagnostic, Span,
    ast::{Expr, Function, Name, Pattern, Statement},
    node::{Kind, NodeId},
};

#[derive(Clone, Debug)]
pub enum Value {
    /// `{}`: the empty set of any type.
    Empty,
    /// `_`: all events or all pairs.
    Universe,
    /// A set or relation that the compiled program will compute.
    Node(NodeId, Kind),
    /// A computed set or relation. It occurs only during evaluation, never while compiling.
    Set(Arc<EventSet>),
    Relation(Arc<Relation>),
    Event(usize),
    Pair(usize, usize),
    /// A tag and the enumeration it belongs to.
    Tag(Name, Name),
    /// A set of values: sorted, without duplicates.
    Values(Arc<[Value]>),
    Tuple(Arc<[Value]>),
    Closure(Arc<Closure>),
    Primitive(Primitive),
    Procedure(Arc<Procedure>),
    /// All orders of the writes in a set, per location, that extend a relation.
    Orders(Arc<Orders>),
    /// An expression whose value depends on the events themselves; evaluated per execution.
    Thunk(Arc<Thunk>),
    /// A definition that is wrong. This matters only if it is used.
    Failed(Arc<Diagnostic>),
}

#[derive(Debug)]
pub struct Closure {
    pub function: Arc<Function>,
    pub env: Env,
    /// The group of recursive functions that this one belongs to.
    pub group: Option<Arc<Group>>,
}

#[derive(Debug)]
pub struct Group {
    pub functions: Vec<(Name, Arc<Function>)>,
    pub env: Env,
}

#[derive(Debug)]
pub struct Procedure {
    pub parameters: Pattern,
    pub body: Arc<[Statement]>,
    pub env: Env,
    pub name: Option<Name>,
}

#[derive(Debug)]
pub struct Orders {
    pub set: Value,
    pub base: Value,
}

#[derive(Debug)]
pub struct Thunk {
    pub expr: Arc<Expr>,
    pub env: Env,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Primitive {
    Domain,
    Range,
    ClassesLoc,
    Classes,
    Linearisations,
    GenerateOrders,
    TagToEvents,
    TagToScope,
    DifferentValues,
    FromTo,
    AsTransitive,
    Fail,
    /// On page tables, which no execution here has.
    PageTable,
}

impl Primitive {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "domain" => Self::Domain,
            "range" => Self::Range,
            "classes-loc" => Self::ClassesLoc,
            "classes" => Self::Classes,
            "linearisations" => Self::Linearisations,
            "generate_orders" => Self::GenerateOrders,
            "tag2events" => Self::TagToEvents,
            "tag2scope" | "tag2level" => Self::TagToScope,
            "different-values" => Self::DifferentValues,
            "fromto" => Self::FromTo,
            "as_transitive" => Self::AsTransitive,
            "fail" => Self::Fail,
            "same-oa" | "at-least-one-writable" => Self::PageTable,
            _ => return None,
        })
    }
}

impl Value {
    /// How an error message names the type.
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Empty => "the empty set",
            Value::Universe => "the universe",
            Value::Node(_, Kind::Set) | Value::Set(_) => "a set of events",
            Value::Node(_, Kind::Relation) | Value::Relation(_) => "a relation",
            Value::Event(_) => "an event",
            Value::Pair(..) => "a pair",
            Value::Tag(..) => "a tag",
            Value::Values(_) => "a set of values",
            Value::Tuple(_) => "a tuple",
            Value::Closure(_) | Value::Primitive(_) => "a function",
            Value::Procedure(_) => "a procedure",
            Value::Orders(_) => "a set of orders",
            Value::Thunk(_) => "an expression that depends on the execution",
            Value::Failed(_) => "a wrong definition",
        }
    }

    /// A set made from a list of values.
    pub fn set_of(mut values: Vec<Value>) -> Value {
        if values.is_empty() {
            return Value::Empty;
        }
        values.sort_by(Value::order);
        values.dedup_by(|a, b| a.order(b) == Ordering::Equal);
        Value::Values(values.into())
    }

    /// A total order on the values that may be members of a set.
    pub fn order(&self, other: &Value) -> Ordering {
        use Value::*;
        match (self, other) {
            (Empty, Values(v)) => 0.cmp(&v.len()),
            (Values(v), Empty) => v.len().cmp(&0),
            (Empty, Relation(r)) => true.cmp(&r.is_empty()).reverse(),
            (Relation(r), Empty) => true.cmp(&r.is_empty()),
            (Empty, Set(s)) => true.cmp(&s.is_empty()).reverse(),
            (Set(s), Empty) => true.cmp(&s.is_empty()),
            (Event(a), Event(b)) => a.cmp(b),
            (Pair(a, b), Pair(c, d)) => (a, b).cmp(&(c, d)),
            (Tag(_, a), Tag(_, b)) => a.cmp(b),
            (Set(a), Set(b)) => a.words().cmp(b.words()),
            (Relation(a), Relation(b)) => a.pairs().cmp(b.pairs()),
            (Node(a, _), Node(b, _)) => a.cmp(b),
            (Primitive(a), Primitive(b)) => a.cmp(b),
            (Values(a), Values(b)) | (Tuple(a), Tuple(b)) => a.len().cmp(&b.len()).then_with(|| {
                a.iter().zip(&**b).map(|(a, b)| a.order(b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (Closure(a), Closure(b)) => Arc::as_ptr(a).cmp(&Arc::as_ptr(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Empty => 0,
            Value::Universe => 1,
            Value::Node(..) => 2,
            Value::Set(_) => 3,
            Value::Relation(_) => 4,
            Value::Event(_) => 5,
            Value::Pair(..) => 6,
            Value::Tag(..) => 7,
            Value::Values(_) => 8,
            Value::Tuple(_) => 9,
            Value::Closure(_) => 10,
            Value::Primitive(_) => 11,
            Value::Procedure(_) => 12,
            Value::Orders(_) => 13,
            Value::Thunk(_) => 14,
            Value::Failed(_) => 15,
        }
    }
}

/// Names in scope, innermost first; shared by the closures that captured it.
#[derive(Clone, Default)]
pub struct Env(Option<Arc<Scope>>);

struct Scope {
    name: Name,
    value: Value,
    outer: Env,
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Env")
    }
}

impl Env {
    pub fn with(&self, name: Name, value: Value) -> Env {
        Env(Some(Arc::new(Scope { name, value, outer: self.clone() })))
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        let mut scope = self.0.as_deref();
        while let Some(here) = scope {
            if &*here.name == name {
                return Some(&here.value);
            }
            scope = here.outer.0.as_deref();
        }
        None
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // Long chains are dropped in a loop, not by recursion.
        let mut next = self.outer.0.take();
        while let Some(scope) = next {
            match Arc::try_unwrap(scope) {
                Ok(mut scope) => next = scope.outer.0.take(),
                Err(_) => break,
            }
        }
    }
}

/// Why an evaluation stopped.
#[derive(Debug)]
pub enum Stop {
    Error(Diagnostic),
    /// The value depends on what the events are, which is not known while compiling.
    NeedsData,
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Stop::Error(diagnostic)
    }
}

pub type Eval<T = Value> = Result<T, Stop>;

pub fn error<T>(span: &Span, message: impl Into<String>) -> Eval<T> {
    Err(Stop::Error(Diagnostic::new(span, message)))
}
