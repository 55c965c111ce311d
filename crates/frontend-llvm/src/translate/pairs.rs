//! LLVM's intrinsic functions on integers of 128 bits, which are pairs of words.

use super::function::Body;
use super::types::Unsupported;
use super::wide;
use crate::llvm::{TypeKind, Value};
use porf_ir::{BinOp, CmpOp, Instr, IntOp, MathOp, Operand, Reg, WideOp, Width};

/// A value of two words, the lower one first.
type Pair = [Operand; 2];

const ZERO: Pair = [Operand::Const(0); 2];

impl<'m> Body<'_, 'm> {
    pub fn wide_argument(&mut self, value: Value<'m>) -> Result<Pair, Unsupported> {
        match value.ty().kind() {
            TypeKind::Int(128) => wide::pair(self.words(value)?),
            _ => Err(format!("a value of type {} here", value.ty().print())),
        }
    }

    /// Two words; of a comparison, the first one counts.
    pub fn wide_op(&mut self, op: impl Into<WideOp>, a: Pair, b: Pair) -> Pair {
        let dst = self.b.register_row(2, "");
        let operands = Box::new([a[0], a[1], b[0], b[1]]);
        self.b.push(Instr::Wide { dst, op: op.into(), operands });
        [dst.into(), Reg(dst.0 + 1).into()]
    }

    /// `yes` if a comparison of `a` with `b` is true, else `no`.
    pub fn wide_choose(&mut self, op: CmpOp, a: Pair, b: Pair, yes: Pair, no: Pair) -> Pair {
        let cond = self.wide_op(op, a, b)[0];
        self.choose(cond, yes, no)
    }

    fn choose(&mut self, cond: Operand, yes: Pair, no: Pair) -> Pair {
        [0, 1].map(|half| {
            let dst = self.b.register("");
            self.b.push(Instr::Select { dst, cond, a: yes[half], b: no[half] });
            dst.into()
        })
    }

    fn half(&mut self, op: IntOp, word: Operand) -> Operand {
        let dst = self.b.register("");
        self.b.push(Instr::Math { dst, op: MathOp::Integer(op, Width::W64), a: word, b: word });
        dst.into()
    }

    /// Bit operations, the greater or less of two, sums and differences that saturate.
    pub fn wide_integer(&mut self, i: Value<'m>, op: IntOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        let a = self.wide_argument(args[0])?;
        let result = match op {
            IntOp::PopCount => {
                let counts = a.map(|half| self.half(op, half));
                [self.bin(BinOp::Add, Width::W64, counts[0], counts[1]), ZERO[0]]
            }
            // Those of the first half, or 64 and those of the other.
            IntOp::LeadingZeros | IntOp::TrailingZeros => {
                let (first, second) = if op == IntOp::LeadingZeros { (a[1], a[0]) } else { (a[0], a[1]) };
                let (here, beyond) = (self.half(op, first), self.half(op, second));
                let beyond = self.add(beyond, 64);
                let dst = self.b.register("");
                self.b.push(Instr::Select { dst, cond: first, a: here, b: beyond });
                [dst.into(), ZERO[0]]
            }
            IntOp::ByteSwap | IntOp::BitReverse => [self.half(op, a[1]), self.half(op, a[0])],
            IntOp::Abs => {
                let negated = self.wide_op(BinOp::Sub, ZERO, a);
                self.wide_choose(CmpOp::Slt, a, ZERO, negated, a)
            }
            _ => {
                let b = self.wide_argument(args[1])?;
                match op {
                    IntOp::SMax => self.wide_choose(CmpOp::Slt, a, b, b, a),
                    IntOp::SMin => self.wide_choose(CmpOp::Slt, a, b, a, b),
                    IntOp::UMax => self.wide_choose(CmpOp::Ult, a, b, b, a),
                    IntOp::UMin => self.wide_choose(CmpOp::Ult, a, b, a, b),
                    IntOp::UAddSat => {
                        self.saturate(IntOp::UAddOverflows, a, b, [Operand::Const(u64::MAX); 2])
                    }
                    IntOp::USubSat => self.saturate(IntOp::USubOverflows, a, b, ZERO),
                    IntOp::SAddSat | IntOp::SSubSat => {
                        // The bound on the side of `a`.
                        let sign = self.sign(a[1]);
                        let low = self.bin(BinOp::Xor, Width::W64, sign, Operand::Const(u64::MAX));
                        let high = self.bin(BinOp::Xor, Width::W64, sign, Operand::Const(i64::MAX as u64));
                        let is_sum = op == IntOp::SAddSat;
                        let check = if is_sum { IntOp::SAddOverflows } else { IntOp::SSubOverflows };
                        self.saturate(check, a, b, [low, high])
                    }
                    _ => return Err(format!("an operation on {}", i.ty().print())),
                }
            }
        };
        self.set(i, result.to_vec());
        Ok(())
    }

    fn saturate(&mut self, check: IntOp, a: Pair, b: Pair, bound: Pair) -> Pair {
        let (result, overflows) = self.checked(check, a, b);
        self.choose(overflows, bound, result)
    }

    /// A result, and whether it overflows.
    pub fn wide_overflow(&mut self, i: Value<'m>, check: IntOp) -> Result<(), Unsupported> {
        let args = i.arguments();
        let (a, b) = (self.wide_argument(args[0])?, self.wide_argument(args[1])?);
        let (result, flag) = self.checked(check, a, b);
        self.set(i, vec![result[0], result[1], flag]);
        Ok(())
    }

    fn checked(&mut self, check: IntOp, a: Pair, b: Pair) -> (Pair, Operand) {
        let word = Width::W64;
        match check {
            IntOp::UAddOverflows => {
                let sum = self.wide_op(BinOp::Add, a, b);
                (sum, self.wide_op(CmpOp::Ult, sum, a)[0])
            }
            IntOp::USubOverflows => (self.wide_op(BinOp::Sub, a, b), self.wide_op(CmpOp::Ult, a, b)[0]),
            // The sign of the result is not that of `a`, which has the same sign as `b`, or `-b`.
            IntOp::SAddOverflows | IntOp::SSubOverflows => {
                let is_sum = check == IntOp::SAddOverflows;
                let result = self.wide_op(if is_sum { BinOp::Add } else { BinOp::Sub }, a, b);
                let changed = self.bin(BinOp::Xor, word, result[1], a[1]);
                let other = if is_sum { result[1] } else { a[1] };
                let unlike = self.bin(BinOp::Xor, word, other, b[1]);
                let both = self.bin(BinOp::And, word, changed, unlike);
                (result, self.bin(BinOp::LShr, word, both, Operand::Const(63)))
            }
            // The upper half of the whole product is not what the lower one extends to.
            _ => {
                let signed = check == IntOp::SMulOverflows;
                let (a, b) =
                    (self.large_extend(a.to_vec(), 4, signed), self.large_extend(b.to_vec(), 4, signed));
                let whole = self.large_product(&a, &b);
                let fill = if signed { self.sign(whole[1]) } else { ZERO[0] };
                let upper = [whole[2], whole[3]];
                ([whole[0], whole[1]], self.wide_op(CmpOp::Ne, upper, [fill; 2])[0])
            }
        }
    }

    /// Shifts two values as one and takes the upper (left) or lower (right) half.
    pub fn wide_funnel(&mut self, i: Value<'m>, left: bool) -> Result<(), Unsupported> {
        let args = i.arguments();
        let (high, low) = (self.wide_argument(args[0])?, self.wide_argument(args[1])?);
        let by = self.wide_argument(args[2])?[0];
        let by = self.bin(BinOp::And, Width::W64, by, Operand::Const(127));
        let rest = self.bin(BinOp::Sub, Width::W64, Operand::Const(127), by);
        // The other way in two steps, since a shift by all bits is not defined.
        let (shift, back) = if left { (BinOp::Shl, BinOp::LShr) } else { (BinOp::LShr, BinOp::Shl) };
        let (main, other) = if left { (high, low) } else { (low, high) };
        let main = self.wide_op(shift, main, [by, ZERO[0]]);
        let other = self.wide_op(back, other, [Operand::Const(1), ZERO[0]]);
        let other = self.wide_op(back, other, [rest, ZERO[0]]);
        let result = self.wide_op(BinOp::Or, main, other);
        self.set(i, result.to_vec());
        Ok(())
    }
}
