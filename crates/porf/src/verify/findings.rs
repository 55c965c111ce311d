//! What an exploration brings: counts, and the smallest violation that was met.
//!
//! After the first violation the search goes on for [`MORE`] further executions, and to the end with
//! `--all`: an execution with fewer threads, or as many threads and fewer events, takes the place of a
//! larger one, and something that goes wrong that of something that does not happen (a deadlock, a loop
//! that never ends). With one worker what is shown is a function of the program and the options.

use super::Request;
use super::budget::Watch;
use super::panics;
use crate::answer::{Related, Shown, source};
use crate::question::{Question, Says};
use crate::trace::{StackFrame, Trace, stack};
use porf_event::{BlockReason, Label, ThreadId};
use porf_explore::{Execution, Stuck, Task, Visit, Waiting};
use porf_graph::Ev;
use porf_interp::{Fault, FaultKind};
use porf_ir::Split;
use porf_verdict::{Checks, Limit, SourceLocation, Violation, ViolationKind};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How many executions and violations are looked at after the first violation.
const MORE: u64 = 1000;

/// What an exploration has brought so far.
pub(crate) struct Findings<'a> {
    question: Option<&'a Question>,
    all: bool,
    checks: Checks,
    watch: Watch<'a>,
    /// A thread may end in a panic.
    unwinds: bool,
    /// What this search saw; begins anew with it.
    pub seen: Seen,
    /// How often the search has begun anew.
    pub begun: u64,
    pub stopped: Option<Limit>,
    pub unsupported: Option<String>,
}

/// What was seen since the search began.
#[derive(Default)]
pub(crate) struct Seen {
    pub executions: u64,
    /// Whether some execution ended the process while other threads waited.
    pub ended: bool,
    /// The loops that reached the bound.
    pub loops: Places,
    /// The assumptions that did not hold.
    pub assumptions: Places,
    /// Whether some execution is the one that a litmus test asks for.
    pub answered: bool,
    pub found: Option<Found>,
    /// The execution that it is shown by, for a checkpoint.
    pub task: Option<Task>,
    /// How often a violation was kept.
    kept: u64,
    /// How much has been looked at since the first violation.
    pub after: u64,
    /// How accesses of the program are cut.
    pub cuts: Vec<Vec<Split>>,
}

/// Places at which executions were cut off: the first few, without repetition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Places {
    /// Whether there was any.
    pub any: bool,
    /// File, line and column.
    found: Vec<(String, u32, u32)>,
}

impl Places {
    /// How many are kept.
    const MOST: usize = 8;

    fn add(&mut self, execution: &Execution<'_, '_>, thread: ThreadId) {
        self.any = true;
        if self.found.len() >= Places::MOST {
            return;
        }
        let program = execution.program();
        let calls = stack(program, &execution.state(thread).stack(program));
        if let Some(SourceLocation { file, line, column }) = source(&calls).map(|frame| &frame.location) {
            let place = (file.clone(), *line, *column);
            if !self.found.contains(&place) {
                self.found.push(place);
            }
        }
    }

    /// In the order of the text.
    pub fn list(&self) -> Vec<SourceLocation> {
        let mut list: Vec<SourceLocation> = self
            .found
            .iter()
            .map(|(file, line, column)| SourceLocation { file: file.clone(), line: *line, column: *column })
            .collect();
        list.sort();
        list
    }
}

/// A violation.
pub(crate) struct Found {
    pub violation: Violation,
    /// How it comes about; `None` if it is that something does not happen.
    pub shown: Option<Shown>,
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
            checks: request.checks,
            watch,
            unwinds,
            seen: Seen::default(),
            begun: 0,
            stopped: None,
            unsupported: None,
        }
    }

    /// Whether every single execution has to be looked at.
    pub fn looks_at_all(&self) -> bool {
        self.checks.has(ViolationKind::Leak)
            || self.unwinds
            || self.question.is_some()
            || self.watch.counts_executions()
    }

    /// Whether there is nothing more to look for.
    pub fn is_over(&self) -> bool {
        self.seen.found.is_some() && !self.all && self.seen.after >= MORE
            || self.stopped.is_some()
            || self.unsupported.is_some()
    }

    /// The whole search is over: what no execution did.
    pub fn end(&mut self) {
        if let Some(question) = self.question
            && question.asks_for_one()
            && !self.seen.answered
            && self.seen.found.is_none()
            && self.stopped.is_none()
        {
            let violation = Violation {
                kind: ViolationKind::Assertion,
                message: question.contradiction().to_string(),
                location: None,
                related: Vec::new(),
            };
            self.seen.found = Some(Found { violation, shown: None });
        }
    }

    pub fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        let kept = self.seen.kept;
        let flow = self.look(visit);
        if self.seen.kept != kept
            && let Some(execution) = visit.execution()
        {
            self.seen.task = Some(execution.task());
            self.seen.cuts.clone_from(&execution.program().cuts);
        }
        flow
    }

    fn look(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        match visit {
            Visit::Complete(execution) => {
                if self.checks.has(ViolationKind::Leak)
                    && let Some(leak) = leak(execution)
                {
                    let message = "memory that is allocated here is never freed".to_string();
                    self.event(execution, ViolationKind::Leak, message, leak, None)?;
                }
                if self.unwinds {
                    self.unheard(execution)?;
                }
                if self.question.is_none()
                    && let Some(flag) = execution.flags().first()
                {
                    self.flagged(execution, flag)?;
                }
                match self.question.map(|question| question.ask(execution)) {
                    Some(Says::Contradicts) => self.contradiction(execution)?,
                    Some(Says::Found) => self.seen.answered = true,
                    _ => {}
                }
                self.count(1)
            }
            Visit::Blocked(execution) => {
                for thread in (0..execution.graph.threads().len()).map(|at| ThreadId(at as u16)) {
                    self.seen.ended |= execution.state(thread).ends_process();
                    match execution.block(thread) {
                        Some(BlockReason::Bound) => self.seen.loops.add(execution, thread),
                        Some(BlockReason::Assume) => self.seen.assumptions.add(execution, thread),
                        Some(BlockReason::Exit) => self.seen.ended = true,
                        _ => {}
                    }
                }
                if let Some(stuck) = execution.stuck() {
                    self.stuck(execution, &stuck)?;
                }
                self.count(1)
            }
            Visit::Anew => {
                self.seen = Seen::default();
                self.begun += 1;
                ControlFlow::Continue(())
            }
            Visit::Working(_) => self.go_on_watching(),
            Visit::Fault(execution, fault) => self.fault(execution, fault),
            Visit::Memory(execution, fault, event, other) => {
                let is_free = matches!(execution.graph.event(event).label, Label::Free { .. });
                // Whichever of the two came last, the access is what is wrong.
                if fault.kind == FaultKind::UseAfterFree && is_free && other.is_some() {
                    let message = "access to memory that another thread frees at the same time".to_string();
                    return self.event(
                        execution,
                        kind(fault.kind),
                        message,
                        other,
                        Some(("freed here", event)),
                    );
                }
                let related = other.is_some().then(|| (related_word(fault.kind), other));
                self.event(execution, kind(fault.kind), fault.message.clone(), event, related)
            }
            Visit::Race(execution, first, second) => {
                let what = |event: Ev| match execution.graph.event(event).label.is_read() {
                    true => "read",
                    false => "write",
                };
                let (one, two) = (what(second), what(first));
                let message =
                    format!("data race on {{}}: this {one} and a {two} of another thread are not ordered");
                let label = if two == "read" { "the read" } else { "the write" };
                self.event(execution, ViolationKind::Race, message, second, Some((label, first)))
            }
        }
    }

    /// In the middle of an execution: is there still time?
    fn go_on_watching(&mut self) -> ControlFlow<()> {
        self.stopped = self.stopped.take().or_else(|| self.watch.over());
        if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub fn count(&mut self, executions: u64) -> ControlFlow<()> {
        self.seen.executions += executions;
        if self.seen.found.is_some() {
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
        self.seen.after += if self.seen.found.is_some() { looked } else { 0 };
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// A final state that a litmus test rules out.
    fn contradiction(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        let keep = |_: Ev| true;
        if self.is_better(execution, ViolationKind::Assertion, &keep) {
            let trace = Trace::of(execution.program(), execution.graph, &keep);
            let message = self.question.map_or("", |question| question.contradiction()).to_string();
            let shown = Shown { stack: Vec::new(), related: Vec::new(), trace, marked: Vec::new() };
            self.keep(ViolationKind::Assertion, message, shown);
        }
        self.go_on(1)
    }

    /// An execution that the model itself calls wrong: a race of plain accesses, a lock that is not held.
    fn flagged(&mut self, execution: &Execution<'_, '_>, flag: &str) -> ControlFlow<()> {
        let keep = |_: Ev| true;
        let kind = if flag.contains("race") { ViolationKind::Race } else { ViolationKind::Lock };
        if self.is_better(execution, kind, &keep) {
            let trace = Trace::of(execution.program(), execution.graph, &keep);
            let shown = Shown { stack: Vec::new(), related: Vec::new(), trace, marked: Vec::new() };
            self.keep(kind, format!("the model flags this execution: {flag}"), shown);
        }
        self.go_on(1)
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
        let ended = if fault.kind == FaultKind::Panic { panics::ended(execution) } else { Vec::new() };
        // The thread that is wrong, and what led it there.
        let threads = 0..execution.graph.threads().len();
        let last = |at: usize| execution.graph.thread_end(ThreadId(at as u16));
        let wanted: Vec<Ev> = threads
            .filter(|at| execution.block(ThreadId(*at as u16)) == Some(BlockReason::Fault))
            .filter_map(last)
            .collect();
        let keep = Trace::before(execution.graph, &wanted);
        if self.is_better(execution, kind(fault.kind), &keep) {
            let trace = Trace::of(execution.program(), execution.graph, &keep);
            let mut shown = Shown { stack: calls, related: Vec::new(), trace, marked: Vec::new() };
            let mut message = fault.message.clone();
            if fault.kind == FaultKind::Panic {
                message = panics::message(&message);
            }
            // What panicked first is the reason.
            if let Some(first) = ended.into_iter().find(|first| panics::hands_on(&message, first)) {
                let stack = std::mem::replace(&mut shown.stack, first.stack);
                shown.related.push(Related { message: "which leads to a panic here".to_string(), stack });
                message = first.message;
            }
            self.keep(kind(fault.kind), message, shown);
        }
        self.go_on(1)
    }

    /// Panics that ended a thread that nobody joins.
    fn unheard(&mut self, execution: &Execution<'_, '_>) -> ControlFlow<()> {
        for panics::Ended { thread, message, stack, joined } in panics::ended(execution) {
            let Some(last) = execution.graph.thread_end(thread).filter(|_| !joined) else { continue };
            let keep = Trace::before(execution.graph, &[last]);
            if self.is_better(execution, ViolationKind::Panic, &keep) {
                let trace = Trace::of(execution.program(), execution.graph, &keep);
                let shown = Shown { stack, related: Vec::new(), trace, marked: Vec::new() };
                self.keep(ViolationKind::Panic, message, shown);
            }
            self.go_on(1)?;
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
        if self.is_better(execution, kind, &keep) {
            let trace = Trace::of(execution.program(), execution.graph, &keep);
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
            self.keep(kind, message, Shown { stack, related, trace, marked });
        }
        self.go_on(1)
    }

    fn stuck(&mut self, execution: &Execution<'_, '_>, stuck: &Stuck) -> ControlFlow<()> {
        let keep = |_: Ev| true;
        let loops = stuck.threads.iter().all(|(_, waiting, _)| *waiting != Waiting::Lock);
        let (kind, message) = match loops {
            true => (ViolationKind::Liveness, "a loop that waits for another thread never ends"),
            false => (ViolationKind::Deadlock, "deadlock: no thread can go on"),
        };
        if !self.is_better(execution, kind, &keep) {
            return self.go_on(1);
        }
        let trace = Trace::of(execution.program(), execution.graph, &keep);
        let mut places = Vec::new();
        for (thread, waiting, _) in &stuck.threads {
            let what = match waiting {
                Waiting::Lock => "waits here",
                Waiting::Loop => "loops here",
                Waiting::Join => "waits here for a thread to end",
            };
            let calls = stack(execution.program(), &execution.state(*thread).stack(execution.program()));
            let order = *waiting == Waiting::Join;
            places.push((order, Related { message: format!("{thread} {what}"), stack: calls }));
        }
        places.sort_by_key(|(order, _)| *order);
        let mut places = places.into_iter().map(|(_, related)| related);
        let calls = places.next().map_or(Vec::new(), |first| first.stack);
        let marked = stuck
            .threads
            .iter()
            .filter_map(|(_, _, event)| event.map(|event| execution.graph.event(event).id))
            .collect();
        let shown = Shown { stack: calls, related: places.collect(), trace, marked };
        self.keep(kind, message.to_string(), shown);
        self.go_on(1)
    }

    /// Whether a violation is looked for, and these events show it better than the one that is known.
    fn is_better(
        &self,
        execution: &Execution<'_, '_>,
        kind: ViolationKind,
        keep: &dyn Fn(Ev) -> bool,
    ) -> bool {
        if !self.checks.has(kind) {
            return false;
        }
        let Some(Found { violation, shown: Some(shown) }) = &self.seen.found else { return true };
        let waits = |kind| matches!(kind, ViolationKind::Deadlock | ViolationKind::Liveness);
        let known = (waits(violation.kind), (shown.trace.threads.len(), shown.trace.events.len()));
        (waits(kind), Trace::size(execution.graph, keep)) < known
    }

    fn keep(&mut self, kind: ViolationKind, message: String, shown: Shown) {
        let location = |stack: &[StackFrame]| source(stack).map(|frame| frame.location.clone());
        let related = shown
            .related
            .iter()
            .filter_map(|one| location(&one.stack).map(|place| (one.message.clone(), place)))
            .collect();
        let violation = Violation { kind, message, location: location(&shown.stack), related };
        self.seen.found = Some(Found { violation, shown: Some(shown) });
        self.seen.kept += 1;
    }
}

/// An allocation on the heap that has no free.
fn leak(execution: &Execution<'_, '_>) -> Option<Ev> {
    use porf_ir::{Region, layout};
    let graph = execution.graph;
    graph.all().find(|event| match graph.event(*event).label {
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
        _ => "allocated here",
    }
}
