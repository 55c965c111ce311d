//! Every graph that a program can make, by adding events in every possible order.

use super::axioms::{Candidate, consistent};
use porf_event::{EventId, Label, Location, ThreadId};
use porf_explore::{Equivalence, Model};
use porf_graph::CanonicalKey;
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::Program;
use std::collections::{BTreeMap, BTreeSet, HashSet};

type Events = BTreeMap<EventId, (LabelKey, Option<EventId>)>;

/// Labels have no order; their text has.
type LabelKey = (String, Label2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label2(pub Label);

impl PartialOrd for Label2 {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Label2 {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        // The text beside it decides.
        std::cmp::Ordering::Equal
    }
}

/// Graphs without co in which no thread can move; `None` if there are too many on the way.
pub fn candidates(program: &Program, limit: usize) -> Option<Vec<(Candidate, bool)>> {
    let interp = Interpreter::new(program);
    let mut seen: BTreeSet<Events> = BTreeSet::new();
    let mut work = vec![Events::new()];
    let mut done = Vec::new();
    while let Some(events) = work.pop() {
        if !seen.insert(events.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let mut moved = false;
        let mut complete = true;
        for thread in 0..program.threads.len() as u16 {
            let thread = ThreadId(thread);
            let (state, step, index) = replay(&interp, &events, thread);
            complete &= step == Step::Finished;
            let Step::Emit(label) = step else { continue };
            moved = true;
            let id = EventId::new(thread, index);
            match label {
                Label::Read { access, .. } => {
                    let writes = events.iter().filter_map(|(id, ((_, label), _))| match label.0 {
                        Label::Write { access: other, value, .. } if other == access => Some((*id, value)),
                        _ => None,
                    });
                    let initial = program.initial_value(access.location.0, access.size);
                    for (source, value) in writes.chain([(EventId::INIT, initial)]) {
                        work.push(with(&events, id, interp.settle(&state, label, value), Some(source)));
                    }
                }
                Label::Choice { options, .. } => {
                    for chosen in 0..options {
                        let label = interp.settle(&state, label, u64::from(chosen));
                        work.push(with(&events, id, label, None));
                    }
                }
                _ => work.push(with(&events, id, label, None)),
            }
        }
        if !moved {
            let candidate = Candidate {
                events: events.iter().map(|(id, ((_, label), _))| (*id, label.0)).collect(),
                rf: events.iter().filter_map(|(id, (_, rf))| rf.map(|rf| (*id, rf))).collect(),
                co: BTreeMap::new(),
            };
            done.push((candidate, complete));
        }
    }
    Some(done)
}

/// The keys of all consistent executions, complete and blocked ones.
pub fn executions(
    candidates: &[(Candidate, bool)],
    model: Model,
    equivalence: Equivalence,
) -> (HashSet<CanonicalKey>, HashSet<CanonicalKey>) {
    let mut found = (HashSet::new(), HashSet::new());
    for (candidate, complete) in candidates {
        let set = if *complete { &mut found.0 } else { &mut found.1 };
        let with_co = equivalence == Equivalence::Mo && model != Model::Wrc11;
        if model == Model::Wrc11 {
            if consistent(candidate, model) {
                set.insert(key(candidate, false));
            }
            continue;
        }
        for co in orders(candidate) {
            let mut candidate = candidate.clone();
            candidate.co = co;
            if consistent(&candidate, model) {
                set.insert(key(&candidate, with_co));
                if !with_co {
                    break;
                }
            }
        }
    }
    found
}

fn key(candidate: &Candidate, with_co: bool) -> CanonicalKey {
    let co = candidate.co.iter().filter(|_| with_co).map(|(loc, writes)| (*loc, writes.clone()));
    CanonicalKey::from_parts(candidate.events.iter().copied(), candidate.rf.iter().copied(), co)
}

/// Every total order of the writes of every location.
fn orders(candidate: &Candidate) -> Vec<BTreeMap<Location, Vec<EventId>>> {
    let mut writes: BTreeMap<Location, Vec<EventId>> = BTreeMap::new();
    for (id, label) in &candidate.events {
        if label.is_write() {
            writes.entry(label.location().unwrap()).or_default().push(*id);
        }
    }
    let mut all = vec![BTreeMap::new()];
    for (location, writes) in writes {
        let orders = permutations(&writes);
        all = all
            .into_iter()
            .flat_map(|co: BTreeMap<Location, Vec<EventId>>| {
                orders.iter().map(move |order| {
                    let mut co = co.clone();
                    co.insert(location, order.clone());
                    co
                })
            })
            .collect();
    }
    all
}

fn permutations(writes: &[EventId]) -> Vec<Vec<EventId>> {
    let Some((&last, rest)) = writes.split_last() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in permutations(rest) {
        for at in 0..=order.len() {
            let mut order = order.clone();
            order.insert(at, last);
            all.push(order);
        }
    }
    all
}

fn with(events: &Events, id: EventId, label: Label, rf: Option<EventId>) -> Events {
    let mut events = events.clone();
    events.insert(id, ((format!("{label:?}"), Label2(label)), rf));
    events
}

/// Runs a thread through the events that it has had.
fn replay(interp: &Interpreter<'_>, events: &Events, thread: ThreadId) -> (ThreadState, Step, u32) {
    let mut state = interp.start(thread);
    let mut step = interp.run(&mut state);
    let mut index = 0;
    while let Some(((_, label), _)) = events.get(&EventId::new(thread, index)) {
        let answer = match label.0 {
            Label::Read { value, .. } => value,
            Label::Choice { chosen, .. } => u64::from(chosen),
            _ => 0,
        };
        interp.deliver(&mut state, answer);
        step = interp.run(&mut state);
        index += 1;
    }
    (state, step, index)
}
