//! Integers of more than 128 bits: rows of words, the lowest one first. What the last word has too much is 0.
//!
//! rustc computes with 256 bits where it wants all of the product of two 128-bit integers, as showing a `u128`
//! does. clang takes the bit-fields of a structure for one integer, which has as many bytes as they need. Only what
//! these take is here: extension, truncation, addition, multiplication, bit operations, shifts by a constant, and
//! comparison for equality. Everything else is an error.

use super::function::{Body, mask};
use super::types::Unsupported;
use crate::llvm::{TypeKind, Value};

use porf_ir::{BinOp, CmpOp, Instr, Operand, Width};

/// Whether the type of a value is such an integer.
pub fn is_large(value: Value<'_>) -> bool {
    matches!(value.ty().kind(), TypeKind::Int(129..))
}

/// The bits of an integer.
pub fn bits(value: Value<'_>) -> u32 {
    match value.ty().kind() {
        TypeKind::Int(bits) => bits,
        _ => 64,
    }
}

/// The width of the last word of an integer, if that is no whole word.
fn odd(bits: u32) -> Option<Width> {
    (!bits.is_multiple_of(64)).then_some(Width((bits % 64) as u8))
}

const ZERO: Operand = Operand::Const(0);

impl<'m> Body<'_, 'm> {
    pub fn large(
        &mut self,
        i: Value<'m>,
        op: BinOp,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<(), Unsupported> {
        let bits = bits(i);
        let words = match op {
            BinOp::Add => self.large_sum(a, b),
            BinOp::Mul => self.large_product(a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => {
                a.iter().zip(b).map(|(&a, &b)| self.bin(op, Width::W64, a, b)).collect()
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr => match (i.operand(1).as_integer(), op) {
                (None, _) => return Err(format!("a shift of {}", i.ty().print())),
                (Some(by), BinOp::Shl) => self.large_shift_left(a, by),
                (Some(by), BinOp::LShr) => self.large_shift(a, by, false),
                (Some(by), _) => {
                    let whole = self.large_signed(a.to_vec(), bits);
                    self.large_shift(&whole, by, true)
                }
            },
            _ => return Err(format!("arithmetic on {}", i.ty().print())),
        };
        let words = self.large_cut(words, bits);
        self.set(i, words);
        Ok(())
    }

    /// Whether two are the same, or are not.
    pub fn large_compare(
        &mut self,
        i: Value<'m>,
        op: CmpOp,
        a: &[Operand],
        b: &[Operand],
    ) -> Result<(), Unsupported> {
        if !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return Err(format!("a comparison of {}", i.operand(0).ty().print()));
        }
        let mut difference = ZERO;
        for (&a, &b) in a.iter().zip(b) {
            let here = self.bin(BinOp::Xor, Width::W64, a, b);
            difference = self.bin(BinOp::Or, Width::W64, difference, here);
        }
        let dst = self.result(i);
        self.b.push(Instr::Cmp { dst, op, width: Width::W64, a: difference, b: ZERO });
        Ok(())
    }

    /// An integer of `bits` whose last word has its sign in all bits that it does not need.
    pub fn large_signed(&mut self, mut words: Vec<Operand>, bits: u32) -> Vec<Operand> {
        if let (Some(last), Some(width)) = (words.last_mut(), odd(bits)) {
            let dst = self.b.register("");
            self.b.push(Instr::SignExtend { dst, from: width, src: *last });
            *last = dst.into();
        }
        words
    }

    /// The words that an integer of `bits` has, without what is too much in the last one.
    pub fn large_cut(&mut self, mut words: Vec<Operand>, bits: u32) -> Vec<Operand> {
        words.truncate(bits.div_ceil(64) as usize);
        if let (Some(last), Some(width)) = (words.last_mut(), odd(bits)) {
            *last = self.bin(BinOp::And, Width::W64, *last, Operand::Const(mask(width)));
        }
        words
    }

    fn large_shift_left(&mut self, a: &[Operand], by: u128) -> Vec<Operand> {
        let (words, by) = (usize::try_from(by / 64).unwrap_or(a.len()).min(a.len()), (by % 64) as u64);
        let mut moved = vec![ZERO; words + 1];
        moved.extend(&a[..a.len() - words]);
        let shifted = moved.windows(2).map(|pair| match by {
            0 => pair[1],
            by => {
                let low = self.bin(BinOp::LShr, Width::W64, pair[0], Operand::Const(64 - by));
                let high = self.bin(BinOp::Shl, Width::W64, pair[1], Operand::Const(by));
                self.bin(BinOp::Or, Width::W64, low, high)
            }
        });
        shifted.collect()
    }

    /// The words of an integer of 64 bits or more, extended to `count`.
    pub fn large_extend(&mut self, mut words: Vec<Operand>, count: usize, signed: bool) -> Vec<Operand> {
        let fill = match (signed, words.last()) {
            (true, Some(&last)) => self.sign(last),
            _ => ZERO,
        };
        words.resize(count, fill);
        words
    }

    /// All bits are the sign of a word.
    pub fn sign(&mut self, word: Operand) -> Operand {
        self.bin(BinOp::AShr, Width::W64, word, Operand::Const(63))
    }

    /// Shifts to the right by a constant.
    fn large_shift(&mut self, a: &[Operand], by: u128, signed: bool) -> Vec<Operand> {
        let (from, by) = (usize::try_from(by / 64).unwrap_or(a.len()), (by % 64) as u64);
        let mut kept = a.get(from..).unwrap_or(&[]).to_vec();
        let fill = match (signed, a.last()) {
            (true, Some(&last)) => self.sign(last),
            _ => ZERO,
        };
        kept.resize(a.len() + 1, fill);
        let shifted = kept.windows(2).map(|pair| match by {
            0 => pair[0],
            by => {
                let low = self.bin(BinOp::LShr, Width::W64, pair[0], Operand::Const(by));
                let high = self.bin(BinOp::Shl, Width::W64, pair[1], Operand::Const(64 - by));
                self.bin(BinOp::Or, Width::W64, low, high)
            }
        });
        shifted.collect()
    }

    fn large_sum(&mut self, a: &[Operand], b: &[Operand]) -> Vec<Operand> {
        let mut carry = ZERO;
        let mut sum = Vec::new();
        for (&a, &b) in a.iter().zip(b) {
            let [low, high] = self.wide_op(BinOp::Add, [a, ZERO], [b, ZERO]);
            let [low, high] = self.wide_op(BinOp::Add, [low, high], [carry, ZERO]);
            sum.push(low);
            carry = high;
        }
        sum
    }

    /// As it is done by hand. The product of two words, a word and a carry fit into two words.
    pub fn large_product(&mut self, a: &[Operand], b: &[Operand]) -> Vec<Operand> {
        let mut product = vec![ZERO; a.len()];
        for (at, &a) in a.iter().enumerate().filter(|(_, word)| **word != ZERO) {
            let mut carry = ZERO;
            for (&b, sum) in b.iter().zip(&mut product[at..]) {
                let row = match b {
                    ZERO => [ZERO; 2],
                    b => self.wide_op(BinOp::Mul, [a, ZERO], [b, ZERO]),
                };
                let row = self.wide_op(BinOp::Add, row, [*sum, ZERO]);
                [*sum, carry] = self.wide_op(BinOp::Add, row, [carry, ZERO]);
            }
        }
        product
    }
}
