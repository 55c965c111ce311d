//! Dependencies that no register carries.

use porf_ir::{Function, Instr, Operand, Program, Reg};
use std::collections::BTreeSet;

/// Whether some register is assigned inside of an `if` that ends control dependencies, and used after it:
/// what it holds then depends on the condition, and nothing says so.
pub(crate) fn has_implicit_flow(program: &Program) -> bool {
    program.functions.iter().any(in_function)
}

fn in_function(function: &Function) -> bool {
    let code = &function.code;
    code.iter().enumerate().any(|(start, instr)| {
        let Instr::CtrlMark { slot } = instr else { return false };
        let ends = |instr: &Instr| matches!(instr, Instr::CtrlRestore { slot: other } if other == slot);
        let Some(length) = code[start..].iter().position(ends) else { return false };
        let (body, rest) = code[start..].split_at(length);
        // What is the same on every way through is no flow: only what a branch can skip is.
        let Some(branch) = body.iter().position(|instr| instr.targets().next().is_some()) else {
            return false;
        };
        let assigned: BTreeSet<Reg> = body[branch..].iter().filter_map(Instr::destination).collect();
        let mut used = false;
        for instr in rest {
            instr.visit_operands(|operand| {
                used |= matches!(operand, Operand::Reg(reg) if assigned.contains(&reg));
            });
        }
        used
    })
}
