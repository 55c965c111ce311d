//! Exceptions: what happens where unwinding comes to a landing pad.
//!
//! A pad of C++ asks for each of its types, in order, whether a handler for it catches; our own `exceptions.cpp`
//! knows. The first that does gives the selector that the code behind the pad compares with. Where none does, a
//! cleanup runs and unwinds further itself, and any other pad unwinds further here.

use super::function::Body;
use super::instruction::register;
use super::types::Unsupported;
use crate::library::CATCHES;
use crate::llvm::{TypeKind, Value};
use porf_ir::{Instr, Operand};

/// The selector of a handler for everything, which nobody compares with.
const ANY: u64 = 1;
/// The selector of an exception that a specification forbids: negative.
const FORBIDDEN: u64 = u32::MAX as u64;

impl<'m> Body<'_, 'm> {
    pub fn landing_pad(&mut self, pad: Value<'m>) -> Result<(), Unsupported> {
        let exception = self.landing(pad);
        // Rust's pads look at nothing, and where nothing is thrown none is reached.
        let catches = self.tr.module.function(CATCHES).filter(|catches| !catches.is_declaration());
        let Some(catches) = catches.filter(|_| !self.tr.is_rust) else { return Ok(()) };
        let function = self.tr.function_id(catches)?;
        let selector = register(self.words(pad)?[1]);
        let done = self.b.label();
        for clause in pad.clauses() {
            if clause.ty().kind() == TypeKind::Array {
                if clause.ty().length() > 0 {
                    return Err("an exception specification with types".to_string());
                }
                self.b.push(Instr::Move { dst: selector, src: Operand::Const(FORBIDDEN) });
                self.b.jump(done);
                continue;
            }
            let number = self.type_number(clause)?;
            let wanted = self.word(clause)?;
            let is_caught = self.b.register("");
            self.b.push(Instr::Call { function, args: [exception, wanted].into(), dst: Some(is_caught) });
            self.b.push(Instr::Move { dst: selector, src: number });
            let next = self.b.label();
            self.b.branch(is_caught, done, next);
            self.b.bind(next);
        }
        self.b.push(Instr::Move { dst: selector, src: Operand::Const(0) });
        if !pad.is_cleanup() {
            self.unwind(exception);
        }
        self.b.bind(done);
        Ok(())
    }

    /// Leaves calls up to the next pad.
    pub fn unwind(&mut self, exception: Operand) {
        let uncaught = (!self.tr.is_rust).then(|| "an exception is thrown that nobody catches".into());
        self.b.push(Instr::Unwind { exception, text: Operand::Const(0), uncaught });
    }

    /// The selector of a handler for a type: the place of its description.
    pub fn type_number(&mut self, description: Value<'m>) -> Result<Operand, Unsupported> {
        Ok(match self.word(description)? {
            Operand::Const(0) => Operand::Const(ANY),
            Operand::Const(address) => Operand::Const(address & u64::from(u32::MAX)),
            Operand::Reg(_) => return Err("a handler for a type that is no constant".to_string()),
        })
    }
}
