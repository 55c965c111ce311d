//! Critical sections that do not conflict are not ordered.
//!
//! Source: the aim is that of Kokologiannakis, Raad, Vafeiadis, "Effective lock handling in stateless model checking",
//! OOPSLA 2019 (LAPOR), the search that of Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order
//! reduction", POPL 2014: source sets and sleep sets.
//!
//! Two executions are the same here if they agree on events, and on rf and co of all that is no lock. Of these one is
//! visited. That is done for programs in which every two conflicting accesses of different threads are ordered by
//! creation and joining of threads, or made under a common lock. This is looked at while the program runs
//! ([`protect`]): where it does not hold, the search begins anew without this reduction ([`Error::Without`]). Such a
//! program has no races, so that under every model its executions are interleavings, and whoever takes a lock sees the
//! last values of all that it may look at. So nothing is revisited. What is left to choose is who takes a lock next.
//!
//! - All threads run until each of them is at a lock or cannot go on. Then one of those whose lock is free has a
//!   [`Turn`]: it takes the lock and runs on to the next one. This is its *step*.
//! - Two steps conflict if they access the same memory, one of them to write ([`Footprint`]). That a lock was taken and
//!   given back within a step nobody sees, so that it counts as a read of the lock. If another lock is taken before
//!   it is given back, it counts as a write, unless its order does not matter ([`kept`]).
//! - When a step ends, and it conflicts with an older one that it need not come after, then at the turn of the older
//!   one another thread must have its turn as well ([`races`]). What was tried at a turn *sleeps* there: it is not tried
//!   again before something happened that conflicts with it.
//!
//! Which accesses are ordered anyway is kept in a clock of each event, the one that tells what it *needs*: program
//! order, creation, joining, barriers, and the order of sections with conflicting accesses.
//!
//! Cost: the older steps, for each step; nothing for programs without locks.

mod footprint;
mod kept;
mod path;
mod protect;
mod races;

use crate::engine::Engine;
use crate::error::Error;
use crate::history::{History, Next, Ready, Tag};
use crate::reduce::{KnownLocks, Reduction};
use crate::schedule::tag_of;
use crate::search::{Trail, Upcoming};
use footprint::Footprint;
use kept::Seen;
pub(crate) use path::Path;
use porf_consistency::{Choice, MemoryModel};
use porf_event::{Label, LockKind, RmwKind, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::{Instr, Program};

/// The search has to be made without this reduction.
const WITHOUT: Error = Error::Without(Reduction::Locks);

/// The turns of the present graph.
#[derive(Default)]
pub(crate) struct Locks {
    turns: Vec<Turn>,
    /// What sleeps at the turn that is about to come.
    asleep: Vec<Sleeper>,
    /// Whether all that could have that turn sleep.
    all_sleep: bool,
    /// The locks that were taken.
    words: Vec<Loc>,
    /// Whether memory may be given back.
    frees: bool,
    /// What is known of locks from earlier attempts, and what was seen of them in this one.
    known: KnownLocks,
    seen: Seen,
    /// Some access is not protected, or the order of a lock matters.
    wrong: Option<Error>,
}

/// A point at which threads could take locks, and one did.
struct Turn {
    /// The read of the lock.
    event: Ev,
    thread: ThreadId,
    lock: Loc,
    /// Threads that need not have this turn.
    asleep: Vec<Sleeper>,
    /// Threads that had this turn, or will have.
    chosen: Vec<ThreadId>,
    step: Step,
    /// What the thread touches in this step, whatever the open choices in it.
    touches: Footprint,
}

/// What a thread did with its turn, in the present graph.
#[derive(Default)]
struct Step {
    is_over: bool,
    last: Option<Ev>,
    touches: Footprint,
    /// Whether it still had the lock at the end, and whether it waited for other threads while it had it.
    has_lock: bool,
    waits: bool,
    /// Whether it still had the lock at the end, or might have in another order, and that matters.
    keeps_lock: bool,
}

/// A thread at a lock, and what its step touches.
#[derive(Clone)]
struct Sleeper {
    thread: ThreadId,
    touches: Footprint,
}

impl Locks {
    /// `None` if the program has no locks, or looks at locks in other ways than by taking them.
    pub fn of(program: &Program, known: KnownLocks) -> Option<Locks> {
        let any = |test: fn(&Instr) -> bool| program.functions.iter().flat_map(|f| &f.code).any(test);
        let fits = any(|instr| matches!(instr, Instr::Lock { .. }))
            && !any(|instr| matches!(instr, Instr::TryLock { .. } | Instr::IsLocked { .. }));
        let frees = any(|instr| matches!(instr, Instr::Free { .. }));
        fits.then(|| Locks { frees, known, ..Locks::default() })
    }

    /// The search begins again.
    pub fn forget(&mut self) {
        self.turns.clear();
        self.asleep.clear();
        (self.all_sleep, self.wrong) = (false, None);
        self.seen = Seen::default();
    }

    /// Forgets turns that are not part of the graph any more.
    fn keep_before(&mut self, event: Ev) {
        while self.turns.pop_if(|turn| turn.event >= event).is_some() {}
    }
}

/// The lock that a thread is about to take.
pub(crate) fn asked_for(history: &History<'_>, tag: Tag) -> Option<Loc> {
    let node = history.node(tag);
    let asks = tag.ready() == Ready::Await
        && matches!(node.next, Next::Emit(Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. }));
    asks.then_some(node.loc)
}

/// The event by which a lock was taken, if it was not given back.
pub(crate) fn holder(graph: &ExecutionGraph, lock: Loc) -> Option<Ev> {
    if lock.as_usize() >= graph.location_count() {
        return None;
    }
    let last = graph.co_max(lock);
    takes(graph, last).then_some(last)
}

/// Whether a write takes a lock.
fn takes(graph: &ExecutionGraph, event: Ev) -> bool {
    matches!(graph.event(event).label, Label::Write { rmw: RmwKind::Lock(LockKind::Acquire), .. })
}

/// Whether a write gives a lock back.
fn gives_back(graph: &ExecutionGraph, event: Ev) -> bool {
    matches!(graph.event(event).label, Label::Write { rmw: RmwKind::Lock(LockKind::Release), .. })
}

/// The event with which the thread of another one next gives a lock back.
fn release_after(graph: &ExecutionGraph, event: Ev, lock: Loc) -> Option<Ev> {
    let id = graph.event(event).id;
    let later = &graph.thread(id.thread).events()[id.index as usize + 1..];
    later.iter().copied().find(|&e| graph.event(e).loc == lock && gives_back(graph, e))
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Whether all accesses so far were protected, and nothing is wrong with what is known of locks.
    pub fn is_protected(&self) -> Result<(), Error> {
        match self.locks.as_ref().and_then(|locks| locks.wrong.as_ref()) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// An execution is over.
    pub fn end_turns(&mut self) -> Result<(), Error> {
        self.end_turn();
        if let Some(locks) = &mut self.locks {
            locks.look_at_end(&self.trail.now);
        }
        self.is_protected()
    }

    /// A thread is to move. If it takes a lock, others might do so as well: who shall.
    pub fn next_turn(&mut self, thread: ThreadId) -> Result<ThreadId, Error> {
        self.is_protected()?;
        let Trail { now: graph, history, .. } = &self.trail;
        let Some(lock) = asked_for(history, tag_of(graph, thread.as_usize())) else { return Ok(thread) };
        self.end_turn();
        self.is_protected()?;
        if let Some(holder) = holder(&self.trail.now, lock) {
            if self.locks.as_ref().is_some_and(|locks| locks.is_open(&self.trail.now, lock)) {
                return Err(Locks::ordered(&self.trail.now, lock));
            }
            // Nobody else can move. What if it had come first?
            self.comes_first(thread, lock, holder);
            return Ok(thread);
        }
        let Trail { now: graph, history, schedule, .. } = &self.trail;
        let Some(locks) = &mut self.locks else { return Ok(thread) };
        locks.asleep.clear();
        if let Some(Turn { asleep, step, thread, .. }) = locks.turns.last() {
            let sleeps_on = |s: &&Sleeper| s.thread != *thread && !s.touches.conflicts(&step.touches);
            locks.asleep.extend(asleep.iter().filter(sleeps_on).cloned());
        }
        let (mut awake, mut salt) = (None, None);
        let mut waiting = Vec::new();
        for at in 0..graph.threads().len() {
            let Some(lock) = asked_for(history, tag_of(graph, at)) else { continue };
            let sleeps = locks.asleep.iter().any(|sleeper| sleeper.thread.as_usize() == at);
            if let Some(holder) = holder(graph, lock) {
                waiting.push((ThreadId(at as u16), lock, holder, sleeps));
            } else if !sleeps {
                awake = Some(schedule.prefer(awake, at, graph, M::SEES_CO, &mut salt));
            }
        }
        locks.all_sleep = awake.is_none();
        if let Some(at) = awake {
            return Ok(ThreadId(at as u16));
        }
        // The search ends here, as it does where nobody can move.
        for (thread, lock, holder, sleeps) in waiting {
            match self.locks.as_ref().is_some_and(|locks| locks.is_open(&self.trail.now, lock)) {
                true if sleeps => {}
                true => return Err(Locks::ordered(&self.trail.now, lock)),
                false => self.comes_first(thread, lock, holder),
            }
        }
        Ok(thread)
    }

    /// Adds the source of a new read.
    pub fn read_beside_locks(&mut self, next: Upcoming, read: Ev) -> Result<(), Error> {
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        let Some(locks) = &mut self.locks else { return Ok(()) };
        if next.label.rmw() != RmwKind::Lock(LockKind::Acquire) {
            let start = choices.len();
            self.model.sources(&crate::buffering::WithHistory { graph, history }, read, choices);
            return if choices.len() == start + 1 { Ok(()) } else { Err(WITHOUT) };
        }
        if holder(graph, next.loc).is_none() {
            locks.keep_before(read);
            if std::mem::take(&mut locks.all_sleep) {
                return Ok(());
            }
            if !locks.words.contains(&next.loc) {
                locks.words.push(next.loc);
            }
            locks.turns.push(Turn {
                event: read,
                thread: next.thread,
                lock: next.loc,
                asleep: std::mem::take(&mut locks.asleep),
                chosen: vec![next.thread],
                step: Step::default(),
                touches: Footprint::default(),
            });
        }
        choices.push(Choice::Source(graph.co_max(next.loc)));
        Ok(())
    }

    /// Adds the place of a new write.
    pub fn write_beside_locks(&mut self, next: Upcoming, write: Ev) -> Result<(), Error> {
        self.is_protected()?;
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        let last = graph.co(next.loc).len() as u32 + 1;
        let start = choices.len();
        if matches!(next.label.rmw(), RmwKind::Lock(_)) {
            choices.push(Choice::Place(last));
        } else {
            self.model.places(&crate::buffering::WithHistory { graph, history }, write, choices);
        }
        if choices[start..] == [Choice::Place(last)] { Ok(()) } else { Err(WITHOUT) }
    }

    /// Gives a turn to another thread, unless that sleeps by now. Whether it has it.
    pub fn change_turn(&mut self, event: Ev, thread: ThreadId) -> Result<bool, Error> {
        let Some(locks) = &mut self.locks else { return Err(WITHOUT) };
        locks.keep_before(Ev(event.0 + 1));
        let Some(turn) = locks.turns.last_mut().filter(|turn| turn.event == event) else {
            return Err(WITHOUT);
        };
        if !turn.asleep.iter().any(|sleeper| sleeper.thread == turn.thread) {
            turn.asleep.push(Sleeper { thread: turn.thread, touches: std::mem::take(&mut turn.touches) });
        }
        if turn.asleep.iter().any(|sleeper| sleeper.thread == thread) {
            return Ok(false);
        }
        let tag = tag_of(&self.trail.now, thread.as_usize());
        let node = self.trail.history.node(tag);
        let (Next::Emit(label), Some(lock)) = (&node.next, asked_for(&self.trail.history, tag)) else {
            return Err(WITHOUT);
        };
        let next = Upcoming { thread, tag, label: *label, loc: lock };
        if holder(&self.trail.now, lock).is_some() {
            return Err(WITHOUT);
        }
        (turn.thread, turn.lock, turn.step) = (thread, lock, Step::default());
        if !locks.words.contains(&lock) {
            locks.words.push(lock);
        }
        self.trail.now.remove_last();
        let read = self.add_event(next, tag);
        debug_assert_eq!(read, event, "in the place of the other");
        self.read_from(read, self.trail.now.co_max(lock))?;
        Ok(true)
    }

    /// An open choice has another value: what came after it is forgotten.
    pub fn choose_again(&mut self, event: Ev) {
        let Some(locks) = &mut self.locks else { return };
        locks.keep_before(event);
        if let Some(turn) = locks.turns.last_mut() {
            turn.step = Step::default();
        }
        self.update_section_needs(event);
    }
}
