//! Unwinding: a thread leaves calls until it comes to one that a pad follows.
//!
//! As in the Itanium ABI for exceptions there are two phases. The first looks for a pad that catches and
//! changes nothing: where there is none, the thread is at fault with all its calls in place. The second
//! ends the variables of the calls that are left, with an event each, and goes to the innermost pad.

use crate::run::{Interpreter, set, value};
use crate::{Fault, FaultKind, Step, ThreadState};
use porf_event::{DepSet, Label, Location, Value};
use porf_ir::{Instr, Operand, Reg, Target};
use std::sync::Arc;

/// A panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What would be reported if it had not been caught.
    pub fault: Fault,
    /// Which of the fault's calls caught it.
    pub catcher: usize,
    /// The frame of that call, the instruction it was at, and whether the panic has come there.
    frame: usize,
    call: Target,
    landed: bool,
}

/// The pad behind a call.
struct Pad {
    to: Target,
    exception: Reg,
    catches: bool,
}

impl Interpreter<'_> {
    /// The next step of unwinding; `None` where the thread has come to a pad.
    pub(crate) fn unwind(
        &self,
        state: &mut ThreadState,
        exception: Operand,
        text: Operand,
        uncaught: Option<&str>,
    ) -> Option<Step> {
        let (exception, text) = (value(state, exception), value(state, text));
        let Some(catcher) = self.frame_with_pad(state, |pad| pad.catches) else {
            return Some(match uncaught {
                Some(message) => self.fault(state, FaultKind::Abort, message),
                None => self.fault(state, FaultKind::Panic, &self.text(state, text)),
            });
        };
        if let Some((_, address)) = self.left_local(state) {
            return Some(Step::Emit(Label::Free { location: Location(address) }));
        }
        if text != 0 {
            let Step::Fault(fault) = self.fault(state, FaultKind::Panic, &self.text(state, text)) else {
                unreachable!("a fault is one")
            };
            let (frame, call) = (catcher, state.frames[catcher].pc);
            let catcher = state.frames.len() - 1 - catcher;
            state.panic = Some(Arc::new(Panic { fault, catcher, frame, call, landed: false }));
            if let Some(memory) = &mut state.memory {
                // Its own object, which is large enough.
                let _ = Arc::make_mut(memory).write(text, 8, 0);
            }
        }
        let at = self.frame_with_pad(state, |_| true)?;
        self.land(state, at, exception);
        None
    }

    /// The thread gives up, with its own words. If a panic has come to where nothing may unwind further (a
    /// function of another language, a destructor while another panic unwinds, one at the end of the thread),
    /// that panic is what is wrong, and the last of the words say why it is the end.
    pub(crate) fn give_up(&self, state: &ThreadState, kind: FaultKind, text: Value) -> Step {
        let text = self.text(state, text);
        match &state.panic {
            Some(panic) if kind == FaultKind::Panic && !text.is_empty() && is_on_its_way(state, panic) => {
                let mut fault = panic.fault.clone();
                fault.message.push('\n');
                fault.message.push_str(text.trim_end().lines().next_back().unwrap_or_default());
                Step::Fault(fault)
            }
            _ => self.fault(state, kind, &text),
        }
    }

    /// The innermost variable of a call that unwinding leaves.
    pub(crate) fn left_local(&self, state: &ThreadState) -> Option<(usize, Value)> {
        let at = self.frame_with_pad(state, |_| true)?;
        self.last_local(state, at + 1)
    }

    /// Words of the program: how many bytes, and the bytes.
    pub(crate) fn text(&self, state: &ThreadState, address: u64) -> String {
        let read = |at: u64, size: u8| state.memory.as_ref().and_then(|memory| memory.read(at, size).ok());
        let length = if address == 0 { 0 } else { read(address, 8).unwrap_or(0) };
        let bytes: Vec<u8> =
            (0..length).map_while(|at| read(address + 8 + at, 1)).map(|byte| byte as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The innermost call, by its caller's place, that is followed by such a pad.
    fn frame_with_pad(&self, state: &ThreadState, wanted: impl Fn(&Pad) -> bool) -> Option<usize> {
        let callers = 0..state.frames.len().saturating_sub(1);
        callers.rev().find(|at| self.pad(state, *at).is_some_and(|pad| wanted(&pad)))
    }

    fn pad(&self, state: &ThreadState, at: usize) -> Option<Pad> {
        let frame = &state.frames[at];
        let behind = &self.program().function(frame.function).code[frame.pc as usize + 1..];
        match behind.iter().find(|instr| !matches!(instr, Instr::IfEnd { .. })) {
            Some(&Instr::Pad { to, exception, catches }) => Some(Pad { to, exception, catches }),
            _ => None,
        }
    }

    /// Leaves the calls above a frame and goes to the pad there.
    fn land(&self, state: &mut ThreadState, at: usize, exception: Value) {
        let Some(pad) = self.pad(state, at) else { return };
        if let Some(panic) = &mut state.panic
            && panic.frame == at
        {
            Arc::make_mut(panic).landed = true;
        }
        let first = state.frames[at + 1];
        state.forget_locals(first.locals);
        let depth = state.frames.len();
        state.frames.truncate(at + 1);
        state.registers.resize(first.base as usize);
        if let Some(taint) = &mut state.taint {
            taint.registers.resize(first.base as usize);
            (at + 2..=depth).rev().for_each(|depth| taint.end_call(depth));
        }
        state.phase = 0;
        state.effects += 1;
        state.frame_mut().pc = pad.to;
        set(state, pad.exception, exception, DepSet::new());
        set(state, Reg(pad.exception.0 + 1), 0, DepSet::new());
    }
}

/// Whether the call that catches a panic has not returned since: the panic has not come there yet, or the call is
/// behind its pad.
fn is_on_its_way(state: &ThreadState, panic: &Panic) -> bool {
    let Some(frame) = state.frames.get(panic.frame) else { return false };
    let catcher = panic.fault.stack.get(panic.catcher);
    catcher.is_some_and(|(function, _)| *function == frame.function)
        && (frame.pc != panic.call) == panic.landed
}
