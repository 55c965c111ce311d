//! What Porf's own Rust crates (`rust/` in the repository) ask of it: functions of a module `porf_intrinsics`,
//! whose bodies are for native runs.

use super::table::{KEEPS, Row, nothing, row};
use crate::llvm::{Module, Value};
use porf_event::BlockReason;
use porf_ir::{Instr, Operand};

/// By names as both manglings have them.
const FUNCTIONS: &[Row] = &[
    row(&["*15porf_intrinsics11is_explored*"], KEEPS, |_| Ok(vec![Operand::Const(1)])),
    row(&["*15porf_intrinsics5frees*"], KEEPS, |c| {
        Ok(vec![Operand::Const((c.body.tr.leaks || !c.body.tr.shortens).into())])
    }),
    row(&["*15porf_intrinsics4flip*"], KEEPS, |c| {
        let dst = c.body.b.register("choice");
        c.push(Instr::Nondet { dst, options: 2 });
        Ok(vec![dst.into()])
    }),
    row(&["*15porf_intrinsics6assume*"], KEEPS, |c| {
        c.push(Instr::Assume { cond: c.arg(0) });
        nothing(c)
    }),
    // What was read just before is waited for, as a lock is.
    row(&["*15porf_intrinsics4wait*"], KEEPS, |c| {
        c.push(Instr::Block { reason: BlockReason::Lock });
        nothing(c)
    }),
    // The thread ends, and not the process: a deadlock of the others is seen.
    row(&["*15porf_intrinsics3end*"], KEEPS, |c| {
        c.push(Instr::ExitThread { value: Operand::Const(0) });
        nothing(c)
    }),
];

/// The functions of a module that are intrinsics.
pub fn used(module: &Module) -> impl Iterator<Item = (Value<'_>, &'static Row)> {
    let find = |name: &str| FUNCTIONS.iter().find(|row| row.is_for(name));
    module.functions().filter_map(move |function| Some((function, find(function.name())?)))
}
