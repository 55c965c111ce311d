//! All ways in which a single thread can run, whatever the others do.
//!
//! A read returns any value that some write of the program could give to its location. The domain of
//! values is the least fixpoint over the traces of all threads. A value that is passed from write to
//! read k times needs k different writes. So after as many rounds as an execution has writes, no new
//! value can take part in an execution. (Values out of thin air do not arise: no dependency cycle is
//! invented.)

use crate::Refusal;
use porf_event::{Access, Dependencies, Label, Location, ThreadId, Value, no_access, silent};
use porf_interp::{Fault, Interpreter, Step, ThreadState};
use std::collections::BTreeMap;

/// One run of one thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// In program order; positions are the indices of the events' ids.
    pub events: Vec<(Label, Dependencies)>,
    /// The thread when it has ended.
    pub end: ThreadState,
    /// What the thread did wrong at its end.
    pub fault: Option<Fault>,
}

/// What each location may hold at some point of some execution, and which thread writes it.
#[derive(Debug, Default)]
struct Domain {
    values: BTreeMap<Location, Values>,
    /// Whether a read sees its own thread's last write or a write of another thread, as coherence
    /// requires. If not, a read may return any value.
    coherent: bool,
}

#[derive(Debug)]
struct Values {
    initial: Value,
    written: Vec<(ThreadId, Value)>,
}

/// Above this many runs of a single thread the enumeration is refused.
const MAX_TRACES: usize = 2_000_000;

/// The traces of every thread, over the final domain.
///
/// `coherent`: the model implies coherence, so a thread never reads what its own later write hides.
pub(crate) fn traces(interpreter: &Interpreter<'_>, coherent: bool) -> Result<Vec<Vec<Trace>>, Refusal> {
    let threads = interpreter.program().threads.len();
    let mut domain = Domain { coherent, ..Domain::default() };
    let mut round = 0;
    loop {
        let mut all = Vec::with_capacity(threads);
        let mut written = Vec::with_capacity(threads);
        for thread in (0..threads).map(|thread| ThreadId(thread as u16)) {
            let mut seen = Seen::default();
            all.push(traces_of(interpreter, thread, &mut domain, &mut seen)?);
            written.push((thread, seen));
        }
        // Added only now, so that in one round a value passes through one write. This bounds the rounds.
        let (mut grew, mut most) = (false, 0);
        for (thread, seen) in written {
            most += seen.most_writes;
            for (access, value) in seen.writes {
                grew |= domain.of(interpreter, access).add(thread, value);
            }
        }
        round += 1;
        if !grew || round > most {
            return Ok(all);
        }
    }
}

fn traces_of(
    interpreter: &Interpreter<'_>,
    thread: ThreadId,
    domain: &mut Domain,
    seen: &mut Seen,
) -> Result<Vec<Trace>, Refusal> {
    let mut done = Vec::new();
    let mut open = vec![(interpreter.start(thread), Vec::new())];
    let mut answers = Vec::new();
    while let Some((mut state, mut events)) = open.pop() {
        let label = match interpreter.run(&mut state) {
            Step::Emit(label) => label,
            Step::Finished => {
                seen.note(&events);
                done.push(Trace { events, end: state, fault: None });
                continue;
            }
            Step::Fault(fault) => {
                seen.note(&events);
                done.push(Trace { events, end: state, fault: Some(fault) });
                continue;
            }
            // Cut off by the bound, an assumption or a lock: not a complete execution.
            Step::Blocked(_) => {
                // Others may read what it wrote before, and that may let it continue.
                seen.note(&events);
                continue;
            }
        };
        if done.len() + open.len() > MAX_TRACES {
            return Err(Refusal::TooManyTraces { limit: MAX_TRACES });
        }
        let dependencies = state.dependencies();
        answers.clear();
        match label {
            Label::Read { access, .. } => domain.answers(interpreter, thread, access, &events, &mut answers),
            Label::Choice { options, .. } => answers.extend(0..Value::from(options)),
            Label::Create { .. } | Label::Join { .. } => {
                return Err(Refusal::Unsupported("threads created at run time"));
            }
            Label::Write { .. } | Label::Fence { .. } | silent!() => answers.push(0),
        };
        let last = answers.pop().expect("there is the initial value, and a choice has options");
        for &answer in &answers {
            let mut next = state.clone();
            let mut longer = events.clone();
            longer.push((interpreter.settle(&next, label, answer), dependencies.clone()));
            interpreter.deliver(&mut next, answer);
            open.push((next, longer));
        }
        events.push((interpreter.settle(&state, label, last), dependencies));
        interpreter.deliver(&mut state, last);
        open.push((state, events));
    }
    Ok(done)
}

impl Domain {
    fn of(&mut self, interpreter: &Interpreter<'_>, access: Access) -> &mut Values {
        self.values.entry(access.location).or_insert_with(|| Values {
            initial: interpreter.program().initial_value(access.location.0, access.size),
            written: Vec::new(),
        })
    }

    /// What a read of `thread`, after `events`, may return.
    fn answers(
        &mut self,
        interpreter: &Interpreter<'_>,
        thread: ThreadId,
        access: Access,
        events: &[(Label, Dependencies)],
        answers: &mut Vec<Value>,
    ) {
        let coherent = self.coherent;
        let values = self.of(interpreter, access);
        let own = events.iter().rev().find_map(|(label, _)| match label {
            Label::Write { access: written, value, .. } if written.location == access.location => {
                Some(*value)
            }
            Label::Read { .. } | Label::Write { .. } | no_access!() => None,
        });
        answers.push(if coherent { own.unwrap_or(values.initial) } else { values.initial });
        for &(writer, value) in &values.written {
            if !(coherent && writer == thread || answers.contains(&value)) {
                answers.push(value);
            }
        }
    }
}

impl Values {
    fn add(&mut self, writer: ThreadId, value: Value) -> bool {
        let new = !self.written.contains(&(writer, value));
        if new {
            self.written.push((writer, value));
        }
        new
    }
}

/// The writes of a thread's traces, including those of blocked ones.
#[derive(Default)]
struct Seen {
    writes: Vec<(Access, Value)>,
    /// The most writes of one trace.
    most_writes: usize,
}

impl Seen {
    fn note(&mut self, events: &[(Label, Dependencies)]) {
        let mut count = 0;
        for (label, _) in events {
            if let Label::Write { access, value, .. } = label {
                self.writes.push((*access, *value));
                count += 1;
            }
        }
        self.most_writes = self.most_writes.max(count);
    }
}
