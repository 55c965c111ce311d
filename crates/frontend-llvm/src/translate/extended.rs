//! `long double` of x86-64: 80 bits, in a pair of words.
//!
//! The first word is the significand, the second one the exponent with the sign: see [`porf_ir::ExtendedOp`].

use super::function::{Body, mask};
use super::types::{self, Unsupported};
use super::wide;
use crate::llvm::{Opcode, TypeKind, Value};
use porf_ir::{BinOp, ExtendedOp, FloatOp, FloatOutcomes, Instr, Operand, Precision, Reg, Width};

/// The two words of a value.
type Pair = [Operand; 2];

const ZERO: Pair = [Operand::Const(0); 2];

/// Whether a value is a `long double`.
pub fn is_extended(value: Value<'_>) -> bool {
    value.ty().kind() == TypeKind::Extended
}

impl<'m> Body<'_, 'm> {
    /// Arithmetic, by an instruction or a call, on its first two operands.
    pub fn extended_float(
        &mut self,
        i: Value<'m>,
        op: FloatOp,
        operands: &[Value<'m>],
    ) -> Result<(), Unsupported> {
        let first = self.words(operands[0])?;
        let second = if operands.len() > 1 { self.words(operands[1])? } else { first.clone() };
        let words = self.extended_arithmetic(op, &first, &second)?;
        self.set(i, words);
        Ok(())
    }

    /// Arithmetic on words.
    pub fn extended_arithmetic(
        &mut self,
        op: FloatOp,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<Vec<Operand>, Unsupported> {
        if !ExtendedOp::computes(op) {
            return Err(format!("{op:?} of a long double").to_lowercase());
        }
        let operands = (wide::pair(a.to_vec())?, wide::pair(b.to_vec())?);
        Ok(self.extended(ExtendedOp::Float(op), operands).to_vec())
    }

    /// The product of two numbers, and a third one added.
    pub fn extended_multiply_add(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let args = i.arguments();
        let (a, b, c) = (self.words(args[0])?, self.words(args[1])?, self.words(args[2])?);
        let product = self.extended_arithmetic(FloatOp::Mul, &a, &b)?;
        let sum = self.extended_arithmetic(FloatOp::Add, &product, &c)?;
        self.set(i, sum);
        Ok(())
    }

    pub fn extended_compare(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let a = wide::pair(self.words(i.operand(0))?)?;
        let b = wide::pair(self.words(i.operand(1))?)?;
        // LLVM's numbering is this very mask.
        let outcomes = FloatOutcomes(i.fcmp_predicate() as u8);
        let result = self.extended(ExtendedOp::Compare(outcomes), (a, b));
        self.set(i, vec![result[0]]);
        Ok(())
    }

    /// From another type of numbers, or to it.
    pub fn extended_cast(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let words = self.words(i.operand(0))?;
        let refused = || Err(format!("conversion from {} to {}", i.operand(0).ty().print(), i.ty().print()));
        let other = if is_extended(i) { i.operand(0) } else { i };
        let cells = types::words(self.tr.module, other.ty())?;
        let precision = cells[0].float;
        let is_integer = matches!(other.ty().kind(), TypeKind::Int(1..=128));
        if precision.is_none() && !is_integer {
            return refused();
        }
        let precision = precision.unwrap_or(Precision::Double);
        let (op, from) = match i.opcode() {
            Opcode::FPExt => (ExtendedOp::Extend(precision), [words[0], ZERO[0]]),
            Opcode::FPTrunc => (ExtendedOp::Narrow(precision), wide::pair(words)?),
            Opcode::FPToSI => (ExtendedOp::ToSigned, wide::pair(words)?),
            Opcode::FPToUI => (ExtendedOp::ToUnsigned, wide::pair(words)?),
            Opcode::SIToFP => (ExtendedOp::FromSigned, self.integer_of_128_bits(words, &cells, true)),
            Opcode::UIToFP => (ExtendedOp::FromUnsigned, self.integer_of_128_bits(words, &cells, false)),
            _ => return refused(),
        };
        let result = self.extended(op, (from, ZERO));
        let result = match i.opcode() {
            Opcode::FPToSI | Opcode::FPToUI => {
                let cut = |(word, value): (&types::Word, Operand)| {
                    self.bin(BinOp::And, Width::W64, value, Operand::Const(mask(word.width())))
                };
                cells.iter().zip(result).map(cut).collect()
            }
            _ => result[..types::words(self.tr.module, i.ty())?.len()].to_vec(),
        };
        self.set(i, result);
        Ok(())
    }

    /// An integer as one of 128 bits.
    fn integer_of_128_bits(&mut self, words: Vec<Operand>, cells: &[types::Word], signed: bool) -> Pair {
        match words[..] {
            [low, high] => [low, high],
            [low, ..] if signed => {
                let whole = self.b.register("");
                self.b.push(Instr::SignExtend { dst: whole, from: cells[0].width(), src: low });
                let sign = self.bin(BinOp::AShr, Width::W64, whole.into(), Operand::Const(63));
                [whole.into(), sign]
            }
            [low, ..] => [low, ZERO[0]],
            [] => ZERO,
        }
    }

    fn extended(&mut self, op: ExtendedOp, (a, b): (Pair, Pair)) -> Pair {
        let dst = self.b.register_row(2, "");
        let operands = Box::new([a[0], a[1], b[0], b[1]]);
        self.b.push(Instr::Wide { dst, op: op.into(), operands });
        [dst.into(), Reg(dst.0 + 1).into()]
    }
}
