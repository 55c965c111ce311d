//! Atomics of 16 bytes.
//!
//! They are single events, as those of 8 bytes are. The value of such an event is a number that stands for the 16 bytes
//! ([`porf_event::wide`]): what is written is turned into its number first, and what was read is turned back.

use super::function::Body;
use super::types::Unsupported;
use crate::llvm::Value;
use porf_event::{ReadMode, RmwKind, WriteMode};
use porf_ir::{CmpOp, Instr, Operand, Reg, WideOp, Width};

/// Bytes of a wide access.
pub const WIDE: u8 = 16;

impl<'m> Body<'_, 'm> {
    /// The number of a value of 16 bytes.
    pub fn wide_number(&mut self, value: Value<'m>) -> Result<Operand, Unsupported> {
        let halves = pair(self.words(value)?)?;
        Ok(self.number_of(halves))
    }

    /// The halves of the value that a number stands for.
    pub fn wide_value(&mut self, number: Operand) -> [Operand; 2] {
        let row = self.b.register_row(2, "");
        let operands = Box::new([number, Operand::Const(0), Operand::Const(0), Operand::Const(0)]);
        self.b.push(Instr::Wide { dst: row, op: WideOp::Value, operands });
        [row.into(), Reg(row.0 + 1).into()]
    }

    pub fn wide_load(&mut self, address: Operand, mode: ReadMode) -> [Operand; 2] {
        let dst = self.b.register("");
        self.b.push(Instr::Load { dst, address, size: WIDE, mode });
        self.wide_value(dst.into())
    }

    pub fn wide_store(&mut self, address: Operand, new: [Operand; 2], mode: WriteMode) {
        let value = self.number_of(new);
        self.b.push(Instr::Store { address, value, size: WIDE, mode });
    }

    /// Of a compare-and-swap: what was there, and whether it was the expected.
    pub fn wide_compare(
        &mut self,
        address: Operand,
        expected: [Operand; 2],
        new: [Operand; 2],
        (read, write): (ReadMode, WriteMode),
    ) -> ([Operand; 2], Operand) {
        let (expected, new) = (self.number_of(expected), self.number_of(new));
        let (dst, same) = (self.b.register(""), self.b.register(""));
        self.b.push(Instr::Cas {
            dst,
            address,
            expected,
            new,
            size: WIDE,
            read,
            write,
            failure: read,
            weak: false,
            kind: RmwKind::Amo,
        });
        let (op, width) = (CmpOp::Eq, Width::W64);
        self.b.push(Instr::Cmp { dst: same, op, width, a: dst.into(), b: expected });
        (self.wide_value(dst.into()), same.into())
    }

    /// The number of a value that has these halves.
    pub fn number_of(&mut self, [low, high]: [Operand; 2]) -> Operand {
        let dst = self.b.register("");
        let operands = Box::new([low, high, Operand::Const(0), Operand::Const(0)]);
        self.b.push(Instr::Wide { dst, op: WideOp::Number, operands });
        dst.into()
    }
}

/// The words of a value of 16 bytes.
pub fn pair(words: Vec<Operand>) -> Result<[Operand; 2], Unsupported> {
    words.try_into().map_err(|_| "an atomic access of more than 16 bytes".to_string())
}
