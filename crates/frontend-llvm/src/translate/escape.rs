//! Which local and thread-local variables stay in their thread.
//!
//! A variable is private if its address is only used to access it, to compare, or as an argument of
//! a function that does the same with its parameter. Everything else (stored, returned, cast to an
//! integer, passed to unknown code) counts as leaving the thread. Whether an access then meets
//! private or shared memory is decided by the address at run time, so being wrong here on the safe
//! side only costs events.

use crate::library;
use crate::module::{Opcode, Value, ValueKind};
use std::collections::HashMap;

#[derive(Default)]
pub struct Escapes<'m> {
    /// Whether a parameter's value may leave the thread; absent where not yet looked at.
    params: HashMap<(Value<'m>, usize), bool>,
}

impl<'m> Escapes<'m> {
    /// Whether the address may leave the thread.
    pub fn escapes(&mut self, address: Value<'m>) -> bool {
        let mut seen = vec![address];
        let mut work = vec![address];
        while let Some(value) = work.pop() {
            for user in value.users() {
                match self.look(user, value) {
                    Use::Harmless => {}
                    Use::Leaves => return true,
                    Use::Derives if !seen.contains(&user) => {
                        seen.push(user);
                        work.push(user);
                    }
                    Use::Derives => {}
                }
            }
        }
        false
    }

    fn look(&mut self, user: Value<'m>, value: Value<'m>) -> Use {
        if !matches!(user.kind(), ValueKind::Instruction | ValueKind::ConstantExpression) {
            return Use::Leaves;
        }
        match user.opcode() {
            Opcode::Load | Opcode::ICmp => Use::Harmless,
            Opcode::Store if user.operand(0) != value => Use::Harmless,
            Opcode::AtomicRmw if user.operand(1) != value => Use::Harmless,
            Opcode::CmpXchg if user.operand(1) != value && user.operand(2) != value => Use::Harmless,
            Opcode::GetElementPtr
            | Opcode::BitCast
            | Opcode::AddrSpaceCast
            | Opcode::Phi
            | Opcode::Select
            | Opcode::Freeze => Use::Derives,
            Opcode::Call | Opcode::Invoke => self.call(user, value),
            _ => Use::Leaves,
        }
    }

    fn call(&mut self, call: Value<'m>, value: Value<'m>) -> Use {
        let callee = call.callee();
        if callee.kind() != ValueKind::Function || callee == value {
            return Use::Leaves;
        }
        let mut verdict = Use::Harmless;
        for (index, argument) in call.arguments().into_iter().enumerate() {
            if argument != value {
                continue;
            }
            let leaves = if !callee.is_declaration() {
                index >= callee.value_type().param_count() as usize || self.param(callee, index)
            } else {
                match library::treatment(callee.name(), index) {
                    library::Treatment::Uses => false,
                    library::Treatment::Returns => {
                        verdict = Use::Derives;
                        false
                    }
                    library::Treatment::Keeps => true,
                }
            };
            if leaves {
                return Use::Leaves;
            }
        }
        verdict
    }

    fn param(&mut self, function: Value<'m>, index: usize) -> bool {
        if let Some(known) = self.params.get(&(function, index)) {
            return *known;
        }
        // A recursive call that only passes the parameter on adds nothing.
        self.params.insert((function, index), false);
        let escapes = function.params().get(index).is_none_or(|param| self.escapes(*param));
        self.params.insert((function, index), escapes);
        escapes
    }
}

enum Use {
    Harmless,
    /// The result is the address, or part of what it points to.
    Derives,
    Leaves,
}
