//! The meaning of expressions.
//!
//! One interpreter has two uses. While a model is compiled, sets and relations are nodes of the compiled graph
//! (`symbolic.rs`), and functions, tuples, tags and the like are worked out completely. While an execution is
//! evaluated, the interpreter runs what could not be compiled, because it looks into sets, on the sets themselves
//! (`concrete.rs`).

use std::{collections::HashMap, sync::Arc};

use crate::{
    Diagnostic, Span,
    ast::*,
    concrete::Data,
    symbolic::Builder,
    value::{Closure, Env, Eval, Group, Primitive, Stop, Thunk, Value, error},
};

pub struct Interp<'a, 'm> {
    pub mode: Mode<'a, 'm>,
    pub context: &'a mut Context,
    depth: usize,
}

pub enum Mode<'a, 'm> {
    Symbolic(&'a mut Builder<'m>),
    Concrete(&'a Data<'m>),
}

/// What statements declare besides values.
#[derive(Clone, Default, Debug)]
pub struct Context {
    /// The enumeration of each tag.
    pub tags: HashMap<Name, Name>,
    pub enums: HashMap<Name, Vec<Name>>,
    pub variants: Vec<String>,
}

/// Applications nested deeper than this count as a runaway recursion.
const MAX_DEPTH: usize = 600;

impl<'a, 'm> Interp<'a, 'm> {
    pub fn new(mode: Mode<'a, 'm>, context: &'a mut Context) -> Self {
        Self { mode, context, depth: 0 }
    }

    pub fn eval(&mut self, env: &Env, expr: &Expr) -> Eval {
        let span = &expr.span;
        match &expr.kind {
            ExprKind::Zero => self.zero(),
            ExprKind::Universe => Ok(Value::Universe),
            ExprKind::Tag(tag) => match self.context.tags.get(tag) {
                Some(owner) => Ok(Value::Tag(owner.clone(), tag.clone())),
                None => error(span, format!("tag `'{tag}` belongs to no enumeration")),
            },
            ExprKind::Var(name) => self.lookup(env, name, span),
            ExprKind::Unary(op, inner) => {
                let value = self.eval(env, inner)?;
                self.unary(*op, value, &inner.span)
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.eval(env, left)?, self.eval(env, right)?);
                self.binary(*op, a, b, (&left.span, &right.span))
            }
            ExprKind::Union(parts) => {
                let values = self.eval_all(env, parts)?;
                self.union(values, span)
            }
            ExprKind::Sequence(parts) => {
                let values = self.eval_all(env, parts)?;
                self.sequence(values, span)
            }
            ExprKind::Tuple(parts) => {
                let values = self.eval_all(env, parts)?;
                Ok(Value::Tuple(values.into_iter().map(|(value, _)| value).collect()))
            }
            ExprKind::Set(parts) => {
                let values = self.eval_all(env, parts)?;
                self.explicit_set(values, span)
            }
            ExprKind::Apply(function, argument) => {
                let function = self.eval(env, function)?;
                let argument = self.eval(env, argument)?;
                self.apply(function, argument, span)
            }
            ExprKind::Fun(function) => {
                let closure = Closure { function: function.clone(), env: env.clone(), group: None };
                Ok(Value::Closure(Arc::new(closure)))
            }
            ExprKind::Let(bindings, body) => {
                let env = self.bind_all(env, bindings)?;
                self.eval(&env, body)
            }
            ExprKind::Rec(bindings, body) => {
                let env = self.bind_recursive(env, bindings, None, span)?;
                self.eval(&env, body)
            }
            ExprKind::Try(first, second) => match self.eval(env, first) {
                Err(Stop::Error(_)) => self.eval(env, second),
                other => other,
            },
            ExprKind::If(condition, then, otherwise) => {
                let branch = if self.condition(env, condition)? { then } else { otherwise };
                self.eval(env, branch)
            }
            ExprKind::Match { subject, arms, otherwise } => {
                let value = self.eval(env, subject)?;
                let tag = self.tag_of(value, &subject.span)?;
                match arms.iter().find(|(name, _)| *name == tag) {
                    Some((_, arm)) => self.eval(env, arm),
                    None => match otherwise {
                        Some(arm) => self.eval(env, arm),
                        None => error(span, format!("no arm matches `'{tag}`")),
                    },
                }
            }
            ExprKind::MatchSet { subject, empty, element } => {
                let value = self.eval(env, subject)?;
                self.match_set(env, value, empty, element, &subject.span)
            }
        }
    }

    /// The value as a tag.
    pub fn tag_of(&mut self, value: Value, span: &Span) -> Eval<Name> {
        match self.inspect(value)? {
            Value::Tag(_, tag) => Ok(tag),
            other => error(span, format!("a tag is wanted here, found {}", other.describe())),
        }
    }

    pub fn lookup(&mut self, env: &Env, name: &Name, span: &Span) -> Eval {
        match env.get(name) {
            Some(Value::Failed(diagnostic)) => return Err(Stop::Error((**diagnostic).clone())),
            Some(Value::Thunk(thunk)) => {
                if let Mode::Concrete(_) = self.mode {
                    let thunk = thunk.clone();
                    return self.force(&thunk, span);
                }
                return Ok(Value::Thunk(thunk.clone()));
            }
            Some(value) => {
                let value = value.clone();
                return self.resolve(value);
            }
            None => {}
        }
        if let Some(value) = self.base(name)? {
            return self.resolve(value);
        }
        if let Some(primitive) = Primitive::named(name) {
            return Ok(Value::Primitive(primitive));
        }
        let help = "neither the model nor the execution defines it";
        Err(Stop::Error(Diagnostic::new(span, format!("unbound name `{name}`")).help(help)))
    }

    fn force(&mut self, thunk: &Arc<Thunk>, span: &Span) -> Eval {
        self.deeper(span, |interp| interp.eval(&thunk.env, &thunk.expr))
    }

    fn eval_all<'e>(&mut self, env: &Env, parts: &'e [Expr]) -> Eval<Vec<(Value, &'e Span)>> {
        parts.iter().map(|part| Ok((self.eval(env, part)?, &part.span))).collect()
    }

    fn deeper<T>(&mut self, span: &Span, run: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= MAX_DEPTH {
            return error(span, "functions call each other too deeply");
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    pub fn apply(&mut self, function: Value, argument: Value, span: &Span) -> Eval {
        match function {
            Value::Closure(closure) => {
                let mut env = closure.env.clone();
                if let Some(group) = &closure.group {
                    env = open_group(group);
                }
                let env = self.bind_pattern(&env, &closure.function.parameters, argument, span)?;
                self.deeper(span, |interp| interp.eval(&env, &closure.function.body))
            }
            Value::Primitive(primitive) => self.primitive(primitive, argument, span),
            Value::Thunk(_) => Err(Stop::NeedsData),
            other => error(span, format!("{} cannot be applied", other.describe())),
        }
    }

    pub fn bind_pattern(&mut self, env: &Env, pattern: &Pattern, value: Value, span: &Span) -> Eval<Env> {
        match pattern {
            Pattern::One(None) => Ok(env.clone()),
            Pattern::One(Some(name)) => Ok(env.with(name.clone(), value)),
            Pattern::Tuple(names) => {
                let value = match value {
                    Value::Thunk(_) => return Err(Stop::NeedsData),
                    other => other,
                };
                let parts: Vec<Value> = match &value {
                    Value::Tuple(parts) => parts.to_vec(),
                    Value::Pair(a, b) => vec![Value::Event(*a), Value::Event(*b)],
                    _ => vec![value],
                };
                if parts.len() != names.len() {
                    let (wanted, given) = (names.len(), parts.len());
                    return error(span, format!("{wanted} values are wanted here, {given} are given"));
                }
                let mut env = env.clone();
                for (name, part) in names.iter().zip(parts) {
                    if let Some(name) = name {
                        env = env.with(name.clone(), part);
                    }
                }
                Ok(env)
            }
        }
    }

    /// `let a = … and b = …`: each is evaluated in the environment outside.
    pub fn bind_all(&mut self, env: &Env, bindings: &[Binding]) -> Eval<Env> {
        let mut inner = env.clone();
        for binding in bindings {
            let value = self.eval_binding(env, binding)?;
            inner = match value {
                // A definition that is wrong, or that must wait, is wrong or waits for each name it binds.
                Value::Failed(_) => {
                    binding.pattern.names().fold(inner, |env, name| env.with(name.clone(), value.clone()))
                }
                value => self.bind_pattern(&inner, &binding.pattern, value, &binding.span)?,
            };
        }
        Ok(inner)
    }

    /// A definition is lazy: an error in it counts only where it is used.
    fn eval_binding(&mut self, env: &Env, binding: &Binding) -> Eval {
        match self.eval(env, &binding.expr) {
            Err(Stop::Error(diagnostic)) => Ok(Value::Failed(Arc::new(diagnostic))),
            Err(Stop::NeedsData) if matches!(self.mode, Mode::Symbolic(_)) => {
                let thunk = Thunk { expr: Arc::new(binding.expr.clone()), env: env.clone() };
                Ok(Value::Thunk(Arc::new(thunk)))
            }
            other => other,
        }
    }

    pub fn bind_recursive(
        &mut self,
        env: &Env,
        bindings: &[Binding],
        when: Option<&Test>,
        span: &Span,
    ) -> Eval<Env> {
        let functions: Vec<_> = bindings
            .iter()
            .filter_map(|binding| match (&binding.pattern, &binding.expr.kind) {
                (Pattern::One(Some(name)), ExprKind::Fun(function)) => Some((name.clone(), function.clone())),
                _ => None,
            })
            .collect();
        if functions.len() == bindings.len() {
            return Ok(open_group(&Arc::new(Group { functions, env: env.clone() })));
        }
        if !functions.is_empty() {
            return error(span, "functions and relations cannot be defined in one recursion");
        }
        let mut values = Vec::new();
        for binding in bindings {
            let Pattern::One(Some(name)) = &binding.pattern else {
                return error(&binding.span, "a recursive definition needs a single name");
            };
            values.push((name.clone(), &binding.expr));
        }
        match self.mode {
            Mode::Symbolic(_) => self.fix_symbolic(env, &values, when, span),
            Mode::Concrete(_) => self.fix_concrete(env, &values, span),
        }
    }

    fn condition(&mut self, env: &Env, condition: &Condition) -> Eval<bool> {
        match condition {
            Condition::Variant(variant) => Ok(self.variant(variant)),
            Condition::Equal(a, b) => {
                let (x, y) = (self.eval(env, a)?, self.eval(env, b)?);
                let (x, y) = (self.inspect(x)?, self.inspect(y)?);
                Ok(x.order(&y).is_eq())
            }
            Condition::Subset(a, b) => {
                let (x, y) = (self.eval(env, a)?, self.eval(env, b)?);
                let difference = self.binary(Binary::Difference, x, y, (&a.span, &b.span))?;
                Ok(self.inspect(difference)?.order(&Value::Empty).is_eq())
            }
            Condition::In(a, b) => {
                let (x, y) = (self.eval(env, a)?, self.eval(env, b)?);
                let (x, y) = (self.inspect(x)?, self.inspect(y)?);
                self.member(&x, &y, &b.span)
            }
        }
    }

    pub fn variant(&self, variant: &Variant) -> bool {
        match variant {
            Variant::Named(name) => self.context.variants.contains(name),
            Variant::Not(inner) => !self.variant(inner),
            Variant::And(a, b) => self.variant(a) && self.variant(b),
            Variant::Or(a, b) => self.variant(a) || self.variant(b),
        }
    }

    /// All tags of an enumeration, as a set.
    pub fn all_tags(&self, owner: &Name) -> Value {
        let tags = self.context.enums.get(owner).map_or(&[] as &[Name], |tags| tags);
        Value::set_of(tags.iter().map(|tag| Value::Tag(owner.clone(), tag.clone())).collect())
    }
}

/// The environment of a group of recursive functions: outside it, and all of them.
fn open_group(group: &Arc<Group>) -> Env {
    group.functions.iter().fold(group.env.clone(), |env, (name, function)| {
        let closure =
            Closure { function: function.clone(), env: group.env.clone(), group: Some(group.clone()) };
        env.with(name.clone(), Value::Closure(Arc::new(closure)))
    })
}
