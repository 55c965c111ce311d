//! Which thread goes next.
//!
//! The choice is a function of the graph, whatever the order in which it was built; every choice
//! gives the same executions, in another order. Several exist so that tests can show that.

use crate::barrier::completes;
use crate::history::{History, Ready, Tag};
use crate::locks;
use porf_event::ThreadId;
use porf_graph::{CanonicalKey, ExecutionGraph};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which thread goes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schedule {
    /// The first thread that can move.
    #[default]
    LeftToRight,
    /// The last thread that can move.
    RightToLeft,
    /// The thread with the fewest events.
    Fewest,
    /// By a hash of the graph: for tests, slow.
    Hash(u64),
}

impl Schedule {
    /// The next thread to move, or `None` if none can. It is asked for every event: the usual cases come first.
    #[inline]
    pub(crate) fn next(
        self,
        graph: &ExecutionGraph,
        history: &History<'_>,
        sees_co: bool,
    ) -> Option<ThreadId> {
        if let Some(thread) = mid_instruction(graph) {
            return Some(thread);
        }
        // Where no bit says that one may be inside an instruction or wait, the first that can move is the answer.
        let all = graph.now().iter().fold(0, |all, &tag| all | tag);
        if self == Schedule::LeftToRight && !Tag::may_be_special(all) {
            return leftmost(graph, history);
        }
        self.choose(graph, history, sees_co)
    }

    /// The next thread to move, whatever the graph; also for one whose threads have holes.
    pub(crate) fn choose(
        self,
        graph: &ExecutionGraph,
        history: &History<'_>,
        sees_co: bool,
    ) -> Option<ThreadId> {
        let mut first = None;
        let mut awaits = false;
        let mut mid: Option<(porf_graph::Ev, usize)> = None;
        let mut salt = None;
        for at in 0..graph.threads().len() {
            let tag = tag_of(graph, at);
            match tag.ready() {
                Ready::No => continue,
                Ready::Yes => {}
                Ready::Await => {
                    awaits = true;
                    continue;
                }
                Ready::Mid => {
                    // The newest half-done instruction goes first.
                    let last = graph.threads()[at].last();
                    if mid.is_none_or(|(newest, _)| last > Some(newest)) {
                        mid = last.map(|last| (last, at));
                    }
                    continue;
                }
                Ready::Barrier if completes(graph, history, at).is_none() => continue,
                Ready::Barrier => {}
                Ready::Join => {
                    if !join_is_ready(graph, history, tag) {
                        continue;
                    }
                }
            }
            first = Some(self.prefer(first, at, graph, sees_co, &mut salt));
        }
        if awaits && mid.is_none() && first.is_none() {
            for at in (0..graph.threads().len()).filter(|&at| tag_of(graph, at).ready() == Ready::Await) {
                first = Some(self.prefer(first, at, graph, sees_co, &mut salt));
            }
        }
        mid.map(|(_, at)| at).or(first).map(|at| ThreadId(at as u16))
    }

    /// The next thread to move where critical sections that do not conflict are not ordered: who comes to a lock goes
    /// after all others, and who comes to a lock that is taken after these.
    pub(crate) fn next_beside_locks(
        self,
        graph: &ExecutionGraph,
        history: &History<'_>,
        sees_co: bool,
    ) -> Option<ThreadId> {
        if let Some(thread) = mid_instruction(graph) {
            return Some(thread);
        }
        let mut first: Option<(u8, usize)> = None;
        let mut salt = None;
        for at in 0..graph.threads().len() {
            let tag = tag_of(graph, at);
            let rank = match tag.ready() {
                Ready::No => continue,
                Ready::Mid => 0,
                Ready::Yes => 1,
                Ready::Barrier if completes(graph, history, at).is_some() => 1,
                Ready::Join if join_is_ready(graph, history, tag) => 1,
                Ready::Barrier | Ready::Join => continue,
                Ready::Await => match locks::asked_for(history, tag) {
                    None => 2,
                    Some(lock) if locks::holder(graph, lock).is_none() => 3,
                    Some(_) => 4,
                },
            };
            first = match first {
                Some((best, _)) if best < rank => first,
                Some((best, one)) if best == rank => {
                    Some((rank, self.prefer(Some(one), at, graph, sees_co, &mut salt)))
                }
                _ => Some((rank, at)),
            };
        }
        first.map(|(_, at)| ThreadId(at as u16))
    }

    /// Which of two threads that can move goes first; `one` is to the left.
    #[inline]
    pub(crate) fn prefer(
        self,
        one: Option<usize>,
        other: usize,
        graph: &ExecutionGraph,
        sees_co: bool,
        salt: &mut Option<u64>,
    ) -> usize {
        let Some(one) = one else { return other };
        let is_better = match self {
            Schedule::LeftToRight => false,
            Schedule::RightToLeft => true,
            Schedule::Fewest => {
                let length = |at: usize| graph.threads()[at].events().len();
                length(other) < length(one)
            }
            Schedule::Hash(seed) => {
                let salt = *salt.get_or_insert_with(|| hash(&(seed, CanonicalKey::of(graph, sees_co))));
                hash(&(salt, other)) < hash(&(salt, one))
            }
        };
        if is_better { other } else { one }
    }
}

/// The thread of the newest event, if it is in the middle of an instruction.
#[inline]
fn mid_instruction(graph: &ExecutionGraph) -> Option<ThreadId> {
    let newest = graph.event(graph.newest()).id.thread;
    let is_mid = newest != ThreadId::INIT && tag_of(graph, newest.as_usize()).ready() == Ready::Mid;
    is_mid.then_some(newest)
}

/// The first thread that can move, where no instruction is half done and no read may have to wait.
#[inline]
fn leftmost(graph: &ExecutionGraph, history: &History<'_>) -> Option<ThreadId> {
    let can_move = |(at, &tag): (usize, &u32)| match Tag(tag).ready() {
        Ready::Yes => true,
        Ready::Join => join_is_ready(graph, history, Tag(tag)),
        Ready::Barrier => completes(graph, history, at).is_some(),
        Ready::No | Ready::Mid | Ready::Await => false,
    };
    graph.now().iter().enumerate().position(can_move).map(|at| ThreadId(at as u16))
}

/// The state of a thread: that of its last event; one that cannot move if it does not run.
#[inline]
pub(crate) fn tag_of(graph: &ExecutionGraph, thread: usize) -> Tag {
    Tag(graph.now()[thread])
}

pub(crate) fn join_is_ready(graph: &ExecutionGraph, history: &History<'_>, tag: Tag) -> bool {
    let crate::history::Next::Emit(porf_event::Label::Join { child }) = history.node(tag).next else {
        return false;
    };
    let at = child.as_usize();
    at < graph.threads().len() && graph.threads()[at].is_started() && history.is_finished(tag_of(graph, at))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
