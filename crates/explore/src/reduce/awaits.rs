//! Reads that may have to wait come last.
//!
//! A thread that reads something outdated in a waiting loop, at a lock or before an assumption is blocked, and the
//! executions that follow tell nothing. If such a read comes when no other thread can move, all writes that there
//! are to read are there, and most of the wrong ones are cut off at once. Of several such threads one goes first that
//! does not have to wait any more: what is co-last lets it go on. Which executions there are does not change: a
//! schedule is any function of the graph (TruSt, see [`search`](crate::search)).
//!
//! Source: the idea of Kokologiannakis, Marmanis, Vafeiadis, "Unblocking dynamic partial order reduction", CAV
//! 2023, who give a blocked read its new source in place. A read that came last needs none of that. Deviations:
//! what is blocked by an assumption about several reads, or after a write, still is.
//!
//! A read may have to wait if it is that of a lock, if an assumption or a block can follow it with no access
//! between them, or if it is all that a loop does; if it changes a counter ([`counters`](super::counters)); or if the
//! thread has read the same location before, with no effect since then: it may turn out to be a retry
//! ([`retries`](super::retries)). Cost: one look at the code for each read, and in programs with loops one at what the
//! thread did since its last effect.

use super::{Reduction, Reductions};
use crate::engine::Engine;
use crate::error::Error;
use crate::facts::Tracking;
use crate::history::{History, Next, Ready, Tag};
use crate::schedule::tag_of;
use crate::search::Trail;
use porf_consistency::MemoryModel;
use porf_event::{Label, ThreadId};
use porf_graph::{Ev, Loc};
use porf_interp::ThreadState;
use porf_ir::{Function, Instr, Program};
use std::cell::OnceCell;

/// How far back an earlier read of the same location is looked for.
const FAR: u32 = 64;

/// What tells reads that may have to wait.
pub(crate) struct Awaits<'p> {
    program: &'p Program,
    functions: Box<[OnceCell<Box<[bool]>>]>,
}

impl History<'_> {
    /// Lets reads that may have to wait come last, unless nobody wants that.
    pub fn await_last(&mut self, reductions: Reductions, tracking: Tracking) {
        if reductions.has(Reduction::Awaits) && tracking == Tracking::Never {
            let program = self.interp.program();
            let functions = program.functions.iter().map(|_| OnceCell::new()).collect();
            self.awaits = Some(Awaits { program, functions });
        }
    }

    /// Whether the thread may have to wait after the read that it is at.
    pub fn may_wait(&self, state: &ThreadState) -> bool {
        let (Some(Awaits { program, functions }), Some((id, at))) = (&self.awaits, state.place()) else {
            return false;
        };
        functions[id.0 as usize].get_or_init(|| waits(program.function(id)))[at as usize]
    }
}

impl History<'_> {
    /// Whether a read that comes next may turn out to be a retry: the thread has read the same before, with no effect
    /// since then.
    pub fn may_retry(&self, parent: Option<Tag>, state: &ThreadState, loc: Loc) -> bool {
        // A generation is complete only if nobody is late who may come to the barrier again.
        if self.awaits.is_none() || self.retries.is_none() || self.barriers {
            return false;
        }
        let mut after = parent;
        for _ in 0..FAR {
            let Some(tag) = after.filter(|tag| self.state(*tag).effects() == state.effects()) else { break };
            if self.node(tag).loc == loc && matches!(self.node(tag).next, Next::Emit(Label::Read { .. })) {
                return true;
            }
            after = self.node(tag).parent;
        }
        false
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// No thread can move but such as may have to wait. Which one shall instead of `thread`: one that goes on if it
    /// reads the co-last write, if there is one.
    #[cold]
    pub fn who_need_not_wait(&mut self, thread: ThreadId) -> Result<ThreadId, Error> {
        let (mut chosen, mut salt) = (None, None);
        if !M::SEES_CO {
            return Ok(thread);
        }
        for at in 0..self.trail.now.threads().len() {
            let Trail { now: graph, history, .. } = &mut self.trail;
            let tag = tag_of(graph, at);
            if tag.ready() != Ready::Await {
                continue;
            }
            let loc = history.node(tag).loc;
            let last = if loc.as_usize() < graph.location_count() { graph.co_max(loc) } else { Ev::INIT };
            let after = self.trail.history.child(tag, self.trail.value_of(last, loc))?;
            if !self.comes_to_block(after)? {
                let Trail { now: graph, schedule, .. } = &self.trail;
                chosen = Some(schedule.prefer(chosen, at, graph, true, &mut salt));
            }
        }
        let chosen = chosen.map_or(thread, |at| ThreadId(at as u16));
        Ok(if self.symmetry.is_some() { self.twins().first_to_move(chosen) } else { chosen })
    }
}

/// For each instruction whether a thread that makes its read may have to wait.
fn waits(function: &Function) -> Box<[bool]> {
    let code = &function.code;
    let waits = |at: usize| match &code[at] {
        Instr::Lock { .. } => true,
        Instr::Load { .. } | Instr::Rmw { .. } | Instr::Cas { .. } => {
            next(code, at + 1).into_iter().any(|stop| match code[stop] {
                Instr::Assume { .. } | Instr::Block { .. } => true,
                // A loop that does nothing else.
                Instr::LoopHead { .. } => {
                    let again = next(code, stop + 1);
                    !again.is_empty() && again.into_iter().all(|other| other == at)
                }
                _ => false,
            })
        }
        _ => false,
    };
    (0..code.len()).map(waits).collect()
}

/// The instructions that a thread may come to next, from one on, that are more than a computation.
fn next(code: &[Instr], from: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut seen = vec![false; code.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if at >= code.len() || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &code[at] {
            Instr::Jump { .. } | Instr::Branch { .. } | Instr::Switch { .. } => {
                work.extend(code[at].targets().map(|target| target as usize));
            }
            Instr::Move { .. }
            | Instr::Bin { .. }
            | Instr::Cmp { .. }
            | Instr::SignExtend { .. }
            | Instr::Select { .. }
            | Instr::Math { .. }
            | Instr::Wide { .. }
            | Instr::Assert { .. }
            | Instr::IfBegin { .. }
            | Instr::IfEnd { .. }
            | Instr::CtrlMark { .. }
            | Instr::CtrlRestore { .. }
            | Instr::Fence { .. } => work.push(at + 1),
            _ => found.push(at),
        }
    }
    found
}
