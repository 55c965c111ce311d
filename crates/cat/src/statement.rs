//! Compiles statements to tests and choices.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Diagnostic, Span,
    ast::*,
    interp::{Interp, Mode},
    model::CatModel,
    node::*,
    value::{Env, Eval, Procedure, Stop, Thunk, Value, error},
};

/// Runs the statements of a model while it is compiled.
pub struct Statements<'a> {
    pub model: &'a CatModel,
    pub env: Env,
    /// What the model shows, latest first.
    pub shown: Vec<(Name, NodeId, Kind)>,
    /// The relations that the model gives a name, in the order of the text.
    pub named: Vec<(Name, NodeId)>,
    depth: usize,
}

/// Procedures and includes nested deeper than this count as a runaway recursion.
const MAX_DEPTH: usize = 100;

impl<'a> Statements<'a> {
    pub fn new(model: &'a CatModel) -> Self {
        Self { model, env: Env::default(), shown: Vec::new(), named: Vec::new(), depth: 0 }
    }

    pub fn run(&mut self, interp: &mut Interp<'_, '_>, statements: &[Statement]) -> Eval<()> {
        for statement in statements {
            self.step(interp, statement)?;
        }
        Ok(())
    }

    fn step(&mut self, interp: &mut Interp<'_, '_>, statement: &Statement) -> Eval<()> {
        let span = &statement.span;
        match &statement.kind {
            StatementKind::Let(bindings) => {
                self.env = interp.bind_all(&self.env, bindings)?;
                self.name(bindings);
            }
            StatementKind::Rec(bindings, when) => {
                self.env = match interp.bind_recursive(&self.env, bindings, when.as_ref(), span) {
                    Err(Stop::Error(diagnostic)) if when.is_none() => {
                        let failed = Value::Failed(Arc::new(diagnostic));
                        let names = bindings.iter().flat_map(|binding| binding.pattern.names());
                        names.fold(self.env.clone(), |env, name| env.with(name.clone(), failed.clone()))
                    }
                    other => other?,
                };
                self.name(bindings);
            }
            StatementKind::Test(require, test) => {
                let mut compiled = interp.compile_test(&self.env, test)?;
                compiled.require = *require;
                if *require == Require::Flag && compiled.name.is_none() {
                    return error(span, "a flag needs a name: `flag … as name`");
                }
                let Mode::Symbolic(builder) = &mut interp.mode else { unreachable!("compiling") };
                builder.tests.push(compiled);
            }
            StatementKind::Show(names) => {
                for name in names {
                    // As in herd, what is not defined is not shown.
                    if let Ok(Value::Node(id, kind)) = interp.lookup(&self.env, name, span) {
                        self.shown.retain(|(other, ..)| other != name);
                        self.shown.push((name.clone(), id, kind));
                    }
                }
            }
            StatementKind::ShowAs(expr, name) => {
                if let Ok(Value::Node(id, kind)) = interp.eval(&self.env, expr) {
                    self.shown.retain(|(other, ..)| other != name);
                    self.shown.push((name.clone(), id, kind));
                }
            }
            StatementKind::Unshow(names) => self.shown.retain(|(name, ..)| !names.contains(name)),
            StatementKind::Include(file) => {
                let Some(included) = self.model.included(span, file) else {
                    return error(span, format!("file `{file}` was not found"));
                };
                self.nested(span, |this| this.run(interp, &included.statements))?;
            }
            StatementKind::Procedure { name, parameters, body, recursive } => {
                let procedure = Procedure {
                    parameters: parameters.clone(),
                    body: body.clone(),
                    env: self.env.clone(),
                    name: recursive.then(|| name.clone()),
                };
                self.env = self.env.with(name.clone(), Value::Procedure(Arc::new(procedure)));
            }
            StatementKind::Call { name, argument, .. } => self.call(interp, name, argument, span)?,
            StatementKind::Enum(name, tags) => {
                for tag in tags {
                    interp.context.tags.insert(tag.clone(), name.clone());
                }
                interp.context.enums.insert(name.clone(), tags.clone());
                self.env = self.env.with(name.clone(), interp.all_tags(name));
            }
            StatementKind::Forall { name, set, body } => {
                let value = interp.eval(&self.env, set)?;
                let members: Vec<Value> = match value {
                    Value::Empty => Vec::new(),
                    Value::Values(values) => values.to_vec(),
                    tag @ Value::Tag(..) => vec![tag],
                    other => {
                        let message = "`forall` runs over sets of tags and other values known from the model";
                        let found = format!("found {}", other.describe());
                        return Err(Stop::Error(Diagnostic::new(&set.span, message).help(found)));
                    }
                };
                let outer = self.env.clone();
                for member in members {
                    self.env = outer.with(name.clone(), member);
                    self.nested(span, |this| this.run(interp, body))?;
                }
                self.env = outer;
            }
            StatementKind::With(name, expr) => self.choose(interp, name, expr, span)?,
            StatementKind::Match { subject, arms, otherwise } => {
                let value = interp.eval(&self.env, subject)?;
                let tag = interp.tag_of(value, &subject.span)?;
                let arm = arms.iter().find(|(name, _)| *name == tag).map(|(_, body)| body);
                match arm.or(otherwise.as_ref()) {
                    Some(body) => self.nested(span, |this| this.run(interp, body))?,
                    None => return error(span, format!("no arm matches `'{tag}`")),
                }
            }
            StatementKind::If { condition, then, otherwise } => {
                let body = if interp.variant(condition) { then } else { otherwise };
                self.nested(span, |this| this.run(interp, body))?;
            }
            // Annotations are checked by the front end; printing is for interactive use.
            StatementKind::Instructions { .. } | StatementKind::Debug(_) => {}
        }
        Ok(())
    }

    fn name(&mut self, bindings: &[Binding]) {
        for name in bindings.iter().flat_map(|binding| binding.pattern.names()) {
            if let Some(Value::Node(id, Kind::Relation)) = self.env.get(name) {
                self.named.push((name.clone(), *id));
            }
        }
    }

    fn nested(&mut self, span: &Span, run: impl FnOnce(&mut Self) -> Eval<()>) -> Eval<()> {
        if self.depth >= MAX_DEPTH {
            return error(span, "procedures or files call each other too deeply");
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    fn call(&mut self, interp: &mut Interp<'_, '_>, name: &Name, argument: &Expr, span: &Span) -> Eval<()> {
        let value = interp.lookup(&self.env, name, span)?;
        let Value::Procedure(procedure) = value else {
            return error(span, format!("`{name}` is {}, not a procedure", value.describe()));
        };
        let argument = interp.eval(&self.env, argument)?;
        let mut env = procedure.env.clone();
        if let Some(own) = &procedure.name {
            env = env.with(own.clone(), Value::Procedure(procedure.clone()));
        }
        let outer = self.env.clone();
        self.env = interp.bind_pattern(&env, &procedure.parameters, argument, span)?;
        self.nested(span, |this| this.run(interp, &procedure.body))?;
        self.env = outer;
        Ok(())
    }

    /// `with x from e`. Orders of writes are the enumerator's co; everything else is chosen during evaluation.
    fn choose(&mut self, interp: &mut Interp<'_, '_>, name: &Name, expr: &Expr, span: &Span) -> Eval<()> {
        let domain = match interp.eval(&self.env, expr) {
            Err(Stop::NeedsData) => {
                let thunk = Thunk { expr: Arc::new(expr.clone()), env: self.env.clone() };
                Value::Thunk(Arc::new(thunk))
            }
            other => other?,
        };
        if let Value::Orders(orders) = &domain {
            let set = interp.node_of(orders.set.clone(), Kind::Set, span)?;
            if is_writes(interp.builder(), set) {
                let base = interp.node_of(orders.base.clone(), Kind::Relation, span)?;
                let given = interp.base(&"co0".into())?;
                let graph = interp.builder();
                let co = graph.add(Op::Co, Kind::Relation);
                let co = graph.restrict(co, Some(set), Some(set));
                // The order must extend the given relation. The initial and the final writes always do.
                let base = match (given, graph.node(base).op.clone()) {
                    (Some(Value::Node(id, _)), _) if id == base => graph.empty(Kind::Relation),
                    (Some(Value::Node(id, _)), Op::Union(parts)) => {
                        let parts: Vec<NodeId> = parts.into_iter().filter(|&part| part != id).collect();
                        graph.union(&parts, Kind::Relation)
                    }
                    _ => base,
                };
                let base = graph.restrict(base, Some(set), Some(set));
                let missing = graph.difference(base, co, Kind::Relation);
                let Mode::Symbolic(builder) = &mut interp.mode else { unreachable!("compiling") };
                builder.tests.push(CompiledTest {
                    require: Require::Check,
                    negated: false,
                    property: Property::Empty,
                    node: missing,
                    name: Some(name.clone()),
                    text: format!("with {name} from {expr}"),
                    span: span.clone(),
                });
                self.env = self.env.with(name.clone(), Value::Node(co, Kind::Relation));
                return Ok(());
            }
        }
        let (needs, mask, _) = interp.needs(&domain)?;
        let graph = interp.builder();
        let index = graph.choices.len();
        if index >= MAX_CHOICES {
            return error(span, "a model can make at most 60 choices (`with … from`)");
        }
        let own = 1 << (FIRST_CHOICE as usize + index);
        let var = graph.add_with(Op::Choice(index), Kind::Relation, mask | own, 0);
        graph.choices.push(Choice { name: name.clone(), var, domain, needs, span: span.clone() });
        self.env = self.env.with(name.clone(), Value::Node(var, Kind::Relation));
        Ok(())
    }
}

impl Interp<'_, '_> {
    pub fn compile_test(&mut self, env: &Env, test: &Test) -> Eval<CompiledTest> {
        let value = self.eval(env, &test.expr)?;
        let kind = match (&value, test.property) {
            (Value::Node(_, Kind::Set), Property::Empty) => Kind::Set,
            _ => Kind::Relation,
        };
        let mut node = self.node_of(value, kind, &test.expr.span)?;
        let mut property = test.property;
        // `acyclic r+` is `acyclic r`: the closure need not be computed.
        let graph = self.builder();
        match (property, &graph.node(node).op) {
            (Property::Acyclic | Property::Irreflexive, &Op::Plus(inner)) => {
                (node, property) = (inner, Property::Acyclic);
            }
            (Property::Empty, &Op::Plus(inner)) => node = inner,
            _ => {}
        }
        Ok(CompiledTest {
            require: Require::Check,
            negated: test.negated,
            property,
            node,
            name: test.name.clone(),
            text: test.to_string(),
            span: test.span.clone(),
        })
    }
}

/// Whether a set contains writes only, as far as its definition shows.
fn is_writes(graph: &Graph, set: NodeId) -> bool {
    match &graph.node(set).op {
        Op::Base(name) => matches!(&**name, "W" | "IW" | "FW" | "LKW"),
        Op::Intersection(a, b) => is_writes(graph, *a) || is_writes(graph, *b),
        Op::Difference(a, _) => is_writes(graph, *a),
        Op::Union(parts) => parts.iter().all(|&part| is_writes(graph, part)),
        _ => false,
    }
}

/// All names in the text of a file. A delayed expression may need any of them.
pub fn names_in(statements: &[Statement], names: &mut HashSet<Name>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Let(bindings) | StatementKind::Rec(bindings, None) => {
                bindings.iter().for_each(|binding| names_in_expr(&binding.expr, names));
            }
            StatementKind::Rec(bindings, Some(test)) => {
                bindings.iter().for_each(|binding| names_in_expr(&binding.expr, names));
                names_in_expr(&test.expr, names);
            }
            StatementKind::Test(_, test) => names_in_expr(&test.expr, names),
            StatementKind::ShowAs(expr, _) | StatementKind::With(_, expr) | StatementKind::Debug(expr) => {
                names_in_expr(expr, names);
            }
            StatementKind::Procedure { body, .. } => names_in(body, names),
            StatementKind::Call { argument, .. } => names_in_expr(argument, names),
            StatementKind::Forall { set, body, .. } => {
                names_in_expr(set, names);
                names_in(body, names);
            }
            StatementKind::Match { subject, arms, otherwise } => {
                names_in_expr(subject, names);
                arms.iter().for_each(|(_, body)| names_in(body, names));
                otherwise.iter().for_each(|body| names_in(body, names));
            }
            StatementKind::If { then, otherwise, .. } => {
                names_in(then, names);
                names_in(otherwise, names);
            }
            StatementKind::Instructions { .. }
            | StatementKind::Show(_)
            | StatementKind::Unshow(_)
            | StatementKind::Include(_)
            | StatementKind::Enum(..) => {}
        }
    }
}

fn names_in_expr(expr: &Expr, names: &mut HashSet<Name>) {
    expr.visit(&mut |inner| {
        if let ExprKind::Var(name) = &inner.kind {
            names.insert(name.clone());
        }
    });
}
