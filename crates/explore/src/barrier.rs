//! Barriers: threads that come to one are not ordered.
//!
//! Source: Kokologiannakis, Vafeiadis, "BAM: efficient model checking for barriers", NETYS 2021.
//!
//! A barrier is a counter. A thread *arrives* by a fetch-and-add of [`RmwKind::Barrier`], acquire and release, and
//! *departs* by a read of the counter with which it goes on once as many threads have arrived as the barrier waits
//! for: its generation is complete then. Under every model these are ordinary accesses, so that checkers, brute
//! force and cat know nothing of barriers. What the main search does about them:
//! - an arrival takes the co-last write, and its write goes to the end of co and revisits nothing: of the orders in
//!   which the threads of a generation arrive, that of insertion is visited;
//! - a thread is not scheduled to depart before its generation is complete, and takes the write that completed it.
//!
//! Nobody sees the order of arrivals: a thread does nothing between its arrival and its departure, so that each
//! event after an arrival, in porf, is after the whole generation; and who leaves later than necessary only knows
//! more. So an arrival and a departure have no choice, as the joining of a thread has none, and TruSt is complete and
//! visits nothing twice for the same reason as with these. (The edges between arrivals of one generation, which the
//! order of insertion adds to porf, change the prefix of no other event.)
//!
//! That holds as long as it is clear who belongs to a generation. At each arrival the threads that may still come
//! are counted, by what their code can reach: if there are more than the generation waits for, or if the counter
//! is used in another way while threads use the barrier, the search begins anew without this reduction
//! ([`Error::Without`]).

use crate::buffering::WithHistory;
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{History, Ready};
use crate::reduce::Reduction;
use crate::schedule::tag_of;
use crate::search::{Trail, Upcoming};
use porf_consistency::{Choice, HappensBefore, MemoryModel};
use porf_event::{RmwKind, ThreadId, Value};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::{Function, FunctionId, Instr, Program};

/// The search has to be made without this reduction.
const WITHOUT: Error = Error::Without(Reduction::Barriers);

/// What a thread may still do.
const ARRIVE: u8 = 1;
const CREATE: u8 = 2;

/// What is known of the barriers of a program.
pub(crate) struct Barriers {
    /// By function and instruction: what a thread may do from there on, before the function ends.
    ahead: Vec<Vec<u8>>,
    /// The counters.
    cells: Vec<Loc>,
}

impl Barriers {
    /// `None` if the program has none.
    pub fn of(program: &Program) -> Option<Barriers> {
        let mut code = program.functions.iter().flat_map(|function| &function.code);
        code.any(is_arrival).then(|| Barriers { ahead: ahead(program), cells: Vec::new() })
    }
}

fn is_arrival(instr: &Instr) -> bool {
    matches!(instr, Instr::Rmw { kind: RmwKind::Barrier, .. })
}

fn ahead(program: &Program) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> =
        program.functions.iter().map(|function| vec![0; function.code.len()]).collect();
    let addressed = program.addressed_functions();
    let begins = |all: &[Vec<u8>], id: FunctionId| all[id.0 as usize].first().copied().unwrap_or(0);
    loop {
        let mut changed = false;
        // What a call through a pointer may do.
        let pointers = addressed.iter().map(|id| begins(&all, *id)).fold(0, std::ops::BitOr::bitor);
        for (at, function) in program.functions.iter().enumerate() {
            changed |= look_ahead(function, at, pointers, &mut all);
        }
        if !changed {
            return all;
        }
    }
}

/// Goes once through a function from its end; whether something was found out.
fn look_ahead(function: &Function, number: usize, pointers: u8, all: &mut [Vec<u8>]) -> bool {
    let mut changed = false;
    for (at, instr) in function.code.iter().enumerate().rev() {
        let here = match instr {
            instr if is_arrival(instr) => ARRIVE,
            Instr::Create { .. } | Instr::CreatePointer { .. } => CREATE,
            Instr::CallPointer { .. } => pointers,
            Instr::Call { function, .. } => all[function.0 as usize].first().copied().unwrap_or(0),
            _ => 0,
        };
        let next = instr.goes_on().then_some(at as u32 + 1);
        let later = instr.targets().chain(next).map(|to| all[number].get(to as usize).copied().unwrap_or(0));
        let found = later.fold(here, std::ops::BitOr::bitor) | all[number][at];
        changed |= found != all[number][at];
        all[number][at] = found;
    }
    changed
}

/// Whether an event is an arrival, its read or its write.
fn arrives(graph: &ExecutionGraph, event: Ev) -> bool {
    graph.event(event).label.rmw() == RmwKind::Barrier
}

/// Whether an event is an arrival or a departure.
pub(crate) fn is_at_barrier(graph: &ExecutionGraph, event: Ev) -> bool {
    arrives(graph, event) || {
        let before = graph.po_pred(event);
        graph.event(event).label.is_read()
            && graph.event(before).label.is_write()
            && arrives(graph, before)
            && graph.event(before).loc == graph.event(event).loc
    }
}

/// What a thread that waits to depart takes its value from, if its generation is complete.
pub(crate) fn completes(graph: &ExecutionGraph, history: &History<'_>, thread: usize) -> Option<Ev> {
    completed_by(graph, graph.threads()[thread].last()?, history.node(tag_of(graph, thread)).until)
}

/// The arrival with which the counter is `until`, in the row that another one belongs to.
fn completed_by(graph: &ExecutionGraph, arrival: Ev, until: Value) -> Option<Ev> {
    let own = graph.event(arrival);
    let missing = until.checked_sub(own.label.value()?)?;
    let place = u64::from(own.co) + missing;
    let write = *graph.co(own.loc).get(usize::try_from(place).ok()? - 1)?;
    arrives(graph, write).then_some(write)
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Adds the source of a read that has to do with a barrier; whether it has.
    pub fn read_at_barrier(&mut self, next: Upcoming, read: Ev) -> Result<bool, Error> {
        let Some(barriers) = &mut self.barriers else { return Ok(false) };
        let graph = &self.trail.now;
        if next.label.rmw() == RmwKind::Barrier {
            if !barriers.cells.contains(&next.loc) {
                barriers.cells.push(next.loc);
            }
            let before = graph.po_pred(read);
            let is_known = |&other: &Ev| is_at_barrier(graph, other) || covers::<M>(graph, before, other);
            if !reads_of(graph, next.loc).filter(|&other| other != read).all(|other| is_known(&other)) {
                return Err(WITHOUT);
            }
            return self.arrive(next, read).map(|()| true);
        }
        if is_at_barrier(graph, read) {
            let source = match next.tag.ready() {
                Ready::Barrier => {
                    completed_by(graph, graph.po_pred(read), self.trail.history.node(next.tag).until)
                }
                _ => None,
            };
            let own = graph.event(graph.po_pred(read)).co as usize;
            let source = source.filter(|_| graph.co(next.loc)[own - 1..].iter().all(|&w| arrives(graph, w)));
            self.trail.choices.push(Choice::Source(source.ok_or(WITHOUT)?));
            return Ok(true);
        }
        let before = graph.po_pred(read);
        let is_after = |&write: &Ev| !arrives(graph, write) || covers::<M>(graph, before, write);
        if barriers.cells.contains(&next.loc) && !graph.co(next.loc).iter().all(is_after) {
            return Err(WITHOUT);
        }
        Ok(false)
    }

    /// The read of an arrival takes the co-last write, if it could take nothing but arrivals and what they began with
    /// instead.
    fn arrive(&mut self, next: Upcoming, read: Ev) -> Result<(), Error> {
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        let start = choices.len();
        self.model.sources(&WithHistory { graph, history }, read, choices);
        let co = graph.co(next.loc);
        let begins = co.iter().rposition(|&write| !arrives(graph, write)).map_or(0, |at| at + 1);
        let is_clear = choices[start..].iter().all(|choice| match *choice {
            Choice::Source(source) => graph.event(source).co as usize >= begins,
            _ => false,
        });
        let last = graph.co_max(next.loc);
        if !is_clear {
            return Err(WITHOUT);
        }
        choices.truncate(start);
        choices.push(Choice::Source(last));
        Ok(())
    }

    /// Adds the place of a write that has to do with a barrier; whether it has.
    pub fn write_at_barrier(&mut self, next: Upcoming, write: Ev) -> Result<bool, Error> {
        let Some(barriers) = &self.barriers else { return Ok(false) };
        let graph = &self.trail.now;
        if next.label.rmw() == RmwKind::Barrier {
            let tag = tag_of(graph, next.thread.as_usize());
            let missing = match (tag.ready(), next.label.value()) {
                (Ready::Barrier, Some(own)) => self.trail.history.node(tag).until.checked_sub(own),
                _ => None,
            };
            if missing.is_none_or(|missing| self.may_come(barriers, next.thread, next.loc) > missing) {
                return Err(WITHOUT);
            }
            let place = graph.co(next.loc).len() as u32 + 1;
            self.trail.choices.push(Choice::Place(place));
            return Ok(true);
        }
        let accesses = || graph.co(next.loc).iter().copied().chain(reads_of(graph, next.loc));
        let is_known = |other: Ev| !is_at_barrier(graph, other) || covers::<M>(graph, write, other);
        if barriers.cells.contains(&next.loc) && !accesses().all(is_known) {
            return Err(WITHOUT);
        }
        Ok(false)
    }

    /// How many other threads may arrive at a barrier before the generation at `loc` is complete.
    fn may_come(&self, barriers: &Barriers, thread: ThreadId, loc: Loc) -> u64 {
        let Trail { now: graph, history, .. } = &self.trail;
        let mut count = 0;
        for at in 0..graph.threads().len() {
            let tag = tag_of(graph, at);
            if at == thread.as_usize() || !graph.threads()[at].is_started() || history.is_finished(tag) {
                continue;
            }
            let waits = tag.ready() == Ready::Barrier && history.node(tag).loc == loc;
            if waits && completes(graph, history, at).is_none() {
                continue;
            }
            let ahead = |(depth, (function, at)): (usize, (FunctionId, u32))| {
                // Outer functions are at the call.
                let at = at as usize + usize::from(depth > 0);
                barriers.ahead[function.0 as usize].get(at).copied().unwrap_or(0)
            };
            let places = history.state(tag).places().enumerate();
            match places.map(ahead).fold(0, std::ops::BitOr::bitor) {
                0 => {}
                ARRIVE => count += 1,
                _ => return u64::MAX,
            }
        }
        count
    }
}

/// All reads of a location that have a source.
fn reads_of(graph: &ExecutionGraph, loc: Loc) -> impl Iterator<Item = Ev> + '_ {
    std::iter::once(&Ev::INIT).chain(graph.co(loc)).flat_map(move |&write| graph.readers(write, loc))
}

/// Whether `a` happens before `b` or is `b`.
fn covers<M: MemoryModel>(graph: &ExecutionGraph, b: Ev, a: Ev) -> bool {
    graph.clock_covers(M::Hb::HB, b, a)
}
