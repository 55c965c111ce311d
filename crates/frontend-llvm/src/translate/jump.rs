//! `setjmp` and `longjmp` within a thread.
//!
//! A jump is unwinding: behind every call of a function that calls `setjmp` there is a pad, which catches a jump to
//! this very call of the function and sends others on. A `jmp_buf` holds a private object of the call, by which the
//! pads know it, and the number of the `setjmp` in the function. Variables that changed since then have some value, as
//! C says (C17 7.13.2.1), and are in registers here.

use super::function::Body;
use super::types::Unsupported;
use crate::library::CATCHES;
use crate::llvm::{Opcode, Value, ValueKind};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{CmpOp, Instr, JumpLabel, Operand, Reg, Width};

/// Of the thread: the number of the `setjmp` that is jumped to, and what it returns.
pub const JUMP: &str = "longjmp";
pub const JUMP_BYTES: usize = 16;
/// What is wrong with a jump that no call waits for.
pub const NO_TARGET: &str = "longjmp to a call of a function that has ended";

/// What a function that calls `setjmp` has.
pub struct Jumps {
    /// The object of this call.
    token: Reg,
    /// Where pads leave what is thrown: two registers.
    thrown: Reg,
    dispatch: JumpLabel,
    /// Behind each `setjmp`, and its result.
    points: Vec<(JumpLabel, Reg)>,
}

/// Whether a name is one of `setjmp`'s.
pub fn is_setjmp(name: &str) -> bool {
    matches!(name, "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp")
}

impl<'m> Body<'_, 'm> {
    /// At the begin of a function.
    pub fn begin_jumps(&mut self, function: Value<'m>) {
        let calls = |i: Value<'m>| {
            i.opcode() == Opcode::Call
                && i.callee().kind() == ValueKind::Function
                && is_setjmp(i.callee().name())
        };
        if !function.blocks().flat_map(|block| block.instructions()).any(calls) {
            return;
        }
        let (token, dispatch) = (self.b.register(""), self.b.label());
        let thrown = self.b.register_row(2, "");
        self.b.push(Instr::Local { dst: token, size: Operand::Const(8) });
        self.jumps = Some(Jumps { token, thrown, dispatch, points: Vec::new() });
    }

    pub fn setjmp(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        if self.tr.module.function(CATCHES).is_some_and(|catches| !catches.is_declaration()) {
            return Err("setjmp in a program with exceptions of C++".to_string());
        }
        let buffer = self.word(i.arguments()[0])?;
        let (result, label) = (self.result(i), self.b.label());
        let Some(jumps) = &mut self.jumps else { return Err("setjmp here".to_string()) };
        let (token, number) = (jumps.token, jumps.points.len() as u64);
        jumps.points.push((label, result));
        let behind = self.add(buffer, 8);
        for (address, value) in [(buffer, token.into()), (behind, Operand::Const(number))] {
            self.b.push(Instr::Store { address, value, size: 8, mode: WriteMode::Plain });
        }
        self.b.push(Instr::Move { dst: result, src: Operand::Const(0) });
        self.b.bind(label);
        Ok(())
    }

    /// Behind a call.
    pub fn pad_for_jumps(&mut self) {
        if let Some(jumps) = &self.jumps
            && self.b.ends_in_call()
        {
            let (dispatch, thrown) = (jumps.dispatch, jumps.thrown);
            self.b.pad(dispatch, thrown, true);
        }
    }

    /// At the end of a function: where its pads lead.
    pub fn end_jumps(&mut self) {
        let Some(jumps) = self.jumps.take() else { return };
        self.b.bind(jumps.dispatch);
        let (mine, other, is_mine) = (self.b.label(), self.b.label(), self.b.register(""));
        let (op, width) = (CmpOp::Eq, Width::W64);
        self.b.push(Instr::Cmp { dst: is_mine, op, width, a: jumps.thrown.into(), b: jumps.token.into() });
        self.b.branch(is_mine, mine, other);
        self.b.bind(other);
        let (exception, text, uncaught) = (jumps.thrown.into(), Operand::Const(0), Some(NO_TARGET.into()));
        self.b.push(Instr::Unwind { exception, text, uncaught });
        self.b.bind(mine);
        let index = self.tr.library_local(JUMP, JUMP_BYTES);
        let (place, number) = (self.b.register(""), self.b.register(""));
        self.b.push(Instr::ThreadLocalAddress { dst: place, index });
        let value = self.add(place.into(), 8);
        self.b.push(Instr::Load { dst: number, address: place.into(), size: 8, mode: ReadMode::Plain });
        for (at, (label, result)) in jumps.points.into_iter().enumerate() {
            let (here, next, is_here) = (self.b.label(), self.b.label(), self.b.register(""));
            let b = Operand::Const(at as u64);
            self.b.push(Instr::Cmp { dst: is_here, op, width, a: number.into(), b });
            self.b.branch(is_here, here, next);
            self.b.bind(here);
            self.b.push(Instr::Load { dst: result, address: value, size: 4, mode: ReadMode::Plain });
            self.b.jump(label);
            self.b.bind(next);
        }
    }
}
