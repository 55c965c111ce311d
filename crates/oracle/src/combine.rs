//! Combines traces into candidates, and candidates with rf and co into executions.

use crate::location::{Cell, Pruning, RfChoice};
use crate::pieces::{Pieces, cut};
use crate::trace::{Trace, traces};
use crate::{Candidate, CandidateExecution, Refusal};
use porf_event::{Location, Value};
use porf_interp::Interpreter;
use porf_ir::Program;
use porf_relation::Relation;

/// Decides which candidates are executions.
pub trait Judge {
    /// Whether acyclic(po-loc ∪ rf ∪ co ∪ fr) follows from the model.
    fn implies_coherence(&self) -> bool;
    /// Whether rmw ∩ (fre;coe) = ∅ follows from the model.
    fn implies_atomicity(&self) -> bool;
    /// Whether the model looks at addr, data or ctrl.
    fn needs_dependencies(&self) -> bool;
    /// Whether the model speaks of accesses that are several events.
    fn takes_mixed_sizes(&self) -> bool;
    /// Begins a new event structure; rf and co follow.
    fn begin(&mut self, program: &Program, candidate: &Candidate<'_>);
    /// Takes a new rf for the current structure. Returns `false` if no co can make it consistent.
    fn set_rf(&mut self, rf: &Relation) -> bool;
    /// How many executions the current structure, rf and this co make: 0 or 1, or more for models that
    /// choose further relations themselves.
    fn count(&mut self, co: &Relation) -> usize;
}

/// Calls `visit` for every execution that `judge` allows; `visit` returns `false` to stop.
pub fn enumerate<J: Judge>(
    program: &Program,
    judge: &mut J,
    unroll: u32,
    mut visit: impl FnMut(&CandidateExecution<'_, '_>, &J) -> bool,
) -> Result<(), Refusal> {
    let interpreter =
        Interpreter::new(program).track_dependencies(judge.needs_dependencies()).unroll(Some(unroll));
    let (all, cuts) = traces(&interpreter, judge.implies_coherence())?;
    if cuts.is_mixed() {
        if !judge.takes_mixed_sizes() {
            return Err(Refusal::MixedSizes);
        }
        if let Some(access) = cuts.odd() {
            return Err(Refusal::Misaligned(program.name_of(access.location.0, access.size)));
        }
    }
    let pairs = Pairs::of(program, &all, &cuts);
    let annotated: Vec<Vec<Annotated<'_>>> =
        all.iter().map(|traces| traces.iter().map(|trace| pairs.annotate(trace)).collect()).collect();
    // later[k]: what threads k.. can write.
    let mut later = vec![Mask::default(); annotated.len() + 1];
    for (k, traces) in annotated.iter().enumerate().rev() {
        later[k] = traces.iter().fold(later[k + 1].clone(), |mask, trace| mask.or(&trace.writes));
    }
    let mut search =
        Search { program, cuts: &cuts, judge, visit: &mut visit, later: &later, go_on: true, refusal: None };
    search.pick(&annotated, &mut Vec::new(), pairs.initial.clone(), Mask::default());
    search.refusal.map_or(Ok(()), Err)
}

/// A trace with the (location, value) pairs that it reads and writes.
struct Annotated<'t> {
    trace: &'t Trace,
    reads: Mask,
    writes: Mask,
}

/// Numbers for the (location, value) pairs that occur.
struct Pairs<'c> {
    cuts: &'c Pieces,
    known: Vec<(Location, Value)>,
    initial: Mask,
}

#[derive(Clone, Debug, Default)]
struct Mask(smallvec::SmallVec<[u64; 2]>);

struct Search<'s, J, V> {
    program: &'s Program,
    cuts: &'s Pieces,
    judge: &'s mut J,
    visit: &'s mut V,
    later: &'s [Mask],
    go_on: bool,
    refusal: Option<Refusal>,
}

impl<J: Judge, V: FnMut(&CandidateExecution<'_, '_>, &J) -> bool> Search<'_, J, V> {
    /// Chooses a trace for the next thread such that every value read so far can still be written.
    fn pick<'t>(
        &mut self,
        all: &[Vec<Annotated<'t>>],
        chosen: &mut Vec<&'t Trace>,
        written: Mask,
        read: Mask,
    ) {
        let Some((traces, rest)) = all.split_first() else {
            self.candidate(&Candidate::new(self.program, chosen, self.cuts));
            return;
        };
        let later = &self.later[self.later.len() - 1 - rest.len()];
        for option in traces {
            if !self.go_on {
                return;
            }
            let written = written.or(&option.writes);
            let read = read.or(&option.reads);
            if read.is_within(&written.or(later)) {
                chosen.push(option.trace);
                self.pick(rest, chosen, written, read);
                chosen.pop();
            }
        }
    }

    /// Chooses rf and co of one event structure.
    fn candidate(&mut self, candidate: &Candidate<'_>) {
        let coherence = self.judge.implies_coherence();
        let pruning = Pruning { coherence, atomicity: coherence && self.judge.implies_atomicity() };
        let mut cells = Vec::with_capacity(candidate.inits());
        for location in 0..candidate.inits() {
            let cell = Cell::new(candidate, location);
            if cell.write_count() > Cell::MAX_WRITES {
                self.refusal = Some(Refusal::TooManyWrites { limit: Cell::MAX_WRITES });
                self.go_on = false;
                return;
            }
            let choices = cell.choices(candidate, pruning);
            if choices.is_empty() {
                return;
            }
            cells.push((cell, choices));
        }
        self.judge.begin(self.program, candidate);
        let mut state = Chosen {
            rf: Relation::empty(candidate.len()),
            sources: (0..candidate.len()).collect(),
            choices: Vec::with_capacity(cells.len()),
            orders: Vec::with_capacity(cells.len()),
        };
        self.choose_rf(candidate, &cells, &mut state);
    }

    fn choose_rf<'c>(
        &mut self,
        candidate: &Candidate<'_>,
        cells: &'c [(Cell, Vec<RfChoice>)],
        state: &mut Chosen<'c>,
    ) {
        let Some((cell, choices)) = cells.get(state.choices.len()) else {
            if self.judge.set_rf(&state.rf) {
                let co = Relation::empty(candidate.len());
                self.choose_co(candidate, state, &co);
            }
            return;
        };
        for choice in choices {
            if !self.go_on {
                return;
            }
            for (&read, &source) in cell.reads.iter().zip(&choice.sources) {
                state.rf.insert(source, read);
                state.sources[read] = source;
            }
            state.choices.push(choice);
            self.choose_rf(candidate, cells, state);
            state.choices.pop();
            for (&read, &source) in cell.reads.iter().zip(&choice.sources) {
                state.rf.remove(source, read);
            }
        }
    }

    fn choose_co(&mut self, candidate: &Candidate<'_>, state: &mut Chosen<'_>, co: &Relation) {
        let Some(choice) = state.choices.get(state.orders.len()).copied() else {
            let count = self.judge.count(co);
            if count > 0
                && let Some(fault) = candidate.traces.iter().find_map(|trace| trace.fault.as_ref())
            {
                self.refusal = Some(Refusal::Fault(fault.clone()));
                self.go_on = false;
                return;
            }
            for _ in 0..count {
                let execution =
                    CandidateExecution { candidate, rf: &state.sources, co: state.orders.clone() };
                self.go_on &= (self.visit)(&execution, self.judge);
            }
            return;
        };
        for order in &choice.orders {
            if !self.go_on {
                return;
            }
            let mut longer = co.clone();
            for (i, &a) in order.iter().enumerate() {
                for &b in &order[i + 1..] {
                    longer.insert(a, b);
                }
            }
            state.orders.push(order);
            self.choose_co(candidate, state, &longer);
            state.orders.pop();
        }
    }
}

/// What is chosen so far: rf, and the coherence order of the first cells.
struct Chosen<'c> {
    rf: Relation,
    sources: Vec<usize>,
    choices: Vec<&'c RfChoice>,
    orders: Vec<&'c [usize]>,
}

impl<'c> Pairs<'c> {
    fn of(program: &Program, all: &[Vec<Trace>], cuts: &'c Pieces) -> Pairs<'c> {
        let mut known = Vec::new();
        let mut sizes = Vec::new();
        for (label, _) in all.iter().flatten().flat_map(|trace| &trace.events) {
            if let (Some(access), Some(value)) = (label.access(), label.value()) {
                for piece in cuts.of(access) {
                    known.push((piece.location, cut(access, value, piece)));
                    sizes.push((piece.location, piece.size));
                }
            }
        }
        known.sort_unstable();
        known.dedup();
        sizes.sort_unstable();
        sizes.dedup();
        let mut pairs = Pairs { cuts, known, initial: Mask::default() };
        for (location, size) in sizes {
            let initial = (location, program.initial_value(location.0, size));
            if let Ok(at) = pairs.known.binary_search(&initial) {
                pairs.initial.insert(at);
            }
        }
        pairs
    }

    fn annotate<'t>(&self, trace: &'t Trace) -> Annotated<'t> {
        let (mut reads, mut writes) = (Mask::default(), Mask::default());
        for (label, _) in &trace.events {
            if let (Some(access), Some(value)) = (label.access(), label.value()) {
                for piece in self.cuts.of(access) {
                    let pair = (piece.location, cut(access, value, piece));
                    let at = self.known.binary_search(&pair).expect("numbered above");
                    if label.is_write() { writes.insert(at) } else { reads.insert(at) }
                }
            }
        }
        Annotated { trace, reads, writes }
    }
}

impl Mask {
    fn insert(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn or(&self, other: &Mask) -> Mask {
        let (mut long, short) =
            if self.0.len() >= other.0.len() { (self.clone(), other) } else { (other.clone(), self) };
        for (a, b) in long.0.iter_mut().zip(&short.0) {
            *a |= b;
        }
        long
    }

    fn is_within(&self, other: &Mask) -> bool {
        self.0.iter().enumerate().all(|(i, bits)| bits & !other.0.get(i).copied().unwrap_or(0) == 0)
    }
}
