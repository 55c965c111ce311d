//! Pre-images of a cube: substitution, no quantifier elimination, no primed variables.
//!
//! For each rule and each choice of its processes (those of the cube and fresh ones), every variable of the
//! cube is replaced by what it was before the step, the guard is added, and under a weak model the step's
//! events are put in front of the cube's and each read that a new write could serve is decided.
//! Universal guards are instantiated over the processes at hand: an over-approximation, as in Cubicle.

use super::compile::*;
use super::cube::*;
use super::facts::Facts;
use super::literal::*;
use super::weak::*;
use crate::Model;
use crate::system::Index;

/// A predecessor: the cube, and the step that leads from it.
pub struct Predecessor {
    pub cube: Cube,
    pub transition: usize,
    /// The processes of the transition, in the numbering of the *old* cube and its fresh processes.
    pub procs: Vec<u8>,
    /// From that numbering to that of `cube`.
    pub rename: Vec<u8>,
}

/// Some part of the search space could not be represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Processes,
    Nodes,
}

/// All predecessors of `cube` that are not evidently part of it.
pub fn predecessors(
    compiled: &Compiled<'_>,
    memory: &dyn Memory,
    cube: &Cube,
) -> Result<Vec<Predecessor>, Overflow> {
    let mut image = Image { compiled, memory, cube, vars: cube.vars(), found: Vec::new(), overflow: None };
    let named = compiled.system.named;
    let max = compiled.system.number_procs.unwrap_or(MAX_PROCS).min(MAX_PROCS);
    for rule in &compiled.rules {
        environments(rule.params, &Conjunction::default(), cube.procs, named, max, &mut |env, procs| {
            image.instance(rule, env, procs, max);
        });
        // A fresh process that would not fit is a limit, not an absence.
        if !named
            && compiled.system.number_procs.is_none()
            && cube.procs as usize + rule.params > MAX_PROCS as usize
        {
            image.overflow = Some(Overflow::Processes);
        }
    }
    match image.overflow {
        Some(overflow) => Err(overflow),
        None => Ok(image.found),
    }
}

struct Image<'a> {
    compiled: &'a Compiled<'a>,
    memory: &'a dyn Memory,
    cube: &'a Cube,
    vars: Vec<Var>,
    found: Vec<Predecessor>,
    overflow: Option<Overflow>,
}

/// One way for the updates to go.
#[derive(Clone, Default)]
struct Scenario {
    conditions: Vec<Literal>,
    /// Old variables and what they were.
    substitution: Vec<(Var, Operand)>,
    /// Locations written through memory events, with the value where a read waits for it.
    writes: Vec<(Var, Option<Operand>)>,
}

impl Image<'_> {
    fn instance(&mut self, rule: &Rule, env: &[u8; 16], procs: u8, max: u8) {
        let Some(scenarios) = self.scenarios(rule, env, procs) else { return };
        let params = rule.params;
        for guard in &rule.guards {
            // The parameters are fixed; the existentials of this disjunct are chosen now.
            let mut choices = Vec::new();
            extend_environment(env, guard, procs, self.compiled.system.named, max, &mut |env, procs| {
                choices.push((*env, procs))
            });
            for (env, procs) in choices {
                let Some(literals) = instantiate(self.compiled, &guard.literals, &env) else { continue };
                for scenario in &scenarios {
                    let mut base = literals.clone();
                    base.extend(scenario.conditions.iter().cloned());
                    for guard in self.universals(guard, &env, procs, base) {
                        self.memory_choices(rule, &env, procs, scenario, guard, params);
                    }
                }
            }
        }
    }

    /// What the updates do to the cube; `None` if they do nothing to it.
    fn scenarios(&self, rule: &Rule, env: &[u8; 16], procs: u8) -> Option<Vec<Scenario>> {
        let mut scenarios = vec![Scenario::default()];
        let mut touched = false;
        for effect in &rule.updates {
            if effect.weak {
                for location in cells(effect, env, procs) {
                    let wanted =
                        self.vars.iter().any(|var| var.node().is_some() && var.location() == location);
                    let alternatives = self.alternatives(effect, location, env);
                    if wanted {
                        touched |= alternatives.iter().any(|(_, value)| value.is_some());
                        scenarios = multiply(&scenarios, &alternatives, |scenario, value| {
                            if let Some(value) = value {
                                scenario.writes.push((location, Some(value.clone())));
                            }
                        });
                    } else if alternatives.iter().all(|(_, value)| value.is_some()) {
                        scenarios.iter_mut().for_each(|scenario| scenario.writes.push((location, None)));
                    }
                }
            } else {
                for &var in
                    self.vars.iter().filter(|var| var.symbol() == effect.symbol && var.node().is_none())
                {
                    if !matches(effect, var, env) {
                        continue;
                    }
                    let alternatives = self.alternatives(effect, var, env);
                    touched |= alternatives.iter().any(|(_, value)| value.is_some());
                    scenarios = multiply(&scenarios, &alternatives, |scenario, value| {
                        if let Some(value) = value {
                            scenario.substitution.push((var, value.clone()));
                        }
                    });
                }
            }
        }
        touched.then_some(scenarios)
    }

    /// The alternatives for one cell, conditions instantiated and the impossible ones left out.
    fn alternatives(
        &self,
        effect: &Effect,
        cell: Var,
        env: &[u8; 16],
    ) -> Vec<(Vec<Literal>, Option<Operand>)> {
        let mut env = *env;
        for (index, process) in effect.pattern.iter().zip(cell.indices()) {
            if let Index::Bound(slot) = index {
                env[*slot as usize] = process;
            }
        }
        let rename = |var: Var| var.map(|slot| resolve(slot, &env), |node| node);
        (effect.alternatives.iter())
            .filter_map(|(conditions, value)| {
                let conditions = instantiate(self.compiled, conditions, &env)?;
                let value = value.as_ref().map(|value| match value {
                    Operand::Var(var) => Operand::Var(rename(*var)),
                    Operand::Linear(terms, constant) => {
                        Operand::Linear(terms.iter().map(|(var, k)| (rename(*var), *k)).collect(), *constant)
                    }
                    Operand::Enum(_) | Operand::Any => value.clone(),
                });
                Some((conditions, value))
            })
            .collect()
    }

    /// The guard with its universal part spelled out, one conjunction per choice of disjuncts.
    fn universals(
        &self,
        guard: &Conjunction,
        env: &[u8; 16],
        procs: u8,
        base: Vec<Literal>,
    ) -> Vec<Vec<Literal>> {
        let Some(base) = tidy(self.compiled, base) else { return Vec::new() };
        let mut sets = vec![base];
        for universal in &guard.universals {
            for process in 0..procs {
                if universal.excluded.iter().any(|other| resolve(*other, env) == process) {
                    continue;
                }
                let mut env = *env;
                env[universal.slot as usize] = process;
                let bodies: Vec<_> = (universal.body.iter())
                    .filter_map(|body| instantiate(self.compiled, body, &env))
                    .collect();
                let mut next = Vec::new();
                for set in sets {
                    if bodies.len() > 1
                        && let Some(facts) = Facts::new(&set, &self.compiled.domains)
                        && bodies.iter().any(|body| body.iter().all(|literal| facts.implies(literal)))
                    {
                        next.push(set); // the universal holds already
                        continue;
                    }
                    for body in &bodies {
                        let joined = set.iter().chain(body).cloned().collect();
                        next.extend(
                            tidy(self.compiled, joined)
                                .filter(|set| Facts::new(set, &self.compiled.domains).is_some()),
                        );
                    }
                }
                sets = next;
            }
        }
        sets
    }

    /// Decides, for each waiting read of a written location, whether it takes the new write.
    fn memory_choices(
        &mut self,
        rule: &Rule,
        env: &[u8; 16],
        procs: u8,
        scenario: &Scenario,
        guard: Vec<Literal>,
        params: usize,
    ) {
        let mut hits: Vec<(u8, Var, Option<Operand>)> = Vec::new();
        for (location, value) in &scenario.writes {
            for var in self.vars.iter().filter(|var| var.location() == *location) {
                if let Some(node) = var.node() {
                    hits.push((node, *location, value.clone()));
                }
            }
        }
        let written: Vec<Var> = scenario.writes.iter().map(|(location, _)| *location).collect();
        let thread = rule.acting.map_or(0, |slot| env[slot as usize]);
        let event =
            NewEvent { thread, writes: &written, reads: &[], drains: rule.locked, locked: rule.locked };
        let options: Vec<&[Choice]> = (hits.iter())
            .map(|(node, location, _)| {
                self.memory.choices(&event, *location, self.cube.weak.nodes[*node as usize].thread)
            })
            .collect();
        let mut picked = vec![0; hits.len()];
        loop {
            let choices: Vec<(u8, Var, Choice)> = hits
                .iter()
                .zip(&options)
                .zip(&picked)
                .map(|((hit, options), at)| (hit.0, hit.1, options[*at]))
                .collect();
            let mut substitution = scenario.substitution.clone();
            for ((node, location, choice), (.., value)) in choices.iter().zip(&hits) {
                if *choice == Choice::Reads {
                    substitution.push((location.read_by(*node), value.clone().unwrap_or(Operand::Any)));
                }
            }
            self.finish(rule, env, procs, &written, &choices, &substitution, &guard, params);
            // The next combination, like an odometer.
            let Some(at) = (0..picked.len()).find(|&at| picked[at] + 1 < options[at].len()) else { break };
            picked[at] += 1;
            picked[..at].fill(0);
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the last step of one choice; the arguments are that choice"
    )]
    fn finish(
        &mut self,
        rule: &Rule,
        env: &[u8; 16],
        procs: u8,
        written: &[Var],
        choices: &[(u8, Var, Choice)],
        substitution: &[(Var, Operand)],
        guard: &[Literal],
        params: usize,
    ) {
        let Some(mut literals) = substitute(self.compiled, &self.cube.literals, substitution) else { return };
        literals.extend(guard.iter().cloned());
        let mut weak = self.cube.weak.clone();
        if self.compiled.model != Model::Sc
            && let Some(slot) = rule.acting
        {
            let mut reads: Vec<Var> = Vec::new();
            for literal in &literals {
                literal.vars(&mut |var| {
                    if var.node() == Some(NEW_NODE) && !reads.contains(&var.location()) {
                        reads.push(var.location());
                    }
                });
            }
            let thread = env[slot as usize];
            let extended = if written.is_empty() {
                let drains = rule.fence || rule.locked;
                let event = NewEvent { thread, writes: &[], reads: &reads, drains, locked: false };
                if reads.is_empty() && !drains { Some(weak) } else { weak.extend(self.memory, &event, &[]) }
            } else {
                let event = NewEvent {
                    thread,
                    writes: written,
                    reads: &reads,
                    drains: rule.locked,
                    locked: rule.locked,
                };
                let extended = weak.extend(self.memory, &event, choices);
                if rule.fence && !rule.locked {
                    let fence = NewEvent { thread, writes: &[], reads: &[], drains: true, locked: false };
                    extended.and_then(|weak| weak.extend(self.memory, &fence, &[]))
                } else {
                    extended
                }
            };
            let Some(extended) = extended else { return };
            weak = extended;
            if weak.nodes.len() > MAX_NODES {
                self.overflow = Some(Overflow::Nodes);
                return;
            }
            let new = self.cube.weak.nodes.len() as u8;
            for literal in &mut literals {
                *literal = literal.map(|p| p, |node| if node == NEW_NODE { new } else { node });
            }
        }
        let Some((cube, rename)) = Cube::normalise(self.compiled, literals, weak, procs) else { return };
        self.found.push(Predecessor {
            cube,
            transition: rule.transition,
            procs: env[..params].to_vec(),
            rename,
        });
    }
}

/// The cells that an effect may write, over `procs` processes.
fn cells(effect: &Effect, env: &[u8; 16], procs: u8) -> Vec<Var> {
    let mut cells: Vec<Vec<u8>> = vec![Vec::new()];
    for index in &effect.pattern {
        let choices: Vec<u8> = match index {
            Index::Fixed(crate::system::Proc::Slot(slot)) => vec![env[*slot as usize]],
            Index::Fixed(crate::system::Proc::Const(n)) => vec![*n],
            Index::Bound(_) => (0..procs).collect(),
        };
        cells = cells
            .iter()
            .flat_map(|cell| choices.iter().map(|p| cell.iter().copied().chain([*p]).collect()))
            .collect();
    }
    cells.iter().map(|cell| Var::cell(effect.symbol, cell)).collect()
}

/// Whether the effect's pattern covers the cell.
fn matches(effect: &Effect, cell: Var, env: &[u8; 16]) -> bool {
    effect.pattern.iter().zip(cell.indices()).all(|(index, process)| match index {
        Index::Fixed(crate::system::Proc::Slot(slot)) => env[*slot as usize] == process,
        Index::Fixed(crate::system::Proc::Const(n)) => *n == process,
        Index::Bound(_) => true,
    })
}

fn multiply(
    scenarios: &[Scenario],
    alternatives: &[(Vec<Literal>, Option<Operand>)],
    apply: impl Fn(&mut Scenario, Option<&Operand>),
) -> Vec<Scenario> {
    let mut result = Vec::with_capacity(scenarios.len() * alternatives.len());
    for scenario in scenarios {
        for (conditions, value) in alternatives {
            let mut next = scenario.clone();
            for condition in conditions {
                if !next.conditions.contains(condition) {
                    next.conditions.push(condition.clone());
                }
            }
            apply(&mut next, value.as_ref());
            result.push(next);
        }
    }
    result
}

fn extend_environment(
    env: &[u8; 16],
    guard: &Conjunction,
    procs: u8,
    closed: bool,
    max: u8,
    visit: &mut impl FnMut(&[u8; 16], u8),
) {
    if guard.existentials.is_empty() {
        return visit(env, procs);
    }
    // Existentials only: the parameters keep their places in the environment.
    fn choose(
        at: usize,
        guard: &Conjunction,
        procs: u8,
        closed: bool,
        max: u8,
        env: &mut [u8; 16],
        visit: &mut impl FnMut(&[u8; 16], u8),
    ) {
        let Some((slot, excluded)) = guard.existentials.get(at) else { return visit(env, procs) };
        let end = if closed || procs >= max { procs } else { procs + 1 };
        for process in 0..end {
            if !excluded.iter().any(|other| resolve(*other, env) == process) {
                env[*slot as usize] = process;
                choose(at + 1, guard, procs.max(process + 1), closed, max, env, visit);
            }
        }
    }
    choose(0, guard, procs, closed, max, &mut env.clone(), visit);
}

/// All replacements at once; `None` if a literal becomes false.
fn substitute(
    compiled: &Compiled<'_>,
    literals: &[Literal],
    substitution: &[(Var, Operand)],
) -> Option<Vec<Literal>> {
    let mut current: Vec<Literal> = literals.to_vec();
    // First to placeholders, which no operand mentions, then to the operands.
    let placeholders =
        substitution.iter().enumerate().map(|(i, (var, _))| (*var, Operand::Var(Var::placeholder(i))));
    let operands = substitution.iter().enumerate().map(|(i, (_, by))| (Var::placeholder(i), by.clone()));
    for (var, by) in placeholders.chain(operands) {
        if by == Operand::Any {
            current = forget(compiled, current, var)?;
            continue;
        }
        let mut next = Vec::with_capacity(current.len());
        for literal in &current {
            match literal.substitute(var, &by, compiled.full()) {
                Simplified::True => {}
                Simplified::False => return None,
                Simplified::Literal(literal) => next.push(literal),
            }
        }
        current = next;
    }
    Some(current)
}

/// ∃ var: through an equality if there is one, else by dropping what mentions it.
fn forget(compiled: &Compiled<'_>, literals: Vec<Literal>, var: Var) -> Option<Vec<Literal>> {
    let facts = Facts::new(&literals, &compiled.domains)?;
    if let Some(other) = facts.equals(var).next() {
        let mut result = Vec::new();
        for literal in &literals {
            match literal.substitute(var, &Operand::Var(other), compiled.full()) {
                Simplified::True => {}
                Simplified::False => return None,
                Simplified::Literal(literal) => result.push(literal),
            }
        }
        return Some(result);
    }
    Some(literals.into_iter().filter(|literal| !literal.mentions(|v| v == var)).collect())
}
