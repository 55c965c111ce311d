//! Arithmetic on `long double` as x86-64 has it: 80 bits, in a pair of registers.
//!
//! The lower register has the significand, the other one the exponent and the sign. Results are rounded to nearest,
//! as programs find the processor unless they change it. Source: IEEE 754-2008, extended formats; the x87's own
//! encoding. Operations that are not known here (powers, logarithms) are errors of the front end.

use crate::{FloatOp, FloatOutcomes, Precision};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended as Extended};
use rustc_apfloat::{Float, FloatConvert, Round};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An operation on such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExtendedOp {
    /// One of those that [`ExtendedOp::computes`].
    Float(FloatOp),
    /// Compares; the bits of the mask say for which outcomes it is true.
    Compare(FloatOutcomes),
    /// From a signed integer of 128 bits.
    FromSigned,
    /// From an unsigned integer of 128 bits.
    FromUnsigned,
    /// To a signed integer of 128 bits, towards zero.
    ToSigned,
    /// To an unsigned integer of 128 bits, towards zero.
    ToUnsigned,
    /// From `float` or `double`.
    Extend(Precision),
    /// To `float` or `double`.
    Narrow(Precision),
}

impl ExtendedOp {
    /// Whether this arithmetic is known for `long double`.
    pub fn computes(op: FloatOp) -> bool {
        arithmetic(op, Extended::ZERO, Extended::ZERO).is_some()
    }

    /// The result; `None` if the operation is not known.
    pub fn apply(self, a: u128, b: u128) -> Option<u128> {
        let (x, y) = (extended(a), extended(b));
        Some(match self {
            ExtendedOp::Float(op) => arithmetic(op, x, y)?.to_bits(),
            ExtendedOp::Compare(outcomes) => {
                let outcome = match x.partial_cmp(&y) {
                    Some(Ordering::Equal) => 1,
                    Some(Ordering::Greater) => 2,
                    Some(Ordering::Less) => 4,
                    None => 8,
                };
                u128::from(outcomes.0 & outcome != 0)
            }
            ExtendedOp::FromSigned => Extended::from_i128(a as i128).value.to_bits(),
            ExtendedOp::FromUnsigned => Extended::from_u128(a).value.to_bits(),
            ExtendedOp::ToSigned => x.to_i128_r(128, Round::TowardZero, &mut false).value as u128,
            ExtendedOp::ToUnsigned => x.to_u128_r(128, Round::TowardZero, &mut false).value,
            ExtendedOp::Extend(Precision::Single) => widened(Single::from_bits(a & u128::from(u32::MAX))),
            ExtendedOp::Extend(Precision::Double) => widened(Double::from_bits(a & u128::from(u64::MAX))),
            ExtendedOp::Narrow(Precision::Single) => {
                let narrow: Single = x.convert(&mut false).value;
                narrow.to_bits()
            }
            ExtendedOp::Narrow(Precision::Double) => {
                let narrow: Double = x.convert(&mut false).value;
                narrow.to_bits()
            }
        })
    }

    /// Whether the result is one word.
    pub fn is_narrow(self) -> bool {
        matches!(self, ExtendedOp::Compare(_) | ExtendedOp::Narrow(_))
    }
}

fn extended(bits: u128) -> Extended {
    Extended::from_bits(bits & ((1 << 80) - 1))
}

fn widened<F: FloatConvert<Extended>>(value: F) -> u128 {
    value.convert(&mut false).value.to_bits()
}

fn arithmetic(op: FloatOp, a: Extended, b: Extended) -> Option<Extended> {
    // As C's `fmin` and `fmax`: a number rather than none.
    let choose = |wanted: Ordering| match a.partial_cmp(&b) {
        Some(ordering) if ordering == wanted => a,
        None if b.is_nan() => a,
        _ => b,
    };
    Some(match op {
        FloatOp::Add => (a + b).value,
        FloatOp::Sub => (a - b).value,
        FloatOp::Mul => (a * b).value,
        FloatOp::Div => (a / b).value,
        FloatOp::Rem => a.c_fmod(b).value,
        FloatOp::Neg => -a,
        FloatOp::Abs => a.abs(),
        FloatOp::CopySign => a.copy_sign(b),
        FloatOp::Min => choose(Ordering::Less),
        FloatOp::Max => choose(Ordering::Greater),
        FloatOp::Floor => a.round_to_integral(Round::TowardNegative).value,
        FloatOp::Ceil => a.round_to_integral(Round::TowardPositive).value,
        FloatOp::Trunc => a.round_to_integral(Round::TowardZero).value,
        FloatOp::Round => a.round_to_integral(Round::NearestTiesToAway).value,
        FloatOp::RoundEven => a.round_to_integral(Round::NearestTiesToEven).value,
        FloatOp::Sqrt => square_root(a),
        FloatOp::Pow
        | FloatOp::Exp
        | FloatOp::Exp2
        | FloatOp::Log
        | FloatOp::Log2
        | FloatOp::Log10
        | FloatOp::Sin
        | FloatOp::Cos
        | FloatOp::Tan
        | FloatOp::Atan2 => return None,
    })
}

/// The root of the significand as an integer tells the root to the last bit, and its rest where to round.
fn square_root(x: Extended) -> Extended {
    if x.is_nan() || x.is_zero() || x == Extended::INFINITY {
        return x;
    }
    if x.is_negative() {
        return Extended::NAN;
    }
    // x = significand * 2^unit, with an integer of 64 bits.
    let unit = x.ilogb() - 63;
    let significand = x.scalbn(-unit).to_u128(64).value;
    // A root of 64 bits, and half of an even exponent.
    let shift = if unit % 2 == 0 { 64 } else { 63 };
    let square = significand << shift;
    let root = square.isqrt();
    // Above the middle of two numbers; no square is that middle.
    let rounds_up = square - root * root > root;
    Extended::from_u128(root + u128::from(rounds_up)).value.scalbn((unit - shift) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(x: Extended) -> Extended {
        arithmetic(FloatOp::Sqrt, x, Extended::ZERO).unwrap()
    }

    /// Of the two neighbours of a root, each is farther from it: compared by squares, which 128 bits hold exactly.
    #[test]
    fn roots_are_the_nearest_numbers() {
        let mut seed = 1u64;
        for round in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Few bits at first: exact squares are among them.
            let significand =
                if round < 5_000 { u128::from(round + 1u32) } else { u128::from(seed | 1 << 63) };
            let power = (seed >> 40) as i32 % 300 * 2;
            let x = Extended::from_u128(significand).value.scalbn(power);
            let result = root(x);
            // As integers: x = square / 4^k, root = whole / 2^k, with whole of 64 bits.
            let k = 63 - result.ilogb();
            let whole = result.scalbn(k).to_u128(64).value;
            let square = x.scalbn(2 * k).to_u128(128).value;
            // whole - 1/2 < root of square < whole + 1/2, in integers.
            let (below, above) = (whole * whole - whole, whole * whole + whole);
            assert!(below < square && square <= above, "{significand} * 2^{power}");
        }
    }

    #[test]
    fn roots_of_what_is_no_ordinary_number() {
        let of = |number: f64| Double::from_bits(u128::from(number.to_bits())).convert(&mut false).value;
        assert!(root(of(-1.0)).is_nan() && root(of(f64::NAN)).is_nan());
        assert!(root(of(-0.0)).is_neg_zero() && root(of(f64::INFINITY)).is_infinite());
        // The smallest number, 2^-16445, and one with an odd exponent.
        assert_eq!(root(Extended::from_bits(2)), Extended::from_u128(1).value.scalbn(-8222));
        assert_eq!(root(of(2.0)).to_bits() as u64, 0xb504_f333_f9de_6484);
    }
}
