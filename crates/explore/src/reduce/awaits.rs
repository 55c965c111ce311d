//! Reads that may have to wait come last.
//!
//! A thread that reads something outdated in a waiting loop, at a lock or before an assumption is blocked, and the
//! executions that follow tell nothing. If such a read comes when no other thread can move, all writes that there
//! are to read are there, and most of the wrong ones are cut off at once. Of several such threads one goes first that
//! does not have to wait any more: what is co-last lets it go on. Which executions there are does not change: a
//! schedule is any function of the graph (TruSt, see [`search`](crate::search)).
//!
//! Source: the idea of Kokologiannakis, Marmanis, Vafeiadis, "Unblocking dynamic partial order reduction", CAV
//! 2023, who give a blocked read its new source in place. A read that came last hardly needs that; of those that do,
//! [`in_vain`](super::in_vain) tells. Deviations: what is blocked by an assumption about several reads, or after a
//! write, still is.
//!
//! A read may have to wait if it is that of a lock, if an assumption or a block can follow it with no access
//! between them, or if it is all that a loop does, always at the same address; if it changes a counter
//! ([`counters`](super::counters)); or if it is in a loop and the thread has read the same location before, with no
//! effect since then: it may turn out to be a retry ([`retries`](super::retries)). Cost: one look at the code for each
//! read, and for those in loops one at what the thread did since its last effect.

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
use porf_ir::{Function, Instr, Operand, Program, Reg};
use std::cell::OnceCell;

/// How far back an earlier read of the same location is looked for.
const FAR: u32 = 64;

/// What tells reads that may have to wait.
pub(crate) struct Awaits<'p> {
    program: &'p Program,
    functions: Box<[OnceCell<Box<[Place]>>]>,
}

/// What is known of an instruction.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Whether a thread that makes its read may have to wait.
    waits: bool,
    /// Whether it is in a loop of its function.
    repeats: bool,
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
        self.place(state).waits
    }

    fn place(&self, state: &ThreadState) -> Place {
        let (Some(Awaits { program, functions }), Some((id, at))) = (&self.awaits, state.place()) else {
            return Place::default();
        };
        functions[id.0 as usize].get_or_init(|| places(program.function(id)))[at as usize]
    }
}

impl History<'_> {
    /// Whether a read that comes next may turn out to be a retry: the thread has read the same before, with no effect
    /// since then.
    pub fn may_retry(&self, parent: Option<Tag>, state: &ThreadState, loc: Loc) -> bool {
        // A generation is complete only if nobody is late who may come to the barrier again.
        if self.retries.is_none() || self.barriers || !self.place(state).repeats {
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

/// What is known of the instructions of a function.
fn places(function: &Function) -> Box<[Place]> {
    let code = &function.code;
    let mut places: Box<[Place]> = vec![Place::default(); code.len()].into();
    for (at, instr) in code.iter().enumerate() {
        places[at].waits = waits(code, at);
        for target in instr.targets().map(|target| target as usize).filter(|target| *target <= at) {
            places[target..=at].iter_mut().for_each(|place| place.repeats = true);
        }
    }
    places
}

/// Whether a thread that makes the read of an instruction may have to wait.
fn waits(code: &[Instr], at: usize) -> bool {
    match &code[at] {
        Instr::Lock { .. } => true,
        Instr::Load { address, .. } | Instr::Rmw { address, .. } | Instr::Cas { address, .. } => {
            let mut passed = vec![at];
            next(code, at + 1, &mut passed).into_iter().any(|stop| match code[stop] {
                Instr::Assume { .. } | Instr::Block { .. } => true,
                // A loop that does nothing else.
                Instr::LoopHead { .. } => {
                    let mut body = passed.clone();
                    let again = next(code, stop + 1, &mut body);
                    !again.is_empty()
                        && again.into_iter().all(|other| other == at)
                        && !changes(code, &body, *address)
                }
                _ => false,
            })
        }
        _ => false,
    }
}

/// Whether the value of an operand changes from one iteration to the next of a loop with this body, whose first
/// instruction is a read. Such a loop looks for something and does not wait.
fn changes(code: &[Instr], body: &[usize], operand: Operand) -> bool {
    let sources = |reg: Reg| {
        let mut sources = Vec::new();
        for &at in body.iter().filter(|at| code[**at].destination() == Some(reg)) {
            code[at].visit_operands(|operand| sources.extend(register(operand)));
        }
        sources
    };
    let all = |mut work: Vec<Reg>| {
        let mut all: Vec<Reg> = Vec::new();
        while let Some(reg) = work.pop() {
            if !all.contains(&reg) {
                all.push(reg);
                work.extend(sources(reg));
            }
        }
        all
    };
    let read = body.first().and_then(|at| code[*at].destination());
    let of_operand = all(register(operand).into_iter().collect());
    of_operand.into_iter().any(|reg| Some(reg) == read || all(sources(reg)).contains(&reg))
}

fn register(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(reg) => Some(reg),
        _ => None,
    }
}

/// The instructions that a thread may come to next, from one on, that are more than a computation; those that it
/// passes on the way are added to `passed`.
fn next(code: &[Instr], from: usize, passed: &mut Vec<usize>) -> Vec<usize> {
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
            | Instr::Fence { .. } => {
                passed.push(at);
                work.push(at + 1);
            }
            _ => found.push(at),
        }
    }
    found
}
