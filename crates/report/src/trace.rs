//! An execution as the user's program sees it: each event with its source line and call stack.
//!
//! Threads run again with the answers that the graph gave them, so that nothing has to be recorded
//! while exploring.

use porf_event::{EventId, Label, ThreadId, Value};
use porf_graph::{Ev, ExecutionGraph};
use porf_interp::{Interpreter, Step};
use porf_ir::{FunctionId, Program, Span};
use porf_verdict::SourceLocation;

/// Events of an execution in the order in which they were added, and their threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub threads: Vec<TraceThread>,
    pub events: Vec<TraceEvent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceThread {
    pub id: ThreadId,
    /// What it runs.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    pub id: EventId,
    pub label: Label,
    /// The name of the location, where there is one.
    pub location: String,
    /// Of a read: the write that it reads from.
    pub rf: Option<EventId>,
    /// What the thread was told: the value read, the choice made, the thread started.
    pub answer: Value,
    /// Where it happens, innermost call first.
    pub stack: Vec<StackFrame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    pub function: String,
    pub location: SourceLocation,
}

impl Trace {
    /// The events that `wanted` are made from: what comes before them in porf, and they themselves.
    pub fn prefix(program: &Program, graph: &ExecutionGraph, wanted: &[Ev]) -> Trace {
        let keep = |event: Ev| wanted.iter().any(|last| graph.in_prefix(event, *last));
        Trace::of(program, graph, &keep)
    }

    /// The events of a graph that are wanted; with an event come all before it in its thread.
    pub fn of(program: &Program, graph: &ExecutionGraph, keep: &dyn Fn(Ev) -> bool) -> Trace {
        let interpreter = Interpreter::new(program);
        let mut trace = Trace::default();
        let mut found: Vec<(Ev, TraceEvent)> = Vec::new();
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
                let location = match entry.label {
                    Label::Read { access, .. } | Label::Write { access, .. } => {
                        program.name_of(access.location.0, access.size)
                    }
                    Label::Alloc { location, .. } | Label::Free { location } => {
                        program.name_of(location.0, 1)
                    }
                    _ => String::new(),
                };
                let rf = (entry.label.is_read() && entry.rf.is_some()).then(|| graph.event(entry.rf).id);
                let stack = stack(program, &state.stack(program));
                found.push((
                    event,
                    TraceEvent { id: entry.id, label: entry.label, location, rf, answer, stack },
                ));
                interpreter.deliver(&mut state, answer);
                any = true;
            }
            if any {
                trace.threads.push(TraceThread { id, name });
            }
        }
        found.sort_by_key(|(event, _)| *event);
        trace.events = found.into_iter().map(|(_, event)| event).collect();
        trace
    }

    pub fn event(&self, id: EventId) -> Option<&TraceEvent> {
        self.events.iter().find(|event| event.id == id)
    }
}

impl TraceEvent {
    /// The innermost place that has a source line: the library's own functions have none.
    pub fn source(&self) -> Option<&StackFrame> {
        self.stack.iter().find(|frame| frame.location.line > 0)
    }

    /// In a few words: `x = 1 rlx`, `x → 1 acq`, `lock m`.
    pub fn describe(&self) -> String {
        use porf_event::{LockKind, RmwKind};
        let name = &self.location;
        match self.label {
            Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. } => format!("lock {name}"),
            Label::Write { rmw: RmwKind::Lock(LockKind::Acquire), .. } => format!("locked {name}"),
            Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. } => format!("unlock {name}"),
            Label::Read { mode, value, access, .. } => {
                format!("{name} → {}{}", number(value, access.size), mode_name(&mode.to_string()))
            }
            Label::Write { mode, value, access, .. } => {
                format!("{name} := {}{}", number(value, access.size), mode_name(&mode.to_string()))
            }
            Label::Fence { mode, .. } => format!("fence {mode}"),
            Label::Create { child } => format!("start {child}"),
            Label::Join { child } => format!("join {child}"),
            Label::Alloc { size, .. } => format!("allocate {size} bytes: {name}"),
            Label::Free { .. } => format!("free {name}"),
            Label::Choice { chosen, .. } => format!("choose {chosen}"),
            other => other.to_string(),
        }
    }
}

/// Calls with names and source lines.
pub fn stack(program: &Program, frames: &[(FunctionId, Span)]) -> Vec<StackFrame> {
    frames
        .iter()
        .map(|(function, span)| StackFrame {
            function: program.function(*function).name.clone(),
            location: SourceLocation {
                file: program.file(*function).to_string(),
                line: span.line,
                column: span.column,
            },
        })
        .collect()
}

/// A value as people write it: small negative numbers as such, pointers in hexadecimal.
pub fn number(value: Value, size: u8) -> String {
    let signed = porf_ir::Width::of_bytes(size).signed(value);
    if (-65536..0).contains(&signed) {
        signed.to_string()
    } else if value >= 1 << 32 {
        format!("{value:#x}")
    } else {
        value.to_string()
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
) -> Option<(porf_interp::ThreadState, String)> {
    let program = interpreter.program();
    if let Some(entry) = program.threads.get(thread.as_usize()) {
        return Some((interpreter.start(thread), entry.name.clone()));
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
    let name = program.function(function).name.clone();
    Some((interpreter.start_function(thread, function, argument), name))
}
