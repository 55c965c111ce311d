//! The end of a step: which other threads must have the turns of older steps.
//!
//! Source sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, algorithm 1). A step b that conflicts with an older step a of
//! another thread *races* with it if no third one is between them. Then b must be tried before a: at the turn of a, after
//! what came after a but did not need it. The first step of that must have the turn of a; if one of those that may come
//! first has it already, or sleeps there, nothing is missing.
//!
//! Who waits for a thread or at a barrier while it has the lock might have to stop there, had it come earlier: that counts
//! as keeping the lock. A lock that is kept beyond a step makes it conflict with everyone who takes the lock. The race is then with the step
//! that took it: while a thread holds a lock, nobody else can come between.

use super::protect::held;
use super::{Locks, Step, Turn, WITHOUT, gives_back, release_after, takes};
use crate::barrier::is_at_barrier;
use crate::engine::Engine;
use crate::reduce::Reduction;
use crate::search::Trail;
use porf_consistency::{Choice, MemoryModel};
use porf_event::{EventId, Label, RmwKind, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::layout;

impl<M: MemoryModel> Engine<'_, M> {
    /// The last step is over: no thread can move that does not take a lock.
    pub fn end_turn(&mut self) {
        let Some(locks) = &mut self.locks else { return };
        let Trail { now: graph, statistics, .. } = &mut self.trail;
        let Some(event) = locks.turns.last().filter(|turn| !turn.step.is_over).map(|turn| turn.event) else {
            return;
        };
        let upto = locks.turns.len() - 1;
        let step = done(locks, graph, event, Ev::NONE);
        locks.end_step(graph, upto, step);
        let Some((turn, older)) = locks.turns.split_last() else { return };
        let is_open = locks.is_open(graph, turn.lock);
        let mut before = graph.needs_clock(graph.po_pred(turn.event)).to_vec();
        let mut races = Vec::new();
        for (at, other) in older.iter().enumerate().rev() {
            if other.thread == turn.thread || covers(graph, &before, other.event) {
                continue;
            }
            if !other.step.touches.conflicts(&turn.step.touches) {
                let unordered = u64::from(other.lock == turn.lock);
                statistics.reduced.count(Reduction::Locks, unordered);
                continue;
            }
            // It may have the lock since an earlier turn.
            let has_it = !is_open && other.lock != turn.lock && held(graph, other.event).contains(&turn.lock);
            let took_it = |turn_of: &Turn| turn_of.thread == other.thread && turn_of.lock == turn.lock;
            let since = if has_it { older[..at].iter().rposition(took_it) } else { Some(at) };
            let Some(since) = since else { continue };
            if covers(graph, &before, older[since].event) {
                continue;
            }
            races.push(since);
            let end = release_after(graph, older[since].event, turn.lock).filter(|_| !is_open);
            for last in [other.step.last, end].into_iter().flatten() {
                for (most, &more) in before.iter_mut().zip(graph.needs_clock(last)) {
                    *most = (*most).max(more);
                }
            }
        }
        let (thread, lock, last) = (turn.thread, turn.lock, turn.step.last.unwrap_or(turn.event));
        for at in races {
            self.reverse(at, upto, (thread, lock), last);
        }
    }

    /// A thread is at a lock that is taken: it must be tried before the thread that took it.
    pub fn comes_first(&mut self, thread: ThreadId, lock: Loc, holder: Ev) {
        let Some(locks) = &self.locks else { return };
        let graph = &self.trail.now;
        let taken = graph.event(holder);
        let Some(at) = locks.turns.iter().position(|turn| turn.event == taken.pair) else { return };
        let of = graph.thread(thread);
        let last = of.last().unwrap_or(of.creator);
        if taken.id.thread != thread && !graph.needs(last, taken.pair) {
            let upto = locks.turns.len();
            self.reverse(at, upto, (thread, lock), last);
        }
    }

    /// Sees to it that a step of `thread` at a lock, which needs what `last` needs, is tried before the turn `at`, after
    /// turns before `upto`.
    fn reverse(&mut self, at: usize, upto: usize, thread: (ThreadId, Loc), last: Ev) {
        let Some(locks) = &mut self.locks else { return };
        let graph = &self.trail.now;
        let first = locks.turns[at].event;
        // What comes after the turn without need of it, and can be the first of that.
        let mut between: Vec<Ev> = Vec::new();
        let mut initials: Vec<(ThreadId, Loc)> = Vec::new();
        for turn in &locks.turns[at + 1..upto] {
            let end = turn.step.last.unwrap_or(turn.event);
            if graph.needs(end, first) {
                continue;
            }
            if !between.iter().any(|&earlier| graph.needs(end, earlier)) {
                initials.push((turn.thread, turn.lock));
            }
            between.push(turn.event);
        }
        if !between.iter().any(|&earlier| graph.needs(last, earlier)) {
            initials.insert(0, thread);
        }
        let turn = &mut locks.turns[at];
        let is_there = |(thread, _): &(ThreadId, Loc)| {
            turn.chosen.contains(thread) || turn.asleep.iter().any(|sleeper| sleeper.thread == *thread)
        };
        if initials.iter().any(is_there) {
            return;
        }
        let can_move = |(_, lock): &&(ThreadId, Loc)| !was_held(graph, *lock, first);
        let Some(&(chosen, _)) = initials.iter().find(can_move) else {
            if let Some(&(_, lock)) = initials.first() {
                match locks.is_open(graph, lock) {
                    true => locks.order(graph, lock),
                    false => locks.wrong = Some(WITHOUT),
                }
            }
            return;
        };
        turn.chosen.push(chosen);
        self.trail.add_choice_to(first, Choice::Thread(chosen));
    }
}

/// Whether an event is below a clock.
fn covers(graph: &ExecutionGraph, clock: &[u32], event: Ev) -> bool {
    let EventId { thread, index } = graph.event(event).id;
    clock[thread.as_usize()] > index
}

/// Whether a lock was taken, and not given back, before an event.
fn was_held(graph: &ExecutionGraph, lock: Loc, event: Ev) -> bool {
    graph.co(lock).iter().rev().find(|write| **write < event).is_some_and(|&write| takes(graph, write))
}

/// What the thread of an event, the read of a lock, has done since, and before another event.
pub(super) fn done(locks: &Locks, graph: &ExecutionGraph, read: Ev, before: Ev) -> Step {
    let this = graph.event(read);
    let mut step = Step { is_over: true, ..Step::default() };
    let (mut has_lock, mut waits) = (true, false);
    for &event in &graph.thread(this.id.thread).events()[this.id.index as usize..] {
        if event >= before {
            break;
        }
        step.last = Some(event);
        let label = graph.event(event).label;
        let loc = graph.event(event).loc;
        match label {
            Label::Read { rmw: RmwKind::Lock(_), .. } => {}
            Label::Write { rmw: RmwKind::Lock(_), .. } if loc == this.loc => {
                has_lock &= !gives_back(graph, event);
            }
            Label::Write { rmw: RmwKind::Lock(_), .. } => {
                debug_assert!(!takes(graph, event), "that would be another turn");
                if !locks.is_open(graph, loc) {
                    step.touches.touch(loc, true);
                }
            }
            Label::Join { .. } => waits |= has_lock,
            _ if is_at_barrier(graph, event) => waits |= has_lock,
            Label::Read { .. } => step.touches.touch(loc, false),
            Label::Write { .. } => step.touches.touch(loc, true),
            Label::Free { location } => {
                let freed = layout::allocation(location.0);
                let is_part = |e: &Ev| {
                    let label = graph.event(*e).label;
                    label.location().is_some_and(|location| layout::allocation(location.0) == freed)
                };
                for other in graph.all().filter(is_part) {
                    step.touches.touch(graph.event(other).loc, true);
                }
            }
            _ => {}
        }
    }
    (step.has_lock, step.waits) = (has_lock, waits);
    step
}
