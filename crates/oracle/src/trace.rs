//! All ways in which a single thread can run, whatever the others do.
//!
//! A read returns any value that some write of the program could give to its location. The domain of
//! values is the least fixpoint over the traces of all threads. A value that is passed from write to
//! read k times needs k different writes. So after as many rounds as an execution has writes, no new
//! value can take part in an execution. Where accesses of different sizes overlap, a read may take each piece of its
//! value from another write; when an access turns up that cuts memory further, the rounds begin anew. (Values out of thin air do not arise: no dependency cycle is
//! invented.)

use crate::Refusal;
use crate::pieces::{self, Pieces};
use porf_event::{Access, Dependencies, Label, Location, ThreadId, Value, no_access, silent};
use porf_interp::{Fault, Interpreter, Step, ThreadState};
use std::collections::{BTreeMap, BTreeSet};

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
    /// What was written, by which thread.
    written: Vec<(Access, ThreadId, Value)>,
    cuts: Pieces,
    /// Whether a read sees its own thread's last write or a write of another thread, as coherence
    /// requires. If not, a read may return any value.
    coherent: bool,
}

/// What one piece of memory may hold.
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
pub(crate) fn traces(
    interpreter: &Interpreter<'_>,
    coherent: bool,
) -> Result<(Vec<Vec<Trace>>, Pieces), Refusal> {
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
        let (mut grew, mut finer, mut most) = (false, false, 0);
        for (thread, seen) in written {
            most += seen.most_writes;
            finer |= seen.accesses.into_iter().fold(false, |finer, access| domain.cuts.add(access) | finer);
            for (access, value) in seen.writes {
                grew |= domain.add(interpreter, access, thread, value);
            }
        }
        if finer && domain.cuts.is_mixed() {
            domain.cut_anew(interpreter);
            round = 0;
            continue;
        }
        round += 1;
        if !grew || round > most {
            return Ok((all, domain.cuts));
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
    /// What a piece may hold.
    fn of(&mut self, interpreter: &Interpreter<'_>, piece: Access) -> &mut Values {
        self.values.entry(piece.location).or_insert_with(|| Values {
            initial: interpreter.program().initial_value(piece.location.0, piece.size),
            written: Vec::new(),
        })
    }

    fn add(&mut self, interpreter: &Interpreter<'_>, access: Access, thread: ThreadId, value: Value) -> bool {
        let grew = self.note(interpreter, access, thread, value);
        if grew {
            self.written.push((access, thread, value));
        }
        grew
    }

    fn note(
        &mut self,
        interpreter: &Interpreter<'_>,
        access: Access,
        thread: ThreadId,
        value: Value,
    ) -> bool {
        let mut grew = false;
        for piece in self.cuts.of(access) {
            grew |= self.of(interpreter, piece).add(thread, pieces::cut(access, value, piece));
        }
        grew
    }

    /// Distributes what was written over smaller pieces.
    fn cut_anew(&mut self, interpreter: &Interpreter<'_>) {
        self.values.clear();
        let written = std::mem::take(&mut self.written);
        for &(access, thread, value) in &written {
            self.note(interpreter, access, thread, value);
        }
        self.written = written;
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
        let covered = self.cuts.of(access);
        if let [piece] = covered[..] {
            return self.piece(interpreter, thread, piece, events, answers);
        }
        answers.push(0);
        let mut parts = Vec::new();
        for piece in covered {
            parts.clear();
            self.piece(interpreter, thread, piece, events, &mut parts);
            let with = |sum: &Value| {
                let sum = *sum;
                parts.iter().map(move |part| sum | pieces::place(access, piece, *part)).collect::<Vec<_>>()
            };
            *answers = answers.iter().flat_map(with).collect();
        }
    }

    /// The same for one piece of what it reads.
    fn piece(
        &mut self,
        interpreter: &Interpreter<'_>,
        thread: ThreadId,
        piece: Access,
        events: &[(Label, Dependencies)],
        answers: &mut Vec<Value>,
    ) {
        let coherent = self.coherent;
        let values = self.of(interpreter, piece);
        let own = events.iter().rev().find_map(|(label, _)| match label {
            Label::Write { access, value, .. } if covers(*access, piece) => {
                Some(pieces::cut(*access, *value, piece))
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

fn covers(access: Access, piece: Access) -> bool {
    let end = |access: Access| access.location.0 + u64::from(access.size);
    access.location <= piece.location && end(piece) <= end(access)
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
    accesses: BTreeSet<Access>,
    writes: Vec<(Access, Value)>,
    /// The most writes of one trace.
    most_writes: usize,
}

impl Seen {
    fn note(&mut self, events: &[(Label, Dependencies)]) {
        let mut count = 0;
        for (label, _) in events {
            self.accesses.extend(label.access());
            if let Label::Write { access, value, .. } = label {
                self.writes.push((*access, *value));
                count += 1;
            }
        }
        self.most_writes = self.most_writes.max(count);
    }
}
