//! What an exploration brings: counts, and the violations that were met.
//!
//! After the first violation the search goes on for [`MORE`] further executions, to show it by a small one,
//! and to the end with `--all`, where every distinct violation is shown ([`Kept`]). With one worker what is
//! shown is a function of the program and the options.

use super::Request;
use super::budget::Watch;
use super::kept::Place;
use super::panics;
use super::sections::Sections;
use super::seen::Seen;
use crate::answer::{Related, Shown, source};
use crate::names::is_library;
use crate::question::{Question, Says};
use crate::trace::{StackFrame, Trace, stack};
use porf_event::{BlockReason, Label, ThreadId};
use porf_explore::{Execution, Stuck, Visit, Waiting};
use porf_graph::Ev;
use porf_interp::{Fault, FaultKind};
use porf_ir::{Program, Split};
use porf_model::{Equivalence, Model};
use porf_verdict::{Checks, Limit, Violation, ViolationKind};
use std::ops::ControlFlow;

/// How many executions and violations are looked at after the first violation.
const MORE: u64 = 1000;

/// What an exploration has brought so far.
pub(crate) struct Findings<'a> {
    question: Option<&'a Question>,
    all: bool,
    /// How much is looked at after the first violation.
    more: u64,
    checks: Checks,
    watch: Watch<'a>,
    /// If no execution has ended in half of the time, the search is given up.
    halves: bool,
    /// The atomic sections of the program, if it has any.
    sections: Option<Sections>,
    /// A thread may end in a panic.
    unwinds: bool,
    /// The search orders writes.
    ordered: bool,
    /// What this search saw; begins anew with it.
    pub seen: Seen,
    /// How often the search has begun anew.
    pub begun: u64,
    pub stopped: Option<Limit>,
    /// The search came to no end, and a bound on loops may help.
    pub endless: bool,
    pub unsupported: Option<String>,
}

impl<'a> Findings<'a> {
    pub fn new(
        question: Option<&'a Question>,
        request: &Request<'a>,
        watch: Watch<'a>,
        unwinds: bool,
    ) -> Findings<'a> {
        Findings {
            question,
            all: request.all,
            more: if request.first { 0 } else { MORE },
            checks: request.checks,
            watch,
            halves: request.may_be_bounded(),
            sections: None,
            unwinds,
            ordered: false,
            seen: Seen::default(),
            begun: 0,
            stopped: None,
            endless: false,
            unsupported: None,
        }
    }

    /// The condition that is asked of executions.
    pub fn question(&self) -> Option<&'a Question> {
        self.question
    }

    /// Whether every single execution has to be looked at.
    pub fn looks_at_all(&self) -> bool {
        self.checks.has(ViolationKind::Leak)
            || self.question.is_some()
            || self.sections.is_some()
            || self.unwinds
            || self.watch.counts_executions()
    }

    /// Whether there is nothing more to look for.
    pub fn is_over(&self) -> bool {
        !self.seen.found.is_empty() && !self.all && self.seen.after >= self.more
            || self.stopped.is_some()
            || self.unsupported.is_some()
    }

    /// The search is over: notes as a violation what no execution did.
    pub fn end(&mut self) {
        if let Some(question) = self.question
            && question.asks_for_one()
            && !self.seen.answered
            && self.seen.found.is_empty()
            && self.stopped.is_none()
        {
            let violation = Violation {
                kind: ViolationKind::Assertion,
                message: question.contradiction().to_string(),
                location: None,
                related: Vec::new(),
            };
            self.seen.found.put_alone(violation);
        }
    }

    /// The search that begins now: on what, and how.
    pub fn begin(&mut self, program: &Program, model: Model, equivalence: Equivalence) {
        self.sections = Sections::of(program, model, equivalence);
        self.ordered = equivalence != Equivalence::Rf && model.orders_writes();
    }

    /// Takes what the search shows next. The search stops if this breaks.
    pub fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        if self.is_in_pieces(&visit) {
            match visit {
                Visit::Complete(_) => self.seen.dropped.0 += 1,
                Visit::Blocked(_) => self.seen.dropped.1 += 1,
                _ => return ControlFlow::Continue(()),
            }
            return self.count(1);
        }
        match visit {
            Visit::Complete(execution) => self.complete(execution),
            Visit::Blocked(execution) => self.blocked(execution),
            Visit::Anew(cuts) => {
                let mixed = cuts.iter().flatten().find_map(|split| match *split {
                    Split::Word { address, word } => Some((address, word)),
                    Split::Pieces { .. } | Split::Bounds { .. } => None,
                });
                self.seen = Seen { mixed, ..Seen::default() };
                self.begun += 1;
                ControlFlow::Continue(())
            }
            Visit::Working(_) => self.go_on_watching(),
            Visit::Fault(execution, fault) => self.fault(execution, fault),
            Visit::Memory(execution, fault, event, other) => self.bad_access(execution, fault, event, other),
            Visit::Race(execution, first, second) => self.race(execution, first, second),
        }
    }

    /// Whether something comes between the accesses of an atomic section: then this is no execution of the program.
    fn is_in_pieces(&self, visit: &Visit<'_, '_>) -> bool {
        let (Visit::Complete(execution) | Visit::Blocked(execution) | Visit::Fault(execution, _)) = visit
        else {
            return false;
        };
        self.sections.is_some_and(|sections| !sections.are_whole(execution))
    }

    /// An execution in which every thread has ended.
    fn complete(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        if self.checks.has(ViolationKind::Leak) {
            for leak in leaks(execution) {
                let message = "memory that is allocated here is never freed".to_string();
                self.event(execution, ViolationKind::Leak, message, leak, None)?;
            }
        }
        if self.unwinds {
            self.unheard(execution)?;
        }
        if self.question.is_none() {
            for flag in execution.flags() {
                self.flagged(execution, flag)?;
            }
        }
        match self.question.map(|question| question.ask(execution)) {
            Some(Says::Contradicts) => self.contradiction(execution)?,
            Some(Says::Found) => self.seen.answered = true,
            _ => {}
        }
        self.count(1)
    }

    /// An execution in which some thread cannot go on.
    fn blocked(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        for thread in (0..execution.graph.threads().len()).map(|at| ThreadId(at as u16)) {
            self.seen.ended |= execution.state(thread).ends_process();
            match execution.block(thread) {
                Some(BlockReason::Bound) => self.seen.loops.add(execution, thread),
                Some(BlockReason::Clock) => self.seen.clocks.add(execution, thread),
                Some(BlockReason::Assume) => self.seen.assumptions.add(execution, thread),
                Some(BlockReason::Exit) => self.seen.ended = true,
                _ => {}
            }
        }
        self.seen.left |= execution.leaves_threads();
        if let Some(stuck) = execution.stuck() {
            self.stuck(execution, &stuck)?;
        }
        if self.sections.is_some() {
            for fault in execution.faults() {
                self.fault(execution, fault)?;
            }
        }
        self.count(1)
    }

    /// An access to memory that is not there, or not any more; `other` is the event that made or ended it.
    fn bad_access(
        &mut self,
        execution: &Execution<'_, '_>,
        fault: &Fault,
        event: Ev,
        other: Ev,
    ) -> ControlFlow<()> {
        let is_free = matches!(execution.graph.event(event).label, Label::Free { .. });
        // If the free came last, the access is still what is wrong.
        if fault.kind == FaultKind::UseAfterFree && is_free && other.is_some() {
            let message = "access to memory that another thread frees at the same time".to_string();
            return self.event(execution, kind(fault.kind), message, other, Some(("freed here", event)));
        }
        let related = other.is_some().then(|| (related_word(fault.kind), other));
        self.event(execution, kind(fault.kind), fault.message.clone(), event, related)
    }

    /// Two accesses that race, in the order in which the search added them.
    fn race(&mut self, execution: &Execution<'_, '_>, first: Ev, second: Ev) -> ControlFlow<()> {
        let what = |event: Ev| match execution.graph.event(event).label.is_read() {
            true => "read",
            false => "write",
        };
        let (one, two) = (what(second), what(first));
        let message = format!("data race on {{}}: this {one} and a {two} of another thread are not ordered");
        let label = if two == "read" { "the read" } else { "the write" };
        self.event(execution, ViolationKind::Race, message, second, Some((label, first)))
    }

    /// For a search that others do: stops it if the budget is used up, unless it has `ended`.
    pub fn look_at_the_clock(&mut self, ended: bool) {
        if !ended {
            let _ = self.go_on_watching();
        }
        self.stopped = self.stopped.take().or_else(|| self.watch.counted(self.seen.executions));
    }

    /// In the middle of an execution: stops if the budget is used up.
    fn go_on_watching(&mut self) -> ControlFlow<()> {
        self.stopped = self.stopped.take().or_else(|| self.watch.over());
        if self.stopped.is_none() && self.halves && self.seen.executions == 0 && self.watch.half_over() {
            let message = "no execution came to its end in half of the time (does a loop end?)";
            self.stopped = Some(Limit::Other(message.to_string()));
            self.endless = true;
        }
        if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub fn count(&mut self, executions: u64) -> ControlFlow<()> {
        self.seen.executions += executions;
        if !self.seen.found.is_empty() {
            self.go_on(executions)?;
        }
        match self.watch.spent(self.seen.executions, executions) {
            Some(limit) => {
                self.stopped = Some(limit);
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// More was looked at after a violation: whether that is enough.
    fn go_on(&mut self, looked: u64) -> ControlFlow<()> {
        self.seen.after += if !self.seen.found.is_empty() { looked } else { 0 };
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// A final state that a litmus test rules out.
    fn contradiction(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        let message = self.question.map_or("", |question| question.contradiction());
        self.whole(execution, ViolationKind::Assertion, message.to_string())
    }

    /// An execution that the model itself calls wrong: a race of plain accesses, a lock that is not held.
    fn flagged(&mut self, execution: &Execution<'_, '_>, flag: &str) -> ControlFlow<()> {
        let kind = if flag.contains("race") { ViolationKind::Race } else { ViolationKind::Lock };
        self.whole(execution, kind, format!("the model flags this execution: {flag}"))
    }

    /// A violation that has no place of its own.
    fn whole(
        &mut self,
        execution: &Execution<'_, '_>,
        kind: ViolationKind,
        message: String,
    ) -> ControlFlow<()> {
        let place = || Place::new(kind, &[], &message);
        self.meet(execution, kind, &|_| true, &place, |trace| {
            let shown = Shown::new(Vec::new(), Vec::new(), trace, Vec::new());
            (message.clone(), shown)
        })
    }

    fn fault(&mut self, execution: &Execution<'_, '_>, fault: &Fault) -> ControlFlow<()> {
        let calls = stack(execution.program(), &fault.stack);
        if fault.kind.is_limit() {
            let place = source(&calls).map_or(String::new(), |frame| format!("{}: ", frame.location));
            let message = format!("{place}{}", fault.message);
            if fault.kind == FaultKind::Unsupported {
                self.unsupported = Some(message);
            } else {
                self.stopped = Some(Limit::Other(message));
            }
            return ControlFlow::Break(());
        }
        if !self.checks.has(kind(fault.kind)) {
            let place = source(&calls).map_or(String::new(), |frame| format!(" at {}", frame.location));
            self.seen.unsought.fault.get_or_insert_with(|| format!("{}{place}", fault.message));
            return self.go_on(1);
        }
        let ended = if fault.kind == FaultKind::Panic { panics::ended(execution) } else { Vec::new() };
        // The thread that is wrong, and what led it there.
        let threads = 0..execution.graph.threads().len();
        let last = |at: usize| execution.graph.thread_end(ThreadId(at as u16));
        let wanted: Vec<Ev> = threads
            .filter(|at| execution.block(ThreadId(*at as u16)) == Some(BlockReason::Fault))
            .filter_map(last)
            .collect();
        let keep = Trace::before(execution.graph, &wanted);
        let kind = kind(fault.kind);
        let message = match fault.kind {
            FaultKind::Panic => panics::message(&fault.message),
            _ => fault.message.clone(),
        };
        // What panicked first is the reason.
        let first = ended.into_iter().find(|first| panics::hands_on(&message, first));
        let message = first.as_ref().map_or(message, |first| first.message.clone());
        let reason = first.map(|first| first.stack);
        let place = || Place::new(kind, std::slice::from_ref(reason.as_ref().unwrap_or(&calls)), &message);
        self.meet(execution, kind, &keep, &place, |trace| {
            let (stack, related) = match &reason {
                Some(stack) => {
                    let message = "which leads to a panic here".to_string();
                    (stack.clone(), vec![Related { message, stack: calls.clone() }])
                }
                None => (calls.clone(), Vec::new()),
            };
            (message.clone(), Shown::new(stack, related, trace, Vec::new()))
        })
    }

    /// Panics that ended a thread that nobody joins.
    fn unheard(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        for panics::Ended { thread, message, stack, joined } in panics::ended(execution) {
            let Some(last) = execution.graph.thread_end(thread).filter(|_| !joined) else { continue };
            let keep = Trace::before(execution.graph, &[last]);
            let kind = ViolationKind::Panic;
            let place = || Place::new(kind, std::slice::from_ref(&stack), &message);
            self.meet(execution, kind, &keep, &place, |trace| {
                let shown = Shown::new(stack.clone(), Vec::new(), trace, Vec::new());
                (message.clone(), shown)
            })?;
        }
        ControlFlow::Continue(())
    }

    /// A violation at an event, and the event that it is one because of. `{}` in the message stands for
    /// the location.
    fn event(
        &mut self,
        execution: &Execution<'_, '_>,
        kind: ViolationKind,
        message: String,
        event: Ev,
        other: Option<(&str, Ev)>,
    ) -> ControlFlow<()> {
        let wanted: Vec<Ev> = std::iter::once(event).chain(other.map(|(_, other)| other)).collect();
        let keep = Trace::before(execution.graph, &wanted);
        let place = || {
            // Which access of a race came last says nothing of it.
            let at = if kind == ViolationKind::Race { wanted.as_slice() } else { &wanted[..1] };
            let calls = |event: &Ev| {
                stack(execution.program(), &execution.state_before(*event).stack(execution.program()))
            };
            Place::new(kind, &at.iter().map(calls).collect::<Vec<_>>(), &message)
        };
        self.meet(execution, kind, &keep, &place, |trace| {
            let stack_of = |event: Ev| {
                let id = execution.graph.event(event).id;
                trace.event(id).map_or(Vec::new(), |event| event.stack.clone())
            };
            let related = other
                .map(|(message, other)| Related { message: message.to_string(), stack: stack_of(other) })
                .into_iter()
                .collect();
            let marked = wanted.iter().map(|event| execution.graph.event(*event).id).collect();
            let stack = stack_of(event);
            let location = trace.event(execution.graph.event(event).id).map_or("", |event| &event.location);
            let message = message.replace("{}", location);
            (message, Shown::new(stack, related, trace, marked))
        })
    }

    fn stuck(&mut self, execution: &Execution<'_, '_>, stuck: &Stuck) -> ControlFlow<()> {
        let calls = |thread: ThreadId| {
            stack(execution.program(), &execution.state(thread).stack(execution.program()))
        };
        let is_loop = |(thread, waiting, _): &(ThreadId, Waiting, Option<Ev>)| match waiting {
            Waiting::Lock => false,
            Waiting::Loop => !waits_for_message(&calls(*thread)),
            Waiting::Join => true,
        };
        // Threads that wait for each other to end are in no loop.
        let joins = stuck.threads.iter().all(|(_, waiting, _)| *waiting == Waiting::Join);
        let loops = !joins && stuck.threads.iter().all(is_loop);
        let (kind, message) = match loops {
            true => (ViolationKind::Liveness, "a loop that waits for another thread never ends"),
            false => (ViolationKind::Deadlock, "deadlock: no thread can go on"),
        };
        if !self.checks.has(kind) {
            self.seen.unsought.hang.get_or_insert_with(|| message.to_string());
        }
        let place = || {
            let waiting = stuck.threads.iter().filter(|(_, waiting, _)| joins || *waiting != Waiting::Join);
            Place::new(kind, &waiting.map(|(thread, ..)| calls(*thread)).collect::<Vec<_>>(), message)
        };
        self.meet(execution, kind, &|_| true, &place, |trace| {
            let mut places = Vec::new();
            for (thread, waiting, _) in &stuck.threads {
                let what = match waiting {
                    Waiting::Lock => "waits here",
                    Waiting::Loop => "loops here",
                    Waiting::Join => "waits here for a thread to end",
                };
                let order = *waiting == Waiting::Join;
                let related = Related { message: format!("{thread} {what}"), stack: calls(*thread) };
                places.push((order, related));
            }
            places.sort_by_key(|(order, _)| *order);
            let mut places = places.into_iter().map(|(_, related)| related);
            let stack = places.next().map_or(Vec::new(), |first| first.stack);
            let marked = stuck
                .threads
                .iter()
                .filter_map(|(_, _, event)| event.map(|event| execution.graph.event(event).id))
                .collect();
            (message.to_string(), Shown::new(stack, places.collect(), trace, marked))
        })
    }

    /// Keeps a violation if it is looked for, and if the events `keep` show it better than is known.
    fn meet(
        &mut self,
        execution: &Execution<'_, '_>,
        kind: ViolationKind,
        keep: &dyn Fn(Ev) -> bool,
        place: &dyn Fn() -> Place,
        tell: impl FnOnce(Trace) -> (String, Shown),
    ) -> ControlFlow<()> {
        if self.checks.has(kind) {
            let size = Trace::size(execution.graph, keep);
            if let Some(slot) = self.seen.found.slot(kind, size, self.all.then(place)) {
                let trace = Trace::of(execution.program(), execution.graph, keep, self.ordered);
                let (message, shown) = tell(trace);
                self.seen.found.put(slot, kind, message, shown, execution.task());
                self.seen.cuts.clone_from(&execution.program().cuts);
            }
        }
        self.go_on(1)
    }
}

/// The allocations on the heap that have no free.
fn leaks<'e>(execution: &'e Execution<'_, '_>) -> impl Iterator<Item = Ev> + 'e {
    use porf_ir::{Region, layout};
    let graph = execution.graph;
    graph.all().filter(move |event| match graph.event(*event).label {
        Label::Alloc { location, .. } => {
            matches!(Region::of(location.0), Some(Region::Heap | Region::Zeroed))
                && !graph.all().any(|other| match graph.event(other).label {
                    Label::Free { location: freed } => {
                        layout::allocation(freed.0) == layout::allocation(location.0)
                    }
                    _ => false,
                })
        }
        _ => false,
    })
}

fn kind(fault: FaultKind) -> ViolationKind {
    match fault {
        FaultKind::Assertion => ViolationKind::Assertion,
        FaultKind::Lock => ViolationKind::Lock,
        FaultKind::Panic => ViolationKind::Panic,
        FaultKind::BadAddress
        | FaultKind::NullPointer
        | FaultKind::OutOfBounds
        | FaultKind::UseAfterFree
        | FaultKind::Uninitialised
        | FaultKind::BadFree => ViolationKind::Memory,
        _ => ViolationKind::Trap,
    }
}

fn related_word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::UseAfterFree => "freed here",
        FaultKind::BadFree => "freed first here",
        FaultKind::Lock => "joined first here",
        _ => "allocated here",
    }
}

/// Whether a thread waits in a channel of Rust's std. That is a loop of std's, and not of the user's.
fn waits_for_message(calls: &[StackFrame]) -> bool {
    let mut own = calls.iter().take_while(|frame| is_library(frame));
    own.any(|frame| frame.function.starts_with("std::sync::mpmc::"))
}
