//! Arithmetic beyond [`crate::BinOp`]: floating point, conversions, bit tricks, 128-bit integers.
//!
//! Floating-point values travel in registers as their bit patterns, `float` in the low 32 bits.
//! 128-bit integers are pairs of registers, low half first.

use crate::{BinOp, CmpOp, ExtendedOp, Width};
use porf_event::{Value, wide};
use serde::{Deserialize, Serialize};

/// An operation on one or two registers; unary ones ignore the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MathOp {
    /// Floating-point arithmetic.
    Float(FloatOp, Precision),
    /// Compares; the bits of the mask say for which outcomes it is true.
    Compare(FloatOutcomes, Precision),
    /// To an unsigned integer, towards zero.
    ToUnsigned(Precision, Width),
    /// To a signed integer, towards zero.
    ToSigned(Precision, Width),
    /// From an unsigned integer.
    FromUnsigned(Width, Precision),
    /// From a signed integer.
    FromSigned(Width, Precision),
    /// `float` to `double`.
    Extend,
    /// `double` to `float`.
    Narrow,
    /// Bit operations, and arithmetic that tells an overflow or saturates.
    Integer(IntOp, Width),
}

/// The two formats of floating point that programs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Precision {
    /// C's `float`: 32 bits.
    Single,
    /// C's `double`: 64 bits.
    Double,
}

/// What is computed in floating point.
#[allow(missing_docs, reason = "the names are those of C's <math.h> and LLVM's instructions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundEven,
    Min,
    Max,
    CopySign,
    Pow,
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Atan2,
}

/// A set of outcomes of a floating-point comparison: 1 equal, 2 greater, 4 less, 8 unordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatOutcomes(pub u8);

/// Operations on integers of one width; `U` is unsigned, `S` signed, `Sat` saturates.
#[allow(missing_docs, reason = "the names are those of LLVM's intrinsic functions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntOp {
    PopCount,
    LeadingZeros,
    TrailingZeros,
    ByteSwap,
    BitReverse,
    Abs,
    SMax,
    SMin,
    UMax,
    UMin,
    UAddOverflows,
    SAddOverflows,
    USubOverflows,
    SSubOverflows,
    UMulOverflows,
    SMulOverflows,
    UAddSat,
    SAddSat,
    USubSat,
    SSubSat,
}

/// An operation on 128-bit integers. Shifts take the low half of their second operand.
#[allow(missing_docs, reason = "the names are those of MathOp")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WideOp {
    Bin(BinOp),
    /// The result is one word, 0 or 1.
    Cmp(CmpOp),
    /// To floating point: one word.
    FromSigned(Precision),
    FromUnsigned(Precision),
    /// From floating point, towards zero.
    ToSigned(Precision),
    ToUnsigned(Precision),
    /// Arithmetic on `long double`.
    Extended(ExtendedOp),
    /// The number of a value, as an access of 16 bytes has it: one word. See [`porf_event::wide`].
    Number,
    /// The value that the number in the low half of the first operand stands for.
    Value,
}

impl MathOp {
    /// The result, in the low bits.
    pub fn apply(self, a: Value, b: Value) -> Value {
        match self {
            MathOp::Float(op, Precision::Single) => u64::from(
                match op {
                    // In single precision, so that nothing is rounded twice.
                    FloatOp::Add => single(a) + single(b),
                    FloatOp::Sub => single(a) - single(b),
                    FloatOp::Mul => single(a) * single(b),
                    FloatOp::Div => single(a) / single(b),
                    FloatOp::Rem => single(a) % single(b),
                    FloatOp::Neg => -single(a),
                    FloatOp::Abs => single(a).abs(),
                    FloatOp::Sqrt => single(a).sqrt(),
                    FloatOp::CopySign => single(a).copysign(single(b)),
                    FloatOp::Pow => single(a).powf(single(b)),
                    FloatOp::Exp => single(a).exp(),
                    FloatOp::Exp2 => single(a).exp2(),
                    FloatOp::Log => single(a).ln(),
                    FloatOp::Log2 => single(a).log2(),
                    FloatOp::Log10 => single(a).log10(),
                    FloatOp::Sin => single(a).sin(),
                    FloatOp::Cos => single(a).cos(),
                    FloatOp::Tan => single(a).tan(),
                    FloatOp::Atan2 => single(a).atan2(single(b)),
                    // Exact in double precision.
                    other => float(other, f64::from(single(a)), f64::from(single(b))) as f32,
                }
                .to_bits(),
            ),
            MathOp::Float(op, Precision::Double) => float(op, f64::from_bits(a), f64::from_bits(b)).to_bits(),
            MathOp::Compare(outcomes, precision) => {
                let outcome = match precision.read(a).partial_cmp(&precision.read(b)) {
                    Some(std::cmp::Ordering::Equal) => 1,
                    Some(std::cmp::Ordering::Greater) => 2,
                    Some(std::cmp::Ordering::Less) => 4,
                    None => 8,
                };
                u64::from(outcomes.0 & outcome != 0)
            }
            MathOp::ToUnsigned(precision, to) => {
                let value = precision.read(a);
                // What x86-64 does with a negative number or one that is too large is no part of C.
                to.truncate(if value < 0.0 { value as i64 as u64 } else { value as u64 })
            }
            MathOp::ToSigned(precision, to) => {
                let value = precision.read(a);
                let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&value);
                to.truncate(if fits { value as i64 as u64 } else { i64::MIN as u64 })
            }
            MathOp::FromUnsigned(from, Precision::Single) => u64::from((from.truncate(a) as f32).to_bits()),
            MathOp::FromUnsigned(from, Precision::Double) => (from.truncate(a) as f64).to_bits(),
            MathOp::FromSigned(from, Precision::Single) => u64::from((from.signed(a) as f32).to_bits()),
            MathOp::FromSigned(from, Precision::Double) => (from.signed(a) as f64).to_bits(),
            MathOp::Extend => f64::from(single(a)).to_bits(),
            MathOp::Narrow => u64::from((f64::from_bits(a) as f32).to_bits()),
            MathOp::Integer(op, width) => integer(op, width, a, b),
        }
    }
}

impl Precision {
    fn read(self, bits: Value) -> f64 {
        match self {
            Precision::Single => f64::from(single(bits)),
            Precision::Double => f64::from_bits(bits),
        }
    }
}

impl From<BinOp> for WideOp {
    fn from(op: BinOp) -> WideOp {
        WideOp::Bin(op)
    }
}

impl From<ExtendedOp> for WideOp {
    fn from(op: ExtendedOp) -> WideOp {
        WideOp::Extended(op)
    }
}

impl From<CmpOp> for WideOp {
    fn from(op: CmpOp) -> WideOp {
        WideOp::Cmp(op)
    }
}

impl WideOp {
    /// The result (a comparison gives 0 or 1), or `None` for a division by zero and a number that stands for nothing.
    pub fn apply(self, a: u128, b: u128) -> Option<u128> {
        let (sa, sb) = (a as i128, b as i128);
        let shift = (b % 128) as u32;
        Some(match self {
            WideOp::Bin(BinOp::Add) => a.wrapping_add(b),
            WideOp::Bin(BinOp::Sub) => a.wrapping_sub(b),
            WideOp::Bin(BinOp::Mul) => a.wrapping_mul(b),
            WideOp::Bin(BinOp::UDiv) => a.checked_div(b)?,
            WideOp::Bin(BinOp::SDiv) => (sb != 0).then(|| sa.wrapping_div(sb))? as u128,
            WideOp::Bin(BinOp::URem) => a.checked_rem(b)?,
            WideOp::Bin(BinOp::SRem) => (sb != 0).then(|| sa.wrapping_rem(sb))? as u128,
            WideOp::Bin(BinOp::And) => a & b,
            WideOp::Bin(BinOp::Or) => a | b,
            WideOp::Bin(BinOp::Xor) => a ^ b,
            WideOp::Bin(BinOp::Shl) => a << shift,
            WideOp::Bin(BinOp::LShr) => a >> shift,
            WideOp::Bin(BinOp::AShr) => (sa >> shift) as u128,
            WideOp::Cmp(CmpOp::Eq) => u128::from(a == b),
            WideOp::Cmp(CmpOp::Ne) => u128::from(a != b),
            WideOp::Cmp(CmpOp::Ult) => u128::from(a < b),
            WideOp::Cmp(CmpOp::Ule) => u128::from(a <= b),
            WideOp::Cmp(CmpOp::Slt) => u128::from(sa < sb),
            WideOp::Cmp(CmpOp::Sle) => u128::from(sa <= sb),
            WideOp::FromSigned(Precision::Single) => u128::from((sa as f32).to_bits()),
            WideOp::FromSigned(Precision::Double) => u128::from((sa as f64).to_bits()),
            WideOp::FromUnsigned(Precision::Single) => u128::from((a as f32).to_bits()),
            WideOp::FromUnsigned(Precision::Double) => u128::from((a as f64).to_bits()),
            WideOp::ToSigned(precision) => precision.read(a as Value) as i128 as u128,
            WideOp::ToUnsigned(precision) => precision.read(a as Value) as u128,
            WideOp::Extended(op) => op.apply(a, b)?,
            WideOp::Number => u128::from(wide::number(a)),
            WideOp::Value => wide::value(a as Value)?,
        })
    }

    /// Whether the result is one word.
    pub fn is_narrow(self) -> bool {
        use WideOp::*;
        match self {
            Extended(op) => op.is_narrow(),
            _ => matches!(self, Cmp(_) | FromSigned(_) | FromUnsigned(_) | Number),
        }
    }
}

fn single(bits: Value) -> f32 {
    f32::from_bits(bits as u32)
}

fn float(op: FloatOp, a: f64, b: f64) -> f64 {
    match op {
        FloatOp::Add => a + b,
        FloatOp::Sub => a - b,
        FloatOp::Mul => a * b,
        FloatOp::Div => a / b,
        FloatOp::Rem => a % b,
        FloatOp::Neg => -a,
        FloatOp::Abs => a.abs(),
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Floor => a.floor(),
        FloatOp::Ceil => a.ceil(),
        FloatOp::Trunc => a.trunc(),
        FloatOp::Round => a.round(),
        FloatOp::RoundEven => a.round_ties_even(),
        FloatOp::Min => a.min(b),
        FloatOp::Max => a.max(b),
        FloatOp::CopySign => a.copysign(b),
        FloatOp::Pow => a.powf(b),
        FloatOp::Exp => a.exp(),
        FloatOp::Exp2 => a.exp2(),
        FloatOp::Log => a.ln(),
        FloatOp::Log2 => a.log2(),
        FloatOp::Log10 => a.log10(),
        FloatOp::Sin => a.sin(),
        FloatOp::Cos => a.cos(),
        FloatOp::Tan => a.tan(),
        FloatOp::Atan2 => a.atan2(b),
    }
}

fn integer(op: IntOp, width: Width, a: Value, b: Value) -> Value {
    let (a, b) = (width.truncate(a), width.truncate(b));
    let (sa, sb) = (i128::from(width.signed(a)), i128::from(width.signed(b)));
    let (ua, ub) = (u128::from(a), u128::from(b));
    let bits = u32::from(width.0);
    let unused = 64 - bits;
    let (min, max) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let unsigned_max = (1u128 << bits) - 1;
    let outside = |value: i128| u64::from(value < min || value > max);
    let result = match op {
        IntOp::PopCount => u64::from(a.count_ones()),
        IntOp::LeadingZeros => u64::from(a.leading_zeros() - unused),
        IntOp::TrailingZeros => u64::from(a.trailing_zeros().min(bits)),
        IntOp::ByteSwap => a.swap_bytes() >> unused,
        IntOp::BitReverse => a.reverse_bits() >> unused,
        IntOp::Abs => width.signed(a).unsigned_abs(),
        IntOp::SMax => sa.max(sb) as u64,
        IntOp::SMin => sa.min(sb) as u64,
        IntOp::UMax => a.max(b),
        IntOp::UMin => a.min(b),
        IntOp::UAddOverflows => u64::from(ua + ub > unsigned_max),
        IntOp::SAddOverflows => outside(sa + sb),
        IntOp::USubOverflows => u64::from(ua < ub),
        IntOp::SSubOverflows => outside(sa - sb),
        IntOp::UMulOverflows => u64::from(ua * ub > unsigned_max),
        IntOp::SMulOverflows => outside(sa * sb),
        IntOp::UAddSat => (ua + ub).min(unsigned_max) as u64,
        IntOp::SAddSat => (sa + sb).clamp(min, max) as u64,
        IntOp::USubSat => a.saturating_sub(b),
        IntOp::SSubSat => (sa - sb).clamp(min, max) as u64,
    };
    width.truncate(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_keep_to_their_width() {
        let w8 = |op, a, b| MathOp::Integer(op, Width::W8).apply(a, b);
        assert_eq!(w8(IntOp::LeadingZeros, 1, 0), 7);
        assert_eq!(w8(IntOp::TrailingZeros, 0, 0), 8);
        assert_eq!(w8(IntOp::BitReverse, 1, 0), 0x80);
        assert_eq!(w8(IntOp::SAddSat, 0x7f, 1), 0x7f);
        assert_eq!(w8(IntOp::SMulOverflows, 0x80, 0xff), 1);
        assert_eq!(w8(IntOp::Abs, 0x80, 0), 0x80);
        assert_eq!(MathOp::Integer(IntOp::UMulOverflows, Width::W64).apply(u64::MAX, u64::MAX), 1);
    }

    #[test]
    fn floats_compare_by_outcome() {
        let nan = f64::NAN.to_bits();
        let one = 1f64.to_bits();
        let unordered = FloatOutcomes(8);
        assert_eq!(MathOp::Compare(unordered, Precision::Double).apply(nan, one), 1);
        assert_eq!(MathOp::Compare(FloatOutcomes(1), Precision::Double).apply(one, one), 1);
        assert_eq!(MathOp::Compare(FloatOutcomes(7), Precision::Double).apply(nan, one), 0);
    }
}
