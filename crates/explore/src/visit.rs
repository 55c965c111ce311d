//! What an exploration shows to whoever asked for it.

use crate::buffering::tag_before;
use crate::history::{History, Next, Ready};
use crate::reduce::Reduced;
use crate::schedule::tag_of;
use crate::task::Task;
use porf_event::{BlockReason, ThreadId, Value, wide};
use porf_graph::{CanonicalKey, Ev, ExecutionGraph, Loc};
use porf_interp::{Fault, ThreadState};
use porf_ir::{Program, Split};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Something that happened during the search.
#[derive(Clone, Copy)]
pub enum Visit<'v, 'p> {
    /// Every thread has finished.
    Complete(&'v Execution<'v, 'p>),
    /// No thread can move, and not all have finished.
    Blocked(&'v Execution<'v, 'p>),
    /// A thread did something wrong. The graph is consistent; other threads may not have finished.
    Fault(&'v Execution<'v, 'p>, &'v Fault),
    /// An access to allocated memory is wrong; the second event, if there is one, makes it so.
    Memory(&'v Execution<'v, 'p>, &'v Fault, Ev, Ev),
    /// Some thousand events later: for whoever watches the clock. The execution is not at its end.
    Working(&'v Execution<'v, 'p>),
    /// Two accesses race.
    Race(&'v Execution<'v, 'p>, Ev, Ev),
    /// The search begins anew, with accesses made to fit as this says: nothing that was shown so far counts.
    Anew(&'v [Vec<Split>]),
}

impl<'v, 'p> Visit<'v, 'p> {
    /// Where it happened.
    pub fn execution(&self) -> Option<&'v Execution<'v, 'p>> {
        match self {
            Visit::Anew(_) => None,
            Visit::Complete(execution)
            | Visit::Blocked(execution)
            | Visit::Working(execution)
            | Visit::Fault(execution, _)
            | Visit::Memory(execution, ..)
            | Visit::Race(execution, ..) => Some(execution),
        }
    }
}

/// Whoever is shown the executions.
pub trait Visitor {
    /// `Break` ends the search.
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()>;
}

impl<F: FnMut(Visit<'_, '_>) -> ControlFlow<()>> Visitor for F {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        self(visit)
    }
}

impl Visitor for &mut (dyn Visitor + '_) {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        (**self).visit(visit)
    }
}

impl Visitor for &mut (dyn Visitor + Send + '_) {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        (**self).visit(visit)
    }
}

/// An execution: the graph, the final states of its threads, and its final memory.
pub struct Execution<'v, 'p> {
    /// Its events, with rf and co.
    pub graph: &'v ExecutionGraph,
    pub(crate) history: &'v History<'p>,
    pub(crate) sees_co: bool,
    /// The clock of happens-before, where the model has races.
    pub(crate) racy: Option<usize>,
    /// Of a blocked execution: what its threads wait for can stay as it is for ever.
    pub(crate) for_ever: bool,
    /// What a cat model says of it.
    pub(crate) flags: &'v [String],
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Complete executions.
    pub executions: u64,
    /// Executions in which some thread cannot finish.
    pub blocked: u64,
    /// Events added to graphs.
    pub events: u64,
    /// Copies made to revisit a read.
    pub revisits: u64,
    /// Under models that do not keep program order: whether there could be executions with cycles in
    /// po | rf, so that they were searched for.
    pub buffering: bool,
    /// Whether that search went through the whole program, not from seeds.
    pub whole: bool,
    /// Whether an atomic access to a part of a word was made on the whole of it.
    pub atomic_parts: bool,
    /// How often each reduction was made.
    pub reduced: Reduced,
    /// Of a search up to values: the states that it keeps.
    #[serde(default)]
    pub states: u64,
}

impl Statistics {
    /// Adds what another part of the search did.
    pub fn add(&mut self, other: &Statistics) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.events += other.events;
        self.revisits += other.revisits;
        self.buffering |= other.buffering;
        self.whole |= other.whole;
        self.atomic_parts |= other.atomic_parts;
        self.reduced.add(&other.reduced);
        self.states += other.states;
    }

    /// What was done since.
    pub(crate) fn since(&self, before: &Statistics) -> Statistics {
        Statistics {
            executions: self.executions - before.executions,
            blocked: self.blocked - before.blocked,
            events: self.events - before.events,
            revisits: self.revisits - before.revisits,
            reduced: self.reduced.since(&before.reduced),
            ..*self
        }
    }
}

impl Execution<'_, '_> {
    /// The program as it was searched: its accesses may have been cut ([`Program::cuts`]).
    pub fn program(&self) -> &Program {
        self.history.interp.program()
    }

    /// The state of a thread after its last event.
    pub fn state(&self, thread: ThreadId) -> &ThreadState {
        self.history.state(tag_of(self.graph, thread.as_usize()))
    }

    /// The state of a thread just before an event of it.
    pub fn state_before(&self, event: Ev) -> &ThreadState {
        self.history.state(tag_before(self.graph, event))
    }

    /// What threads have done wrong.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        (0..self.graph.threads().len()).filter_map(|at| {
            match &self.history.node(tag_of(self.graph, at)).next {
                Next::Fault(fault) if self.graph.threads()[at].is_started() => Some(fault),
                _ => None,
            }
        })
    }

    /// Why a thread does not go on, if it is blocked.
    pub fn block(&self, thread: ThreadId) -> Option<BlockReason> {
        let tag = tag_of(self.graph, thread.as_usize());
        match self.history.node(tag).next {
            Next::Emit(_) if tag.ready() == Ready::Barrier => Some(BlockReason::Spin),
            Next::Blocked(reason) => Some(reason),
            Next::Fault(_) => Some(BlockReason::Fault),
            _ => None,
        }
    }

    /// The co-last value of the cell at an address; the initial one if nothing wrote it.
    ///
    /// Where co is not part of the execution there may be several final values, and this is one.
    pub fn memory(&self, address: u64, size: u8) -> Value {
        let mut cells = self.history.cells().iter().take(self.graph.location_count()).enumerate();
        let initial = self.history.interp.program().initial_value(address, size);
        match cells.find(|(_, cell)| (cell.location.0, cell.size) == (address, size)) {
            Some((at, _)) => self.last_written(at).unwrap_or(initial),
            None => self.memory_of_cells(address, size, initial),
        }
    }

    /// The same for bytes that are not one cell.
    fn memory_of_cells(&self, address: u64, size: u8, initial: Value) -> Value {
        let mut bytes = wide::bytes(initial, size);
        for (at, cell) in self.history.cells().iter().take(self.graph.location_count()).enumerate() {
            let Some(written) = self.last_written(at) else { continue };
            for (byte, value) in (cell.location.0..).zip(&wide::bytes(written, cell.size)[..cell.size.into()])
            {
                if (address..address + u64::from(size)).contains(&byte) {
                    bytes[(byte - address) as usize] = *value;
                }
            }
        }
        wide::held(u128::from_le_bytes(bytes), size)
    }

    /// The addresses that were written to, and what each holds in the end.
    pub fn written(&self) -> impl Iterator<Item = (u64, Value)> {
        let cells = self.history.cells().iter().take(self.graph.location_count()).enumerate();
        cells.filter_map(|(at, cell)| Some((cell.location.0, self.last_written(at)?)))
    }

    fn last_written(&self, at: usize) -> Option<Value> {
        match self.graph.co_max(Loc(at as u32)) {
            Ev::INIT => None,
            last => Some(self.graph.event(last).label.value().unwrap_or(0)),
        }
    }

    /// Whether two conflicting accesses, one of them non-atomic, are unordered; never under models
    /// that have no races.
    pub fn has_race(&self) -> bool {
        self.flags.iter().any(|flag| flag == "undefined")
            || self.racy.is_some_and(|hb| {
                (0..self.graph.location_count() as u32)
                    .any(|loc| porf_consistency::has_race(self.graph, Loc(loc), hb))
            })
    }

    /// The flags that a cat model raises for it.
    pub fn flags(&self) -> &[String] {
        self.flags
    }

    /// The graph as plain data: see [`again`](crate::again).
    pub fn task(&self) -> Task {
        Task::of(self.graph)
    }

    /// What tells it from other executions.
    pub fn key(&self) -> CanonicalKey {
        CanonicalKey::of(self.graph, self.sees_co)
    }
}
