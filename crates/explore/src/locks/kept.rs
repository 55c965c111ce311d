//! Locks that are kept while others are taken: which of them need no order.
//!
//! A lock *guards* if some two conflicting accesses are ordered by it. A lock that is kept beyond a step, and guards
//! nothing, is *left open*: its sections are not ordered, and count as reads. So threads that go through a list hand over
//! hand, and only look at it, have one execution.
//!
//! Why nothing is lost: let A be the program in which taking and giving back open locks does nothing. Every execution of
//! the program is one of A, and in A accesses are protected as well. The search is one of A, but moves a thread only where
//! its lock is free. It may do so, because it may move threads in any order. It would lose something only
//!
//! - if all that can still move in A, and need to, are at open locks that are taken, or
//! - if all threads that could have the turn of an older step are at open locks that were taken there.
//!
//! In both cases the search begins anew and the lock is ordered ([`LockUse::Ordered`]). So it does if an open lock
//! turns out to guard something. What it visits are executions of the program, for no lock is taken twice.
//!
//! In A no thread waits for an open lock. In the program some might do so for ever: if the thread that has it never gives
//! it back, or in a circle. So a lock is ordered, too, if a thread has it at the end of an execution, joins a thread or comes
//! to a barrier while it has it, or if there is a circle of locks each of which is taken while another one is held.
//!
//! Limits: one restart for each lock that has to be ordered; if they are too many, all that are kept are.

use super::Locks;
use super::protect::held;
use crate::error::Error;
use crate::reduce::{KnownLock, LockUse};
use porf_event::{Label, LockKind, RmwKind};
use porf_graph::{Ev, ExecutionGraph, Loc};

/// What the search has seen of locks.
#[derive(Default)]
pub(super) struct Seen {
    /// Those that were kept beyond a step.
    pub kept: Vec<Loc>,
    /// Those that guard something.
    pub guards: Vec<Loc>,
    /// Which lock was held when which was taken.
    pub orders: Vec<(Loc, Loc)>,
}

fn insert<T: PartialEq>(list: &mut Vec<T>, item: T) -> bool {
    let is_new = !list.contains(&item);
    if is_new {
        list.push(item);
    }
    is_new
}

/// What can be reached, over steps from one to the next.
fn reach(from: Loc, steps: impl Iterator<Item = (Loc, Loc)> + Clone) -> Vec<Loc> {
    let mut reached = vec![from];
    let mut at = 0;
    while let Some(&one) = reached.get(at) {
        for (_, next) in steps.clone().filter(|(before, _)| *before == one) {
            insert(&mut reached, next);
        }
        at += 1;
    }
    reached
}

impl Locks {
    /// Whether the sections of a lock are not ordered although it is kept.
    pub(super) fn is_open(&self, graph: &ExecutionGraph, lock: Loc) -> bool {
        self.seen.kept.contains(&lock)
            && !self.known.is_full()
            && !self.known.is_ordered(graph.location(lock).0)
    }

    /// That a lock has to be ordered.
    pub(super) fn ordered(graph: &ExecutionGraph, lock: Loc) -> Error {
        Error::Lock(KnownLock { address: graph.location(lock).0, by: LockUse::Ordered })
    }

    /// A lock has to be ordered, unless it is.
    pub(super) fn order(&mut self, graph: &ExecutionGraph, lock: Loc) {
        if self.is_open(graph, lock) {
            self.wrong.get_or_insert_with(|| Locks::ordered(graph, lock));
        }
    }

    /// A lock is kept beyond a step. That is of no interest before there are other threads.
    pub(super) fn keep(&mut self, graph: &ExecutionGraph, lock: Loc) {
        if graph.threads().len() > 1 && insert(&mut self.seen.kept, lock) && self.seen.guards.contains(&lock)
        {
            self.order(graph, lock);
        }
    }

    /// A lock guards something.
    pub(super) fn guard(&mut self, graph: &ExecutionGraph, lock: Loc) {
        if insert(&mut self.seen.guards, lock) {
            self.order(graph, lock);
        }
    }

    /// Looks at what a thread does while it has locks: it takes another one, or waits for other threads.
    pub(super) fn look_at_held(&mut self, graph: &ExecutionGraph, event: Ev, waits: bool) {
        let this = graph.event(event);
        match this.label {
            Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. } if graph.threads().len() > 1 => {
                for before in held(graph, event) {
                    if insert(&mut self.seen.orders, (before, this.loc)) {
                        self.look_for_circle(graph, before, this.loc);
                    }
                }
            }
            Label::Join { .. } => held(graph, event).into_iter().for_each(|lock| self.guard(graph, lock)),
            _ if waits => held(graph, event).into_iter().for_each(|lock| self.guard(graph, lock)),
            _ => {}
        }
    }

    /// A lock was taken while another one was held: orders the locks of the circles that this closes.
    fn look_for_circle(&mut self, graph: &ExecutionGraph, before: Loc, taken: Loc) {
        let orders = self.seen.orders.iter().copied();
        let later = reach(taken, orders.clone());
        if later.contains(&before) {
            let earlier = reach(before, orders.map(|(before, taken)| (taken, before)));
            for lock in later.into_iter().filter(|lock| earlier.contains(lock)) {
                self.order(graph, lock);
            }
        }
    }

    /// In the end nobody may have an open lock.
    pub(super) fn look_at_end(&mut self, graph: &ExecutionGraph) {
        for lock in self.seen.kept.clone() {
            if super::holder(graph, lock).is_some() {
                self.order(graph, lock);
            }
        }
    }
}
