//! Evaluating a model on executions.
//!
//! Bind an event structure once, then give every rf and co. Each call computes only what changed. Nothing is
//! allocated once the buffers have grown to the size of the structure, except where a model looks into sets
//! (`Step::Node` of a dynamic node) and in explanations.

use std::sync::Arc;

use porf_relation::{Cycle, EventSet, Relation};

use crate::{
    Diagnostic,
    ast::{Property, Require},
    concrete::{Data, max_rounds},
    derive::{Derivation, Edge},
    interp::{Interp, Mode},
    model::CatModel,
    node::{Kind, NodeId, Op},
    program::{Program, Step},
    slots::{Slot, Slots},
    structure::Structure,
    value::{Stop, Thunk, Value},
};

/// A model at work on one event structure after another.
pub struct Evaluator<'m> {
    model: &'m CatModel,
    program: Option<Arc<Program>>,
    slots: Slots,
    rf: Option<NodeId>,
    co: Option<NodeId>,
    /// The test that failed in each stage so far.
    failed: [Option<usize>; 3],
    last: Option<usize>,
}

/// The answer for one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judgement {
    /// How many values of the model's own choices make the execution consistent; 0 or 1 for a model that makes none.
    pub consistent: usize,
    /// The violated axiom, if no choice is consistent: an index for [`Evaluator::axiom`].
    pub violated: Option<usize>,
    /// The flags raised, as bits: see [`Evaluator::flag_names`].
    pub flags: u64,
    /// Whether a consistent choice violates an `undefined_unless`.
    pub undefined: bool,
}

impl Judgement {
    /// Whether the model allows the execution.
    pub fn is_consistent(&self) -> bool {
        self.consistent > 0
    }
}

/// Why an execution is forbidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenAxiom {
    /// The name of the axiom, or its place.
    pub axiom: String,
    /// The axiom, as the model has it.
    pub text: String,
    /// What the axiom asks for.
    pub property: Property,
    /// The cycle of an acyclicity or irreflexivity axiom.
    pub cycle: Option<Cycle>,
    /// The pairs that an emptiness axiom forbids.
    pub pairs: Vec<(usize, usize)>,
    /// How the model makes the cycle, or the first of the pairs.
    pub edges: Vec<Edge>,
}

impl<'m> Evaluator<'m> {
    /// An evaluator that is not bound to an event structure yet.
    pub fn new(model: &'m CatModel) -> Self {
        Self {
            model,
            program: None,
            slots: Slots::default(),
            rf: None,
            co: None,
            failed: [None; 3],
            last: None,
        }
    }

    /// The model that it evaluates.
    pub fn model(&self) -> &'m CatModel {
        self.model
    }

    /// Takes the fixed part of an execution. Returns false if it is inconsistent for every rf and co.
    pub fn bind(&mut self, structure: &dyn Structure) -> Result<bool, Diagnostic> {
        let same = self.program.as_ref().is_some_and(|program| program.fits(structure));
        if !same {
            self.program = Some(self.model.program(structure)?);
        }
        let program = self.program.clone().expect("just set");
        self.slots.reset(structure.len(), program.nodes.iter().map(|node| node.kind), same);
        (self.rf, self.co) = (None, None);
        for (id, node) in program.nodes.iter().enumerate() {
            let id = id as NodeId;
            match &node.op {
                Op::Base(name) => {
                    let slot = match node.kind {
                        Kind::Set => structure.set(name).map(Slot::Set),
                        Kind::Relation => structure.relation(name).map(Slot::Relation),
                    };
                    self.slots.put(id, slot.expect("the program fits the structure"));
                }
                Op::Rf => self.rf = Some(id),
                Op::Co => self.co = Some(id),
                _ => {}
            }
        }
        self.failed = [None; 3];
        self.failed[0] = self.run(&program, &program.stages[0])?;
        Ok(self.failed[0].is_none())
    }

    /// Whether any answer depends on co.
    pub fn depends_on_co(&self) -> bool {
        self.program().depends_on_co()
    }

    /// Takes rf. Returns false if the execution is inconsistent for every co.
    pub fn set_rf(&mut self, rf: &Relation) -> Result<bool, Diagnostic> {
        let program = self.program();
        if let Some(id) = self.rf {
            self.slots.relation_mut(id).copy_from(rf);
        }
        self.failed[1] = match self.failed[0] {
            None => self.run(&program, &program.stages[1])?,
            failed => failed,
        };
        Ok(self.failed[1].is_none())
    }

    /// Takes co: for each location a total order of its writes, the initial one first.
    pub fn set_co(&mut self, co: &Relation) {
        if let Some(id) = self.co {
            self.slots.relation_mut(id).copy_from(co);
        }
    }

    /// Checks the execution: is it consistent, and which flags does it raise?
    pub fn check(&mut self) -> Result<Judgement, Diagnostic> {
        let program = self.program();
        self.failed[2] = match self.failed[1] {
            None => self.run(&program, &program.stages[2])?,
            failed => failed,
        };
        let mut outcome = Judgement { violated: self.failed[2], ..Judgement::default() };
        if outcome.violated.is_none() {
            self.choose(&program, 0, &mut outcome)?;
        }
        if outcome.consistent > 0 {
            outcome.violated = None;
        }
        self.last = outcome.violated;
        Ok(outcome)
    }

    /// The axiom that the last check found violated, with its cycle.
    pub fn explain(&mut self) -> Option<BrokenAxiom> {
        let program = self.program.clone()?;
        self.last.map(|index| self.violation(&program, index))
    }

    /// Every axiom that the execution violates, not only the first, and whatever the model may choose itself.
    pub fn violations(&mut self) -> Result<Vec<BrokenAxiom>, Diagnostic> {
        let program = self.program();
        let mut failed = Vec::new();
        for step in program.stages[..3].iter().flatten() {
            // A recursion that its own test ends early is not computed to its end.
            failed.extend(self.step(&program, step)?);
        }
        if failed.is_empty() {
            failed.extend(self.last);
        }
        Ok(failed.into_iter().map(|index| self.violation(&program, index)).collect())
    }

    fn violation(&self, program: &Program, index: usize) -> BrokenAxiom {
        let axiom = self.axiom(index);
        let mut violation = BrokenAxiom {
            axiom,
            text: String::new(),
            property: Property::Empty,
            cycle: None,
            pairs: Vec::new(),
            edges: Vec::new(),
        };
        let Some(test) = program.tests.get(index) else { return violation };
        violation.text.clone_from(&test.text);
        violation.property = test.property;
        if program.nodes[test.node as usize].kind == Kind::Set {
            violation.pairs = self.slots.set(test.node).iter().map(|event| (event, event)).collect();
            return violation;
        }
        let relation = self.slots.relation(test.node);
        let mut derivation = Derivation::new(program, &self.slots);
        match test.property {
            Property::Acyclic => {
                violation.cycle = relation.cycle();
                let edges = violation.cycle.iter().flat_map(|cycle| cycle.edges());
                violation.edges = edges.flat_map(|(a, b)| derivation.path(test.node, a, b)).collect();
            }
            Property::Irreflexive => {
                let len = relation.universe();
                let loops = (0..len).filter(|&event| relation.contains(event, event));
                // The way round with the fewest edges says most.
                let ways = loops.map(|event| (event, derivation.path(test.node, event, event)));
                let leaves = |edges: &[Edge]| edges.iter().map(|edge| edge.leaves().len()).sum::<usize>();
                if let Some((event, edges)) = ways.min_by_key(|(_, edges)| leaves(edges)) {
                    violation.cycle = Relation::of(len, [(event, event)]).cycle();
                    violation.edges = edges;
                }
            }
            Property::Empty => {
                violation.pairs = relation.pairs().collect();
                if let Some(&(a, b)) = violation.pairs.first() {
                    violation.edges = derivation.path(test.node, a, b);
                    // What is in two relations, and must not be: there one way, back the other.
                    if let Op::Intersection(_, other) = program.nodes[test.node as usize].op {
                        violation.edges.extend(derivation.path(other, a, b));
                    }
                }
            }
        }
        violation
    }

    /// The name of an axiom, or its place if it has none.
    pub fn axiom(&self, index: usize) -> String {
        let program = self.program.as_ref().expect("a structure is bound");
        let Some(test) = program.tests.get(index) else {
            // There was nothing to choose from.
            return program.choices[index - program.tests.len()].name.to_string();
        };
        test.name.as_ref().map_or_else(|| format!("{:?}", test.span), |name| name.to_string())
    }

    /// The names of the flags in [`Judgement::flags`].
    pub fn flag_names(&self, flags: u64) -> Vec<String> {
        let Some(program) = &self.program else { return Vec::new() };
        let mut names: Vec<String> = (program.tests.iter().enumerate())
            .filter(|(_, test)| test.require == Require::Flag)
            .map(|(index, _)| index)
            .enumerate()
            .filter(|(bit, _)| flags >> (*bit).min(63) & 1 == 1)
            .map(|(_, index)| self.axiom(index))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The relations that the model shows, as they are after the last check.
    pub fn shown(&mut self) -> Result<Vec<(String, Relation)>, Diagnostic> {
        let program = self.program();
        let mut all = Vec::new();
        for shown in program.shown.iter().filter(|shown| shown.kind == Kind::Relation) {
            self.run(&program, &shown.steps)?;
            all.push((shown.name.to_string(), self.slots.relation(shown.node).clone()));
        }
        Ok(all)
    }

    /// A relation by its name, as it is after the last check: hb, sw or ppo, if the model has it.
    pub fn relation(&mut self, name: &str) -> Result<Option<Relation>, Diagnostic> {
        let program = self.program();
        let Some(known) = program.explaining.iter().rfind(|known| &*known.name == name) else {
            return Ok(None);
        };
        self.run(&program, &known.steps)?;
        Ok(Some(self.slots.relation(known.node).clone()))
    }

    /// The axioms that make an execution inconsistent: name and text of each.
    pub fn axioms(&self) -> Vec<(String, String)> {
        let program = self.program();
        let tests = program.tests.iter().enumerate().filter(|(_, test)| test.require == Require::Check);
        tests.map(|(index, test)| (self.axiom(index), test.text.clone())).collect()
    }

    fn program(&self) -> Arc<Program> {
        self.program.clone().expect("bind a structure first")
    }

    /// Tries all values of the choices from the `index`-th on.
    fn choose(&mut self, program: &Program, index: usize, outcome: &mut Judgement) -> Result<(), Diagnostic> {
        let Some(choice) = program.choices.get(index) else { return self.accept(program, outcome) };
        let values = match self.interpret(program, choice.domain.clone())? {
            Value::Empty => {
                outcome.violated = Some(program.tests.len() + index);
                return Ok(());
            }
            Value::Values(values) => values,
            other => {
                let message = format!("a set of relations is wanted here, found {}", other.describe());
                return Err(Diagnostic::new(&choice.span, message));
            }
        };
        for value in values.iter() {
            match value {
                Value::Relation(relation) => self.slots.relation_mut(choice.var).copy_from(relation),
                Value::Empty => self.slots.relation_mut(choice.var).clear(),
                other => {
                    let message = format!("`{}` must be a relation, found {}", choice.name, other.describe());
                    return Err(Diagnostic::new(&choice.span, message));
                }
            }
            match self.run(program, &program.stages[3 + index])? {
                Some(failed) => outcome.violated = Some(failed),
                None => self.choose(program, index + 1, outcome)?,
            }
        }
        Ok(())
    }

    /// A consistent execution: which flags does it raise?
    fn accept(&mut self, program: &Program, outcome: &mut Judgement) -> Result<(), Diagnostic> {
        outcome.consistent += 1;
        let mut late = program.late.as_slice();
        let is_flag = |test: usize| program.tests[test].require == Require::Flag;
        while let Some((step, rest)) = late.split_first() {
            late = rest;
            let Step::Test(index) = *step else {
                self.step(program, step)?;
                continue;
            };
            let passed = self.passes(program, index);
            if is_flag(index) {
                let bit = program.tests[..index].iter().filter(|test| test.require == Require::Flag).count();
                outcome.flags |= u64::from(passed) << bit.min(63);
            } else {
                outcome.undefined |= !passed;
            }
        }
        Ok(())
    }

    /// Runs steps up to the first failing test, and returns that test.
    fn run(&mut self, program: &Program, steps: &[Step]) -> Result<Option<usize>, Diagnostic> {
        for step in steps {
            if let Some(failed) = self.step(program, step)? {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    fn step(&mut self, program: &Program, step: &Step) -> Result<Option<usize>, Diagnostic> {
        match step {
            Step::Node(id) => self.compute(program, *id)?,
            Step::Fix(fix, body) => return self.fix(program, *fix, body),
            Step::Test(index) => {
                let test = &program.tests[*index];
                if !self.passes(program, *index) {
                    if test.require == Require::Assert {
                        let message = format!("the model asserts `{}`, which fails", self.axiom(*index));
                        return Err(Diagnostic::new(&test.span, message));
                    }
                    return Ok(Some(*index));
                }
            }
        }
        Ok(None)
    }

    fn passes(&self, program: &Program, index: usize) -> bool {
        let test = &program.tests[index];
        let holds = match (self.slots.get(test.node), test.property) {
            (Slot::Relation(relation), Property::Acyclic) => relation.is_acyclic(),
            (Slot::Relation(relation), Property::Irreflexive) => relation.is_irreflexive(),
            (Slot::Relation(relation), Property::Empty) => relation.is_empty(),
            (Slot::Set(set), _) => set.is_empty(),
            (Slot::Vacant, _) => unreachable!("no node is being written"),
        };
        holds != test.negated
    }

    /// Iterates a recursive definition, starting from empty relations.
    fn fix(&mut self, program: &Program, fix: usize, body: &[Step]) -> Result<Option<usize>, Diagnostic> {
        let definition = &program.fixes[fix];
        for &var in &definition.vars {
            match self.slots.take(var) {
                Slot::Set(mut set) => {
                    set.clear();
                    self.slots.put(var, Slot::Set(set));
                }
                Slot::Relation(mut relation) => {
                    relation.clear();
                    self.slots.put(var, Slot::Relation(relation));
                }
                Slot::Vacant => unreachable!("no node is being written"),
            }
        }
        for _ in 0..max_rounds(definition.vars.len(), self.slots.len()) {
            if let Some(failed) = self.run(program, body)? {
                return Ok(Some(failed));
            }
            if let Some(test) = definition.when
                && !self.passes(program, test)
            {
                return Ok(Some(test));
            }
            let mut grew = false;
            for (&var, &new) in definition.vars.iter().zip(&definition.bodies) {
                let mut slot = self.slots.take(var);
                match (&mut slot, self.slots.get(new)) {
                    (Slot::Set(old), Slot::Set(new)) => {
                        grew |= !new.is_subset(old);
                        old.copy_from(new);
                    }
                    (Slot::Relation(old), Slot::Relation(new)) => {
                        grew |= !new.is_subset(old);
                        old.copy_from(new);
                    }
                    _ => unreachable!("kinds are checked while compiling"),
                }
                self.slots.put(var, slot);
            }
            if !grew {
                for (&var, &result) in definition.vars.iter().zip(&definition.results) {
                    self.copy(var, result);
                }
                return Ok(None);
            }
        }
        Err(Diagnostic::new(&definition.span, "this recursive definition does not converge"))
    }

    fn copy(&mut self, from: NodeId, to: NodeId) {
        let mut slot = self.slots.take(to);
        match (&mut slot, self.slots.get(from)) {
            (Slot::Set(to), Slot::Set(from)) => to.copy_from(from),
            (Slot::Relation(to), Slot::Relation(from)) => to.copy_from(from),
            _ => unreachable!("kinds are checked while compiling"),
        }
        self.slots.put(to, slot);
    }

    fn compute(&mut self, program: &Program, id: NodeId) -> Result<(), Diagnostic> {
        let node = &program.nodes[id as usize];
        if let Op::Dynamic(index) = node.op {
            let thunk = program.dynamics[index].thunk.clone();
            let span = thunk.expr.span.clone();
            let slot = match (self.interpret(program, Value::Thunk(thunk))?, node.kind) {
                (Value::Set(set), Kind::Set) => Slot::Set(Arc::unwrap_or_clone(set)),
                (Value::Relation(relation), Kind::Relation) => Slot::Relation(Arc::unwrap_or_clone(relation)),
                (Value::Empty, Kind::Set) => Slot::Set(EventSet::empty(self.slots.len())),
                (Value::Empty, Kind::Relation) => Slot::Relation(Relation::empty(self.slots.len())),
                (Value::Universe, Kind::Set) => Slot::Set(EventSet::full(self.slots.len())),
                (Value::Universe, Kind::Relation) => Slot::Relation(Relation::full(self.slots.len())),
                (other, kind) => {
                    let message = format!("{kind:?} wanted here, found {}", other.describe());
                    return Err(Diagnostic::new(&span, message));
                }
            };
            self.slots.put(id, slot);
            return Ok(());
        }
        let mut slot = self.slots.take(id);
        match &mut slot {
            Slot::Set(out) => compute_set(&self.slots, &node.op, out),
            Slot::Relation(out) => compute_relation(&self.slots, &node.op, out),
            Slot::Vacant => unreachable!("no node is written twice at once"),
        }
        self.slots.put(id, slot);
        Ok(())
    }

    /// Evaluates what could not be compiled.
    fn interpret(&mut self, program: &Program, value: Value) -> Result<Value, Diagnostic> {
        let data = Data { slots: &self.slots, bases: &program.bases };
        let mut context = program.context.clone();
        let mut interp = Interp::new(Mode::Concrete(&data), &mut context);
        let result = match &value {
            Value::Thunk(thunk) => {
                let Thunk { expr, env } = &**thunk;
                interp.eval(env, expr).and_then(|value| interp.inspect(value))
            }
            _ => interp.inspect(value),
        };
        result.map_err(|stop| match stop {
            Stop::Error(diagnostic) => diagnostic,
            Stop::NeedsData => unreachable!("the data are at hand"),
        })
    }
}

fn compute_set(slots: &Slots, op: &Op, out: &mut EventSet) {
    match op {
        Op::Empty => out.reset(slots.len()),
        Op::Universe => {
            out.reset(slots.len());
            out.complement();
        }
        Op::Union(ids) => {
            out.copy_from(slots.set(ids[0]));
            ids[1..].iter().for_each(|&id| out.union_with(slots.set(id)));
        }
        &Op::Intersection(a, b) => {
            out.copy_from(slots.set(a));
            out.intersect_with(slots.set(b));
        }
        &Op::Difference(a, b) => {
            out.copy_from(slots.set(a));
            out.subtract(slots.set(b));
        }
        &Op::Complement(a) => {
            out.copy_from(slots.set(a));
            out.complement();
        }
        &Op::Domain(a) => slots.relation(a).domain_into(out),
        &Op::Range(a) => slots.relation(a).range_into(out),
        op => unreachable!("{op:?} makes no set"),
    }
}

fn compute_relation(slots: &Slots, op: &Op, out: &mut Relation) {
    match op {
        Op::Empty => out.reset(slots.len()),
        Op::Universe => {
            out.reset(slots.len());
            out.complement();
        }
        Op::Identity => {
            out.reset(slots.len());
            out.make_reflexive();
        }
        Op::Union(ids) => {
            out.copy_from(slots.relation(ids[0]));
            ids[1..].iter().for_each(|&id| out.union_with(slots.relation(id)));
        }
        &Op::Intersection(a, b) => {
            out.copy_from(slots.relation(a));
            out.intersect_with(slots.relation(b));
        }
        &Op::Difference(a, b) => {
            out.copy_from(slots.relation(a));
            out.subtract(slots.relation(b));
        }
        &Op::Complement(a) => {
            out.copy_from(slots.relation(a));
            out.complement();
        }
        &Op::Compose(a, b) => slots.relation(a).compose_into(slots.relation(b), out),
        &Op::Inverse(a) => slots.relation(a).inverse_into(out),
        &Op::Plus(a) => {
            out.copy_from(slots.relation(a));
            out.close();
        }
        &Op::Star(a) => {
            out.copy_from(slots.relation(a));
            out.close();
            out.make_reflexive();
        }
        &Op::Optional(a) => {
            out.copy_from(slots.relation(a));
            out.make_reflexive();
        }
        &Op::IdentityOn(set) => out.assign_identity_on(slots.set(set)),
        &Op::Product(from, to) => out.assign_product(slots.set(from), slots.set(to)),
        &Op::Restrict(r, from, to) => {
            out.copy_from(slots.relation(r));
            if let Some(from) = from {
                out.restrict_domain(slots.set(from));
            }
            if let Some(to) = to {
                out.restrict_range(slots.set(to));
            }
        }
        op => unreachable!("{op:?} makes no relation"),
    }
}
