//! Reads that may have to wait come last.
//!
//! A thread that reads something outdated in a waiting loop, at a lock or before an assumption is blocked, and the
//! executions that follow tell nothing. If such a read comes when no other thread can move, all writes that there
//! are to read are there, and most of the wrong ones are cut off at once. Which executions there are does not
//! change: a schedule is any function of the graph (TruSt, see [`search`](crate::search)).
//!
//! Source: the idea of Kokologiannakis, Marmanis, Vafeiadis, "Unblocking dynamic partial order reduction", CAV
//! 2023, who give a blocked read its new source in place. A read that came last needs none of that. Deviations:
//! what is blocked by an assumption about several reads, or after a write, still is.
//!
//! A read may have to wait if, in the code, an assumption, the head of a loop or a block can follow it with no
//! access between them; or if it is that of a lock. Cost: one look at the code for each read.

use super::{Reduction, Reductions};
use crate::facts::Tracking;
use crate::history::History;
use porf_interp::ThreadState;
use porf_ir::{Function, Instr, Program};
use std::cell::OnceCell;

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

/// For each instruction whether a thread that makes its read may have to wait.
fn waits(function: &Function) -> Box<[bool]> {
    let code = &function.code;
    // Whether the thread may have to wait before its next access, from before an instruction on.
    let mut before = vec![false; code.len()];
    let next = |before: &[bool], at: usize| {
        let on = before.get(at + 1).copied().unwrap_or(false);
        on || code[at].targets().any(|target| before[target as usize])
    };
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.len()).rev() {
            let waits = match &code[at] {
                Instr::Assume { .. } | Instr::LoopHead { .. } | Instr::Block { .. } => true,
                Instr::Jump { target } => before[*target as usize],
                Instr::Branch { then, otherwise, .. } => {
                    before[*then as usize] || before[*otherwise as usize]
                }
                Instr::Switch { .. } => code[at].targets().any(|target| before[target as usize]),
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
                | Instr::Fence { .. } => next(&before, at),
                _ => false,
            };
            changed |= waits != before[at];
            before[at] = waits;
        }
    }
    (0..code.len()).map(|at| matches!(code[at], Instr::Lock { .. }) || next(&before, at)).collect()
}
