//! Well-formedness of programs.
//!
//! - Every register, function and jump target exists; code ends in a return or a jump.
//! - Access sizes are 1, 2, 4, 8 or 16; widths lie between 1 and 64.
//! - `spans` is as long as `code`; calls pass as many arguments as the callee has parameters.
//! - Globals do not overlap.

use crate::{Function, Instr, Operand, Program, Reg, Width};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// Whether the program is well-formed, as the head of this file defines it; the first fault otherwise.
pub fn validate(program: &Program) -> Result<(), Malformed> {
    for function in &program.functions {
        check_function(program, function)?;
    }
    for thread in &program.threads {
        let Some(function) = program.functions.get(thread.function.0 as usize) else {
            return Err(Malformed(format!("thread {} has no function", thread.name)));
        };
        if thread.registers.len() > function.registers as usize {
            return Err(Malformed(format!("thread {} sets more registers than there are", thread.name)));
        }
    }
    let mut spans: Vec<_> =
        program.globals.iter().map(|g| (g.address, g.address + g.size, &g.name)).collect();
    spans.sort();
    match spans.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => Err(Malformed(format!("globals {} and {} overlap", pair[0].2, pair[1].2))),
        None => Ok(()),
    }
}

fn check_function(program: &Program, function: &Function) -> Result<(), Malformed> {
    let fail = |at: usize, what: &str| Err(Malformed(format!("{}, instruction {at}: {what}", function.name)));
    if function.spans.len() != function.code.len() {
        return fail(0, "spans and code differ in length");
    }
    if !matches!(function.code.last(), Some(Instr::Return { .. } | Instr::Jump { .. })) {
        return fail(function.code.len(), "the code does not end in a return or a jump");
    }
    for (at, instr) in function.code.iter().enumerate() {
        let mut bad = None;
        instr.visit_registers(|reg| {
            if reg.0 >= function.registers {
                bad = Some(reg);
            }
        });
        if let Some(Reg(reg)) = bad {
            return fail(at, &format!("register {reg} of {}", function.registers));
        }
        for target in instr.targets() {
            if target as usize >= function.code.len() {
                return fail(at, &format!("jump target {target} does not exist"));
            }
        }
        if let Some(size) = instr.access_size()
            && !matches!(size, 1 | 2 | 4 | 8 | 16)
        {
            return fail(at, &format!("access of {size} bytes"));
        }
        match instr {
            Instr::Bin { width: Width(width), .. }
            | Instr::Cmp { width: Width(width), .. }
            | Instr::SignExtend { from: Width(width), .. }
                if !(1..=64).contains(width) =>
            {
                return fail(at, &format!("width {width}"));
            }
            Instr::Call { function: callee, args, .. } => match program.functions.get(callee.0 as usize) {
                None => return fail(at, "the called function does not exist"),
                Some(callee) if callee.params as usize != args.len() => {
                    return fail(
                        at,
                        &format!("{} takes {} arguments, not {}", callee.name, callee.params, args.len()),
                    );
                }
                Some(_) => {}
            },
            Instr::Create { function: callee, .. } => match program.functions.get(callee.0 as usize) {
                None => return fail(at, "the started function does not exist"),
                Some(callee) if callee.params > 1 => {
                    return fail(at, "a thread function takes at most one argument");
                }
                Some(_) => {}
            },
            _ => {}
        }
    }
    Ok(())
}

impl Instr {
    /// Whether the next instruction may come after this one.
    pub fn goes_on(&self) -> bool {
        !matches!(
            self,
            Instr::Jump { .. }
                | Instr::Branch { .. }
                | Instr::Switch { .. }
                | Instr::Return { .. }
                | Instr::ReturnAll { .. }
                | Instr::ExitThread { .. }
                | Instr::ExitProcess
                | Instr::Block { .. }
                | Instr::Fail { .. }
        )
    }

    /// Every register that the instruction reads or writes.
    pub fn visit_registers(&self, mut visit: impl FnMut(Reg)) {
        if let Some(dst) = self.destination() {
            visit(dst);
        }
        self.visit_operands(|operand| {
            if let Operand::Reg(reg) = operand {
                visit(reg);
            }
        });
    }

    /// The register that the instruction writes.
    pub fn destination(&self) -> Option<Reg> {
        match self {
            Instr::Move { dst, .. }
            | Instr::Bin { dst, .. }
            | Instr::Cmp { dst, .. }
            | Instr::SignExtend { dst, .. }
            | Instr::Select { dst, .. }
            | Instr::Load { dst, .. }
            | Instr::Rmw { dst, .. }
            | Instr::Cas { dst, .. }
            | Instr::AddUnless { dst, .. }
            | Instr::LoadExclusive { dst, .. }
            | Instr::StoreExclusive { status: dst, .. }
            | Instr::Nondet { dst, .. }
            | Instr::Input { dst, .. }
            | Instr::Create { dst, .. }
            | Instr::TryLock { dst, .. }
            | Instr::IsLocked { dst, .. }
            | Instr::Math { dst, .. }
            | Instr::Wide { dst, .. }
            | Instr::CreatePointer { dst, .. }
            | Instr::ThreadSelf { dst }
            | Instr::Alloc { dst, .. }
            | Instr::Local { dst, .. }
            | Instr::ThreadLocalAddress { dst, .. }
            | Instr::Held { dst, .. }
            | Instr::Print { dst, .. }
            | Instr::Format { dst, .. }
            | Instr::Pad { exception: dst, .. }
            | Instr::LoopHead { effects: dst, .. } => Some(*dst),
            Instr::Call { dst, .. } | Instr::CallPointer { dst, .. } => *dst,
            _ => None,
        }
    }

    /// Every operand that the instruction reads.
    pub fn visit_operands(&self, mut visit: impl FnMut(Operand)) {
        match self {
            Instr::Move { src, .. } | Instr::SignExtend { src, .. } => visit(*src),
            Instr::Bin { a, b, .. } | Instr::Cmp { a, b, .. } => {
                for operand in [*a, *b] {
                    visit(operand)
                }
            }
            Instr::Select { cond, a, b, .. } => {
                for operand in [*cond, *a, *b] {
                    visit(operand)
                }
            }
            Instr::Load { address, .. }
            | Instr::LoadExclusive { address, .. }
            | Instr::FenceAt { address, .. }
            | Instr::Lock { address }
            | Instr::TryLock { address, .. }
            | Instr::Unlock { address }
            | Instr::IsLocked { address, .. } => visit(*address),
            Instr::Store { address, value, .. } | Instr::StoreExclusive { address, value, .. } => {
                for operand in [*address, *value] {
                    visit(operand)
                }
            }
            Instr::Rmw { address, operand, .. } => {
                for operand in [*address, *operand] {
                    visit(operand)
                }
            }
            Instr::Cas { address, expected, new, .. } => {
                for operand in [*address, *expected, *new] {
                    visit(operand)
                }
            }
            Instr::AddUnless { address, operand, unless, .. } => {
                for operand in [*address, *operand, *unless] {
                    visit(operand)
                }
            }
            Instr::Branch { cond, .. } | Instr::Assume { cond } | Instr::Assert { cond, .. } => visit(*cond),
            Instr::Call { args, .. } => args.iter().copied().for_each(visit),
            Instr::Return { value } => value.iter().copied().for_each(visit),
            Instr::Create { arg, .. } => visit(*arg),
            Instr::Join { thread } => visit(*thread),
            Instr::Math { a, b, .. } => [*a, *b].into_iter().for_each(visit),
            Instr::Wide { operands, .. } => operands.iter().copied().for_each(visit),
            Instr::Switch { value, .. } | Instr::ExitThread { value } => visit(*value),
            Instr::FailWith { text, .. } => visit(*text),
            Instr::Unwind { exception, text, .. } => [*exception, *text].into_iter().for_each(visit),
            Instr::CallPointer { pointer, args, .. } => {
                visit(*pointer);
                args.iter().copied().for_each(visit);
            }
            Instr::ReturnAll { values } => values.iter().copied().for_each(visit),
            Instr::CreatePointer { function, arg, .. } => [*function, *arg].into_iter().for_each(visit),
            Instr::LoopHead { memory, variables, .. } => {
                visit((*memory).into());
                for (variable, last) in variables {
                    visit((*variable).into());
                    visit((*last).into());
                }
            }
            Instr::Alloc { size, .. } | Instr::Local { size, .. } => visit(*size),
            Instr::Free { address, .. } | Instr::Expire { address } | Instr::Held { address, .. } => {
                visit(*address)
            }
            Instr::TryCopy { to, from, length, .. } => [*to, *from, *length].into_iter().for_each(visit),
            Instr::TryFill { to, byte, length, .. } => [*to, *byte, *length].into_iter().for_each(visit),
            Instr::Forget { address, length } => [*address, *length].into_iter().for_each(visit),
            Instr::Print { format, args, .. } | Instr::Format { format, args, .. } => {
                [*format, *args].into_iter().for_each(visit)
            }
            Instr::IfBegin { cond, .. } => visit(*cond),
            Instr::Fence { .. }
            | Instr::IfEnd { .. }
            | Instr::Look
            | Instr::ThreadSelf { .. }
            | Instr::ExitProcess
            | Instr::Block { .. }
            | Instr::Fail { .. }
            | Instr::Pad { .. }
            | Instr::ThreadLocalAddress { .. }
            | Instr::Jump { .. }
            | Instr::CtrlMark { .. }
            | Instr::CtrlRestore { .. }
            | Instr::Nondet { .. }
            | Instr::Input { .. } => {}
        }
    }

    /// Where control may go other than to the next instruction.
    pub fn targets(&self) -> impl Iterator<Item = u32> + '_ {
        let (pair, cases): (_, &[(u64, u32)]) = match self {
            Instr::Jump { target } | Instr::Pad { to: target, .. } => ([Some(*target), None], &[]),
            Instr::Branch { then, otherwise, .. } => ([Some(*then), Some(*otherwise)], &[]),
            Instr::TryCopy { done, .. } | Instr::TryFill { done, .. } => ([Some(*done), None], &[]),
            Instr::Switch { cases, default, .. } => ([Some(*default), None], cases),
            _ => ([None, None], &[]),
        };
        pair.into_iter().flatten().chain(cases.iter().map(|(_, target)| *target))
    }

    /// Changes where control may go other than to the next instruction.
    pub fn map_targets(&mut self, to: impl Fn(u32) -> u32) {
        let (pair, cases): (_, &mut [(u64, u32)]) = match self {
            Instr::Jump { target } | Instr::Pad { to: target, .. } => ([Some(target), None], &mut []),
            Instr::Branch { then, otherwise, .. } => ([Some(then), Some(otherwise)], &mut []),
            Instr::TryCopy { done, .. } | Instr::TryFill { done, .. } => ([Some(done), None], &mut []),
            Instr::Switch { cases, default, .. } => ([Some(default), None], cases),
            _ => ([None, None], &mut []),
        };
        for target in pair.into_iter().flatten().chain(cases.iter_mut().map(|(_, target)| target)) {
            *target = to(*target);
        }
    }

    fn access_size(&self) -> Option<u8> {
        match self {
            Instr::Load { size, .. }
            | Instr::Store { size, .. }
            | Instr::Rmw { size, .. }
            | Instr::Cas { size, .. }
            | Instr::AddUnless { size, .. }
            | Instr::LoadExclusive { size, .. }
            | Instr::StoreExclusive { size, .. } => Some(*size),
            _ => None,
        }
    }
}
