//! How an `if` that has ended still influences the code after it.

use porf_ir::{Instr, Operand, Program, Reg};
use std::collections::BTreeSet;

/// Whether some register is assigned inside an `if` that ends control dependencies, and used after it. Its
/// value then depends on the condition, but no dependency records that.
pub(crate) fn has_implicit_flow(program: &Program) -> bool {
    any_if(program, |body, rest| {
        let assigned: BTreeSet<Reg> = body.iter().filter_map(Instr::destination).collect();
        let mut used = false;
        for instr in rest {
            instr.visit_operands(|operand| {
                used |= matches!(operand, Operand::Reg(reg) if assigned.contains(&reg));
            });
        }
        used
    })
}

/// Whether there are events inside such an `if` and after it. The later ones do not depend on the condition,
/// but their positions in the thread do. So they cannot be kept when the condition changes.
pub(crate) fn has_optional_events(program: &Program) -> bool {
    any_if(program, |body, rest| body.iter().any(may_have_event) && rest.iter().any(may_have_event))
}

/// Whether such an `if` may write and a read may follow it. A read that is kept because it orders something
/// might have to read from a write that only another condition produces.
pub(crate) fn has_optional_writes(program: &Program) -> bool {
    let may_write =
        |instr: &Instr| may_have_event(instr) && !matches!(instr, Instr::Load { .. } | Instr::Fence { .. });
    let may_read =
        |instr: &Instr| may_have_event(instr) && !matches!(instr, Instr::Store { .. } | Instr::Fence { .. });
    any_if(program, |body, rest| body.iter().any(may_write) && rest.iter().any(may_read))
}

/// Whether something holds of what a branch can skip in an `if` that ends control dependencies, and of
/// what comes after it.
fn any_if(program: &Program, holds: impl Fn(&[Instr], &[Instr]) -> bool) -> bool {
    program.functions.iter().any(|function| {
        let code = &function.code;
        code.iter().enumerate().any(|(start, instr)| {
            let Instr::CtrlMark { slot } = instr else { return false };
            let ends = |instr: &Instr| matches!(instr, Instr::CtrlRestore { slot: other } if other == slot);
            let Some(length) = code[start..].iter().position(ends) else { return false };
            let (body, rest) = code[start..].split_at(length);
            let branch = body.iter().position(|instr| instr.targets().next().is_some());
            branch.is_some_and(|branch| holds(&body[branch..], rest))
        })
    })
}

fn may_have_event(instr: &Instr) -> bool {
    !matches!(
        instr,
        Instr::Move { .. }
            | Instr::Bin { .. }
            | Instr::Cmp { .. }
            | Instr::SignExtend { .. }
            | Instr::Select { .. }
            | Instr::Jump { .. }
            | Instr::Branch { .. }
            | Instr::CtrlMark { .. }
            | Instr::CtrlRestore { .. }
            | Instr::Return { .. }
            | Instr::Assume { .. }
    )
}
