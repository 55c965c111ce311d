//! The flags of x86-64, as far as an instruction sets them, and the conditions that look at them.

use super::super::function::Body;
use super::super::types::Unsupported;
use porf_ir::{BinOp, CmpOp, Instr, Operand, RmwOp, Width};

/// What the last instructions left in the flags; `None` if nothing has set one.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub zero: Option<Operand>,
    pub sign: Option<Operand>,
    pub carry: Option<Operand>,
    pub overflow: Option<Operand>,
}

impl Body<'_, '_> {
    /// The flags after an update of `old` to `new`; `before` is what they were.
    pub(super) fn flags_after(
        &mut self,
        op: RmwOp,
        (old, operand, new): (Operand, Operand, Operand),
        width: Width,
        before: Flags,
    ) -> Flags {
        let none = Operand::Const(0);
        let zero = self.compared(CmpOp::Eq, width, new, none);
        let sign = self.compared(CmpOp::Slt, width, new, none);
        // The sign of `(a ^ b) & (c ^ d)`.
        let mut signs = |a, b, c, d| {
            let (one, other) = (self.bin(BinOp::Xor, width, a, b), self.bin(BinOp::Xor, width, c, d));
            let both = self.bin(BinOp::And, width, one, other);
            self.compared(CmpOp::Slt, width, both, none)
        };
        let overflow = match op {
            RmwOp::Add => signs(old, new, operand, new),
            RmwOp::Sub => signs(old, operand, old, new),
            RmwOp::SubFrom => signs(operand, old, operand, new),
            RmwOp::And | RmwOp::Or | RmwOp::Xor => none,
            _ => return Flags { zero: Some(zero), sign: Some(sign), ..before },
        };
        let carry = match op {
            RmwOp::Add => self.compared(CmpOp::Ult, width, new, old),
            RmwOp::Sub => self.compared(CmpOp::Ult, width, old, operand),
            RmwOp::SubFrom => self.compared(CmpOp::Ult, width, operand, old),
            _ => none,
        };
        Flags { zero: Some(zero), sign: Some(sign), carry: Some(carry), overflow: Some(overflow) }
    }

    /// Whether a condition holds, by its name in `setCC` and `@ccCC`.
    pub(super) fn condition(&mut self, name: &str, flags: Flags) -> Result<Operand, Unsupported> {
        let set = |flag: Option<Operand>| flag.ok_or_else(|| "a flag that nothing sets".to_string());
        let (value, holds) = match name {
            "z" | "e" => (set(flags.zero)?, true),
            "nz" | "ne" => (set(flags.zero)?, false),
            "s" => (set(flags.sign)?, true),
            "ns" => (set(flags.sign)?, false),
            "c" | "b" | "nae" => (set(flags.carry)?, true),
            "nc" | "nb" | "ae" => (set(flags.carry)?, false),
            "o" => (set(flags.overflow)?, true),
            "no" => (set(flags.overflow)?, false),
            "be" | "na" | "a" | "nbe" => {
                let value = self.bin(BinOp::Or, Width::W64, set(flags.carry)?, set(flags.zero)?);
                (value, name == "be" || name == "na")
            }
            "l" | "nge" | "ge" | "nl" | "le" | "ng" | "g" | "nle" => {
                let (sign, overflow) = (set(flags.sign)?, set(flags.overflow)?);
                let less = self.bin(BinOp::Xor, Width::W64, sign, overflow);
                match name {
                    "l" | "nge" => (less, true),
                    "ge" | "nl" => (less, false),
                    _ => {
                        let value = self.bin(BinOp::Or, Width::W64, less, set(flags.zero)?);
                        (value, name == "le" || name == "ng")
                    }
                }
            }
            _ => return Err(format!("the condition {name}")),
        };
        Ok(if holds { value } else { self.bin(BinOp::Xor, Width::W64, value, Operand::Const(1)) })
    }

    /// 1 if a comparison holds, else 0.
    pub(super) fn compared(&mut self, op: CmpOp, width: Width, a: Operand, b: Operand) -> Operand {
        let dst = self.b.register("");
        self.b.push(Instr::Cmp { dst, op, width, a, b });
        dst.into()
    }
}
