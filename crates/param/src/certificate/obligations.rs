//! The obligations of a certificate, as SMT-LIB problems that must all be unsatisfiable.
//!
//! - *Initiation*: an initial state is in a cube.
//! - *Safety*: an unsafe state is in no cube.
//! - *Consecution*: a step of a transition leads from a state in no cube to one in a cube.
//! - Both for each law, without the cubes.
//!
//! Every obligation is over finitely many processes and moments, so it is ground. The module's front page says why
//! commits need no obligation of their own, and how a step is related to a run of commits.

use super::choices::{environments, injections, placements};
use super::cube::{Cell, Certificate, Cube, Literal, Place};
use super::laws;
use super::machine::{Machine, Write, writes};
use super::relevance::Known;
use super::scene::{Env, Scene, suffix, witnesses};
use super::term::Term;
use crate::Memory;
use crate::law::Law;
use crate::system::{StateSet, System, Transition};

/// One problem: it must be unsatisfiable.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// What it shows, for people.
    pub what: String,
    /// Declarations and assertions, without `check-sat`.
    pub text: String,
    /// The cubes whose absence was assumed.
    pub uses: Vec<usize>,
    /// The cube that it is about; `None`: an unsafe formula.
    pub cube: Option<usize>,
}

/// All obligations of the certificate, which `fits` the system.
pub fn obligations(system: &System, certificate: &Certificate) -> Vec<Obligation> {
    let machine = Machine::new(system, certificate.memory);
    let mut writer =
        Writer { machine: &machine, cubes: &certificate.cubes, laws: &certificate.laws, found: Vec::new() };
    for law in &certificate.laws {
        writer.law_initiation(law);
        for transition in &system.transitions {
            writer.law_consecution(law, transition);
        }
    }
    for index in 0..certificate.cubes.len() {
        writer.initiation(index);
    }
    for (index, set) in system.unsafes.iter().enumerate() {
        writer.safety(index, set);
    }
    for index in 0..certificate.cubes.len() {
        for transition in &system.transitions {
            writer.consecution(index, transition);
        }
    }
    writer.found
}

/// Whether the cubes speak of states: of memory only through reads, since a commit changes memory itself.
pub fn fits(system: &System, certificate: &Certificate) -> Result<(), String> {
    let machine = Machine::new(system, certificate.memory);
    laws::fit(&machine, &certificate.laws)?;
    let held = |cell: &Cell| machine.buffered[cell.symbol];
    let name = |cell: &Cell| system.symbols[cell.symbol].name.as_str();
    for cube in &certificate.cubes {
        for place in cube.literals.iter().flat_map(Literal::places) {
            match place {
                Place::Cell(cell) if held(&cell) => {
                    return Err(format!("a cube speaks of `{}` itself, not of a read of it", name(&cell)));
                }
                Place::Read(_, cell) if !held(&cell) => {
                    return Err(format!(
                        "a cube waits for a read of `{}`, which no buffer holds",
                        name(&cell)
                    ));
                }
                _ => {}
            }
        }
        let late = cube.moments.iter().flat_map(|moment| &moment.late).map(|late| &late.location);
        let drained = cube.drained.iter().filter_map(|drained| drained.location.as_ref());
        if let Some(cell) = late.chain(drained).find(|cell| !held(cell)) {
            return Err(format!("a cube speaks of pending writes to `{}`, and there are none", name(cell)));
        }
    }
    Ok(())
}

struct Writer<'a> {
    machine: &'a Machine<'a>,
    cubes: &'a [Cube],
    laws: &'a [Law],
    found: Vec<Obligation>,
}

/// An obligation being written.
struct Problem<'a> {
    scene: Scene<'a>,
    facts: Vec<Term>,
    /// The laws that are used, each with how many processes are named before its stranger, and the stranger.
    laws: Vec<(&'a Law, u8, Option<u8>)>,
    /// Where the reads of a cube may find their place.
    spots: Vec<Spot>,
}

/// A moment on the run of commits.
struct Spot {
    process: u8,
    at: Term,
    reads: Vec<Cell>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A moment of the cube that the step leads to.
    Moment(usize),
    /// The state itself.
    Now,
    /// When the write of the step reaches memory.
    Commit,
}

/// A step, as it acts on buffers.
struct Step<'a> {
    transition: &'a Transition,
    acting: Option<u8>,
    /// Nothing of the acting process is pending: a fence, or a locked step.
    empty: bool,
    /// When the writes of the step reach memory.
    commit: Term,
    writes: &'a [Write],
}

impl<'a> Writer<'a> {
    fn system(&self) -> &'a System {
        self.machine.system
    }

    /// At most so many processes.
    fn most(&self) -> usize {
        self.system().number_procs.map_or(usize::MAX, usize::from)
    }

    /// How many processes there are certainly, once so many are named: where processes have names, all of them.
    fn certain(&self, named: usize) -> usize {
        if self.system().named { self.most() } else { named.max(1) }
    }

    /// With a stranger for each of these laws.
    fn problem(&self, certain: usize, open: usize, laws: Vec<&'a Law>) -> Problem<'a> {
        let room = self.most().saturating_sub(certain);
        let open = open.min(room);
        let all = (open + laws.len()).min(room);
        let scene = Scene::new(self.system(), &self.machine.buffered, certain, all);
        let laws = (laws.into_iter().zip(certain + open..))
            .map(|(law, at)| (law, at.min(certain + all) as u8, (at < certain + all).then_some(at as u8)))
            .collect();
        Problem { scene, facts: Vec::new(), laws, spots: Vec::new() }
    }

    /// No initial state fails the law: every process is as one alone may be.
    fn law_initiation(&mut self, law: &'a Law) {
        let mut problem = self.problem(1, 0, Vec::new());
        self.start(&mut problem, 1);
        let fact = laws::fails_at_start(&mut problem.scene, law);
        problem.facts.push(fact);
        self.axioms(&mut problem);
        self.emit(format!("initiation of the law {}", law.words(self.system())), None, problem, Vec::new());
    }

    /// No step leads from states with the law to one without.
    fn law_consecution(&mut self, law: &'a Law, transition: &Transition) {
        if !transition.updates.iter().any(|update| law.symbols().contains(&update.symbol)) {
            return; // nothing that it speaks of changes
        }
        let params = transition.params.len();
        self.law_step(law, transition, params, &mut |scene, writes| {
            laws::fails_after(scene, law, writes, params as u8)
        });
        if let Law::Count(count) = law {
            // One process more: whichever is no parameter.
            self.law_step(law, transition, params + 1, &mut |scene, writes| {
                laws::fails_for_others(scene, count, writes, params as u8)
            });
        }
    }

    /// A step of the first processes, of `named` that there are certainly, that `fails` the law.
    fn law_step(
        &mut self,
        law: &'a Law,
        transition: &Transition,
        named: usize,
        fails: &mut dyn FnMut(&mut Scene<'a>, &[Write]) -> Term,
    ) {
        if named > self.most() {
            return; // there are not so many
        }
        let mut problem = self.problem(self.certain(named), witnesses(&transition.guard, true), vec![law]);
        let env: Env = std::array::from_fn(|slot| slot as u8);
        let guard = problem.scene.formula(&transition.guard, &env);
        problem.facts.push(guard);
        let mut written: Vec<Write> = Vec::new();
        for update in &transition.updates {
            written.extend(writes(&mut problem.scene, update, &env));
        }
        let fact = fails(&mut problem.scene, &written);
        problem.facts.push(fact);
        self.assume(&mut problem);
        self.axioms(&mut problem);
        let what = format!("consecution of the law {} under {}", law.words(self.system()), transition.name);
        self.emit(what, None, problem, Vec::new());
    }

    /// The laws hold in the state before.
    fn assume(&self, problem: &mut Problem<'a>) {
        for (law, named, stranger) in problem.laws.clone() {
            let facts = laws::holds(&mut problem.scene, law, named, stranger);
            problem.facts.extend(facts);
        }
    }

    /// The state is initial, as far as the first processes are concerned.
    fn start(&self, problem: &mut Problem<'a>, processes: usize) {
        let init = &self.system().init;
        for env in environments(init.params.len(), processes as u8) {
            let fact = problem.scene.formula(&init.body, &env);
            problem.facts.push(fact);
        }
    }

    /// No initial state is in the cube: its buffers are empty, so every read finds memory.
    fn initiation(&mut self, index: usize) {
        let cube = &self.cubes[index];
        if cube.moments.iter().any(|moment| !moment.late.is_empty()) {
            return; // such a read finds a pending write, and there is none
        }
        let certain = self.certain(usize::from(cube.processes));
        let mut problem = self.problem(certain, 0, Vec::new());
        self.start(&mut problem, certain);
        for literal in &cube.literals {
            let fact = problem.scene.literal(literal, &mut |scene, place| match place {
                Place::Process(process) => scene.process(process),
                Place::Cell(cell) | Place::Read(_, cell) => scene.cell(cell),
            });
            problem.facts.push(fact);
        }
        self.axioms(&mut problem);
        self.emit(format!("initiation of cube {}", index + 1), Some(index), problem, Vec::new());
    }

    /// Every unsafe state is in some cube.
    fn safety(&mut self, index: usize, set: &StateSet) {
        let params = set.params.len();
        let choices = match self.system().named {
            true => injections(params as u8, self.most() as u8),
            false => vec![(0..params as u8).collect()],
        };
        for params in choices {
            if params.len() > self.most() {
                continue;
            }
            let laws = self.laws.iter().filter(|law| laws::is_about(law, &[&set.body], &[])).collect();
            let mut problem = self.problem(self.certain(params.len()), witnesses(&set.body, true), laws);
            let fact = problem.scene.formula(&set.body, &environment(&params));
            problem.facts.push(fact);
            self.assume(&mut problem);
            self.exclude(problem, None, &format!("safety of unsafe formula {}", index + 1), None);
        }
    }

    /// A step of `transition` into the cube starts in some cube.
    fn consecution(&mut self, index: usize, transition: &Transition) {
        let cube = &self.cubes[index];
        let symbols: Vec<usize> = (cube.literals.iter().flat_map(Literal::places))
            .filter_map(|place| match place {
                Place::Process(_) => None,
                Place::Cell(cell) | Place::Read(_, cell) => Some(cell.symbol),
            })
            .collect();
        if !transition.updates.iter().any(|update| symbols.contains(&update.symbol)) {
            return; // every literal reads the same before the step: the state before is in the cube itself
        }
        let known = if self.system().named { self.most() } else { usize::from(cube.processes) };
        for (params, used) in placements(transition.params.len(), known, self.most()) {
            // A law that says nothing of what the step or the cube speaks of is left out: that makes it harder.
            let about = |law: &&Law| laws::is_about(law, &[&transition.guard], &symbols);
            let laws = self.laws.iter().filter(about).collect();
            let problem = self.problem(self.certain(used), witnesses(&transition.guard, true), laws);
            self.step(index, transition, &environment(&params), problem);
        }
    }

    fn step(&mut self, index: usize, transition: &Transition, env: &Env, mut problem: Problem<'a>) {
        let cube = &self.cubes[index];
        let weak = self.machine.memory != Memory::Sc;
        let guard = problem.scene.formula(&transition.guard, env);
        problem.facts.push(guard);
        let mut known = Known::default();
        known.guard(&self.machine.buffered, &transition.guard, env);
        let mut written: Vec<Write> = Vec::new();
        for update in &transition.updates {
            written.extend(writes(&mut problem.scene, update, env));
        }
        written.retain(|write| write.happens != Term::False);
        let (held, plain): (Vec<Write>, Vec<Write>) =
            written.into_iter().partition(|write| self.machine.buffered[write.cell.symbol]);
        let touched = |place: Place| match place {
            Place::Process(_) => false,
            Place::Cell(cell) => plain.iter().any(|write| write.cell == cell),
            Place::Read(_, cell) => held.iter().any(|write| write.cell == cell),
        };
        if !cube.literals.iter().flat_map(Literal::places).any(touched) {
            return; // as above
        }
        let step = Step {
            transition,
            acting: transition.acting.map(|slot| env[slot]),
            empty: weak && (transition.fence || transition.locked),
            commit: if transition.locked { Term::Number(0) } else { problem.scene.moment("c".into()) },
            writes: &held,
        };
        for moment in 0..cube.moments.len() {
            let spot = Spot {
                process: cube.moments[moment].process,
                at: problem.scene.moment(format!("m{moment}")),
                reads: cube.reads(moment),
                kind: Kind::Moment(moment),
            };
            problem.spots.push(spot);
        }
        self.issue(&mut problem, &step);
        for literal in &cube.literals {
            let stays = !literal.places().into_iter().any(touched);
            if let (Literal::In(Place::Cell(cell), set), true) = (literal, stays) {
                *known.values.entry(*cell).or_insert(u64::MAX) &= *set;
            }
        }
        self.after(&mut problem, cube, &step, &plain);
        self.assume(&mut problem);
        known.cells.extend(problem.scene.cells().iter().copied());
        if let Some(acting) = step.acting
            && !step.writes.is_empty()
        {
            let at = step.commit.clone();
            problem.spots.push(Spot { process: acting, at, reads: Vec::new(), kind: Kind::Commit });
        }
        let what = format!("consecution of cube {} under {}", index + 1, transition.name);
        self.exclude(problem, Some((&step, &known)), &what, Some(index));
    }

    /// When the buffer of a process has become empty, or what it holds for a location.
    fn drained(
        &self,
        problem: &mut Problem<'a>,
        step: Option<&Step<'_>>,
        process: u8,
        cell: Option<&Cell>,
    ) -> Term {
        let idle = step.is_some_and(|step| step.empty && step.acting == Some(process));
        if idle || cell.is_some_and(|cell| !self.machine.may_hold(process, cell)) {
            return Term::Number(0);
        }
        let all = problem.scene.moment(format!("d{process}"));
        let Some(cell) = cell else { return all };
        let one = problem.scene.moment(format!("d{process}_{}", suffix(cell)));
        problem.facts.push(one.clone().le(all));
        one
    }

    /// When the write that a moment reads there reached memory; 0 if it was there in the state.
    fn source(&self, problem: &mut Problem<'a>, moment: usize, cell: &Cell) -> Term {
        problem.scene.moment(format!("w{moment}_{}", suffix(cell)))
    }

    /// Whether the read of a moment finds the write of the step.
    fn served(&self, problem: &mut Problem<'a>, step: &Step<'_>, moment: usize, cell: &Cell) -> Term {
        match step.writes.iter().find(|write| write.cell == *cell) {
            None => Term::False,
            Some(write) => {
                let served = problem.scene.truth(format!("t{moment}_{}", suffix(cell)));
                Term::and([write.happens.clone(), served])
            }
        }
    }

    /// What is true of a step and the run of commits after it.
    fn issue(&self, problem: &mut Problem<'a>, step: &Step<'_>) {
        let Some(acting) = step.acting else { return };
        let commit = || step.commit.clone();
        if !step.transition.locked {
            let any = Term::or(step.writes.iter().map(|write| write.happens.clone()));
            problem.facts.push(any.clone().implies(Term::Number(0).lt(commit())));
            if self.machine.memory == Memory::Tso {
                let older = self.drained(problem, Some(step), acting, None);
                problem.facts.push(any.implies(older.lt(commit())));
            }
            for write in step.writes {
                let older = self.drained(problem, Some(step), acting, Some(&write.cell));
                problem.facts.push(write.happens.clone().implies(older.lt(commit())));
            }
        }
        for write in step.writes {
            let readers: Vec<(usize, u8, Term)> = (problem.spots.iter().enumerate())
                .filter(|(_, spot)| spot.reads.contains(&write.cell))
                .map(|(moment, spot)| (moment, spot.process, spot.at.clone()))
                .collect();
            for (moment, process, at) in &readers {
                let served = self.served(problem, step, *moment, &write.cell);
                let source = self.source(problem, *moment, &write.cell);
                let missed = Term::and([write.happens.clone(), served.clone().not()]);
                let overtaken = self.overtaken(problem, step, acting, &write.cell, (*process, at), source);
                if *process == acting {
                    problem.facts.push(missed.implies(overtaken));
                } else {
                    problem.facts.push(missed.implies(Term::or([at.clone().lt(commit()), overtaken])));
                    // It is in memory, and nothing of the reader's own is pending or came after it.
                    let own = self.drained(problem, Some(step), *process, Some(&write.cell));
                    problem
                        .facts
                        .push(served.implies(Term::and([commit().le(at.clone()), own.le(commit())])));
                }
            }
            // What is in memory between the commit and a read of the new write is the new write.
            for (moment, process, at) in &readers {
                for (other, ..) in readers.iter().filter(|(other, ..)| other != moment) {
                    let served = self.served(problem, step, *moment, &write.cell);
                    let missed = self.served(problem, step, *other, &write.cell).not();
                    let source = self.source(problem, *other, &write.cell);
                    let mut outside = vec![source.clone().le(commit()), at.clone().lt(source)];
                    // Its own write is what a process reads from its buffer before the commit.
                    outside.extend((*process == acting).then(|| at.clone().lt(commit())));
                    problem.facts.push(Term::and([served, missed]).implies(Term::or(outside)));
                }
            }
        }
    }

    /// The new write was overwritten before a read: by a write of another process that was pending already. That is in
    /// memory when it is read, or still pending as the reader's own.
    fn overtaken(
        &self,
        problem: &mut Problem<'a>,
        step: &Step<'_>,
        acting: u8,
        cell: &Cell,
        (reader, at): (u8, &Term),
        source: Term,
    ) -> Term {
        if !self.machine.others_may_hold(acting, cell) {
            return Term::False;
        }
        let named = problem.scene.processes();
        let mut parts = vec![step.commit.clone().le(at.clone()), step.commit.clone().lt(source.clone())];
        // Who wrote it, if that must be one of the named processes.
        let others: Vec<u8> =
            (0..named).filter(|p| *p != acting && self.machine.may_hold(*p, cell)).collect();
        if usize::from(named) >= self.most() || !self.machine.anybody_may_hold(cell) {
            let of = |problem: &mut Problem<'a>, writer: u8| {
                source.clone().le(self.drained(problem, Some(step), writer, Some(cell)))
            };
            parts.push(Term::or(others.iter().map(|writer| of(problem, *writer)).collect::<Vec<_>>()));
        }
        let mut found = vec![source.clone().le(at.clone())];
        if reader != acting && others.contains(&reader) {
            found.push(source.clone().le(self.drained(problem, Some(step), reader, Some(cell))));
        }
        parts.push(Term::or(found));
        Term::and(parts)
    }

    /// The state after the step is in the cube.
    fn after(&self, problem: &mut Problem<'a>, cube: &Cube, step: &Step<'_>, plain: &[Write]) {
        for literal in &cube.literals {
            let mut extra = Vec::new();
            for place in literal.places() {
                if let Place::Read(moment, cell) = place {
                    let served = self.served(problem, step, usize::from(moment), &cell);
                    extra.push((place, served));
                }
            }
            let fact = problem.scene.literal(literal, &mut |scene, place| match place {
                Place::Process(process) => scene.process(process),
                Place::Cell(cell) => match plain.iter().find(|write| write.cell == cell) {
                    Some(write) => {
                        let old = scene.cell(cell);
                        write.happens.clone().ite(write.value.clone(), old)
                    }
                    None => scene.cell(cell),
                },
                Place::Read(moment, cell) => {
                    let old = scene.read(usize::from(moment), cell);
                    let served = extra.iter().find(|(other, _)| *other == place).map(|(_, served)| served);
                    match (served, step.writes.iter().find(|write| write.cell == cell)) {
                        (Some(served), Some(write)) => served.clone().ite(write.value.clone(), old),
                        _ => old,
                    }
                }
            });
            problem.facts.push(fact);
        }
        let at = |problem: &Problem<'_>, moment: u8| problem.spots[usize::from(moment)].at.clone();
        for (index, moment) in cube.moments.iter().enumerate() {
            for other in &moment.before {
                let ordered = at(problem, index as u8).le(at(problem, *other));
                problem.facts.push(ordered);
            }
            for late in &moment.late {
                let served = self.served(problem, step, index, &late.location);
                let source = self.source(problem, index, &late.location);
                let source = served.ite(step.commit.clone(), source);
                problem.facts.push(Term::Number(0).lt(source.clone()));
                for other in &late.after {
                    let ordered = at(problem, *other).lt(source.clone());
                    problem.facts.push(ordered);
                }
            }
        }
        for drained in &cube.drained {
            let older = self.drained(problem, Some(step), drained.process, drained.location.as_ref());
            let joins = |write: &&Write| drained.location.is_none_or(|cell| cell == write.cell);
            let new = Term::or(step.writes.iter().filter(joins).map(|write| write.happens.clone()));
            for moment in &drained.by {
                let by = at(problem, *moment);
                problem.facts.push(older.clone().le(by.clone()));
                if step.acting == Some(drained.process) {
                    problem.facts.push(new.clone().implies(step.commit.clone().le(by)));
                }
            }
        }
    }

    /// The state before is in no cube: whatever cube, processes and places for its moments.
    fn exclude(
        &mut self,
        mut problem: Problem<'a>,
        step: Option<(&Step<'_>, &Known)>,
        what: &str,
        cube: Option<usize>,
    ) {
        if step.is_none_or(|(step, _)| step.acting.is_some()) {
            let mut now: Vec<Spot> = Vec::new();
            for (process, cell) in problem.scene.reads_now() {
                match now.iter_mut().find(|spot| spot.process == *process) {
                    Some(spot) => spot.reads.push(*cell),
                    None => now.push(Spot {
                        process: *process,
                        at: Term::Number(0),
                        reads: vec![*cell],
                        kind: Kind::Now,
                    }),
                }
            }
            problem.spots.extend(now);
        }
        let processes = problem.scene.processes();
        let mut instances: Vec<(usize, Vec<u8>)> = Vec::new();
        for (index, cube) in self.cubes.iter().enumerate().filter(|(_, cube)| cube.processes <= processes) {
            match self.system().named {
                true => instances.push((index, (0..cube.processes).collect())),
                false => {
                    instances
                        .extend(injections(cube.processes, processes).into_iter().map(|map| (index, map)));
                }
            }
        }
        if let Some((_, known)) = step {
            let widened =
                known.widen(instances.iter().map(|(index, map)| (&self.cubes[*index], map.as_slice())));
            instances.retain(|(index, map)| widened.may_matter(&self.cubes[*index], map));
        }
        let mut uses = Vec::new();
        let mut clauses: Vec<Term> = Vec::new();
        for (index, map) in instances {
            for places in self.places(&self.cubes[index], &map, &problem.spots) {
                let inside = self.inside(&mut problem, step.map(|(step, _)| step), index, &map, &places);
                if inside != Term::False {
                    clauses.push(inside.not());
                    uses.push(index);
                }
            }
        }
        clauses.sort_unstable();
        clauses.dedup();
        uses.dedup();
        problem.facts.extend(clauses);
        self.axioms(&mut problem);
        self.emit(what.to_owned(), cube, problem, uses);
    }

    /// Invariants over constants are assumptions.
    fn axioms(&self, problem: &mut Problem<'a>) {
        for axiom in self.system().axioms() {
            for map in injections(axiom.params.len() as u8, problem.scene.processes()) {
                let exists = Term::and(map.iter().map(|process| problem.scene.exists(*process)));
                let bad = problem.scene.formula(&axiom.body, &environment(&map));
                problem.facts.push(exists.implies(bad.not()));
            }
        }
    }

    /// Spots for the moments of a cube: of the same process, where every location is read.
    fn places(&self, cube: &Cube, map: &[u8], spots: &[Spot]) -> Vec<Vec<usize>> {
        let mut places: Vec<Vec<usize>> = vec![Vec::new()];
        for (index, moment) in cube.moments.iter().enumerate() {
            let reads: Vec<Cell> = cube.reads(index).into_iter().map(|cell| cell.map(map)).collect();
            let fits = |at: usize, chosen: &[usize]| {
                let spot = &spots[at];
                spot.process == map[usize::from(moment.process)]
                    && !chosen.contains(&at)
                    && reads.iter().all(|cell| spot.reads.contains(cell))
            };
            places = (places.iter())
                .flat_map(|chosen| {
                    (0..spots.len())
                        .filter(|at| fits(*at, chosen))
                        .map(|at| chosen.iter().copied().chain([at]).collect())
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        places
    }

    /// The state before is in the cube, with these processes and places.
    fn inside(
        &self,
        problem: &mut Problem<'a>,
        step: Option<&Step<'_>>,
        index: usize,
        map: &[u8],
        places: &[usize],
    ) -> Term {
        let cube = &self.cubes[index];
        let mut parts: Vec<Term> = map.iter().map(|process| problem.scene.exists(*process)).collect();
        for literal in &cube.literals {
            let spots = &problem.spots;
            parts.push(problem.scene.literal(literal, &mut |scene, place| match place.map(map) {
                Place::Process(process) => scene.process(process),
                Place::Cell(cell) => scene.cell(cell),
                Place::Read(moment, cell) => {
                    let spot = &spots[places[usize::from(moment)]];
                    match spot.kind {
                        Kind::Moment(moment) => scene.read(moment, cell),
                        Kind::Now | Kind::Commit => scene.now(spot.process, cell),
                    }
                }
            }));
        }
        let at = |problem: &Problem<'_>, moment: u8| problem.spots[places[usize::from(moment)]].at.clone();
        for (index, moment) in cube.moments.iter().enumerate() {
            for other in &moment.before {
                parts.push(at(problem, index as u8).le(at(problem, *other)));
            }
            for late in &moment.late {
                let Kind::Moment(here) = problem.spots[places[index]].kind else { return Term::False };
                let source = self.source(problem, here, &late.location.map(map));
                parts.push(Term::Number(0).lt(source.clone()));
                parts.extend(late.after.iter().map(|other| at(problem, *other).lt(source.clone())));
            }
        }
        for drained in &cube.drained {
            let location = drained.location.map(|cell| cell.map(map));
            let process = map[usize::from(drained.process)];
            let empty = self.drained(problem, step, process, location.as_ref());
            parts.extend(drained.by.iter().map(|moment| empty.clone().le(at(problem, *moment))));
        }
        Term::and(parts)
    }

    fn emit(&mut self, what: String, cube: Option<usize>, problem: Problem<'_>, uses: Vec<usize>) {
        let facts: Vec<String> = problem
            .facts
            .iter()
            .filter(|fact| **fact != Term::True)
            .map(|fact| format!("(assert {fact})\n"))
            .collect();
        let text = format!("{}{}", problem.scene.declarations(), facts.concat());
        self.found.push(Obligation { what, text, uses, cube });
    }
}

fn environment(processes: &[u8]) -> Env {
    let mut env = [0; 16];
    env[..processes.len()].copy_from_slice(processes);
    env
}
