//! Calls and returns, and what a thread does when it ends.

use crate::run::{advance, finish, set, value};
use crate::state::Frame;
use crate::{Interpreter, ThreadState};
use porf_event::{Access, DepSet, Label, Location, RmwKind, ThreadId, Value, WriteMode};
use porf_ir::{FunctionId, Instr, Operand, Reg, layout};
use smallvec::SmallVec;

impl Interpreter<'_> {
    pub(crate) fn call(
        &self,
        state: &mut ThreadState,
        function: FunctionId,
        args: &[Operand],
        result: Option<Reg>,
    ) {
        let callee = self.program().function(function);
        let caller = state.frame().base;
        let locals = state.memory.as_ref().map_or(0, |memory| memory.mark());
        let base = state.registers.len() as u32;
        state.registers.resize((base + callee.registers) as usize);
        if let Some(taint) = &mut state.taint {
            taint.registers.resize((base + callee.registers) as usize);
        }
        for (i, arg) in args.iter().enumerate() {
            state.registers[base as usize + i] = value(state, *arg);
            if let Some(taint) = &mut state.taint {
                let of = taint.of(caller, &[*arg]);
                taint.registers.set(base as usize + i, of);
            }
        }
        state.frames.push(Frame { function, pc: 0, base, result, locals });
    }

    pub(crate) fn give_back(&self, state: &mut ThreadState, result: Option<Operand>) {
        if self.end_outermost(state) {
            return;
        }
        let frame = *state.frame();
        let returned = result.map_or(0, |operand| value(state, operand));
        let taint = state.taint.as_ref().map(|taint| taint.of(frame.base, result.as_slice()));
        pop_frame(state);
        match frame.result {
            Some(dst) => finish(state, dst, returned, taint.unwrap_or_default()),
            None => advance(state),
        }
    }

    /// If a thread returns from its outermost function, ends it and says so.
    fn end_outermost(&self, state: &mut ThreadState) -> bool {
        let is_outermost = state.frames.len() == 1;
        if is_outermost {
            // The registers of the outermost function stay: conditions speak of them.
            state.ends_process = self.ends_process(state);
            state.frames.clear();
        }
        is_outermost
    }

    /// Returns several values.
    pub(crate) fn give_back_all(&self, state: &mut ThreadState, results: &[Operand]) {
        if self.end_outermost(state) {
            return;
        }
        let frame = *state.frame();
        let returned: SmallVec<[(Value, DepSet); 4]> = results
            .iter()
            .map(|operand| {
                let taint = state.taint.as_ref().map(|taint| taint.of(frame.base, &[*operand]));
                (value(state, *operand), taint.unwrap_or_default())
            })
            .collect();
        pop_frame(state);
        if let Some(dst) = frame.result {
            for (i, (word, taint)) in returned.into_iter().enumerate() {
                set(state, Reg(dst.0 + i as u32), word, taint);
            }
        }
        advance(state);
    }

    /// Begins what a thread has to do before it ends, unless it is doing that already.
    pub(crate) fn leave(&self, state: &mut ThreadState, result: Option<Operand>) -> bool {
        let Some(exit) = self.program().image.as_ref().and_then(|image| image.thread_exit) else {
            return false;
        };
        if state.thread == ThreadId(0)
            || !self.is_leaving(state)
            || state.frames.iter().any(|frame| frame.function == exit)
        {
            return false;
        }
        self.call(state, exit, &[result.unwrap_or(Operand::Const(0))], None);
        true
    }

    /// Whether the process ends where this thread returns from its outermost function.
    fn ends_process(&self, state: &ThreadState) -> bool {
        state.thread == ThreadId(0) && self.program().image.is_some()
    }

    /// The innermost variable of the calls from `first` on that other threads can see: the place of the
    /// register with its address, and the address.
    pub(crate) fn last_local(&self, state: &ThreadState, first: usize) -> Option<(usize, Value)> {
        state.frames[first..].iter().rev().find_map(|frame| {
            let registers = self.program().function(frame.function).locals.iter().rev();
            let mut places = registers.map(|reg| (frame.base + reg.0) as usize);
            places.find(|at| state.registers[*at] != 0).map(|at| (at, state.registers[at]))
        })
    }

    /// Whether the thread's current instruction, a return or an exit, ends it.
    fn is_leaving(&self, state: &ThreadState) -> bool {
        state.frames.len() == 1 || matches!(self.current(state), Instr::ExitThread { .. })
    }

    /// The write by which a thread of a C program leaves its result to those who join it; a thread
    /// that returns 0 needs none.
    pub(crate) fn thread_result(&self, state: &ThreadState, result: Option<Operand>) -> Option<Label> {
        if self.program().image.is_none() || !self.is_leaving(state) || state.thread == ThreadId(0) {
            return None;
        }
        let value = result.map_or(0, |operand| value(state, operand));
        let access = Access { location: Location(layout::result_cell(state.thread)), size: 8 };
        (value != 0).then_some(Label::Write { access, mode: WriteMode::Plain, rmw: RmwKind::None, value })
    }
}

/// Forgets a call with its variables and registers.
fn pop_frame(state: &mut ThreadState) {
    let depth = state.frames.len();
    let Some(frame) = state.frames.pop() else { unreachable!("a call is left") };
    state.forget_locals(frame.locals);
    state.registers.resize(frame.base as usize);
    if let Some(all) = &mut state.taint {
        all.registers.resize(frame.base as usize);
        all.end_call(depth);
    }
}
