//! All ways in which a single thread can run, whatever the others do.
//!
//! Reads return any value that some write of the program could give their location: the domain of
//! values is the least fixpoint over the traces of all threads. A value that is passed from write to
//! read k times needs k different writes, so after as many rounds as an execution has writes nothing
//! new can take part in an execution (values out of thin air aside: no dependency cycle is invented).

use crate::Refusal;
use porf_event::{Dependencies, Label, Location, ThreadId, Value};
use porf_interp::{Interpreter, Step, ThreadState};
use std::collections::BTreeMap;

/// One run of one thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// In program order; positions are the indices of the events' ids.
    pub events: Vec<(Label, Dependencies)>,
    pub end: ThreadState,
}

/// Which values a location may hold at some point of some execution.
pub(crate) type Domain = BTreeMap<Location, Vec<Value>>;

/// Above this many runs of a single thread the enumeration is refused.
const MAX_TRACES: usize = 2_000_000;

/// The traces of every thread, over the final domain.
pub(crate) fn traces(interpreter: &Interpreter<'_>) -> Result<Vec<Vec<Trace>>, Refusal> {
    let threads = interpreter.program().threads.len();
    let mut domain = Domain::new();
    let mut round = 0;
    loop {
        let mut all = Vec::with_capacity(threads);
        for thread in 0..threads {
            all.push(traces_of(interpreter, ThreadId(thread as u16), &mut domain)?);
        }
        let mut grew = false;
        for trace in all.iter().flatten() {
            for (label, _) in &trace.events {
                if let Label::Write { access, value, .. } = label {
                    grew |= extend(interpreter, &mut domain, access.location, access.size, *value);
                }
            }
        }
        round += 1;
        if !grew || round > most_writes(&all) {
            return Ok(all);
        }
    }
}

fn traces_of(
    interpreter: &Interpreter<'_>,
    thread: ThreadId,
    domain: &mut Domain,
) -> Result<Vec<Trace>, Refusal> {
    let mut done = Vec::new();
    let mut open = vec![(interpreter.start(thread), Vec::new())];
    while let Some((mut state, mut events)) = open.pop() {
        let label = match interpreter.run(&mut state) {
            Step::Emit(label) => label,
            Step::Finished => {
                done.push(Trace { events, end: state });
                if done.len() > MAX_TRACES {
                    return Err(Refusal::TooManyTraces { limit: MAX_TRACES });
                }
                continue;
            }
            // Cut off by the bound, an assumption or a lock: not a complete execution.
            Step::Blocked(_) => continue,
            Step::Fault(fault) => return Err(Refusal::Fault(fault)),
        };
        let dependencies = state.dependencies();
        let answers: &[Value] = match label {
            Label::Read { access, .. } => {
                let initial = || vec![interpreter.program().initial_value(access.location.0, access.size)];
                domain.entry(access.location).or_insert_with(initial)
            }
            Label::Choice { options, .. } => &(0..Value::from(options)).collect::<Vec<_>>(),
            Label::Create { .. } | Label::Join { .. } => {
                return Err(Refusal::Unsupported("threads created at run time"));
            }
            _ => &[0],
        };
        for &answer in answers.iter().rev() {
            let mut next = state.clone();
            let mut longer = events.clone();
            longer.push((interpreter.settle(&next, label, answer), dependencies.clone()));
            interpreter.deliver(&mut next, answer);
            open.push((next, longer));
        }
        events.clear();
    }
    Ok(done)
}

fn extend(
    interpreter: &Interpreter<'_>,
    domain: &mut Domain,
    location: Location,
    size: u8,
    value: Value,
) -> bool {
    let values =
        domain.entry(location).or_insert_with(|| vec![interpreter.program().initial_value(location.0, size)]);
    let new = !values.contains(&value);
    if new {
        values.push(value);
    }
    new
}

/// An upper bound on the number of writes of one execution.
fn most_writes(all: &[Vec<Trace>]) -> usize {
    let of = |trace: &Trace| trace.events.iter().filter(|(label, _)| label.is_write()).count();
    all.iter().map(|traces| traces.iter().map(of).max().unwrap_or(0)).sum()
}
