//! The operators, on values of every sort.

use std::sync::Arc;

use porf_relation::{EventSet, Relation};

use crate::{
    Span,
    ast::Expr,
    ast::{Binary, Name, SetArm, Unary},
    interp::{Interp, Mode},
    node::{Kind, Op},
    value::{Env, Eval, Orders, Primitive, Stop, Value, error},
};

impl Interp<'_, '_> {
    /// `0`.
    pub fn zero(&mut self) -> Eval {
        Ok(match &mut self.mode {
            Mode::Symbolic(builder) => Value::Node(builder.graph.empty(Kind::Relation), Kind::Relation),
            Mode::Concrete(data) => Value::Relation(Arc::new(Relation::empty(data.len()))),
        })
    }

    fn identity(&mut self) -> Eval {
        Ok(match &mut self.mode {
            Mode::Symbolic(builder) => {
                Value::Node(builder.graph.add(Op::Identity, Kind::Relation), Kind::Relation)
            }
            Mode::Concrete(data) => Value::Relation(Arc::new(Relation::identity(data.len()))),
        })
    }

    /// A name that the model does not bind.
    pub fn base(&mut self, name: &Name) -> Eval<Option<Value>> {
        match &self.mode {
            Mode::Symbolic(_) => self.base_symbolic(name),
            Mode::Concrete(data) => Ok(data.base(name)),
        }
    }

    /// While an execution is evaluated, a node stands for the value that it holds.
    pub fn resolve(&mut self, value: Value) -> Eval {
        match (&self.mode, value) {
            (Mode::Concrete(data), Value::Node(id, _)) => Ok(data.value(id)),
            (_, value) => Ok(value),
        }
    }

    /// The value in a form that can be looked into.
    pub fn inspect(&mut self, value: Value) -> Eval {
        match (&self.mode, &value) {
            (Mode::Symbolic(_), Value::Node(..) | Value::Thunk(_) | Value::Orders(_)) => Err(Stop::NeedsData),
            (Mode::Concrete(data), Value::Orders(orders)) => data.all_orders(orders),
            _ => self.resolve(value),
        }
    }

    pub fn unary(&mut self, op: Unary, value: Value, span: &Span) -> Eval {
        match (op, &value) {
            (Unary::Plus | Unary::Inverse, Value::Empty) => return Ok(Value::Empty),
            (Unary::Star | Unary::Optional, Value::Empty) => return self.identity(),
            (Unary::Complement, Value::Empty) => return Ok(Value::Universe),
            (Unary::Complement, Value::Universe) => return Ok(Value::Empty),
            (Unary::Identity, Value::Empty) => return self.zero(),
            (Unary::Identity, Value::Universe) => return self.identity(),
            (_, Value::Universe) => return Ok(Value::Universe),
            (Unary::Inverse, &Value::Pair(a, b)) => return Ok(Value::Pair(b, a)),
            (Unary::Complement, Value::Tag(owner, _)) => {
                let all = self.all_tags(owner);
                return self.binary(Binary::Difference, all, value, (span, span));
            }
            (Unary::Complement, Value::Values(values)) => {
                if let Some(Value::Tag(owner, _)) = values.first() {
                    let all = self.all_tags(owner);
                    return self.binary(Binary::Difference, all, value, (span, span));
                }
            }
            _ => {}
        }
        if let Mode::Concrete(data) = &self.mode {
            return data.unary(op, value, span);
        }
        let kind = match (op, &value) {
            (Unary::Identity, _) => Kind::Set,
            (Unary::Complement, Value::Node(_, kind)) => *kind,
            _ => Kind::Relation,
        };
        let id = self.node_of(value, kind, span)?;
        let graph = self.builder();
        Ok(match op {
            Unary::Plus => Value::Node(graph.plus(id), Kind::Relation),
            Unary::Star => Value::Node(graph.star(id), Kind::Relation),
            Unary::Optional => Value::Node(graph.optional(id), Kind::Relation),
            Unary::Inverse => Value::Node(graph.inverse(id), Kind::Relation),
            Unary::Identity => Value::Node(graph.identity_on(id), Kind::Relation),
            Unary::Complement => Value::Node(graph.complement(id, kind), kind),
        })
    }

    pub fn union(&mut self, values: Vec<(Value, &Span)>, span: &Span) -> Eval {
        let mut parts = Vec::new();
        for (value, span) in values {
            match value {
                Value::Empty => {}
                Value::Universe => return Ok(Value::Universe),
                tag @ Value::Tag(..) => parts.push((Value::Values([tag].into()), span)),
                value => parts.push((value, span)),
            }
        }
        if parts.is_empty() {
            return Ok(Value::Empty);
        }
        if parts.iter().any(|(part, _)| matches!(part, Value::Values(_))) {
            let mut all = Vec::new();
            for (part, span) in parts {
                match part {
                    Value::Values(values) => all.extend(values.iter().cloned()),
                    other => return mixed(&other, span),
                }
            }
            return Ok(Value::set_of(all));
        }
        if let Mode::Concrete(data) = &self.mode {
            return data.union(parts);
        }
        let kind = self.common_kind(parts.iter().map(|(part, _)| part));
        let mut ids = Vec::new();
        for (part, span) in parts {
            ids.push(self.node_of(part, kind, span)?);
        }
        let _ = span;
        Ok(Value::Node(self.builder().union(&ids, kind), kind))
    }

    pub fn sequence(&mut self, values: Vec<(Value, &Span)>, _span: &Span) -> Eval {
        if values.iter().any(|(value, _)| matches!(value, Value::Empty)) {
            return Ok(Value::Empty);
        }
        if let Mode::Concrete(data) = &self.mode {
            return data.sequence(values);
        }
        let mut ids = Vec::new();
        for (value, span) in values {
            // As in herd, a composition ignores `_`.
            if !matches!(value, Value::Universe) {
                ids.push(self.node_of(value, Kind::Relation, span)?);
            }
        }
        if ids.is_empty() {
            return Ok(Value::Universe);
        }
        Ok(Value::Node(self.builder().sequence(&ids), Kind::Relation))
    }

    pub fn binary(&mut self, op: Binary, a: Value, b: Value, spans: (&Span, &Span)) -> Eval {
        match op {
            Binary::Intersection => match (&a, &b) {
                (Value::Empty, _) | (_, Value::Empty) => return Ok(Value::Empty),
                (Value::Universe, _) => return Ok(b),
                (_, Value::Universe) => return Ok(a),
                _ => {}
            },
            Binary::Difference => match (&a, &b) {
                (Value::Empty, _) | (_, Value::Universe) => return Ok(Value::Empty),
                (_, Value::Empty) => return Ok(a),
                _ => {}
            },
            Binary::Add => return self.add(a, b, spans),
            Binary::Product => {}
        }
        let (a, b) = (lift_tag(a), lift_tag(b));
        if let (Value::Values(x), Value::Values(y)) = (&a, &b) {
            let inside = |v: &Value| y.binary_search_by(|other| other.order(v)).is_ok();
            let keep = op == Binary::Intersection;
            return Ok(Value::set_of(x.iter().filter(|v| inside(v) == keep).cloned().collect()));
        }
        if let Mode::Concrete(data) = &self.mode {
            return data.binary(op, a, b, spans);
        }
        if op == Binary::Product {
            let from = self.node_of(a, Kind::Set, spans.0)?;
            let to = self.node_of(b, Kind::Set, spans.1)?;
            return Ok(Value::Node(self.builder().product(from, to), Kind::Relation));
        }
        let kind = self.common_kind([&a, &b].into_iter());
        let (a, b) = (self.node_of(a, kind, spans.0)?, self.node_of(b, kind, spans.1)?);
        let graph = self.builder();
        let id = match op {
            Binary::Intersection => graph.intersection(a, b, kind),
            _ => graph.difference(a, b, kind),
        };
        Ok(Value::Node(id, kind))
    }

    fn common_kind<'v>(&self, mut values: impl Iterator<Item = &'v Value>) -> Kind {
        let kind = values.find_map(|value| match value {
            Value::Node(_, kind) => Some(*kind),
            _ => None,
        });
        kind.unwrap_or(Kind::Relation)
    }

    /// `x ++ S`.
    fn add(&mut self, element: Value, set: Value, spans: (&Span, &Span)) -> Eval {
        if let (Mode::Symbolic(_), Value::Node(..) | Value::Thunk(_)) = (&self.mode, &element) {
            return Err(Stop::NeedsData);
        }
        let set = self.inspect(set)?;
        let len = match &self.mode {
            Mode::Concrete(data) => data.len(),
            Mode::Symbolic(_) => 0,
        };
        Ok(match (element, set) {
            (Value::Universe, _) => return error(spans.0, "the universe cannot be a member of a set"),
            (_, Value::Universe) => Value::Universe,
            (Value::Event(e), Value::Empty) => Value::Set(Arc::new(EventSet::of(len, [e]))),
            (Value::Pair(a, b), Value::Empty) => Value::Relation(Arc::new(Relation::of(len, [(a, b)]))),
            (Value::Event(e), Value::Set(mut set)) => {
                Arc::make_mut(&mut set).insert(e);
                Value::Set(set)
            }
            (Value::Pair(a, b), Value::Relation(mut relation)) => {
                Arc::make_mut(&mut relation).insert(a, b);
                Value::Relation(relation)
            }
            (Value::Tuple(parts), Value::Relation(mut relation)) => {
                let [Value::Event(a), Value::Event(b)] = parts[..] else {
                    return error(spans.0, "a pair of events is wanted here");
                };
                Arc::make_mut(&mut relation).insert(a, b);
                Value::Relation(relation)
            }
            (element, Value::Empty) => Value::set_of(vec![element]),
            (element, Value::Values(values)) => {
                let mut all = values.to_vec();
                all.push(element);
                Value::set_of(all)
            }
            (element, set) => {
                let (what, to) = (element.describe(), set.describe());
                return error(spans.0, format!("{what} cannot be added to {to}"));
            }
        })
    }

    pub fn explicit_set(&mut self, values: Vec<(Value, &Span)>, _span: &Span) -> Eval {
        let mut members = Vec::new();
        for (value, span) in values {
            match self.inspect(value)? {
                Value::Universe => return error(span, "the universe cannot be a member of a set"),
                value => members.push(value),
            }
        }
        let Mode::Concrete(data) = &self.mode else { return Ok(Value::set_of(members)) };
        let len = data.len();
        Ok(match members.first() {
            Some(Value::Event(_)) => {
                let events =
                    members.iter().filter_map(|m| if let Value::Event(e) = m { Some(*e) } else { None });
                Value::Set(Arc::new(EventSet::of(len, events)))
            }
            Some(Value::Pair(..)) => {
                let pairs = members
                    .iter()
                    .filter_map(|m| if let Value::Pair(a, b) = m { Some((*a, *b)) } else { None });
                Value::Relation(Arc::new(Relation::of(len, pairs)))
            }
            _ => Value::set_of(members),
        })
    }

    pub fn member(&mut self, element: &Value, set: &Value, span: &Span) -> Eval<bool> {
        Ok(match (element, set) {
            (_, Value::Empty) => false,
            (_, Value::Universe) => true,
            (Value::Event(e), Value::Set(set)) => set.contains(*e),
            (Value::Pair(a, b), Value::Relation(relation)) => relation.contains(*a, *b),
            (Value::Tuple(parts), Value::Relation(relation)) => match parts[..] {
                [Value::Event(a), Value::Event(b)] => relation.contains(a, b),
                _ => return error(span, "a pair of events is wanted here"),
            },
            (element, Value::Values(values)) => values.binary_search_by(|v| v.order(element)).is_ok(),
            (_, other) => return error(span, format!("a set is wanted here, found {}", other.describe())),
        })
    }

    pub fn match_set(&mut self, env: &Env, subject: Value, empty: &Expr, arm: &SetArm, span: &Span) -> Eval {
        let (element, rest) = match self.inspect(subject)? {
            Value::Empty => return self.eval(env, empty),
            Value::Set(mut set) => {
                let Some(first) = set.first() else { return self.eval(env, empty) };
                Arc::make_mut(&mut set).remove(first);
                (Value::Event(first), Value::Set(set))
            }
            Value::Relation(mut relation) => {
                let Some((a, b)) = relation.pairs().next() else { return self.eval(env, empty) };
                Arc::make_mut(&mut relation).remove(a, b);
                (Value::Pair(a, b), Value::Relation(relation))
            }
            Value::Values(values) => match values.split_first() {
                None => return self.eval(env, empty),
                Some((first, rest)) => (first.clone(), Value::set_of(rest.to_vec())),
            },
            tag @ Value::Tag(..) => (tag, Value::Empty),
            other => return error(span, format!("a set is wanted here, found {}", other.describe())),
        };
        let mut inner = env.clone();
        if let Some(Some(before)) = &arm.before {
            // Any split will do: the first element has nothing before it.
            inner = inner.with(before.clone(), Value::Empty);
        }
        if let Some(name) = &arm.element {
            inner = inner.with(name.clone(), element);
        }
        if let Some(name) = &arm.rest {
            inner = inner.with(name.clone(), rest);
        }
        self.eval(&inner, &arm.body)
    }

    pub fn primitive(&mut self, primitive: Primitive, argument: Value, span: &Span) -> Eval {
        match primitive {
            Primitive::Domain | Primitive::Range => match argument {
                Value::Empty => Ok(Value::Empty),
                Value::Universe => Ok(Value::Universe),
                argument => {
                    if let Mode::Concrete(data) = &self.mode {
                        return data.ends(primitive, argument, span);
                    }
                    let id = self.node_of(argument, Kind::Relation, span)?;
                    let graph = self.builder();
                    let id = if primitive == Primitive::Domain { graph.domain(id) } else { graph.range(id) };
                    Ok(Value::Node(id, Kind::Set))
                }
            },
            Primitive::AsTransitive => self.unary(Unary::Plus, argument, span),
            Primitive::PageTable => self.zero(),
            Primitive::Fail => error(span, "the model calls `fail`"),
            Primitive::GenerateOrders => {
                let Value::Tuple(parts) = argument else {
                    return error(span, "`generate_orders` takes a set and a relation");
                };
                let [set, base] = &parts[..] else {
                    return error(span, "`generate_orders` takes a set and a relation");
                };
                Ok(Value::Orders(Arc::new(Orders { set: set.clone(), base: base.clone() })))
            }
            Primitive::TagToEvents | Primitive::TagToScope => {
                let tag = self.tag_of(argument, span)?;
                let name: Name = if primitive == Primitive::TagToEvents { capitalised(&tag) } else { tag };
                match self.base(&name)? {
                    Some(value) => self.resolve(value),
                    None => error(span, format!("the execution defines no `{name}`")),
                }
            }
            Primitive::FromTo => {
                // Fences of these dialects order everything before them with everything after them.
                let po = self.base(&"po".into())?.unwrap_or(Value::Empty);
                let po = self.resolve(po)?;
                let on = self.unary(Unary::Identity, argument, span)?;
                self.sequence(vec![(po.clone(), span), (on, span), (po, span)], span)
            }
            Primitive::DifferentValues => match self.base(&"same-value".into())? {
                Some(same) => {
                    let same = self.resolve(same)?;
                    self.binary(Binary::Difference, argument, same, (span, span))
                }
                None => error(span, "the execution does not tell values apart (no relation `same-value`)"),
            },
            Primitive::Classes | Primitive::ClassesLoc | Primitive::Linearisations => match &self.mode {
                Mode::Symbolic(_) => Err(Stop::NeedsData),
                Mode::Concrete(data) => data.enumerate(primitive, argument, span),
            },
        }
    }
}

fn mixed<T>(found: &Value, span: &Span) -> Eval<T> {
    error(span, format!("a set of values is wanted here, found {}", found.describe()))
}

fn lift_tag(value: Value) -> Value {
    match value {
        tag @ Value::Tag(..) => Value::Values([tag].into()),
        other => other,
    }
}

/// The set of the events that carry a tag is named like the tag, with a capital.
fn capitalised(tag: &str) -> Name {
    let mut chars = tag.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect::<String>().into()
}
