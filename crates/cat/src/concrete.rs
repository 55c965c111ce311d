//! Evaluates what could not be compiled, on the sets and relations of one execution.

use std::{collections::HashMap, sync::Arc};

use porf_relation::{EventSet, Relation};

use crate::{
    Span,
    ast::{Binary, Expr, Name, Unary},
    interp::{Interp, Mode},
    node::NodeId,
    slots::{Slot, Slots},
    value::{Env, Eval, Orders, Primitive, Value, error},
};

/// The current execution.
pub struct Data<'m> {
    pub slots: &'m Slots,
    /// The nodes of base names.
    pub bases: &'m HashMap<Name, NodeId>,
}

impl Data<'_> {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn base(&self, name: &Name) -> Option<Value> {
        self.bases.get(name).map(|&id| self.value(id))
    }

    pub fn value(&self, id: NodeId) -> Value {
        match self.slots.get(id) {
            Slot::Set(set) => Value::Set(Arc::new(set.clone())),
            Slot::Relation(relation) => Value::Relation(Arc::new(relation.clone())),
            Slot::Vacant => unreachable!("node {id} is read while it is written"),
        }
    }

    fn relation(&self, value: Value, span: &Span) -> Eval<Relation> {
        Ok(match value {
            Value::Relation(relation) => Arc::unwrap_or_clone(relation),
            Value::Pair(a, b) => Relation::of(self.len(), [(a, b)]),
            Value::Empty => Relation::empty(self.len()),
            Value::Universe => Relation::full(self.len()),
            other => return error(span, format!("a relation is wanted here, found {}", other.describe())),
        })
    }

    fn set(&self, value: Value, span: &Span) -> Eval<EventSet> {
        Ok(match value {
            Value::Set(set) => Arc::unwrap_or_clone(set),
            Value::Event(event) => EventSet::of(self.len(), [event]),
            Value::Empty => EventSet::empty(self.len()),
            Value::Universe => EventSet::full(self.len()),
            other => {
                return error(span, format!("a set of events is wanted here, found {}", other.describe()));
            }
        })
    }

    pub fn unary(&self, op: Unary, value: Value, span: &Span) -> Eval {
        if let (Unary::Complement, Value::Set(_)) = (op, &value) {
            return Ok(Value::Set(Arc::new(self.set(value, span)?.complemented())));
        }
        Ok(Value::Relation(Arc::new(match op {
            Unary::Plus => self.relation(value, span)?.transitive(),
            Unary::Star => self.relation(value, span)?.reflexive_transitive(),
            Unary::Optional => self.relation(value, span)?.optional(),
            Unary::Inverse => self.relation(value, span)?.inverse(),
            Unary::Complement => self.relation(value, span)?.complemented(),
            Unary::Identity => Relation::identity_on(&self.set(value, span)?),
        })))
    }

    pub fn union(&self, parts: Vec<(Value, &Span)>) -> Eval {
        if parts.iter().any(|(part, _)| matches!(part, Value::Set(_) | Value::Event(_))) {
            let mut all = EventSet::empty(self.len());
            for (part, span) in parts {
                all.union_with(&self.set(part, span)?);
            }
            return Ok(Value::Set(Arc::new(all)));
        }
        let mut all = Relation::empty(self.len());
        for (part, span) in parts {
            all.union_with(&self.relation(part, span)?);
        }
        Ok(Value::Relation(Arc::new(all)))
    }

    pub fn sequence(&self, parts: Vec<(Value, &Span)>) -> Eval {
        let mut all: Option<Relation> = None;
        for (part, span) in parts {
            if matches!(part, Value::Universe) {
                continue;
            }
            let part = self.relation(part, span)?;
            all = Some(match all {
                Some(before) => before.compose(&part),
                None => part,
            });
        }
        Ok(all.map_or(Value::Universe, |all| Value::Relation(Arc::new(all))))
    }

    pub fn binary(&self, op: Binary, a: Value, b: Value, spans: (&Span, &Span)) -> Eval {
        if op == Binary::Product {
            let (from, to) = (self.set(a, spans.0)?, self.set(b, spans.1)?);
            return Ok(Value::Relation(Arc::new(Relation::product(&from, &to))));
        }
        let keep = op == Binary::Intersection;
        if matches!(a, Value::Set(_) | Value::Event(_)) || matches!(b, Value::Set(_) | Value::Event(_)) {
            let (a, b) = (self.set(a, spans.0)?, self.set(b, spans.1)?);
            return Ok(Value::Set(Arc::new(if keep { a.intersection(&b) } else { a.difference(&b) })));
        }
        let (a, b) = (self.relation(a, spans.0)?, self.relation(b, spans.1)?);
        Ok(Value::Relation(Arc::new(if keep { a.intersection(&b) } else { a.difference(&b) })))
    }

    pub fn ends(&self, primitive: Primitive, argument: Value, span: &Span) -> Eval {
        let relation = self.relation(argument, span)?;
        let ends = if primitive == Primitive::Domain { relation.domain() } else { relation.range() };
        Ok(Value::Set(Arc::new(ends)))
    }

    pub fn enumerate(&self, primitive: Primitive, argument: Value, span: &Span) -> Eval {
        match primitive {
            Primitive::ClassesLoc => {
                let set = self.set(argument, span)?;
                Ok(sets(self.by_location(&set, span)?))
            }
            Primitive::Classes => {
                let relation = self.relation(argument, span)?;
                let members = relation.domain().union(&relation.range());
                Ok(sets(classes(&relation, &members)))
            }
            _ => {
                let Value::Tuple(parts) = argument else {
                    return error(span, "`linearisations` takes a set and a relation");
                };
                let [set, relation] = &parts[..] else {
                    return error(span, "`linearisations` takes a set and a relation");
                };
                let set = self.set(set.clone(), span)?;
                let relation = self.relation(relation.clone(), span)?;
                let orders = linear_orders(&relation, &set, span)?;
                Ok(Value::set_of(orders.into_iter().map(|r| Value::Relation(Arc::new(r))).collect()))
            }
        }
    }

    /// All ways to order the events of a set per location: the product of the orders of each.
    pub fn all_orders(&self, orders: &Orders) -> Eval {
        let span = Span { file: "cross.cat".into(), line: 1, column: 1 };
        let resolve = |value: &Value| match value {
            Value::Node(id, _) => self.value(*id),
            other => other.clone(),
        };
        let set = self.set(resolve(&orders.set), &span)?;
        let base = self.relation(resolve(&orders.base), &span)?;
        let mut all = vec![Relation::empty(self.len())];
        for class in self.by_location(&set, &span)? {
            let here = linear_orders(&base, &class, &span)?;
            if all.len() * here.len() > MAX_ORDERS {
                return error(&span, "too many orders to choose from");
            }
            all = all.iter().flat_map(|done| here.iter().map(|r| done.clone().union(r))).collect();
        }
        Ok(Value::set_of(all.into_iter().map(|r| Value::Relation(Arc::new(r))).collect()))
    }

    fn by_location(&self, set: &EventSet, span: &Span) -> Eval<Vec<EventSet>> {
        let Some(loc) = self.base(&"loc".into()) else {
            return error(span, "the execution defines no `loc`");
        };
        let loc = self.relation(loc, span)?.restricted(set, set);
        Ok(classes(&loc, set))
    }
}

/// More orders than this are refused.
const MAX_ORDERS: usize = 1_000_000;

fn linear_orders(relation: &Relation, set: &EventSet, span: &Span) -> Eval<Vec<Relation>> {
    // Events outside the set may still order those within it.
    let closed = relation.clone().transitive();
    let mut orders = closed.linearisations(set);
    let mut all = Vec::new();
    while orders.advance() {
        if all.len() >= MAX_ORDERS {
            return error(span, "too many orders to choose from");
        }
        all.push(orders.as_relation());
    }
    Ok(all)
}

/// The classes of an equivalence among `members`.
fn classes(equivalence: &Relation, members: &EventSet) -> Vec<EventSet> {
    let mut left = members.clone();
    let mut classes = Vec::new();
    while let Some(first) = left.first() {
        let mut class = EventSet::of(members.universe(), equivalence.successors(first));
        class.insert(first);
        left.subtract(&class);
        classes.push(class);
    }
    classes
}

fn sets(sets: Vec<EventSet>) -> Value {
    Value::set_of(sets.into_iter().map(|set| Value::Set(Arc::new(set))).collect())
}

impl Interp<'_, '_> {
    pub fn fix_concrete(&mut self, env: &Env, bindings: &[(Name, &Expr)], span: &Span) -> Eval<Env> {
        let mut inner =
            bindings.iter().fold(env.clone(), |env, (name, _)| env.with(name.clone(), Value::Empty));
        let mut old: Vec<Value> = bindings.iter().map(|_| Value::Empty).collect();
        let Mode::Concrete(data) = self.mode else { unreachable!("evaluating") };
        for _ in 0..max_rounds(bindings.len(), data.len()) {
            let mut grew = false;
            for ((name, expr), old) in bindings.iter().zip(&mut old) {
                let new = self.eval(&inner, expr)?;
                let more =
                    self.binary(Binary::Difference, new.clone(), old.clone(), (&expr.span, &expr.span))?;
                grew |= !self.inspect(more)?.order(&Value::Empty).is_eq();
                inner = inner.with(name.clone(), new.clone());
                *old = new;
            }
            if !grew {
                return Ok(inner);
            }
        }
        error(span, "this recursive definition does not converge")
    }
}

/// Rounds after which a recursive definition of `variables` sets and relations over `len` events counts as divergent.
/// A definition that only grows gains a pair in each round except the last.
pub fn max_rounds(variables: usize, len: usize) -> usize {
    variables * (len * len + 1) + 1
}
