//! Any model that is written in cat, evaluated on the whole graph for every question.
//!
//! This serves models that have no checker of their own. Source: the model's own text; `porf-cat` says how it
//! is read. Cost: that of the model's relations over all events, tens of microseconds for ten events.

use crate::checker::{Checker, Initial, porf};
use crate::labels::silent;
use crate::order::Architecture;
use porf_cat::{CatModel, Diagnostic, Evaluator, EventStructure, EventView, Judgement, full_fence};
use porf_event::{
    Access, DepSet, Dependencies, Dialect, EventId, Label, Location, RmwKind, ThreadId, WriteMode,
};
use porf_graph::{Ev, Linked, Loc, Need};
use porf_relation::Relation;

/// An axiom that a graph violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxiomViolation {
    /// The name of the axiom in the model, or its place there.
    pub axiom: String,
    /// The events of a cycle, each related to the next and the last to the first; all initial writes are
    /// [`Ev::INIT`]. Empty unless the axiom forbids cycles.
    pub cycle: Vec<Ev>,
    /// The pairs that there should not be, if the axiom forbids those.
    pub pairs: Vec<(Ev, Ev)>,
}

/// A checker for a model that is written in cat.
pub struct Cat<'m> {
    evaluator: Evaluator<'m>,
    dialect: Dialect,
    architecture: Option<Architecture>,
}

impl<'m> Cat<'m> {
    /// `dialect` is that of the program: it says what the model's sets mean. A model without architecture
    /// keeps program order: it forbids every cycle in po | rf.
    pub fn new(model: &'m CatModel, dialect: Dialect, architecture: Option<Architecture>) -> Cat<'m> {
        Cat { evaluator: Evaluator::new(model), dialect, architecture }
    }

    fn outcome(&mut self, linked: &impl Linked, initial: Initial<'_>) -> Result<Judgement, Diagnostic> {
        self.judge(linked, &Events::new(linked, initial, self.dialect))
    }

    /// Why a graph is not consistent: the axiom that fails, and its events. `None` if it is consistent.
    ///
    /// This is not for the search: fast checkers only say no. Whoever wants to know why asks here.
    pub fn explain(
        &mut self,
        linked: &impl Linked,
        initial: Initial<'_>,
    ) -> Result<Option<AxiomViolation>, Diagnostic> {
        let events = Events::new(linked, initial, self.dialect);
        if self.judge(linked, &events)?.is_consistent() {
            return Ok(None);
        }
        // The evaluation may have stopped early: evaluate all of it.
        let (rf, co) = events.relations(linked);
        self.evaluator.set_rf(&rf)?;
        self.evaluator.set_co(&co);
        self.evaluator.check()?;
        let Some(violation) = self.evaluator.explain() else { return Ok(None) };
        let named = |number: usize| {
            let is_it = |ev: &Ev| events.numbers[ev.as_usize()] == number;
            linked.graph().all().find(is_it).unwrap_or(Ev::INIT)
        };
        let cycle = violation.cycle.iter().flat_map(|cycle| cycle.events()).map(|&event| named(event));
        let pairs = violation.pairs.iter().map(|&(a, b)| (named(a), named(b)));
        Ok(Some(AxiomViolation { axiom: violation.axiom, cycle: cycle.collect(), pairs: pairs.collect() }))
    }

    fn judge(&mut self, linked: &impl Linked, events: &Events) -> Result<Judgement, Diagnostic> {
        let views: Vec<EventView<'_>> = events
            .list
            .iter()
            .map(|event| EventView {
                id: event.id,
                label: &event.label,
                dependencies: event.dependencies.as_ref(),
            })
            .collect();
        let mut structure = EventStructure::new(self.dialect, &views, &events.rmw);
        for &(first, second) in &events.order {
            structure.order(first, second);
        }
        if !self.evaluator.bind(&structure)? {
            return Ok(Judgement::default());
        }
        let (rf, co) = events.relations(linked);
        if !self.evaluator.set_rf(&rf)? {
            return Ok(Judgement::default());
        }
        self.evaluator.set_co(&co);
        self.evaluator.check()
    }
}

impl Checker for Cat<'_> {
    fn architecture(&self) -> Option<Architecture> {
        self.architecture
    }

    fn consistent(
        &mut self,
        linked: &impl Linked,
        initial: Initial<'_>,
        _changed: Ev,
    ) -> Result<bool, Diagnostic> {
        Ok(self.outcome(linked, initial)?.is_consistent())
    }

    /// Under the Linux-kernel model, what a grace period waits for also happens before it.
    fn happens_before(&mut self, linked: &impl Linked, initial: Initial<'_>) -> Result<Relation, Diagnostic> {
        let mut order = porf(linked.graph());
        if self.architecture == Some(Architecture::Lkmm) {
            let events = Events::new(linked, initial, self.dialect);
            self.judge(linked, &events)?;
            let all = || linked.graph().all().filter(|ev| events.numbers[ev.as_usize()] != usize::MAX);
            for (name, shown) in self.evaluator.shown()? {
                for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
                    let (from, to) = (events.numbers[a.as_usize()], events.numbers[b.as_usize()]);
                    if name == "rcu-fence" && shown.contains(from, to) {
                        order.insert(a.as_usize(), b.as_usize());
                    }
                }
            }
        }
        order.close();
        Ok(order)
    }

    fn flags(&mut self, linked: &impl Linked, initial: Initial<'_>) -> Result<Vec<String>, Diagnostic> {
        let outcome = self.outcome(linked, initial)?;
        let mut flags =
            if outcome.flags == 0 { Vec::new() } else { self.evaluator.flag_names(outcome.flags) };
        if outcome.undefined {
            flags.push("undefined".to_string());
        }
        Ok(flags)
    }
}

/// The events that a model speaks of: initial writes first, then threads in program order.
struct Events {
    list: Vec<Listed>,
    rmw: Vec<(usize, usize)>,
    /// Program order between threads: what creates one before its first event, its last one before what
    /// joins it.
    order: Vec<(usize, usize)>,
    /// The number of each event of the graph; of the initial writes, that of location 0.
    numbers: Vec<usize>,
    /// The number of the initial write of each location.
    initial: Vec<usize>,
}

struct Listed {
    id: EventId,
    label: Label,
    dependencies: Option<Dependencies>,
}

impl Events {
    fn new(linked: &impl Linked, initial: Initial<'_>, dialect: Dialect) -> Events {
        let graph = linked.graph();
        let mut events = Events {
            list: Vec::with_capacity(graph.len() + graph.location_count()),
            rmw: Vec::new(),
            order: Vec::new(),
            numbers: vec![usize::MAX; graph.len()],
            initial: vec![usize::MAX; graph.location_count()],
        };
        for loc in (0..graph.location_count() as u32).map(Loc) {
            let used = !graph.co(loc).is_empty() || graph.readers(Ev::INIT, loc).next().is_some();
            if used {
                let (size, value) = initial(loc);
                let access = Access { location: graph.location(loc), size };
                let number = events.list.len();
                events.initial[loc.as_usize()] = number;
                events.list.push(Listed {
                    id: EventId::new(ThreadId::INIT, number as u32),
                    label: Label::Write { access, mode: WriteMode::Plain, rmw: RmwKind::None, value },
                    dependencies: None,
                });
            }
        }
        for thread in graph.threads() {
            // The events of one access, which are neighbours and have one id: of a read-modify-write, its reads.
            let (mut first, mut reads) = (EventId::new(ThreadId::INIT, 0), Vec::new());
            for &ev in thread.events() {
                let event = graph.event(ev);
                let label = match event.label {
                    Label::Read { .. } | Label::Write { .. } | Label::Fence { .. } => event.label,
                    // Whatever starts or awaits a thread orders as a fence does.
                    Label::Create { .. } | Label::Join { .. } => {
                        Label::Fence { mode: full_fence(dialect), location: Location(0) }
                    }
                    silent!() => continue,
                };
                let number = events.list.len();
                events.numbers[ev.as_usize()] = number;
                let id = if linked.continues(ev) { first } else { event.id };
                if id == event.id && label.is_read() {
                    reads.clear();
                }
                first = id;
                if label.is_read() {
                    reads.push(number);
                }
                if event.pair.is_some() {
                    let pair = events.numbers[event.pair.as_usize()];
                    let all = if reads.contains(&pair) { &reads[..] } else { &[pair] };
                    events.rmw.extend(all.iter().map(|&read| (read, number)));
                }
                events.list.push(Listed { id, label, dependencies: Some(dependencies(linked, ev)) });
            }
        }
        events.order = events.between_threads(linked);
        events
    }

    fn between_threads(&self, linked: &impl Linked) -> Vec<(usize, usize)> {
        let graph = linked.graph();
        let number = |ev: Ev| self.numbers[ev.as_usize()];
        // All events of its access: po does not order these.
        let access = |ev: Ev| {
            let number = number(ev);
            let is_same = move |other: &usize| self.list[*other].id == self.list[number].id;
            let after = (number + 1..self.list.len()).take_while(is_same);
            (0..=number).rev().take_while(is_same).chain(after)
        };
        let listed = |ev: &Ev| number(*ev) != usize::MAX;
        let mut order = Vec::new();
        for thread in graph.threads() {
            let first = thread.events().iter().copied().find(listed);
            if let (true, Some(first)) = (thread.creator.is_some() && thread.creator != Ev::INIT, first) {
                order.extend(access(first).map(|first| (number(thread.creator), first)));
            }
        }
        for join in graph.all() {
            let Label::Join { child } = graph.event(join).label else { continue };
            let events = graph.thread(child).events();
            let last = events.iter().copied().rev().find(listed);
            // A thread that did nothing was created all the same.
            let last =
                last.or(Some(graph.thread(child).creator)).filter(|ev| *ev != Ev::INIT && ev.is_some());
            order.extend(last.into_iter().flat_map(access).map(|last| (last, number(join))));
        }
        order
    }

    fn relations(&self, linked: &impl Linked) -> (Relation, Relation) {
        let graph = linked.graph();
        let mut rf = Relation::empty(self.list.len());
        let mut co = Relation::empty(self.list.len());
        for ev in graph.all() {
            let event = graph.event(ev);
            if event.rf.is_some() {
                let source = match event.rf {
                    Ev::INIT => self.initial[event.loc.as_usize()],
                    source => self.numbers[source.as_usize()],
                };
                rf.insert(source, self.numbers[ev.as_usize()]);
            }
        }
        for loc in (0..graph.location_count() as u32).map(Loc) {
            for (at, &write) in graph.co(loc).iter().enumerate() {
                let number = self.numbers[write.as_usize()];
                co.insert(self.initial[loc.as_usize()], number);
                for &earlier in &graph.co(loc)[..at] {
                    co.insert(self.numbers[earlier.as_usize()], number);
                }
            }
        }
        (rf, co)
    }
}

/// The index of the first event of the access that an event belongs to.
fn first_of_access(linked: &impl Linked, ev: Ev) -> u32 {
    let EventId { thread, index } = linked.graph().event(ev).id;
    let events = linked.graph().thread(thread).events();
    (0..=index).rev().find(|&at| !linked.continues(events[at as usize])).unwrap_or(index)
}

fn dependencies(linked: &impl Linked, ev: Ev) -> Dependencies {
    let of = |kind: u8, pick: u8| {
        let index = |need: Need| first_of_access(linked, need.event);
        let mut set: DepSet = linked.needs(ev).filter(|need| need.is(kind)).map(index).collect();
        let picks: DepSet = linked.needs(ev).filter(|need| need.is(pick)).map(index).collect();
        set.pick(&picks);
        set
    };
    Dependencies {
        addr: of(Need::ADDR, Need::PICK_ADDR),
        data: of(Need::DATA, Need::PICK_DATA),
        ctrl: of(Need::CTRL, Need::PICK_CTRL),
        cas: of(Need::CAS, 0),
    }
}
