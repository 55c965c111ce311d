//! Why a model allows an execution, or forbids it.
//!
//! Claim: a [`Why`] names each axiom of the model that the execution breaks, with the cycle that breaks it, taken apart
//! down to po, rf, co and dependencies. If it breaks none, it says whether an interleaving of the threads does the same,
//! by which cycle none does, and which writes a thread had not seen when it read an older one.
//!
//! The model is its text (`models/*.cat` or the user's), evaluated by `porf-cat`: the fast checkers only say no.
//! Limits: nothing is said of executions whose writes nobody ordered, nor of those with more than [`MOST`] events.
//! Of the axioms about what a model chooses itself (`with … from`) only the first that fails is told.
//! Cost: that of the model's relations over all events.

use crate::advise::Suggestion;
use crate::names;
use crate::trace::{Trace, TraceEvent};
use porf_cat::{CatModel, Diagnostic, Edge, Evaluator, EventStructure, EventView, full_fence};
use porf_event::{
    Dependencies, Dialect, EventId, FenceMode, Label, Location, ReadMode, RmwKind, ThreadId, WriteMode,
    silent,
};
use porf_ir::{MemoryOrder, Operation};
use porf_model::Model;
use porf_relation::Relation;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Executions with more events are not explained: relations between all of their events take too long.
const MOST: usize = 1000;

/// Why a model allows an execution, or forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The model.
    pub model: String,
    /// Its axioms, in its order.
    pub axioms: Vec<Axiom>,
    /// A cycle in po, rf, co and fr: why no interleaving of the threads is this execution. Empty if one is.
    pub weak: Vec<WhyEdge>,
    /// The reads that return an old value.
    pub unseen: Vec<Unseen>,
    /// Happens-before beyond po, without what follows from it; `None` if the model has no such relation.
    pub hb: Option<Vec<(EventId, EventId)>>,
    /// Synchronises-with; `None` if the model has no such relation.
    pub sw: Option<Vec<(EventId, EventId)>>,
}

/// An axiom of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axiom {
    /// Its name.
    pub name: String,
    /// As the model has it.
    pub text: String,
    /// `None` if the execution keeps it; otherwise what breaks it, edge by edge.
    pub broken: Option<Vec<WhyEdge>>,
}

/// An edge, and the path that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyEdge {
    /// Where it begins; [`EventId::INIT`] for every initial write.
    pub from: EventId,
    /// Where it ends.
    pub to: EventId,
    /// The relation.
    pub name: String,
    /// What it is made of; empty for po, rf, co and the like.
    pub parts: Vec<WhyEdge>,
}

/// A read that returns an old value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The read.
    pub read: EventId,
    /// The next write in co, which its thread has not seen.
    pub write: EventId,
}

impl Why {
    /// Whether the model allows the execution.
    pub fn is_allowed(&self) -> bool {
        self.axioms.iter().all(|axiom| axiom.broken.is_none())
    }
}

/// Explains an execution under a model that ships with Porf; `None` if it cannot be done.
pub fn explain(trace: &Trace, model: Model) -> Option<Why> {
    explain_by(trace, model.name(), shipped(model)).ok().flatten()
}

/// The same execution with another ordering at a place of the program; `None` if that cannot be said: the place is a
/// gap for a fence, or the program is compiled to a machine.
pub(crate) fn explain_changed(trace: &Trace, model: Model, change: &Suggestion) -> Option<Why> {
    let Suggestion { place, order } = change;
    if place.gap.is_some() || model.entry().machine().is_some() {
        return None;
    }
    let mut changed = trace.clone();
    for event in &mut changed.events {
        if names::place(&event.stack).is_some_and(|frame| frame.location == place.location) {
            strengthen(&mut event.label, place.operation, *order);
        }
    }
    explain(&changed, model)
}

/// Gives an event the ordering that an operation would have.
fn strengthen(label: &mut Label, operation: Operation, order: MemoryOrder) {
    let acquires = matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel);
    let releases = matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel);
    let seq_cst = order == MemoryOrder::SeqCst;
    let is_update = label.rmw() != RmwKind::None;
    match (label, operation) {
        (Label::Read { mode, .. }, Operation::Load | Operation::Update | Operation::Failure)
            if is_update == (operation != Operation::Load) =>
        {
            *mode = match (seq_cst, acquires) {
                (true, _) => ReadMode::SeqCst,
                (_, true) => ReadMode::Acquire,
                _ => *mode,
            };
        }
        (Label::Write { mode, .. }, Operation::Store | Operation::Update)
            if is_update == (operation == Operation::Update) =>
        {
            *mode = match (seq_cst, releases) {
                (true, _) => WriteMode::SeqCst,
                (_, true) => WriteMode::Release,
                _ => *mode,
            };
        }
        (Label::Fence { mode, .. }, Operation::Fence) => {
            *mode = match order {
                MemoryOrder::SeqCst => FenceMode::SeqCst,
                MemoryOrder::AcqRel => FenceMode::AcqRel,
                MemoryOrder::Acquire => FenceMode::Acquire,
                MemoryOrder::Release => FenceMode::Release,
                _ => *mode,
            };
        }
        _ => {}
    }
}

/// The text of a model, read once.
fn shipped(model: Model) -> &'static CatModel {
    static KNOWN: OnceLock<Vec<OnceLock<CatModel>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| Model::all().map(|_| OnceLock::new()).collect());
    let at = Model::all().position(|other| other == model).unwrap_or(0);
    known[at].get_or_init(|| CatModel::shipped(model))
}

/// The same by the text of a model.
pub(crate) fn explain_by(trace: &Trace, name: &str, cat: &CatModel) -> Result<Option<Why>, Diagnostic> {
    let Some(co) = trace.co.as_deref().filter(|_| trace.events.len() <= MOST) else { return Ok(None) };
    let numbered = Numbered::new(trace, co);
    let structure = numbered.structure(trace.dialect);
    let step = |edge: &Edge| numbered.step(edge);
    let broken = |cat| -> Result<_, Diagnostic> {
        let mut evaluator = Evaluator::new(cat);
        evaluator.bind(&structure)?;
        evaluator.set_rf(&numbered.rf)?;
        evaluator.set_co(&numbered.co);
        let allowed = evaluator.check()?.is_consistent();
        let broken = if allowed { Vec::new() } else { evaluator.violations()? };
        Ok((evaluator, broken))
    };
    let (mut evaluator, violations) = broken(cat)?;
    let axioms = evaluator.axioms().into_iter().map(|(name, text)| {
        let violation = violations.iter().find(|violation| violation.axiom == name);
        let broken = violation.map(|violation| violation.edges.iter().map(step).collect());
        Axiom { name, text, broken }
    });
    let axioms = axioms.collect();
    let (_, interleaving) = broken(shipped(Model::Sc))?;
    let weak =
        interleaving.first().map_or(Vec::new(), |violation| violation.edges.iter().map(step).collect());
    // In an execution that the model forbids these relations mean little.
    let mut pairs = |name: &str| -> Result<_, Diagnostic> {
        let relation = if violations.is_empty() { evaluator.relation(name)? } else { None };
        Ok(relation.map(|relation| numbered.reduced(&relation)))
    };
    let (hb, sw) = (pairs("hb")?, pairs("sw")?);
    Ok(Some(Why { model: name.to_string(), axioms, weak, unseen: unseen(trace, co), hb, sw }))
}

/// The reads whose value was overwritten by another thread, as far as the thread can tell: the order in which the
/// execution is told has the write above the read.
fn unseen(trace: &Trace, co: &[Vec<EventId>]) -> Vec<Unseen> {
    let place: HashMap<EventId, usize> =
        trace.events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
    let location = |id: EventId| place.get(&id).and_then(|&at| trace.events[at].label.access());
    let next = |read: &TraceEvent| -> Option<EventId> {
        let order = co.iter().find(|order| {
            order.first().and_then(|&write| location(write)).map(|access| access.location)
                == read.label.access().map(|access| access.location)
        })?;
        match read.rf? {
            EventId::INIT => order.first().copied(),
            source => order.get(order.iter().position(|write| *write == source)? + 1).copied(),
        }
    };
    let reads = trace.events.iter().enumerate().filter(|(_, event)| event.label.is_read());
    reads
        .filter_map(|(at, read)| {
            let write = next(read).filter(|write| write.thread != read.id.thread)?;
            (place.get(&write)? < &at).then_some(Unseen { read: read.id, write })
        })
        .collect()
}

/// The events that a model speaks of: initial writes first, then threads in program order.
struct Numbered {
    list: Vec<(EventId, Label, Option<usize>)>,
    dependencies: Vec<Dependencies>,
    rmw: Vec<(usize, usize)>,
    /// Program order between threads.
    order: Vec<(usize, usize)>,
    rf: Relation,
    co: Relation,
}

impl Numbered {
    fn new(trace: &Trace, co: &[Vec<EventId>]) -> Numbered {
        let mut list: Vec<(EventId, Label, Option<usize>)> = Vec::new();
        let mut initial: HashMap<Location, usize> = HashMap::new();
        for access in trace.events.iter().filter_map(|event| event.label.access()) {
            initial.entry(access.location).or_insert_with(|| {
                let id = EventId::new(ThreadId::INIT, list.len() as u32);
                let (mode, rmw) = (WriteMode::Plain, RmwKind::None);
                list.push((id, Label::Write { access, mode, rmw, value: 0 }, None));
                list.len() - 1
            });
        }
        let mut dependencies = Vec::new();
        let mut numbers: HashMap<EventId, usize> = HashMap::new();
        let mut threads: Vec<(ThreadId, Vec<usize>)> = Vec::new();
        let (mut rmw, mut open) = (Vec::new(), HashMap::new());
        let mut events: Vec<&TraceEvent> = trace.events.iter().collect();
        events.sort_by_key(|event| event.id);
        for event in events {
            let label = match event.label {
                Label::Read { .. } | Label::Write { .. } | Label::Fence { .. } => event.label,
                // Whatever starts or awaits a thread orders as a fence does.
                Label::Create { .. } | Label::Join { .. } => {
                    Label::Fence { mode: full_fence(trace.dialect), location: Location(0) }
                }
                silent!() => continue,
            };
            let number = list.len();
            if label.rmw().is_pair() {
                match label {
                    Label::Read { .. } => drop(open.insert(event.id.thread, number)),
                    _ => rmw.extend(open.remove(&event.id.thread).map(|read| (read, number))),
                }
            }
            list.push((event.id, label, Some(dependencies.len())));
            dependencies.push(event.dependencies.clone());
            numbers.insert(event.id, number);
            match threads.iter_mut().find(|(thread, _)| *thread == event.id.thread) {
                Some((_, events)) => events.push(number),
                None => threads.push((event.id.thread, vec![number])),
            }
        }
        let of =
            |thread: ThreadId| threads.iter().find(|(known, _)| *known == thread).map(|(_, events)| events);
        let mut order = Vec::new();
        for event in &trace.events {
            match event.label {
                Label::Create { child } => {
                    order.extend(of(child).map(|events| (numbers[&event.id], events[0])));
                }
                Label::Join { child } => {
                    order.extend(
                        of(child).and_then(|events| events.last()).map(|&last| (last, numbers[&event.id])),
                    );
                }
                Label::Read { .. } | Label::Write { .. } | Label::Fence { .. } | silent!() => {}
            }
        }
        let (mut rf, mut all) = (Relation::empty(list.len()), Relation::empty(list.len()));
        let initial_of =
            |label: &Label| label.access().and_then(|access| initial.get(&access.location)).copied();
        for event in trace.events.iter().filter(|event| event.label.is_read()) {
            let source = event.rf.and_then(|source| match source {
                EventId::INIT => initial_of(&event.label),
                source => numbers.get(&source).copied(),
            });
            if let Some(source) = source {
                rf.insert(source, numbers[&event.id]);
            }
        }
        for writes in co {
            let writes: Vec<usize> = writes.iter().filter_map(|write| numbers.get(write).copied()).collect();
            let first = writes.first().and_then(|&write| initial_of(&list[write].1));
            let writes: Vec<usize> = first.into_iter().chain(writes).collect();
            for (at, &write) in writes.iter().enumerate() {
                writes[..at].iter().for_each(|&earlier| all.insert(earlier, write));
            }
        }
        Numbered { list, dependencies, rmw, order, rf, co: all }
    }

    fn structure(&self, dialect: Dialect) -> EventStructure {
        let view = |(id, label, at): &(EventId, Label, Option<usize>)| {
            (*id, *label, at.map(|at| &self.dependencies[at]))
        };
        let events: Vec<_> = self.list.iter().map(view).collect();
        let views: Vec<EventView<'_>> = events
            .iter()
            .map(|(id, label, dependencies)| EventView { id: *id, label, dependencies: *dependencies })
            .collect();
        let mut structure = EventStructure::new(dialect, &views, &self.rmw);
        self.order.iter().for_each(|&(first, second)| structure.order(first, second));
        structure
    }

    fn name(&self, number: usize) -> EventId {
        match self.list[number].0 {
            EventId { thread: ThreadId::INIT, .. } => EventId::INIT,
            id => id,
        }
    }

    fn step(&self, edge: &Edge) -> WhyEdge {
        WhyEdge {
            from: self.name(edge.from),
            to: self.name(edge.to),
            name: edge.name.clone(),
            parts: edge.parts.iter().map(|part| self.step(part)).collect(),
        }
    }

    /// The pairs of different threads that do not follow from others.
    fn reduced(&self, relation: &Relation) -> Vec<(EventId, EventId)> {
        let mut pairs = Vec::new();
        for (from, to) in relation.pairs() {
            let (a, b) = (self.name(from), self.name(to));
            let follows = || relation.successors(from).any(|middle| relation.contains(middle, to));
            if a != EventId::INIT && a.thread != b.thread && !follows() {
                pairs.push((a, b));
            }
        }
        pairs
    }
}
