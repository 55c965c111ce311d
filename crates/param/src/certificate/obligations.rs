//! The obligations of a certificate, as SMT-LIB.
//!
//! Every obligation is over finitely many named processes (those of the cube, of the transition and of its
//! quantifiers), so it is ground. Universal guards are weakened to the processes at hand, which only adds
//! steps. Under a weak model the step's events are put in front of the cube's reads: which read takes the
//! new write, and what then reaches what, are propositional variables and definitions that the solver sees.

use super::Certificate;
use super::choices::{all_environments, injections, placements, quantifiers};
use super::format_smt::{Names, formula, term};
use super::known::Known;
use crate::Model;
use crate::prove::Cube;
use crate::prove::literal::{Lin, LinOp, Literal, Var};
use crate::prove::weak::{Entry, Order};
use crate::syntax::Diagnostic;
use crate::system::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub struct Script {
    pub text: String,
    /// What each `check-sat` is about, in order; all must be unsatisfiable.
    pub obligations: Vec<String>,
}

impl Script {
    /// Reads the solver's answers.
    pub fn judge(&self, output: &str) -> Result<(), String> {
        let answers: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        for (obligation, answer) in self.obligations.iter().zip(&answers) {
            if *answer != "unsat" {
                return Err(format!("{obligation}: the solver says `{answer}`"));
            }
        }
        if answers.len() != self.obligations.len() {
            return Err(format!("{} answers to {} obligations", answers.len(), self.obligations.len()));
        }
        Ok(())
    }
}

/// All obligations of the certificate.
pub fn smt(system: &System, certificate: &Certificate) -> Result<Script, Diagnostic> {
    let weak = system.has_weak() && certificate.model != Model::Sc;
    if weak && let Some(error) = system.weak_errors.first() {
        return Err(error.clone());
    }
    let racy: Vec<bool> = (0..system.symbols.len()).map(|symbol| is_racy(system, symbol)).collect();
    // Under PSO co follows the other order only if no location is racy.
    let issue_order =
        certificate.order == Order::Issue || (certificate.model == Model::Pso && racy.contains(&true));
    let mut writer = Writer {
        system,
        model: if weak { certificate.model } else { Model::Sc },
        issue_order,
        racy: &racy,
        waits: &(0..system.symbols.len())
            .map(|symbol| weak && waits(system, symbol, issue_order))
            .collect::<Vec<_>>(),
        cubes: &certificate.cubes,
        script: Script { text: "(set-logic ALL)\n".into(), obligations: Vec::new() },
    };
    for i in 0..certificate.cubes.len() {
        writer.initiation(i);
    }
    for (i, set) in system.unsafes.iter().enumerate() {
        writer.safety(i, set);
    }
    for i in 0..certificate.cubes.len() {
        for transition in &system.transitions {
            writer.consecution(i, transition);
        }
    }
    Ok(writer.script)
}

struct Writer<'a> {
    system: &'a System,
    model: Model,
    issue_order: bool,
    racy: &'a [bool],
    /// Per symbol: a read of it waits for its write, as an event of its own.
    waits: &'a [bool],
    cubes: &'a [Cube],
    script: Script,
}

/// The reads that wait before the step: conditions under which a read is there and an order holds.
#[derive(Default)]
struct Memory {
    threads: Vec<u8>,
    /// The locations that each node reads.
    reads: Vec<BTreeSet<Var>>,
    /// `reach[a][b]`, "true", "false" or a formula.
    reach: Vec<Vec<String>>,
    entries: BTreeMap<Entry, Vec<String>>,
    /// The read is already served.
    served: BTreeMap<(usize, Var), String>,
    /// Whether the read's source was overtaken, and which nodes happen before that source.
    late: BTreeMap<(usize, Var), (String, Vec<String>)>,
}

impl Writer<'_> {
    fn named(&self) -> bool {
        self.system.named
    }

    fn most(&self) -> usize {
        self.system.number_procs.map_or(usize::MAX, usize::from)
    }

    /// No initial state is in the cube.
    fn initiation(&mut self, index: usize) {
        let cube = &self.cubes[index];
        if cube.weak.nodes.iter().any(|node| !node.late.is_empty()) {
            return; // such a read is served by a write, and initially there is none
        }
        let procs = usize::from(cube.procs).max(1);
        let mut names = Names::new(self.system, procs, &[]);
        let mut body = String::new();
        for env in all_environments(self.system.init.params.len(), procs) {
            let fact = formula(&mut names, &self.system.init.body, &env);
            _ = writeln!(body, "(assert {fact})");
        }
        for literal in &cube.literals {
            // What is read is initial memory.
            let fact = literal_smt(&mut names, literal, &|names, var| names.cell(var.location()));
            _ = writeln!(body, "(assert {fact})");
        }
        self.emit(format!("initiation of cube {index}"), &names, &body);
    }

    /// Every unsafe state is in some cube.
    fn safety(&mut self, index: usize, set: &StateSet) {
        let quantified = quantifiers(&set.body);
        let procs = (set.params.len() + quantified).max(1).min(self.most());
        let choices = if self.named() {
            injections(set.params.len(), usize::from(self.system.number_procs.unwrap_or(0)))
        } else {
            vec![(0..set.params.len() as u8).collect()]
        };
        for params in choices {
            let procs = if self.named() { usize::from(self.system.number_procs.unwrap_or(0)) } else { procs };
            if params.len() > procs {
                continue;
            }
            let mut names = Names::new(self.system, procs, self.waits);
            names.in_states = true;
            let mut env = [0; 16];
            env[..params.len()].copy_from_slice(&params);
            let fact = formula(&mut names, &set.body, &env);
            let mut body = format!("(assert {fact})\n");
            // All reads of the formula happen at the same moment.
            let mut memory = Memory::default();
            for (thread, location) in names.reads_by_thread() {
                let node = memory.threads.iter().position(|t| *t == thread).unwrap_or_else(|| {
                    memory.threads.push(thread);
                    memory.reads.push(BTreeSet::new());
                    memory.threads.len() - 1
                });
                memory.reads[node].insert(location);
            }
            let count = memory.threads.len();
            memory.reach = vec![vec!["true".into(); count]; count];
            for thread in &memory.threads {
                memory.entries.insert(Entry::Any(*thread), vec!["true".into(); count]);
            }
            let threads = memory.threads.clone();
            let read = move |names: &mut Names<'_>, node: usize, location: Var| {
                names.thread_read(threads[node], location)
            };
            self.exclude(&mut names, &mut body, procs, &memory, &Known::default(), &read, false);
            self.axioms(&mut names, &mut body, procs);
            self.emit(format!("safety of unsafe formula {}", index + 1), &names, &body);
        }
    }

    /// A step of `transition` that ends in the cube starts in some cube.
    fn consecution(&mut self, index: usize, transition: &Transition) {
        let cube = &self.cubes[index];
        let touches = |update: &Update| {
            cube.literals
                .iter()
                .any(|l| l.mentions(|var| var.as_process().is_none() && var.symbol() == update.symbol))
        };
        if !transition.updates.iter().any(touches) {
            return; // the cube's literals read the same before the step
        }
        let quantified = quantifiers(&transition.guard);
        let fixed = usize::from(cube.procs);
        for (params, used) in placements(transition.params.len(), fixed, self.named(), self.most()) {
            let procs = if self.named() { fixed } else { (used + quantified).min(self.most()).max(1) };
            let mut env = [0; 16];
            env[..params.len()].copy_from_slice(&params);
            self.step(index, transition, &env, procs);
        }
    }

    fn step(&mut self, index: usize, transition: &Transition, env: &[u8; 16], procs: usize) {
        let cube = &self.cubes[index];
        let weak = self.model != Model::Sc;
        let mut names = Names::new(self.system, procs, self.waits);
        let guard = formula(&mut names, &transition.guard, env);
        let mut body = format!("(assert {guard})\n");
        let mut known = Known::default();
        known.guard(self.waits, &transition.guard, env);
        // What the updates write: plain cells directly, weak ones as events.
        let mut plain: BTreeMap<Var, String> = BTreeMap::new();
        let mut writes: BTreeMap<Var, (String, String)> = BTreeMap::new();
        for update in &transition.updates {
            for (cell, env) in cells(update, env, procs) {
                let weak_cell = self.waits[update.symbol];
                let wanted = cube.literals.iter().any(|l| l.mentions(|var| var.location() == cell));
                if !weak_cell && !wanted {
                    continue;
                }
                let (changes, value) = new_value(&mut names, update, cell, &env);
                if weak_cell {
                    writes.insert(cell, (changes, value));
                } else {
                    let old = names.cell(cell);
                    plain.insert(cell, format!("(ite {changes} {value} {old})"));
                }
            }
        }
        writes.retain(|_, (changes, _)| changes != "false");
        // A transition that changes nothing of the cube leads from the cube itself.
        let untouched = cube.literals.iter().all(|l| {
            !l.mentions(|var| match var.node() {
                None => plain.contains_key(&var),
                Some(_) => writes.contains_key(&var.location()),
            })
        });
        if untouched {
            return;
        }
        let own_reads: BTreeSet<Var> = names.step_reads();
        let memory = if weak {
            self.memory(cube, transition, env, &writes, &own_reads, &mut names, &mut body)
        } else {
            Memory::default()
        };
        // The state after the step is in the cube.
        for literal in &cube.literals {
            let fact = literal_smt(&mut names, literal, &|names, var| match var.node() {
                Some(node) => names.node_read(node as usize, var.location()),
                None => plain.get(&var).cloned().unwrap_or_else(|| names.cell(var)),
            });
            _ = writeln!(body, "(assert {fact})");
            let mut stays = true;
            literal.vars(&mut |var| {
                stays &= match var.node() {
                    None => !plain.contains_key(&var),
                    Some(_) => !writes.contains_key(&var.location()),
                };
                known.cells.insert(var);
            });
            if let (Literal::In(var, set), true) = (literal, stays) {
                known.values.insert(*var, *set);
            }
        }
        known.cells.extend(names.cells_used());
        let new = cube.weak.nodes.len();
        let read = move |names: &mut Names<'_>, node: usize, location: Var| {
            if node == new { names.step_read(location) } else { names.node_read(node, location) }
        };
        self.exclude(&mut names, &mut body, procs, &memory, &known, &read, true);
        self.axioms(&mut names, &mut body, procs);
        self.emit(format!("consecution of cube {index} under {}", transition.name), &names, &body);
    }

    /// The events of a step in front of the cube's reads.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn memory(
        &self,
        cube: &Cube,
        transition: &Transition,
        env: &[u8; 16],
        writes: &BTreeMap<Var, (String, String)>,
        own_reads: &BTreeSet<Var>,
        names: &mut Names<'_>,
        body: &mut String,
    ) -> Memory {
        let pso = self.model == Model::Pso;
        let issue_order = self.issue_order;
        let thread = transition.acting.map_or(0, |slot| env[slot]);
        let count = cube.weak.nodes.len();
        let mut memory =
            Memory { threads: cube.weak.nodes.iter().map(|n| n.thread).collect(), ..Memory::default() };
        let truth = |holds: bool| if holds { "true".to_owned() } else { "false".to_owned() };
        for node in &cube.weak.nodes {
            memory.reach.push((0..count).map(|b| truth(node.reach >> b & 1 == 1)).collect());
        }
        for node in 0..count {
            let mut locations = BTreeSet::new();
            for literal in &cube.literals {
                literal.vars(&mut |var| {
                    if var.node() == Some(node as u8) {
                        locations.insert(var.location());
                    }
                });
            }
            for location in &locations {
                let late = cube.weak.nodes[node].late.iter().find(|(other, _)| other == location);
                let floor = late.map_or(0, |(_, floor)| *floor);
                let row = (0..count).map(|b| truth(floor >> b & 1 == 1)).collect();
                memory.late.insert((node, *location), (truth(late.is_some()), row));
            }
            memory.reads.push(locations);
        }
        for (entry, mask) in &cube.weak.entries {
            memory.entries.insert(*entry, (0..count).map(|b| truth(mask >> b & 1 == 1)).collect());
        }
        let any_write = or(writes.values().map(|(changes, _)| changes.clone()));
        let buffered = !writes.is_empty() && !transition.locked;
        if !writes.is_empty() || !own_reads.is_empty() {
            let exists = if buffered { any_write } else { "true".to_owned() };
            let mut after: Vec<Vec<String>> = vec![Vec::new(); count];
            let mut before: Vec<Vec<String>> = vec![Vec::new(); count];
            let mut lates: Vec<(usize, Var, String)> = Vec::new();
            let mut add_entry = |entry: Entry, when: &str| {
                if let Some(reached) = memory.entries.get(&entry) {
                    for (b, reached) in reached.iter().enumerate() {
                        after[b].push(and([when.to_owned(), reached.clone()]));
                    }
                }
            };
            add_entry(if buffered { Entry::Write(thread) } else { Entry::Any(thread) }, &exists);
            for (location, (changes, _)) in writes {
                if !issue_order {
                    add_entry(Entry::Location(*location), changes);
                } else if buffered {
                    add_entry(Entry::Own(thread, *location), changes);
                }
            }
            if !buffered && !issue_order {
                for location in own_reads {
                    add_entry(Entry::Location(*location), "true");
                }
            }
            if issue_order && !buffered {
                // Steps are taken back in the order of issue: this one was done before all that wait.
                after.iter_mut().for_each(|after| after.push("true".into()));
            }
            for node in 0..count {
                for location in memory.reads[node].clone() {
                    let Some((changes, value)) = writes.get(&location) else { continue };
                    let same = memory.threads[node] == thread;
                    let racy = issue_order && self.racy[location.symbol()];
                    let reads = names.choice("reads", node, location);
                    let ignores = if same { "false".into() } else { names.choice("before", node, location) };
                    let late = if racy { names.choice("late", node, location) } else { "false".into() };
                    // A write is read, came later, or was overwritten by one issued earlier: exactly one.
                    _ = writeln!(body, "(assert (=> {changes} (or {reads} {ignores} {late})))");
                    _ = writeln!(body, "(assert (=> (or {reads} {ignores} {late}) {changes}))");
                    _ = writeln!(body, "(assert (not (and {reads} (or {ignores} {late}))))");
                    _ = writeln!(body, "(assert (not (and {ignores} {late})))");
                    let read = names.node_read(node, location);
                    _ = writeln!(body, "(assert (=> {reads} (= {read} {value})))");
                    let none = || ("false".to_owned(), vec!["false".to_owned(); count]);
                    let (was_late, floor) = memory.late.get(&(node, location)).cloned().unwrap_or_else(none);
                    if transition.locked {
                        _ = writeln!(body, "(assert (not (and {reads} {was_late})))");
                    }
                    // The source of a late read follows what its floor says.
                    for (u, below) in floor.iter().enumerate() {
                        before[u].push(and([reads.clone(), below.clone()]));
                    }
                    let follows = if same { late.clone() } else { or([reads.clone(), late.clone()]) };
                    for (b, after) in after.iter_mut().enumerate() {
                        after.push(and([follows.clone(), memory.reach[node][b].clone()]));
                    }
                    before[node].push(ignores);
                    memory.served.insert((node, location), reads);
                    if racy {
                        lates.push((node, location, late.clone()));
                    }
                    memory.late.insert((node, location), (or([was_late, late]), floor));
                }
            }
            let after: Vec<String> = after.into_iter().map(or).collect();
            let before: Vec<String> = before.into_iter().map(or).collect();
            for node in 0..count {
                _ = writeln!(body, "(assert (not {}))", and([before[node].clone(), after[node].clone()]));
            }
            // Who read the missed write did so before a late source overwrote it, and that before the late read.
            for (node, location, late) in &lates {
                for b in (0..count).filter(|b| b != node) {
                    if let Some(reads) = memory.served.get(&(b, *location)) {
                        let early = and([late.clone(), reads.clone(), memory.reach[*node][b].clone()]);
                        _ = writeln!(body, "(assert (not {early}))");
                    }
                }
            }
            // A write that may be missed is a node too, though it reads nothing.
            let is_node = !own_reads.is_empty() || !lates.is_empty();
            if is_node {
                memory.late.values_mut().for_each(|(_, floor)| floor.push("false".into()));
            }
            for (node, location, late) in lates {
                if let Some((_, floor)) = memory.late.get_mut(&(node, location)) {
                    for (b, below) in floor.iter_mut().enumerate() {
                        let happens = if b == count {
                            "true".into()
                        } else {
                            memory.served.get(&(b, location)).cloned().unwrap_or_else(|| "false".into())
                        };
                        *below = or([below.clone(), and([late.clone(), happens])]);
                    }
                }
            }
            let spread = |reached: &[String]| -> Vec<String> {
                let hit = or((0..count).map(|u| and([reached[u].clone(), before[u].clone()])));
                let mut spread: Vec<String> = (0..count)
                    .map(|b| or([reached[b].clone(), and([hit.clone(), after[b].clone()])]))
                    .collect();
                if is_node {
                    spread.push(hit);
                }
                spread
            };
            memory.reach = memory.reach.iter().map(|row| spread(row)).collect();
            memory.entries = memory.entries.iter().map(|(entry, row)| (*entry, spread(row))).collect();
            let mut reached = after;
            if is_node {
                reached.push("true".into());
                memory.reach.push(reached.clone());
                memory.threads.push(thread);
                memory.reads.push(own_reads.clone());
            }
            let drains = transition.locked || (transition.fence && !buffered);
            let mut join = |entry: Entry, when: &str| {
                let row = memory.entries.entry(entry).or_insert_with(|| vec!["false".into(); reached.len()]);
                for (b, reached) in reached.iter().enumerate() {
                    row[b] = or([row[b].clone(), and([when.to_owned(), reached.clone()])]);
                }
            };
            if !issue_order {
                join(Entry::Any(thread), &exists);
            }
            if drains || (!pso && !writes.is_empty()) {
                join(Entry::Write(thread), &exists);
            }
            for (location, (changes, _)) in writes {
                if !issue_order {
                    join(Entry::Location(*location), changes);
                } else if pso {
                    join(Entry::Own(thread, *location), changes);
                }
            }
            // Who saw this write had none of its own pending: what it wrote there before was overwritten.
            for ((node, location), reads) in &memory.served {
                if issue_order && self.racy[location.symbol()] && memory.threads[*node] != thread {
                    join(Entry::Own(memory.threads[*node], *location), reads);
                }
            }
        }
        // A fence before a buffered write, or alone: what any step of the process precedes, its writes do too.
        let no_event = writes.is_empty() && own_reads.is_empty();
        if (transition.fence && (buffered || own_reads.is_empty())) || (transition.locked && no_event) {
            let row = if issue_order {
                Some(vec!["true".to_owned(); memory.threads.len()])
            } else {
                memory.entries.get(&Entry::Any(thread)).cloned()
            };
            if let Some(row) = row {
                let none = || vec!["false".to_owned(); row.len()];
                let old = memory.entries.entry(Entry::Write(thread)).or_insert_with(none);
                for (b, reached) in row.iter().enumerate() {
                    old[b] = or([old[b].clone(), reached.clone()]);
                }
            }
        }
        memory
    }

    /// The state before the step is in no cube.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn exclude(
        &self,
        names: &mut Names<'_>,
        body: &mut String,
        procs: usize,
        memory: &Memory,
        known: &Known,
        read: &dyn Fn(&mut Names<'_>, usize, Var) -> String,
        filter: bool,
    ) {
        let widened = if filter { self.widen(known, procs) } else { Known::default() };
        let mut clauses = BTreeSet::new();
        for cube in self.cubes {
            if usize::from(cube.procs) > procs {
                continue;
            }
            let maps = if self.named() {
                vec![(0..cube.procs).collect()]
            } else {
                injections(usize::from(cube.procs), procs)
            };
            for map in maps {
                let place = |p: u8| map[p as usize];
                if filter && !widened.may_matter(cube, &place) {
                    continue;
                }
                for nodes in node_maps(cube, memory, &place) {
                    let node = |n: u8| nodes[n as usize];
                    let mut parts = Vec::new();
                    for literal in &cube.literals {
                        let moved = literal.map(place, node);
                        parts.push(literal_smt(names, &moved, &|names, var| match var.node() {
                            Some(node) => read(names, node as usize, var.location()),
                            None => names.cell(var),
                        }));
                        moved.vars(&mut |var| {
                            if let Some(node) = var.node()
                                && let Some(served) = memory.served.get(&(node as usize, var.location()))
                            {
                                parts.push(not(served));
                            }
                        });
                    }
                    for (a, general) in cube.weak.nodes.iter().enumerate() {
                        for b in (0..cube.weak.nodes.len()).filter(|b| general.reach >> b & 1 == 1 && *b != a)
                        {
                            parts.push(memory.reach[nodes[a] as usize][nodes[b] as usize].clone());
                        }
                        for (location, floor) in &general.late {
                            let key = (nodes[a] as usize, location.map(place, |n| n));
                            let Some((late, row)) = memory.late.get(&key) else {
                                parts.push("false".into());
                                continue;
                            };
                            parts.push(late.clone());
                            for b in (0..cube.weak.nodes.len()).filter(|b| floor >> b & 1 == 1) {
                                parts.push(row[nodes[b] as usize].clone());
                            }
                        }
                    }
                    for (entry, mask) in &cube.weak.entries {
                        let row = memory.entries.get(&entry.rename(place));
                        for b in (0..cube.weak.nodes.len()).filter(|b| mask >> b & 1 == 1) {
                            parts.push(row.map_or("false".into(), |row| row[nodes[b] as usize].clone()));
                        }
                    }
                    let clause = and(parts);
                    if clause != "false" {
                        clauses.insert(clause);
                    }
                }
            }
        }
        for clause in clauses {
            _ = writeln!(body, "(assert (not {clause}))");
        }
    }

    /// What is known, with the cells that one cube alone leaves open: a case split on such a cell may be followed by
    /// another.
    fn widen(&self, known: &Known, procs: usize) -> Known {
        let mut widened = Known { cells: known.cells.clone(), values: known.values.clone() };
        for cube in self.cubes.iter().filter(|cube| usize::from(cube.procs) <= procs) {
            let maps = if self.named() {
                vec![(0..cube.procs).collect()]
            } else {
                injections(usize::from(cube.procs), procs)
            };
            for map in maps {
                let place = |p: u8| map[p as usize];
                if known.may_matter(cube, &place) {
                    for literal in &cube.literals {
                        literal.vars(&mut |var| {
                            widened.cells.extend(var.node().is_none().then(|| var.map(place, |n| n)));
                        });
                    }
                }
            }
        }
        widened
    }

    /// Invariants over constants are assumptions.
    fn axioms(&self, names: &mut Names<'_>, body: &mut String, procs: usize) {
        for axiom in self.system.axioms() {
            for map in injections(axiom.params.len(), procs) {
                let mut env = [0; 16];
                env[..map.len()].copy_from_slice(&map);
                let fact = formula(names, &axiom.body, &env);
                _ = writeln!(body, "(assert (not {fact}))");
            }
        }
    }

    fn emit(&mut self, what: String, names: &Names<'_>, body: &str) {
        _ = write!(
            self.script.text,
            "; {what}\n(push 1)\n{}{body}(check-sat)\n(pop 1)\n",
            names.declarations()
        );
        self.script.obligations.push(what);
    }
}

/// Written by several processes, once at least through a buffer.
fn is_racy(system: &System, symbol: usize) -> bool {
    let mut buffered = false;
    let mut owned = vec![true; system.symbols[symbol].dims];
    for transition in &system.transitions {
        for update in transition.updates.iter().filter(|update| update.symbol == symbol) {
            buffered |= !transition.locked;
            for (dim, owned) in owned.iter_mut().enumerate() {
                let acting = transition.acting.map(|slot| Index::Fixed(Proc::Slot(slot as u8)));
                *owned &= Some(update.indices[dim]) == acting;
            }
        }
    }
    buffered && !owned.into_iter().any(|owned| owned)
}

/// In the order of issue a location that no buffer ever holds is read as it stands when the step is issued.
fn waits(system: &System, symbol: usize, issue_order: bool) -> bool {
    let buffered = |transition: &Transition| {
        !transition.locked && transition.updates.iter().any(|update| update.symbol == symbol)
    };
    system.symbols[symbol].weak && (!issue_order || system.transitions.iter().any(buffered))
}

/// Injective maps of the cube's nodes to those in memory: same process, and every location is read there.
fn node_maps(cube: &Cube, memory: &Memory, place: &(impl Fn(u8) -> u8 + Copy)) -> Vec<Vec<u8>> {
    let mut maps: Vec<Vec<u8>> = vec![Vec::new()];
    for (at, node) in cube.weak.nodes.iter().enumerate() {
        let mut locations = BTreeSet::new();
        for literal in &cube.literals {
            literal.vars(&mut |var| {
                if var.node() == Some(at as u8) {
                    locations.insert(var.location().map(place, |n| n));
                }
            });
        }
        maps = (maps.iter())
            .flat_map(|map| {
                (0..memory.threads.len())
                    .filter(|to| {
                        memory.threads[*to] == place(node.thread)
                            && !map.contains(&(*to as u8))
                            && locations.is_subset(&memory.reads[*to])
                    })
                    .map(|to| map.iter().copied().chain([to as u8]).collect())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    maps
}

/// Whether an update changes `cell`, and to what.
fn new_value(names: &mut Names<'_>, update: &Update, cell: Var, env: &[u8; 16]) -> (String, String) {
    let UpdateValue::Cases(cases) = &update.value else {
        return ("true".into(), names.fresh(update.symbol));
    };
    let mut earlier: Vec<String> = Vec::new();
    let mut changes = Vec::new();
    let mut chosen: Vec<(String, String)> = Vec::new();
    for (condition, value) in cases {
        let condition = formula(names, condition, env);
        let here = and(earlier.iter().map(|c| not(c)).chain([condition.clone()]));
        earlier.push(condition);
        let keeps = match value {
            Term::Access(access) => super::format_smt::cell(access, env) == cell,
            Term::Linear(parts, 0) => {
                matches!(parts.as_slice(), [(1, access)] if super::format_smt::cell(access, env) == cell)
            }
            _ => false,
        };
        if keeps || here == "false" {
            continue;
        }
        changes.push(here.clone());
        chosen.push((here, term(names, value, env)));
    }
    let mut value = match chosen.last() {
        Some((_, value)) => value.clone(),
        None => return ("false".into(), "0".into()),
    };
    for (here, other) in chosen.iter().rev().skip(1) {
        value = format!("(ite {here} {other} {value})");
    }
    (or(changes), value)
}

/// The cells of an update over `procs` processes, each with the environment of its case.
fn cells(update: &Update, env: &[u8; 16], procs: usize) -> Vec<(Var, [u8; 16])> {
    let mut found: Vec<(Vec<u8>, [u8; 16])> = vec![(Vec::new(), *env)];
    for index in &update.indices {
        let mut next = Vec::new();
        for (cell, env) in found {
            match index {
                Index::Fixed(process) => {
                    next.push((
                        cell.iter().copied().chain([super::format_smt::resolve(*process, &env)]).collect(),
                        env,
                    ));
                }
                Index::Bound(slot) => {
                    for process in 0..procs as u8 {
                        let mut env = env;
                        env[*slot as usize] = process;
                        next.push((cell.iter().copied().chain([process]).collect(), env));
                    }
                }
            }
        }
        found = next;
    }
    found.into_iter().map(|(cell, env)| (Var::cell(update.symbol, &cell), env)).collect()
}

fn literal_smt(
    names: &mut Names<'_>,
    literal: &Literal,
    var: &dyn Fn(&mut Names<'_>, Var) -> String,
) -> String {
    let name = |names: &mut Names<'_>, v: Var| match v.as_process() {
        Some(process) => format!("p{process}"),
        None => var(names, v),
    };
    match literal {
        Literal::In(v, set) => {
            let v = name(names, *v);
            or((0..64).filter(|i| set >> i & 1 == 1).map(|i| format!("(= {v} {i})")))
        }
        Literal::Eq(a, b) => format!("(= {} {})", name(names, *a), name(names, *b)),
        Literal::Neq(a, b) => format!("(not (= {} {}))", name(names, *a), name(names, *b)),
        Literal::Lin(Lin { op, terms, constant, .. }) => {
            let mut sum = super::format_smt::number(*constant);
            for (v, k) in terms {
                sum = format!("(+ {sum} (* {} {}))", super::format_smt::number(*k), name(names, *v));
            }
            match op {
                LinOp::Le => format!("(<= {sum} 0)"),
                LinOp::Lt => format!("(< {sum} 0)"),
                LinOp::Eq => format!("(= {sum} 0)"),
                LinOp::Neq => format!("(not (= {sum} 0))"),
            }
        }
    }
}

pub(super) fn and(parts: impl IntoIterator<Item = String>) -> String {
    join("and", "true", "false", parts)
}

pub(super) fn or(parts: impl IntoIterator<Item = String>) -> String {
    join("or", "false", "true", parts)
}

pub(super) fn not(part: &str) -> String {
    match part {
        "true" => "false".into(),
        "false" => "true".into(),
        part => format!("(not {part})"),
    }
}

fn join(op: &str, neutral: &str, absorbing: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for part in parts {
        if part == absorbing {
            return part;
        }
        if part != neutral && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match kept.len() {
        0 => neutral.into(),
        1 => kept.remove(0),
        _ => format!("({op} {})", kept.join(" ")),
    }
}
