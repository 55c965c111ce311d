//! A compiled model: what is computed when.
//!
//! Only what a test, a choice or a flag needs is scheduled. Stage 0 runs once for an event structure, stage 1 once
//! for each rf, stage 2 once for each co, stage 3 + i once for each value of the i-th further choice. A failing
//! test ends its stage at once. Flags come last, for consistent executions only.

mod facts;

use std::collections::HashMap;

use crate::{
    Diagnostic,
    ast::{Name, Require},
    interp::{Context, Interp, Mode},
    model::CatModel,
    node::*,
    statement::Statements,
    structure::Structure,
    symbolic::Builder,
    value::{Stop, Value},
};

pub struct Program {
    pub nodes: Vec<Node>,
    pub fixes: Vec<Fix>,
    pub choices: Vec<Choice>,
    pub dynamics: Vec<Dynamic>,
    pub tests: Vec<CompiledTest>,
    pub stages: Vec<Vec<Step>>,
    /// Flags and undefined behaviour.
    pub late: Vec<Step>,
    /// For each shown relation, how to compute it after a check.
    pub shown: Vec<Shown>,
    /// The same for what explains an execution, if the model has a name for it: [`EXPLAINING`].
    pub explaining: Vec<Shown>,
    pub bases: HashMap<Name, NodeId>,
    /// What the model, or else the structure, calls a node.
    pub names: HashMap<NodeId, Name>,
    pub context: Context,
    assumptions: Vec<(Name, Option<Kind>)>,
}

/// Relations that say which event another one is known to come before.
pub const EXPLAINING: [&str; 3] = ["hb", "sw", "ppo"];

pub enum Step {
    Node(NodeId),
    Fix(usize, Vec<Step>),
    Test(usize),
}

pub struct Shown {
    pub name: Name,
    pub node: NodeId,
    pub kind: Kind,
    pub steps: Vec<Step>,
}

impl Program {
    /// Compiles a model for executions that define the names that `structure` defines.
    pub fn compile(model: &CatModel, structure: &dyn Structure) -> Result<Program, Diagnostic> {
        let mut builder = Builder::new(structure, model.names());
        let mut context = Context { variants: model.variants().to_vec(), ..Context::default() };
        let mut statements = Statements::new(model);
        let mut interp = Interp::new(Mode::Symbolic(&mut builder), &mut context);
        for file in model.parts() {
            statements.run(&mut interp, &file.statements).map_err(|stop| match stop {
                Stop::Error(diagnostic) => diagnostic,
                Stop::NeedsData => Diagnostic::new(
                    &file.statements[0].span,
                    "a statement looks into a set of events, which only `with … from …` can do",
                ),
            })?;
        }
        let Statements { shown, named, .. } = statements;
        Ok(schedule(builder, context, shown, named))
    }

    /// Whether the compiled program fits an execution: it defines the same names.
    pub fn fits(&self, structure: &dyn Structure) -> bool {
        self.assumptions.iter().all(|(name, kind)| structure.kind(name) == *kind)
    }
}

fn schedule(
    builder: Builder<'_>,
    context: Context,
    shown: Vec<(Name, NodeId, Kind)>,
    named: Vec<(Name, NodeId)>,
) -> Program {
    let Builder { graph, tests, assumptions, bases, .. } = builder;
    let stages = 3 + graph.choices.len();
    let mut scheduler = Scheduler {
        graph: &graph,
        tests: &tests,
        stages: (0..stages).map(|_| Vec::new()).collect(),
        done: vec![false; graph.nodes.len()],
        fixed: vec![false; graph.fixes.len()],
        late: None,
    };
    let fatal = |test: &CompiledTest| matches!(test.require, Require::Check | Require::Assert);
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| fatal(test)) {
        match graph.fixes.iter().find(|fix| fix.when == Some(index)) {
            // The recursion makes the test itself.
            Some(fix) => scheduler.emit(fix.results[0], &mut None),
            None => {
                scheduler.emit(test.node, &mut None);
                scheduler.stages[stage(graph.mask(test.node))].push(Step::Test(index));
            }
        }
    }
    for choice in &graph.choices {
        choice.needs.iter().for_each(|&id| scheduler.emit(id, &mut None));
    }
    scheduler.late = Some(Vec::new());
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| !fatal(test)) {
        scheduler.emit(test.node, &mut None);
        scheduler.late.as_mut().expect("just set").push(Step::Test(index));
    }
    let late = scheduler.late.take().expect("just set");
    // Shown relations are computed on demand, each from what the stages have computed.
    let (done, fixed) = (scheduler.done.clone(), scheduler.fixed.clone());
    let mut show = |(name, node, kind): (Name, NodeId, Kind)| {
        (scheduler.done, scheduler.fixed) = (done.clone(), fixed.clone());
        scheduler.late = Some(Vec::new());
        scheduler.emit(node, &mut None);
        Shown { name, node, kind, steps: scheduler.late.take().expect("just set") }
    };
    let shown = shown.into_iter().map(&mut show).collect();
    let explaining = named.iter().filter(|(name, _)| EXPLAINING.contains(&&**name));
    let explaining = explaining.map(|(name, node)| show((name.clone(), *node, Kind::Relation))).collect();
    let stages = std::mem::take(&mut scheduler.stages);
    let bases: HashMap<Name, NodeId> = bases
        .into_iter()
        .filter_map(|(name, value)| match value {
            Some(Value::Node(id, _)) => Some((name, id)),
            _ => None,
        })
        .collect();
    // The first name stays: `let rb = fr` is fr.
    let mut names: HashMap<NodeId, Name> = HashMap::new();
    let given = bases.iter().map(|(name, id)| (name.clone(), *id));
    let mut given: Vec<(Name, NodeId)> = given.collect();
    given.sort();
    for (name, id) in given.into_iter().chain(named) {
        names.entry(id).or_insert(name);
    }
    let Graph { nodes, fixes, choices, dynamics, .. } = graph;
    Program {
        nodes,
        fixes,
        choices,
        dynamics,
        tests,
        stages,
        late,
        shown,
        explaining,
        bases,
        names,
        context,
        assumptions,
    }
}

struct Scheduler<'g> {
    graph: &'g Graph,
    tests: &'g [CompiledTest],
    stages: Vec<Vec<Step>>,
    done: Vec<bool>,
    fixed: Vec<bool>,
    /// Where to put steps that do not run at binding and belong to no stage.
    late: Option<Vec<Step>>,
}

impl Scheduler<'_> {
    /// Schedules a node after what it needs. `body` collects the steps of the current loop; what does not depend on
    /// the loop was scheduled before it.
    fn emit(&mut self, id: NodeId, body: &mut Option<Vec<Step>>) {
        if self.done[id as usize] {
            return;
        }
        self.done[id as usize] = true;
        let node = &self.graph.nodes[id as usize];
        match &node.op {
            &Op::FixResult(fix, _) => {
                if !std::mem::replace(&mut self.fixed[fix], true) {
                    self.emit_fix(fix, body);
                }
                return;
            }
            // Filled from outside.
            Op::Base(_) | Op::Rf | Op::Co | Op::Choice(_) | Op::FixVar(..) => return,
            Op::Dynamic(index) => {
                let needs = &self.graph.dynamics[*index].needs;
                needs.iter().for_each(|&need| self.emit(need, body));
            }
            op => {
                let mut needs = Vec::new();
                operands(op, |need| needs.push(need));
                needs.into_iter().for_each(|need| self.emit(need, body));
            }
        }
        self.push(Step::Node(id), node, body);
    }

    fn emit_fix(&mut self, fix: usize, body: &mut Option<Vec<Step>>) {
        let Fix { vars, bodies, when, .. } = &self.graph.fixes[fix];
        let roots: Vec<NodeId> =
            bodies.iter().copied().chain(when.map(|test| self.tests[test].node)).collect();
        for id in self.invariants(fix, &roots) {
            self.emit(id, body);
        }
        let mut steps = Some(Vec::new());
        roots.iter().for_each(|&root| self.emit(root, &mut steps));
        let result = &self.graph.nodes[vars[0] as usize];
        let outside = Node { fixes: result.fixes & !(1 << fix), ..result.clone() };
        self.push(Step::Fix(fix, steps.expect("just set")), &outside, body);
    }

    /// What the bodies of a recursive definition use that does not depend on its variables.
    fn invariants(&self, fix: usize, roots: &[NodeId]) -> Vec<NodeId> {
        let (mut found, mut stack) = (Vec::new(), roots.to_vec());
        let mut seen = vec![false; self.graph.nodes.len()];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            let node = self.graph.node(id);
            if node.fixes >> fix & 1 == 0 {
                found.push(id);
                continue;
            }
            match &node.op {
                Op::FixResult(inner, _) => {
                    let inner = &self.graph.fixes[*inner];
                    stack.extend(&inner.bodies);
                    stack.extend(inner.when.map(|test| self.tests[test].node));
                }
                Op::Dynamic(index) => stack.extend(&self.graph.dynamics[*index].needs),
                op => operands(op, |need| stack.push(need)),
            }
        }
        found.sort_unstable();
        found
    }

    fn push(&mut self, step: Step, node: &Node, body: &mut Option<Vec<Step>>) {
        match (body, &mut self.late) {
            (Some(body), _) if node.fixes != 0 => body.push(step),
            (_, Some(late)) if node.mask != 0 => late.push(step),
            _ => self.stages[stage(node.mask)].push(step),
        }
    }
}
