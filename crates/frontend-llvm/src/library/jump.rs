//! `longjmp`: see [`crate::translate::jump`], where `setjmp` is.

use super::asm::Asm;
use super::table::{KEEPS, Row, row};
use crate::translate::Translator;
use crate::translate::jump::{JUMP, JUMP_BYTES, NO_TARGET};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{FunctionId, Instr, Operand};

pub const FUNCTIONS: &[Row] =
    &[row(&["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"], KEEPS, |c| c.same(longjmp))];

fn longjmp(tr: &mut Translator<'_>) -> FunctionId {
    let index = tr.library_local(JUMP, JUMP_BYTES);
    tr.routine("longjmp", |_| {
        let mut a = Asm::new("longjmp", &["buffer", "value"]);
        let (buffer, value) = (a.param(0), a.param(1));
        let token = a.load(buffer, 8, ReadMode::Plain);
        let number = a.add(buffer, 8);
        let number = a.load(number, 8, ReadMode::Plain);
        let place = a.reg();
        a.b.push(Instr::ThreadLocalAddress { dst: place, index });
        a.store(place.into(), number, 8, WriteMode::Plain);
        // C17 7.13.2.1: a jump with 0 returns 1.
        let result = a.reg();
        a.b.push(Instr::Select { dst: result, cond: value, a: value, b: Operand::Const(1) });
        let at = a.add(place.into(), 8);
        a.store(at, result, 8, WriteMode::Plain);
        let uncaught = Some(NO_TARGET.into());
        a.b.push(Instr::Unwind { exception: token, text: Operand::Const(0), uncaught });
        a.finish()
    })
}
