//! An execution as the user's program sees it: each event with its source line and call stack.
//!
//! Threads run again with the answers that the graph gave them, so that nothing has to be recorded
//! while exploring.

mod order;

use crate::names::{self, Names, demangled};
use porf_event::{Dependencies, Dialect, EventId, Label, ThreadId, Value, no_access, silent};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::{FunctionId, Program, Span, layout};
use porf_oracle::CandidateExecution;
use porf_verdict::SourceLocation;
use std::collections::HashMap;

/// Events of an execution in an order that explains them, and their threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The threads that do something in it.
    pub threads: Vec<TraceThread>,
    /// The events.
    pub events: Vec<TraceEvent>,
    /// For each location, the writes of the trace in coherence order, without the initial one; `None` if nobody
    /// ordered them.
    pub co: Option<Vec<Vec<EventId>>>,
    /// Whether the order of the events is an interleaving: each read reads what the last write above it wrote.
    pub interleaves: bool,
    /// What the orderings of the events mean.
    pub dialect: Dialect,
}

/// A thread of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceThread {
    /// Its number.
    pub id: ThreadId,
    /// What it runs.
    pub name: String,
}

/// An event of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Its thread and its place there.
    pub id: EventId,
    /// What it is.
    pub label: Label,
    /// The name of the location, where there is one.
    pub location: String,
    /// The value read or written, in words where it is an address.
    pub value: String,
    /// For a read: the write that it reads from.
    pub rf: Option<EventId>,
    /// What the thread was told: the value read, the choice made, the thread started.
    pub answer: Value,
    /// What it depends on.
    pub dependencies: Dependencies,
    /// Where it happens, innermost call first.
    pub stack: Vec<StackFrame>,
}

/// A call on the way to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The function, by the name that its author gave it.
    pub function: String,
    /// Where in the function.
    pub location: SourceLocation,
}

impl Trace {
    /// The events that `wanted` follow from: these and all that is before them in porf. This does not use the
    /// clocks of the graph, because not every search keeps them.
    pub fn before<'g>(graph: &'g ExecutionGraph, wanted: &[Ev]) -> impl Fn(Ev) -> bool + use<'g> {
        // How many events of each thread are before.
        let mut lengths = vec![0; graph.threads().len()];
        let mut work = wanted.to_vec();
        while let Some(last) = work.pop() {
            if !last.is_some() || last == Ev::INIT {
                continue;
            }
            let EventId { thread, index } = graph.event(last).id;
            let events = graph.thread(thread).events();
            let known = std::mem::replace(&mut lengths[thread.as_usize()], index + 1);
            if known > index {
                lengths[thread.as_usize()] = known;
                continue;
            }
            if known == 0 {
                work.push(graph.thread(thread).creator);
            }
            for &event in events[known as usize..=index as usize].iter().filter(|event| event.is_some()) {
                match graph.event(event).label {
                    Label::Read { .. } => work.push(graph.event(event).rf),
                    Label::Join { child } => work.extend(graph.thread_end(child)),
                    Label::Write { .. } | Label::Fence { .. } | Label::Create { .. } | silent!() => {}
                }
            }
        }
        move |event: Ev| {
            let EventId { thread, index } = graph.event(event).id;
            lengths.get(thread.as_usize()).is_some_and(|length| index < *length)
        }
    }

    /// How many threads and events the trace of the wanted events has.
    pub fn size(graph: &ExecutionGraph, keep: &dyn Fn(Ev) -> bool) -> (usize, usize) {
        let threads = graph.threads().iter().map(|thread| {
            thread.events().iter().take_while(|event| event.is_some() && keep(**event)).count()
        });
        threads.filter(|events| *events > 0).fold((0, 0), |(n, all), events| (n + 1, all + events))
    }

    /// The events of a graph that are wanted; with an event come all before it in its thread. `ordered`: whether
    /// the graph orders writes.
    pub fn of(program: &Program, graph: &ExecutionGraph, keep: &dyn Fn(Ev) -> bool, ordered: bool) -> Trace {
        let interpreter = Interpreter::new(program).track_dependencies(true);
        let mut trace = Trace { dialect: program.dialect, ..Trace::default() };
        let mut found: Vec<(Ev, TraceEvent)> = Vec::new();
        let mut names = Names::new(program);
        for (at, thread) in graph.threads().iter().enumerate() {
            let id = ThreadId(at as u16);
            let Some((mut state, name)) = start(&interpreter, graph, id) else { continue };
            let mut any = false;
            for &event in thread.events() {
                if !event.is_some() || !keep(event) {
                    break;
                }
                let Step::Emit(_) = interpreter.run(&mut state) else { break };
                let entry = graph.event(event);
                let answer = answer(&entry.label);
                if let Label::Alloc { .. } = entry.label
                    && let Some(name) = state.variable(program)
                {
                    names.add_variable(entry.id, name);
                }
                let rf = (entry.label.is_read() && entry.rf.is_some()).then(|| graph.event(entry.rf).id);
                let value = interpreter.input(&state, answer).unwrap_or_default();
                let made = TraceEvent::at(program, &state, entry.id, entry.label, rf);
                found.push((event, TraceEvent { value, ..made }));
                interpreter.deliver(&mut state, answer);
                any = true;
            }
            if any {
                let mut own = found.iter().map(|(_, event)| event).filter(|event| event.id.thread == id);
                let name = thread_name(name, || own.find_map(|event| outermost(program, event)));
                trace.threads.push(TraceThread { id, name });
            }
        }
        found.sort_by_key(|(event, _)| *event);
        trace.co = ordered.then(|| {
            let known = |event: &&Ev| found.binary_search_by_key(*event, |(known, _)| *known).is_ok();
            let all = (0..graph.location_count() as u32).map(|loc| {
                graph.co(Loc(loc)).iter().filter(known).map(|event| graph.event(*event).id).collect()
            });
            all.filter(|order: &Vec<EventId>| !order.is_empty()).collect()
        });
        trace.arrange(found.into_iter().map(|(_, event)| event).collect(), &names);
        trace
    }

    /// A candidate execution of a litmus test, whether a model allows it or not.
    pub fn of_candidate(program: &Program, execution: &CandidateExecution<'_, '_>) -> Trace {
        let candidate = execution.candidate;
        let interpreter = Interpreter::new(program).track_dependencies(true);
        let mut trace = Trace { dialect: program.dialect, ..Trace::default() };
        let id = |number: usize| match number < candidate.inits() {
            true => EventId::INIT,
            false => candidate.events[number].id,
        };
        let mut found = Vec::new();
        for (at, run) in candidate.traces.iter().enumerate() {
            let thread = ThreadId(at as u16);
            let mut state = interpreter.start(thread);
            trace.threads.push(TraceThread { id: thread, name: demangled(&program.threads[at].name) });
            for (index, (label, _)) in run.events.iter().enumerate() {
                interpreter.run(&mut state);
                let own = EventId::new(thread, index as u32);
                if let Some(number) = candidate.number(own) {
                    let rf = label.is_read().then(|| id(execution.rf[number]));
                    found.push(TraceEvent::at(program, &state, own, *label, rf));
                }
                interpreter.deliver(&mut state, answer(label));
            }
        }
        let orders = execution.co.iter().map(|order| order[1..].iter().map(|&write| id(write)).collect());
        trace.co = Some(orders.filter(|order: &Vec<EventId>| !order.is_empty()).collect());
        trace.arrange(found, &Names::new(program));
        trace
    }

    /// Takes the events, in the order in which they were found.
    fn arrange(&mut self, found: Vec<TraceEvent>, names: &Names<'_>) {
        (self.events, self.interleaves) = order::explained(found, self.co.as_deref());
        self.events.iter_mut().for_each(|event| event.name(names));
        // A place has one name, one that people wrote if some event has it, and no two have the same.
        let is_made = |name: &str| name.starts_with("heap(") || name.starts_with("stack(");
        let mut known: HashMap<u64, String> = HashMap::new();
        for event in &self.events {
            let Some(access) = event.label.access() else { continue };
            let name = known.entry(access.location.0).or_insert_with(|| event.location.clone());
            if is_made(name) && !is_made(&event.location) {
                name.clone_from(&event.location);
            }
        }
        let mut taken: HashMap<String, u64> = HashMap::new();
        for event in &mut self.events {
            let Some(access) = event.label.access() else { continue };
            let address = access.location.0;
            let name = &known[&address];
            event.location = match *taken.entry(name.clone()).or_insert(address) == address {
                true => name.clone(),
                false => {
                    let object = layout::allocation(address)
                        .map_or(format!("{address:#x}"), |event| event.to_string());
                    format!("{name}@{object}")
                }
            };
        }
    }

    /// The event with a number.
    pub fn event(&self, id: EventId) -> Option<&TraceEvent> {
        self.events.iter().find(|event| event.id == id)
    }
}

/// The events of a run, while they are collected.
pub(crate) struct RunEvents<'p> {
    program: &'p Program,
    names: Names<'p>,
    events: Vec<TraceEvent>,
    started: Vec<TraceThread>,
}

impl<'p> RunEvents<'p> {
    pub fn new(program: &'p Program) -> RunEvents<'p> {
        RunEvents { program, names: Names::new(program), events: Vec::new(), started: Vec::new() }
    }

    /// The event that a thread is at.
    pub fn add(
        &mut self,
        state: &ThreadState,
        id: EventId,
        label: Label,
        rf: Option<EventId>,
    ) -> &TraceEvent {
        if let Label::Alloc { .. } = label
            && let Some(name) = state.variable(self.program)
        {
            self.names.add_variable(id, name);
        }
        let at = self.events.len();
        self.events.push(TraceEvent::at(self.program, state, id, label, rf));
        if !self.started.iter().any(|thread| thread.id == id.thread) {
            // The outermost call is what the thread runs.
            let name = self.events[at].stack.last().map_or(String::new(), |frame| frame.function.clone());
            let name = thread_name(name, || {
                self.events[at..].iter().find_map(|event| outermost(self.program, event))
            });
            self.started.push(TraceThread { id: id.thread, name });
        }
        &self.events[at]
    }

    pub fn trace(mut self, co: Option<Vec<Vec<EventId>>>) -> Trace {
        self.started.sort_by_key(|thread| thread.id);
        let dialect = self.program.dialect;
        let mut trace = Trace { threads: self.started, co, dialect, ..Trace::default() };
        trace.arrange(self.events, &self.names);
        trace
    }
}

/// What a thread is called: by what it runs, or by the user's own function if it begins in a library.
fn thread_name(name: String, own: impl FnOnce() -> Option<String>) -> String {
    // Threads of Rust all begin in the same function of std, and so do tests; threads of C++ in one of std::thread's.
    let starts = ["core::ops::function::", "std::"];
    let is_std = name.contains("::thread_start") || starts.iter().any(|start| name.starts_with(start));
    let own = if is_std { own() } else { None };
    own.unwrap_or(name)
}

impl TraceEvent {
    /// The event that a thread is at; what it is called comes later.
    fn at(program: &Program, state: &ThreadState, id: EventId, label: Label, rf: Option<EventId>) -> Self {
        let is_atomic = match label {
            Label::Read { mode, .. } => mode.is_atomic(),
            Label::Write { mode, .. } => mode.is_atomic(),
            no_access!() => false,
        };
        TraceEvent {
            id,
            label,
            location: label
                .access()
                .and_then(|access| names::written(program, state, access.location.0, is_atomic))
                .unwrap_or_default(),
            value: String::new(),
            rf,
            answer: answer(&label),
            dependencies: state.dependencies(),
            stack: stack(program, &state.stack(program)),
        }
    }

    /// Where it happens in the user's code.
    pub fn source(&self) -> Option<&StackFrame> {
        names::place(&self.stack)
    }

    /// Fills in what its location and value are called.
    fn name(&mut self, names: &Names<'_>) {
        match self.label {
            Label::Read { access, value, .. } | Label::Write { access, value, .. } => {
                let written = std::mem::take(&mut self.location);
                self.location = names.expression(&written, access.location.0, access.size);
                self.value = match self.stack.first() {
                    Some(frame) if is_condition(frame) => waiters(value),
                    _ => names.value(value, access.size),
                };
            }
            Label::Alloc { location, .. } | Label::Free { location } => {
                self.location = names.location(location.0, 1);
            }
            _ => {}
        }
    }

    /// In a few words: `x = 1 rlx`, `x → 1 acq`, `lock m`.
    pub fn describe(&self) -> String {
        use porf_event::{LockKind, RmwKind};
        let name = &self.location;
        match self.label {
            Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. } => format!("lock {name}"),
            Label::Write { rmw: RmwKind::Lock(LockKind::Acquire), .. } => format!("locked {name}"),
            Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. } => format!("unlock {name}"),
            Label::Read { mode, .. } => format!("{name} → {}{}", self.value, mode_name(&mode.to_string())),
            Label::Write { mode, .. } => format!("{name} := {}{}", self.value, mode_name(&mode.to_string())),
            Label::Fence { mode, .. } => format!("fence {mode}"),
            Label::Create { child } => format!("start {child}"),
            Label::Join { child } => format!("join {child}"),
            Label::Alloc { size, .. } => format!("allocate {size} bytes: {name}"),
            Label::Free { .. } => format!("free {name}"),
            Label::Choice { .. } if !self.value.is_empty() => format!("input {}", self.value),
            Label::Choice { chosen, .. } => format!("choose {chosen}"),
            other => other.to_string(),
        }
    }
}

/// The user's outermost function on the way to an event; a lambda of C++ by its line.
fn outermost(program: &Program, event: &TraceEvent) -> Option<String> {
    let frame = event.stack.iter().rfind(|frame| !names::is_library(frame))?;
    let is_lambda = frame.function.contains("lambda") || frame.function.contains("$_");
    let function = program.functions.iter().find(|function| demangled(&function.name) == frame.function);
    let line = function.and_then(|function| function.spans.first()).map(|span| span.line);
    Some(match line.filter(|line| is_lambda && *line > 0) {
        Some(line) => format!("lambda at line {line}"),
        None => frame.function.clone(),
    })
}

/// Calls with names and source lines.
pub fn stack(program: &Program, frames: &[(FunctionId, Span)]) -> Vec<StackFrame> {
    frames
        .iter()
        .map(|(function, span)| StackFrame {
            function: demangled(&program.function(*function).name),
            location: SourceLocation {
                file: program.file(*function).to_string(),
                line: span.line,
                column: span.column,
            },
        })
        .collect()
}

/// Whether it is one of our own routines for condition variables.
fn is_condition(frame: &StackFrame) -> bool {
    frame.location.line == 0
        && matches!(frame.function.as_str(), "cond_wait" | "cond_signal" | "cond_broadcast")
}

/// The contents of a condition variable: who waits in the low half, who of them is woken in the high one.
fn waiters(value: Value) -> String {
    let threads = |set: u64| -> String {
        (0..32).filter(|bit| set >> bit & 1 != 0).map(|bit| format!(" T{bit}")).collect()
    };
    let (waiting, woken) = (threads(value), threads(value >> 32));
    match (waiting.as_str(), woken.as_str()) {
        ("", _) => "nobody waits".to_string(),
        (_, "") => format!("waiting:{waiting}"),
        _ => format!("waiting:{waiting}, woken:{woken}"),
    }
}

fn mode_name(mode: &str) -> String {
    if mode == "na" { String::new() } else { format!(" {mode}") }
}

fn answer(label: &Label) -> Value {
    match label {
        Label::Read { value, .. } => *value,
        Label::Choice { chosen, .. } => (*chosen).into(),
        Label::Create { child } => child.0.into(),
        _ => 0,
    }
}

/// The state in which a thread begins, and the name of what it runs.
fn start(
    interpreter: &Interpreter<'_>,
    graph: &ExecutionGraph,
    thread: ThreadId,
) -> Option<(ThreadState, String)> {
    let program = interpreter.program();
    if let Some(entry) = program.threads.get(thread.as_usize()) {
        return Some((interpreter.start(thread), demangled(&entry.name)));
    }
    let creator = graph.thread(thread).creator;
    if !creator.is_some() {
        return None;
    }
    // The creator's state just before it started the thread: run it again up to there.
    let id = graph.event(creator).id;
    let (mut state, _) = start(interpreter, graph, id.thread)?;
    for &event in &graph.thread(id.thread).events()[..id.index as usize] {
        interpreter.run(&mut state);
        interpreter.deliver(&mut state, answer(&graph.event(event).label));
    }
    interpreter.run(&mut state);
    let (function, argument) = interpreter.created(&state)?;
    let name = demangled(&program.function(function).name);
    Some((interpreter.start_function(thread, function, argument), name))
}
