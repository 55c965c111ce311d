//! Runs one execution again, and checks each step of the witness against what the program does.

use crate::Error;
use crate::answer::source;
use crate::trace::{RunEvents, StackFrame, Trace, stack};
use porf_event::{EventId, Label, ThreadId, Value};
use porf_interp::{Interpreter, Step, ThreadState};
use porf_ir::Program;
use std::collections::BTreeMap;

/// An event as a witness has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its thread and its place there.
    pub id: EventId,
    /// Its label, as text.
    pub label: String,
    /// What the thread was told: the value read, the choice made, the thread started.
    pub answer: Value,
    /// For a read: the write that it reads from.
    pub rf: Option<EventId>,
}

/// What the program did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The events of the witness, in an order that explains them.
    pub trace: Trace,
    /// For each event of the witness, where it happens in the user's code.
    pub places: Vec<Option<StackFrame>>,
    /// What goes wrong after the last event of a thread.
    pub faults: Vec<(ThreadId, Option<StackFrame>, String)>,
}

/// Runs the program with the answers of a witness. It is an error if the program does something else. `co` are the
/// writes of each location in coherence order, if the witness says that.
pub fn replay(
    program: &Program,
    events: &[Expected],
    co: Option<Vec<Vec<EventId>>>,
) -> Result<Replayed, Error> {
    let interpreter = Interpreter::new(program).track_dependencies(true);
    let mut found = RunEvents::new(program);
    let first = ThreadId(0);
    let mut threads: BTreeMap<ThreadId, ThreadState> = BTreeMap::from([(first, interpreter.start(first))]);
    let mut replayed = Replayed::default();
    for event in events {
        let differs =
            || Error::Input(format!("the program no longer does {}: it has changed since", event.id));
        let state = threads.get_mut(&event.id.thread).ok_or_else(differs)?;
        let Step::Emit(label) = interpreter.run(state) else { return Err(differs()) };
        let label = interpreter.settle(state, label, event.answer);
        if event.label != label.to_string() {
            return Err(differs());
        }
        let child = match label {
            Label::Create { child } => interpreter
                .created(state)
                .map(|(function, argument)| (child, interpreter.start_function(child, function, argument))),
            _ => None,
        };
        let told = found.add(state, event.id, label, event.rf);
        replayed.places.push(source(&told.stack).cloned());
        interpreter.deliver(state, event.answer);
        threads.extend(child);
    }
    replayed.trace = found.trace(co);
    for (thread, mut state) in threads {
        if let Step::Fault(fault) = interpreter.run(&mut state) {
            let calls = stack(program, &fault.stack);
            replayed.faults.push((thread, source(&calls).cloned(), fault.message));
        }
    }
    Ok(replayed)
}
