//! Compiles expressions to nodes.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    Span,
    ast::*,
    defaults,
    interp::{Interp, Mode},
    node::*,
    parser::parse_expression,
    structure::Structure,
    value::{Env, Eval, Stop, Thunk, Value, error},
};

/// The compiled program under construction, for the executions that define the same names as `structure`.
pub struct Builder<'m> {
    pub graph: Graph,
    pub tests: Vec<CompiledTest>,
    pub structure: &'m dyn Structure,
    /// The names that were asked for and what they were. The compiled program relies on them.
    pub assumptions: Vec<(Name, Option<Kind>)>,
    /// Every name in the text of the model.
    pub names: &'m HashSet<Name>,
    /// The meaning of each name that the model does not bind.
    pub bases: HashMap<Name, Option<Value>>,
}

impl<'m> Builder<'m> {
    pub fn new(structure: &'m dyn Structure, names: &'m HashSet<Name>) -> Self {
        Self {
            graph: Graph::default(),
            tests: Vec::new(),
            structure,
            assumptions: Vec::new(),
            names,
            bases: HashMap::new(),
        }
    }
}

impl Interp<'_, '_> {
    pub fn builder(&mut self) -> &mut Graph {
        match &mut self.mode {
            Mode::Symbolic(builder) => &mut builder.graph,
            Mode::Concrete(_) => unreachable!("nodes are made while compiling only"),
        }
    }

    /// The meaning, while compiling, of a name that the model does not bind.
    pub fn base_symbolic(&mut self, name: &Name) -> Eval<Option<Value>> {
        let Mode::Symbolic(builder) = &mut self.mode else { unreachable!("compiling") };
        if let Some(known) = builder.bases.get(name) {
            return Ok(known.clone());
        }
        let value = match &**name {
            "rf" => Some(Value::Node(builder.graph.add(Op::Rf, Kind::Relation), Kind::Relation)),
            "co" => Some(Value::Node(builder.graph.add(Op::Co, Kind::Relation), Kind::Relation)),
            _ => {
                let kind = builder.structure.kind(name);
                builder.assumptions.push((name.clone(), kind));
                match kind {
                    Some(kind) => Some(Value::Node(builder.graph.add(Op::Base(name.clone()), kind), kind)),
                    None => self.default_of(name)?,
                }
            }
        };
        // A default may have failed to fit; bases made inside a rolled-back recursion must not be remembered.
        let Mode::Symbolic(builder) = &mut self.mode else { unreachable!("compiling") };
        builder.bases.insert(name.clone(), value.clone());
        Ok(value)
    }

    fn default_of(&mut self, name: &Name) -> Eval<Option<Value>> {
        if let Some((_, text)) = defaults::DEFINED.iter().find(|(other, _)| *other == &**name) {
            let expr = parse_expression("defaults", text)?;
            return self.eval(&Env::default(), &expr).map(Some);
        }
        let kind = if defaults::EMPTY_RELATIONS.contains(&&**name) {
            Kind::Relation
        } else if defaults::EMPTY_SETS.contains(&&**name) {
            Kind::Set
        } else {
            return Ok(None);
        };
        Ok(Some(Value::Node(self.builder().empty(kind), kind)))
    }

    /// The node of a value that must be a set or relation of the given kind.
    pub fn node_of(&mut self, value: Value, kind: Kind, span: &Span) -> Eval<NodeId> {
        match value {
            Value::Node(id, found) if found == kind => Ok(id),
            Value::Empty => Ok(self.builder().empty(kind)),
            Value::Universe => Ok(self.builder().add(Op::Universe, kind)),
            Value::Thunk(thunk) => self.dynamic(thunk, kind),
            other => {
                let wanted = match kind {
                    Kind::Set => "a set of events",
                    Kind::Relation => "a relation",
                };
                error(span, format!("{wanted} is wanted here, found {}", other.describe()))
            }
        }
    }

    /// A node that the general interpreter computes.
    fn dynamic(&mut self, thunk: Arc<Thunk>, kind: Kind) -> Eval<NodeId> {
        let (needs, mask, fixes) = self.needs(&Value::Thunk(thunk.clone()))?;
        let graph = self.builder();
        graph.dynamics.push(Dynamic { thunk, needs });
        let op = Op::Dynamic(graph.dynamics.len() - 1);
        Ok(graph.add_with(op, kind, mask, fixes))
    }

    /// The nodes that a value may refer to when it is evaluated; an over-approximation.
    pub fn needs(&mut self, value: &Value) -> Eval<(Vec<NodeId>, Mask, u64)> {
        let mut found = HashSet::new();
        let mut seen = HashSet::new();
        self.collect(value, &mut found, &mut seen)?;
        let graph = self.builder();
        let mut needs: Vec<NodeId> = found.into_iter().collect();
        needs.sort_unstable();
        let mask = needs.iter().fold(0, |mask, &id| mask | graph.node(id).mask);
        let fixes = needs.iter().fold(0, |fixes, &id| fixes | graph.node(id).fixes);
        Ok((needs, mask, fixes))
    }

    fn collect(
        &mut self,
        value: &Value,
        found: &mut HashSet<NodeId>,
        seen: &mut HashSet<*const u8>,
    ) -> Eval<()> {
        match value {
            Value::Node(id, _) => {
                found.insert(*id);
            }
            Value::Tuple(values) | Value::Values(values) => {
                for value in values.iter() {
                    self.collect(value, found, seen)?;
                }
            }
            Value::Closure(closure) => match &closure.group {
                Some(group) => {
                    if seen.insert(Arc::as_ptr(group).cast()) {
                        for (_, function) in &group.functions {
                            self.collect_names(&function.body, &group.env, found, seen)?;
                        }
                    }
                }
                None => {
                    if seen.insert(Arc::as_ptr(closure).cast()) {
                        self.collect_names(&closure.function.body, &closure.env, found, seen)?;
                    }
                }
            },
            Value::Thunk(thunk) if seen.insert(Arc::as_ptr(thunk).cast()) => {
                self.collect_names(&thunk.expr, &thunk.env, found, seen)?;
            }
            Value::Orders(orders) => {
                self.collect(&orders.set, found, seen)?;
                self.collect(&orders.base, found, seen)?;
                self.collect_name("loc".into(), &Env::default(), found, seen)?;
            }
            Value::Primitive(_) => {
                // Partitions look at locations.
                self.collect_name("loc".into(), &Env::default(), found, seen)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn collect_names(
        &mut self,
        expr: &Expr,
        env: &Env,
        found: &mut HashSet<NodeId>,
        seen: &mut HashSet<*const u8>,
    ) -> Eval<()> {
        let Mode::Symbolic(builder) = &self.mode else { unreachable!("compiling") };
        let names = builder.names;
        let mentioned: Vec<Name> = names.iter().filter(|name| expr.mentions(name)).cloned().collect();
        for name in mentioned {
            self.collect_name(name, env, found, seen)?;
        }
        Ok(())
    }

    fn collect_name(
        &mut self,
        name: Name,
        env: &Env,
        found: &mut HashSet<NodeId>,
        seen: &mut HashSet<*const u8>,
    ) -> Eval<()> {
        if let Some(value) = env.get(&name).cloned() {
            return self.collect(&value, found, seen);
        }
        match self.base_symbolic(&name) {
            Ok(Some(value)) => self.collect(&value, found, seen),
            // Local names and primitives; a truly unbound name is an error where it is used.
            Ok(None) if crate::value::Primitive::named(&name).is_some() => {
                if &*name == "loc" {
                    Ok(())
                } else {
                    self.collect_name("loc".into(), env, found, seen)
                }
            }
            Ok(None) | Err(Stop::Error(_)) => Ok(()),
            Err(stop) => Err(stop),
        }
    }

    /// `let rec` of sets and relations: the least fixed point, by iteration from the empty ones.
    ///
    /// As in herd, the definitions of one round are evaluated in order, each seeing the new values of the
    /// ones before, and the rounds end when no value grew.
    pub fn fix_symbolic(
        &mut self,
        env: &Env,
        bindings: &[(Name, &Expr)],
        when: Option<&Test>,
        span: &Span,
    ) -> Eval<Env> {
        if when.is_none()
            && let Some(env) = self.closure_pattern(env, bindings)?
        {
            return Ok(env);
        }
        let start = self.builder().nodes.len();
        let saved = self.save();

        let kinds = self.kinds(env, bindings)?;
        let mut mask = 0;
        let mut outer = 0;
        loop {
            self.builder().truncate(start);
            self.restore(&saved);
            let graph = self.builder();
            let fix = graph.fixes.len();
            if fix >= 64 {
                return error(span, "more than 64 recursive definitions");
            }
            let vars: Vec<NodeId> = (kinds.iter().enumerate())
                .map(|(i, &kind)| graph.add_with(Op::FixVar(fix, i), kind, mask, outer | 1 << fix))
                .collect();
            graph.fixes.push(Fix {
                vars: vars.clone(),
                bodies: Vec::new(),
                results: Vec::new(),
                when: None,
                span: span.clone(),
            });
            let mut inner = env.clone();
            for (((name, _), &var), &kind) in bindings.iter().zip(&vars).zip(&kinds) {
                inner = inner.with(name.clone(), Value::Node(var, kind));
            }
            let mut bodies = Vec::new();
            for ((name, expr), &kind) in bindings.iter().zip(&kinds) {
                let value = self.eval(&inner, expr)?;
                let mut body = self.node_of(value, kind, &expr.span)?;
                if vars.contains(&body) {
                    // The old value of a variable is kept apart: all variables change at once.
                    body = self.builder().add(Op::Union(vec![body]), kind);
                }
                bodies.push(body);
                inner = inner.with(name.clone(), Value::Node(body, kind));
            }
            let test = match when {
                Some(test) => Some(self.compile_test(&inner, test)?),
                None => None,
            };
            let graph = self.builder();
            let (mut new_mask, mut new_outer) = (mask, outer);
            for &id in bodies.iter().chain(test.as_ref().map(|test| &test.node)) {
                new_mask |= graph.mask(id);
                new_outer |= graph.node(id).fixes & !(1 << fix);
            }
            if (new_mask, new_outer) != (mask, outer) {
                (mask, outer) = (new_mask, new_outer);
                continue;
            }
            let graph = self.builder();
            graph.fixes[fix].bodies = bodies;
            let results: Vec<NodeId> = (kinds.iter().enumerate())
                .map(|(i, &kind)| graph.add_with(Op::FixResult(fix, i), kind, mask, outer))
                .collect();
            graph.fixes[fix].results.clone_from(&results);
            if let Some(test) = test {
                let Mode::Symbolic(builder) = &mut self.mode else { unreachable!("compiling") };
                builder.tests.push(test);
                let last = builder.tests.len() - 1;
                builder.graph.fixes[fix].when = Some(last);
            }
            return Ok((bindings.iter().zip(results).zip(kinds))
                .fold(env.clone(), |env, (((name, _), id), kind)| {
                    env.with(name.clone(), Value::Node(id, kind))
                }));
        }
    }

    /// Which variables of a recursive definition are sets and which are relations. Some rounds from nothing show it, as
    /// far as the operators do; a variable that stays open is a relation. The caller forgets the nodes made here.
    fn kinds(&mut self, env: &Env, bindings: &[(Name, &Expr)]) -> Eval<Vec<Kind>> {
        let mut kinds = vec![None; bindings.len()];
        for _ in 0..=bindings.len() {
            let mut inner = env.clone();
            for (i, (name, _)) in bindings.iter().enumerate() {
                let value = match kinds[i] {
                    Some(kind) => {
                        Value::Node(self.builder().add_with(Op::FixVar(usize::MAX, i), kind, 0, 0), kind)
                    }
                    None => Value::Empty,
                };
                inner = inner.with(name.clone(), value);
            }
            let before = kinds.clone();
            for (i, (name, expr)) in bindings.iter().enumerate() {
                let value = self.eval(&inner, expr)?;
                match value {
                    Value::Node(_, kind) => kinds[i] = Some(kind),
                    Value::Empty | Value::Universe => {}
                    Value::Values(_) => return Err(Stop::NeedsData),
                    other => {
                        return error(
                            &expr.span,
                            format!("{} cannot be defined by recursion", other.describe()),
                        );
                    }
                }
                inner = inner.with(name.clone(), value);
            }
            if kinds == before {
                break;
            }
        }
        Ok(kinds.into_iter().map(|kind| kind.unwrap_or(Kind::Relation)).collect())
    }

    /// `let rec r = a | b | r ; r` is the transitive closure of `a | b`.
    fn closure_pattern(&mut self, env: &Env, bindings: &[(Name, &Expr)]) -> Eval<Option<Env>> {
        let [(name, expr)] = bindings else { return Ok(None) };
        let ExprKind::Union(parts) = &expr.kind else { return Ok(None) };
        let is_self = |e: &Expr| matches!(&e.kind, ExprKind::Var(other) if other == name);
        let is_square = |e: &Expr| matches!(&e.kind, ExprKind::Sequence(parts) if parts.len() == 2 && parts.iter().all(is_self));
        let others: Vec<&Expr> = parts.iter().filter(|part| !is_square(part)).collect();
        if others.len() == parts.len() || others.iter().any(|part| part.mentions(name)) {
            return Ok(None);
        }
        let mut values = Vec::new();
        for part in others {
            values.push((self.eval(env, part)?, &part.span));
        }
        let union = self.union(values, &expr.span)?;
        let closed = self.unary(Unary::Plus, union, &expr.span)?;
        Ok(Some(env.with(name.clone(), closed)))
    }

    fn save(&mut self) -> Saved {
        let Mode::Symbolic(builder) = &mut self.mode else { unreachable!("compiling") };
        Saved {
            bases: builder.bases.clone(),
            fixes: builder.graph.fixes.len(),
            dynamics: builder.graph.dynamics.len(),
            tests: builder.tests.len(),
        }
    }

    fn restore(&mut self, saved: &Saved) {
        let Mode::Symbolic(builder) = &mut self.mode else { unreachable!("compiling") };
        builder.bases.clone_from(&saved.bases);
        builder.graph.fixes.truncate(saved.fixes);
        builder.graph.dynamics.truncate(saved.dynamics);
        builder.tests.truncate(saved.tests);
    }
}

struct Saved {
    bases: HashMap<Name, Option<Value>>,
    fixes: usize,
    dynamics: usize,
    tests: usize,
}
