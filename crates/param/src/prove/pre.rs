//! Pre-images of a cube: substitution, no quantifier elimination, no primed variables.
//!
//! For each rule and each choice of its processes (those of the cube and fresh ones), every variable of the
//! cube is replaced by what it was before the step, the guard is added, and under a weak model the step's
//! events are put in front of the cube's and each read that a new write could serve is decided.
//! Universal guards are instantiated over the processes at hand: an over-approximation, as in Cubicle.
//!
//! A cube with k interchangeable processes ([`Cube::twins`]) would have exponentially many predecessors by an update of
//! a whole array, most of them renamings of others. Of those that differ by swapping twins only the least choice is
//! followed, as symmetry breaking does for SAT (Crawford et al., KR 1996). Everything here commutes with renaming
//! processes, so nothing is lost.

use super::compile::*;
use super::cube::*;
use super::facts::Facts;
use super::literal::*;
use super::weak::*;
use super::work::Work;
use crate::Memory;
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

/// Why the predecessors are not all known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Processes,
    Nodes,
    /// More than [`MAX_WAYS`] ways for one step.
    Predecessors,
    /// [`Work`] says why.
    Stopped,
}

impl Overflow {
    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Overflow::Processes => "a cube needs more than 16 processes",
            Overflow::Nodes => "a cube waits for more than 32 reads",
            Overflow::Predecessors => "a step has more than 200,000 ways to lead to a cube",
            Overflow::Stopped => "stopped", // the work is over, and its limit says why
        }
    }
}

/// Scenarios, choices of a universal guard, or predecessors: what is kept in memory at once.
const MAX_WAYS: usize = 200_000;
/// Scenarios beyond which the impossible ones are weeded out before all cells are decided.
const MANY_SCENARIOS: usize = 8;

/// All predecessors of `cube` that are not evidently part of it, up to swapping twins.
pub fn predecessors(
    compiled: &Compiled<'_>,
    edges: &dyn Edges,
    cube: &Cube,
    work: &Work<'_>,
) -> Result<Vec<Predecessor>, Overflow> {
    let twins = if compiled.system.named { (0..cube.procs).collect() } else { cube.twins() };
    predecessors_up_to(twins, compiled, edges, cube, work)
}

/// The same for given twins.
pub fn predecessors_up_to(
    twins: Vec<u8>,
    compiled: &Compiled<'_>,
    edges: &dyn Edges,
    cube: &Cube,
    work: &Work<'_>,
) -> Result<Vec<Predecessor>, Overflow> {
    let named = compiled.system.named;
    let vars = cube.vars();
    let mut image = Image { compiled, edges, cube, vars, twins, work, found: Vec::new(), overflow: None };
    let max = compiled.system.number_procs.unwrap_or(MAX_PROCS).min(MAX_PROCS);
    let open = Conjunction::default();
    for rule in &compiled.rules {
        environments(rule.params, &open, cube.procs, named, max, &mut |env, procs| {
            if image.leads(&env[..rule.params]) && image.spend(1) {
                image.instance(&Instance { rule, guard: &open, env: *env, procs }, max);
            }
        });
        // A fresh process that would not fit is a limit, not an absence.
        if !named
            && compiled.system.number_procs.is_none()
            && cube.procs as usize + rule.params > MAX_PROCS as usize
        {
            image.overflow.get_or_insert(Overflow::Processes);
        }
    }
    match image.overflow {
        Some(overflow) => Err(overflow),
        None => Ok(image.found),
    }
}

struct Image<'a> {
    compiled: &'a Compiled<'a>,
    edges: &'a dyn Edges,
    cube: &'a Cube,
    vars: Vec<Var>,
    /// [`Cube::twins`].
    twins: Vec<u8>,
    work: &'a Work<'a>,
    found: Vec<Predecessor>,
    overflow: Option<Overflow>,
}

/// A rule with its processes, and how many there are then.
#[derive(Clone)]
struct Instance<'a> {
    rule: &'a Rule,
    guard: &'a Conjunction,
    env: [u8; 16],
    procs: u8,
}

/// One way for the updates to go.
#[derive(Clone, Default)]
struct Scenario {
    /// The alternative of each cell that may change.
    picks: Vec<u8>,
    conditions: Vec<Literal>,
    /// Old variables and what they were.
    substitution: Vec<(Var, Operand)>,
    /// Locations written through memory events, with the value where a read waits for it.
    writes: Vec<(Var, Option<Operand>)>,
}

/// A cell of the cube that an instance may change: the number of the update, the cell, what may become of it.
type Point = (usize, Var, Vec<(Vec<Literal>, Option<Operand>)>);

/// Two twins that take no part in an instance, what swapping them makes of the points of its scenarios, and of the
/// nodes. Of the scenarios and choices that differ by the swap, only the least is followed.
struct Swap {
    twins: (u8, u8),
    points: Vec<usize>,
    nodes: Vec<u8>,
}

impl Image<'_> {
    /// Counts work; `false` if it is over.
    fn spend(&mut self, steps: usize) -> bool {
        let go_on = self.work.spend(steps as u64);
        if !go_on {
            self.overflow = Some(Overflow::Stopped);
        }
        go_on && self.overflow != Some(Overflow::Predecessors)
    }

    /// Whether so many ways can be kept.
    fn fits(&mut self, ways: usize) -> bool {
        if ways > MAX_WAYS {
            self.overflow = Some(Overflow::Predecessors);
        }
        ways <= MAX_WAYS
    }

    /// Whether each process of the cube is the first of its twins that is not taken.
    fn leads(&self, procs: &[u8]) -> bool {
        procs.iter().enumerate().all(|(at, process)| {
            *process >= self.cube.procs
                || (0..*process).all(|other| {
                    self.twins[other as usize] != self.twins[*process as usize]
                        || procs[..at].contains(&other)
                })
        })
    }

    fn instance(&mut self, instance: &Instance<'_>, max: u8) {
        let rule = instance.rule;
        let Some((scenarios, swaps)) = self.scenarios(instance) else { return };
        for guard in &rule.guards {
            // The parameters are fixed; the existentials of this disjunct are chosen now.
            let mut choices = Vec::new();
            let named = self.compiled.system.named;
            extend_environment(&instance.env, guard, instance.procs, named, max, &mut |env, procs| {
                choices.push((*env, procs))
            });
            for (env, procs) in choices {
                let chosen = Instance { rule, guard, env, procs };
                let Some(literals) = instantiate(self.compiled, &guard.literals, &env) else { continue };
                for scenario in &scenarios {
                    let mut base = literals.clone();
                    base.extend(scenario.conditions.iter().cloned());
                    for guard in self.universals(guard, &env, procs, base) {
                        self.memory_choices(&chosen, scenario, &swaps, &guard);
                    }
                    if !self.spend(1) {
                        return;
                    }
                }
            }
        }
    }

    /// The cells of the cube that the updates may change, and a scenario with the writes that no read of the
    /// cube waits for.
    fn points(&self, instance: &Instance<'_>) -> (Scenario, Vec<Point>) {
        let Instance { rule, env, procs, .. } = instance;
        let mut first = Scenario::default();
        let mut points: Vec<Point> = Vec::new();
        for (number, effect) in rule.updates.iter().enumerate() {
            if effect.weak {
                for location in cells(effect, env, *procs) {
                    let wanted =
                        self.vars.iter().any(|var| var.node().is_some() && var.location() == location);
                    let alternatives = alternatives(self.compiled, effect, location, env);
                    if wanted {
                        points.push((number, location, alternatives));
                    } else if alternatives.iter().all(|(_, value)| value.is_some()) {
                        first.writes.push((location, None));
                    }
                }
            } else {
                let own = |var: &&Var| var.symbol() == effect.symbol && var.node().is_none();
                for &var in self.vars.iter().filter(own) {
                    if matches(effect, var, env) {
                        points.push((number, var, alternatives(self.compiled, effect, var, env)));
                    }
                }
            }
        }
        (first, points)
    }

    /// What the updates do to the cube, up to swapping twins; `None` if they do nothing to it.
    fn scenarios(&mut self, instance: &Instance<'_>) -> Option<(Vec<Scenario>, Vec<Swap>)> {
        let Instance { rule, env, .. } = instance;
        let (first, points) = self.points(instance);
        let touches = |(.., alternatives): &Point| alternatives.iter().any(|(_, value)| value.is_some());
        if !points.iter().any(touches) {
            return None;
        }
        let swaps = self.swaps(&env[..rule.params], &points);
        let mut scenarios = vec![first];
        for (at, (number, cell, alternatives)) in points.iter().enumerate() {
            if !self.fits(scenarios.len() * alternatives.len()) {
                return None;
            }
            let weak = rule.updates[*number].weak;
            scenarios = multiply(&scenarios, alternatives, |scenario, value| {
                let Some(value) = value else { return };
                if weak {
                    scenario.writes.push((*cell, Some(value.clone())));
                } else {
                    scenario.substitution.push((*cell, value.clone()));
                }
            });
            scenarios.retain(|scenario| swaps.iter().all(|swap| is_least(&scenario.picks, &swap.points)));
            if !self.spend(scenarios.len()) {
                return None;
            }
            if scenarios.len() > MANY_SCENARIOS {
                self.retain_possible(&mut scenarios, &points[at + 1..]);
            }
        }
        Some((scenarios, swaps))
    }

    /// Drops scenarios that contradict what the cube says of cells other than those left and of reads.
    fn retain_possible(&mut self, scenarios: &mut Vec<Scenario>, left: &[Point]) {
        let open = |var: Var| var.node().is_some() || left.iter().any(|(_, cell, _)| *cell == var);
        let decided: Vec<Literal> =
            self.cube.literals.iter().filter(|literal| !literal.mentions(open)).cloned().collect();
        scenarios.retain(|scenario| {
            self.spend(decided.len() + scenario.conditions.len())
                && substitute(self.compiled, &decided, &scenario.substitution).is_some_and(|mut literals| {
                    literals.extend(scenario.conditions.iter().cloned());
                    tidy(self.compiled, literals)
                        .is_some_and(|literals| Facts::new(&literals, &self.compiled.domains).is_some())
                })
        });
    }

    /// The twins next to each other among those that take no part.
    fn swaps(&self, taken: &[u8], points: &[Point]) -> Vec<Swap> {
        let mut swaps = Vec::new();
        for b in (0..self.cube.procs).filter(|b| !taken.contains(b)) {
            let twin = |a: &u8| self.twins[*a as usize] == self.twins[b as usize] && !taken.contains(a);
            let Some(a) = (0..b).rev().find(twin) else { continue };
            let image = |(number, cell, _): &Point| {
                let cell = cell.map(|p| swapped(a, b, p), |n| n);
                points.iter().position(|(n, c, _)| n == number && *c == cell)
            };
            if let Some(points) = points.iter().map(image).collect() {
                swaps.push(Swap { twins: (a, b), points, nodes: self.cube.swapped_nodes(a, b) });
            }
        }
        swaps
    }

    /// The guard with its universal part spelled out, one conjunction per choice of disjuncts.
    fn universals(
        &mut self,
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
                    if !self.spend(1 + set.len() * bodies.len()) || !self.fits(next.len()) {
                        return Vec::new();
                    }
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
        instance: &Instance<'_>,
        scenario: &Scenario,
        swaps: &[Swap],
        guard: &[Literal],
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
        // Swaps that change the scenario have been accounted for.
        let swaps = swaps
            .iter()
            .filter(|swap| {
                swap.points.iter().zip(&scenario.picks).all(|(to, pick)| scenario.picks[*to] == *pick)
            })
            .filter_map(|swap| {
                let image = |(node, location, _): &(u8, Var, Option<Operand>)| {
                    let location = location.map(|p| swapped(swap.twins.0, swap.twins.1, p), |n| n);
                    hits.iter().position(|(n, l, _)| *n == swap.nodes[*node as usize] && *l == location)
                };
                hits.iter().map(image).collect()
            })
            .collect();
        let mut choices =
            Choices { instance, scenario, guard, written, hits, swaps, picks: Vec::new(), made: Vec::new() };
        self.choose(&mut choices);
    }

    fn choose(&mut self, choices: &mut Choices<'_>) {
        let rule = choices.instance.rule;
        let Some((node, location, value)) = choices.hits.get(choices.made.len()).cloned() else {
            return self.finish(choices);
        };
        let thread = rule.acting.map_or(0, |slot| choices.instance.env[slot as usize]);
        let reader = self.cube.weak.nodes[node as usize].thread;
        let written = choices.written.clone();
        let drains = rule.locked && !self.edges.happens_before();
        let event = NewEvent { thread, writes: &written, reads: &[], drains, locked: rule.locked };
        for (pick, &choice) in self.edges.choices(&event, location, reader).iter().enumerate() {
            if !self.spend(1 + choices.made.len()) {
                return;
            }
            choices.made.push((node, location, choice));
            choices.picks.push(pick as u8);
            let fits = choice != Choice::Reads || self.may_be(location.read_by(node), value.as_ref());
            if fits
                && choices.swaps.iter().all(|image| is_least(&choices.picks, image))
                && self.cube.weak.sides(self.edges, &event, &choices.made).is_some()
            {
                self.choose(choices);
            }
            choices.made.pop();
            choices.picks.pop();
        }
    }

    /// Whether the cube allows the value, as far as one literal says.
    fn may_be(&self, read: Var, value: Option<&Operand>) -> bool {
        let Some(Operand::Enum(value)) = value else { return true };
        !(self.cube.literals.iter())
            .any(|literal| matches!(literal, Literal::In(var, set) if *var == read && set >> value & 1 == 0))
    }

    /// The predecessor under one choice of everything.
    fn finish(&mut self, choices: &Choices<'_>) {
        let Choices { instance, scenario, guard, written, hits, made, .. } = choices;
        let Instance { rule, guard: conjunction, env, procs } = instance;
        let mut substitution = scenario.substitution.clone();
        for ((node, location, choice), (.., value)) in made.iter().zip(hits) {
            if *choice == Choice::Reads {
                substitution.push((location.read_by(*node), value.clone().unwrap_or(Operand::Any)));
            }
        }
        if !self.spend(self.cube.literals.len() * (1 + substitution.len()) + guard.len()) {
            return;
        }
        let Some(mut literals) = substitute(self.compiled, &self.cube.literals, &substitution) else {
            return;
        };
        literals.extend(guard.iter().cloned());
        literals.extend(self.compiled.laws.before(self.compiled, &literals, conjunction, env, *procs));
        let mut weak = self.cube.weak.clone();
        if self.compiled.memory != Memory::Sc
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
            // A fence beside a buffered write, and under release–acquire any fence, is an event before the step's own.
            let apart = self.edges.happens_before() || !(written.is_empty() || rule.locked);
            let drains = (rule.locked || rule.fence && !apart) && !self.edges.happens_before();
            let locked = rule.locked && !written.is_empty();
            let event = NewEvent { thread, writes: written, reads: &reads, drains, locked };
            let extended = if written.is_empty() && reads.is_empty() && !drains {
                Some(weak)
            } else {
                weak.extend(self.edges, &event, made)
            };
            let extended = if rule.fence && apart {
                let fence = NewEvent { thread, writes: &[], reads: &[], drains: true, locked: false };
                extended.and_then(|weak| weak.extend(self.edges, &fence, &[]))
            } else {
                extended
            };
            let Some(extended) = extended else { return };
            weak = extended;
            if weak.nodes.len() > MAX_NODES {
                self.overflow.get_or_insert(Overflow::Nodes);
                return;
            }
            let new = self.cube.weak.nodes.len() as u8;
            for literal in &mut literals {
                *literal = literal.map(|p| p, |node| if node == NEW_NODE { new } else { node });
            }
        }
        let Some((cube, rename)) = Cube::normalise(self.compiled, literals, weak, *procs) else { return };
        if !self.fits(self.found.len()) {
            return;
        }
        self.found.push(Predecessor {
            cube,
            transition: rule.transition,
            procs: env[..rule.params].to_vec(),
            rename,
        });
    }
}

/// The choices for the reads that a scenario's writes could serve, being made one after the other.
struct Choices<'a> {
    instance: &'a Instance<'a>,
    scenario: &'a Scenario,
    guard: &'a [Literal],
    written: Vec<Var>,
    /// The reads: node, location, and the value if it matters.
    hits: Vec<(u8, Var, Option<Operand>)>,
    /// What swapping twins makes of the reads.
    swaps: Vec<Vec<usize>>,
    picks: Vec<u8>,
    made: Vec<(u8, Var, Choice)>,
}

/// Whether the picks so far may become the lexicographically least of themselves and their image.
fn is_least(picks: &[u8], image: &[usize]) -> bool {
    for (pick, to) in picks.iter().zip(image) {
        match picks.get(*to) {
            None => return true, // not yet known
            Some(other) if pick != other => return pick < other,
            Some(_) => {}
        }
    }
    true
}

/// The alternatives for one cell, conditions instantiated and the impossible ones left out.
pub fn alternatives(
    compiled: &Compiled<'_>,
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
            let conditions = instantiate(compiled, conditions, &env)?;
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
pub fn matches(effect: &Effect, cell: Var, env: &[u8; 16]) -> bool {
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
        for (pick, (conditions, value)) in alternatives.iter().enumerate() {
            let mut next = scenario.clone();
            next.picks.push(pick as u8);
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
