//! Calls: direct, through pointers, variadic, to the library.

use super::function::Body;
use super::jump::is_setjmp;
use super::types::{self, Unsupported};
use crate::library::scope::{self, Step};
use crate::library::{self, slow, stub};
use crate::llvm::{TypeKind, Value, ValueKind};
use porf_event::WriteMode;
use porf_ir::{CmpOp, Instr, Operand, Reg, Width};

impl<'m> Body<'_, 'm> {
    pub fn call(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let mut callee = i.callee();
        while callee.kind() == ValueKind::Alias {
            callee = callee.aliasee();
        }
        match callee.kind() {
            ValueKind::InlineAsm => self.assembly(i, callee),
            ValueKind::Function if callee.name().starts_with("llvm.") => self.intrinsic(i, callee.name()),
            ValueKind::Function if is_setjmp(callee.name()) => self.setjmp(i),
            ValueKind::Function if self.tr.replaced.contains_key(&callee) => {
                let row = self.tr.replaced[&callee];
                let args = self.library_arguments(i)?;
                let used = i.users().next().is_some();
                let result = row.lower(self, callee.name(), &args, used)?;
                self.set_result(i, result)
            }
            ValueKind::Function if self.shortens() && slow::is_park_of_scope(i) => Ok(()),
            ValueKind::Function if self.tr.ends_threads && scope::step(self.tr.module, i).is_some() => {
                self.step_of_scope(i, callee)
            }
            ValueKind::Function if self.shortens() && slow::is_wait_of_channel(i) => {
                self.wait_in_channel(i, callee)
            }
            ValueKind::Function if self.shortens() && slow::fast_path(i).is_some() => {
                self.take_lock(i)?;
                // `Ok` of the value that was there.
                self.set_result(i, vec![Operand::Const(0), Operand::Const(0)])
            }
            ValueKind::Function if stub::is_stub(self, callee) => {
                let result = stub::call(self, callee, i.ty())?;
                self.set_result(i, result)
            }
            ValueKind::Function if library::provides(callee) => {
                let args = self.library_arguments(i)?;
                let used = i.users().next().is_some();
                self.site = Some(i);
                let result = library::call(self, callee.name(), &args, used);
                self.site = None;
                self.set_result(i, result?)
            }
            ValueKind::Function => {
                let name = callee.name();
                if self.library_atomic(i, name)? {
                    return Ok(());
                }
                if is_library_atomic(name) && !self.has_event_size(i, name)? {
                    self.note_lock();
                }
                let function = self.tr.function_id(callee)?;
                let variadic = callee.value_type().is_variadic();
                let fixed = callee.value_type().param_count() as usize;
                let mut args = self.arguments(i, fixed, variadic)?;
                // A call that disagrees with the definition (old C): missing arguments are 0.
                let expected = self.tr.program.functions[function.0 as usize].params as usize;
                args.resize(expected, Operand::Const(0));
                let dst = self.call_result(i);
                // SV-COMP: a function with this name is an atomic section.
                let atomic = callee.name().starts_with("__VERIFIER_atomic_");
                if atomic {
                    library::call(self, "__VERIFIER_atomic_begin", &[], false)?;
                }
                self.b.push(Instr::Call { function, args: args.into(), dst });
                if atomic {
                    library::call(self, "__VERIFIER_atomic_end", &[], false)?;
                }
                Ok(())
            }
            _ => {
                let pointer = self.word(callee)?;
                let ty = i.callee_type();
                let args = self.arguments(i, ty.param_count() as usize, ty.is_variadic())?;
                let dst = self.call_result(i);
                self.b.push(Instr::CallPointer { pointer, args: args.into(), dst });
                Ok(())
            }
        }
    }

    /// What the beginning or the end of a thread or scope does without the order in which threads end.
    fn step_of_scope(&mut self, i: Value<'m>, callee: Value<'m>) -> Result<(), Unsupported> {
        let args = self.library_arguments(i)?;
        let function = match scope::step(self.tr.module, i) {
            Some(Step::Joins) => return self.set_result(i, vec![Operand::Const(1)]),
            Some(Step::Ends) => {
                let drop = self.tr.function_id(callee)?;
                scope::ends(self.tr, drop)?
            }
            Some(Step::Starts) => {
                let increment = self.tr.function_id(callee)?;
                scope::starts(self.tr, increment)
            }
            Some(Step::Waits) => {
                let function = scope::waits(self.tr);
                let dst = self.call_result(i);
                self.b.push(Instr::Call { function, args: args[..1].into(), dst });
                return Ok(());
            }
            Some(Step::Frees) | None => return Ok(()),
        };
        self.b.push(Instr::Call { function, args: args.into(), dst: None });
        Ok(())
    }

    /// Whether a function for atomic accesses makes an event of each: by its name, or by its first argument.
    fn has_event_size(&mut self, i: Value<'m>, name: &str) -> Result<bool, Unsupported> {
        match name.rsplit_once('_') {
            Some((_, "1" | "2" | "4" | "8" | "16")) => Ok(true),
            // The functions for all sizes get theirs first.
            _ => Ok(matches!(self.word(i.operand(0))?, Operand::Const(1 | 2 | 4 | 8 | 16))),
        }
    }

    /// Whether parts of std are replaced.
    pub fn shortens(&self) -> bool {
        self.tr.shortens
    }

    /// Takes the lock that a compare-and-swap, or a call of one, is the fast path to.
    pub fn take_lock(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let Some(fast) = slow::fast_path(i) else { return Ok(()) };
        let address = self.word(i.operand(0))?;
        let instr = slow::take(self.tr, fast, address);
        self.b.push(instr);
        Ok(())
    }

    /// Waits for a message as std does if there is a deadline, and otherwise looks for one again.
    fn wait_in_channel(&mut self, i: Value<'m>, wait: Value<'m>) -> Result<(), Unsupported> {
        let Some(nanoseconds) = i.function().params().last().copied() else { return Ok(()) };
        let nanoseconds = self.word(nanoseconds)?;
        let function = self.tr.function_id(wait)?;
        let fixed = wait.value_type().param_count() as usize;
        let args = self.arguments(i, fixed, false)?;
        let is_timed = self.b.register("");
        let b = Operand::Const(slow::NO_DEADLINE);
        let (op, width) = (CmpOp::Ne, Width::W32);
        self.b.push(Instr::Cmp { dst: is_timed, op, width, a: nanoseconds, b });
        let (timed, on) = (self.b.label(), self.b.label());
        self.b.branch(is_timed, timed, on);
        self.b.bind(timed);
        self.b.push(Instr::Call { function, args: args.into(), dst: None });
        self.b.bind(on);
        Ok(())
    }

    /// Registers for what a call returns.
    fn call_result(&mut self, i: Value<'m>) -> Option<Reg> {
        if i.ty().kind() == TypeKind::Void {
            return None;
        }
        let row = self.fresh(i);
        let first = match row.first() {
            Some(Operand::Reg(first)) => Some(*first),
            _ => None,
        };
        self.set(i, row);
        first
    }

    fn set_result(&mut self, i: Value<'m>, result: Vec<Operand>) -> Result<(), Unsupported> {
        let expected = match i.ty().kind() {
            TypeKind::Void => 0,
            _ => types::words(self.tr.module, i.ty())?.len(),
        };
        let mut result = result;
        result.resize(expected, Operand::Const(0));
        if expected > 0 {
            self.set(i, result);
        }
        Ok(())
    }

    /// The words of the arguments; of a variadic call the last is the address of the variable ones.
    fn arguments(&mut self, i: Value<'m>, fixed: usize, variadic: bool) -> Result<Vec<Operand>, Unsupported> {
        let all = i.arguments();
        let mut words = Vec::new();
        for (index, argument) in all.iter().enumerate().take(fixed) {
            match i.param_type_attribute(index as u32, "byval") {
                Some(ty) => words.push(self.by_value(*argument, ty)?),
                None => words.extend(self.words(*argument)?),
            }
        }
        if variadic {
            let rest: Vec<(usize, Value<'m>)> = all.into_iter().enumerate().skip(fixed).collect();
            words.push(self.variable_arguments(i, &rest)?);
        }
        Ok(words)
    }

    /// Arguments for a function of the library: variable ones, if any, behind the address.
    fn library_arguments(&mut self, i: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        let ty = i.callee_type();
        // Functions declared without a prototype look variadic.
        let variadic = ty.is_variadic() && ty.param_count() > 0;
        let fixed = if variadic { ty.param_count() as usize } else { i.arguments().len() };
        self.arguments(i, fixed, variadic)
    }

    /// Writes variable arguments as the x86-64 ABI lays out the stack; their address.
    fn variable_arguments(
        &mut self,
        i: Value<'m>,
        rest: &[(usize, Value<'m>)],
    ) -> Result<Operand, Unsupported> {
        if rest.is_empty() {
            return Ok(Operand::Const(0));
        }
        let mut offset = 0u64;
        let mut places = Vec::new();
        for (index, argument) in rest {
            let by_value = i.param_type_attribute(*index as u32, "byval");
            let ty = by_value.unwrap_or(argument.ty());
            if self.tr.module.align_of(ty) > 8 {
                offset = offset.next_multiple_of(16);
            }
            places.push((offset, by_value));
            offset += self.tr.module.size_of(ty).next_multiple_of(8);
        }
        let area = self.b.register("");
        self.b.push(Instr::Local { dst: area, size: Operand::Const(offset) });
        for ((_, argument), (offset, by_value)) in rest.iter().zip(places) {
            let at = self.add(area.into(), offset);
            if let Some(ty) = by_value {
                let from = self.word(*argument)?;
                let length = Operand::Const(self.tr.module.size_of(ty));
                self.copy(at, from, length, &[*argument], 8)?;
                continue;
            }
            let cells = types::words(self.tr.module, argument.ty())?;
            let values = self.words(*argument)?;
            for (cell, value) in cells.iter().zip(values) {
                let address = self.add(at, cell.offset);
                // The whole slot, so that nobody finds a part of it uninitialised.
                self.b.push(Instr::Store { address, value, size: 8, mode: WriteMode::Plain });
            }
        }
        Ok(area.into())
    }
}

/// Whether a function is one of `runtime/atomic.c`.
fn is_library_atomic(name: &str) -> bool {
    name.starts_with("__atomic_") && name != "__atomic_is_lock_free"
}
