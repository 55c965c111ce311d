//! Random numbers: each value is tried, in different executions.
//!
//! Shuttle's are those of the crate `rand`. Of its traits, here is what names a set of values that can be
//! gone through: `gen_range`, `gen_bool`, `gen_ratio`, and `gen` for `bool`, `u8` and `i8`. A type of more values has too many:
//! it is a compile-time error to ask for one.

use crate::porf_intrinsics as porf;
use std::ops::{Range, RangeInclusive};

/// Where values come from.
pub mod rngs {
    /// Chooses; all threads have the same one.
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng(pub(super) ());
}

/// Chooses values.
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng(())
}

/// One of `0..n`, each in some execution.
fn choose(n: u128) -> u128 {
    assert!(n > 0, "cannot sample empty range");
    let mut chosen = 0;
    while chosen + 1 < n && porf::flip() {
        chosen += 1;
    }
    chosen
}

/// A source of random numbers.
pub trait RngCore {}

impl RngCore for rngs::ThreadRng {}

impl<R: RngCore + ?Sized> RngCore for &mut R {}

/// Values to choose from.
pub trait Rng: RngCore {
    /// Any value of the type.
    fn r#gen<T: Small>(&mut self) -> T {
        T::any()
    }

    /// One of a range.
    fn gen_range<T, R: SampleRange<T>>(&mut self, range: R) -> T {
        range.one()
    }

    /// Both, unless one has no chance.
    fn gen_bool(&mut self, p: f64) -> bool {
        assert!((0.0..=1.0).contains(&p), "p={p} is outside range [0.0, 1.0]");
        p == 1.0 || p > 0.0 && porf::flip()
    }

    /// The same, with the chance as a fraction.
    fn gen_ratio(&mut self, numerator: u32, denominator: u32) -> bool {
        assert!(numerator <= denominator, "a chance of more than 1");
        numerator > 0 && (numerator == denominator || porf::flip())
    }
}

impl<R: RngCore + ?Sized> Rng for R {}

/// A type of few values.
pub trait Small {
    #[doc(hidden)]
    fn any() -> Self;
}

impl Small for bool {
    fn any() -> bool {
        porf::flip()
    }
}

impl Small for u8 {
    fn any() -> u8 {
        choose(256) as u8
    }
}

impl Small for i8 {
    fn any() -> i8 {
        choose(256) as u8 as i8
    }
}

/// Ranges to choose from.
pub trait SampleRange<T> {
    #[doc(hidden)]
    fn one(self) -> T;
}

macro_rules! ranges {
    ($($type:ty)*) => {
        $(
            impl SampleRange<$type> for Range<$type> {
                fn one(self) -> $type {
                    assert!(self.start < self.end, "cannot sample empty range");
                    self.start.wrapping_add(choose(self.end.wrapping_sub(self.start) as u128) as $type)
                }
            }

            impl SampleRange<$type> for RangeInclusive<$type> {
                fn one(self) -> $type {
                    let (start, end) = self.into_inner();
                    assert!(start <= end, "cannot sample empty range");
                    start.wrapping_add(choose(end.wrapping_sub(start) as u128 + 1) as $type)
                }
            }
        )*
    };
}

ranges! { u8 u16 u32 u64 usize }

macro_rules! signed_ranges {
    ($($type:ty, $unsigned:ty;)*) => {
        $(
            impl SampleRange<$type> for Range<$type> {
                fn one(self) -> $type {
                    assert!(self.start < self.end, "cannot sample empty range");
                    let count = self.end.wrapping_sub(self.start) as $unsigned;
                    self.start.wrapping_add(choose(count.into()) as $type)
                }
            }

            impl SampleRange<$type> for RangeInclusive<$type> {
                fn one(self) -> $type {
                    let (start, end) = self.into_inner();
                    assert!(start <= end, "cannot sample empty range");
                    let count = end.wrapping_sub(start) as $unsigned;
                    start.wrapping_add(choose(u128::from(count) + 1) as $type)
                }
            }
        )*
    };
}

signed_ranges! { i8, u8; i16, u16; i32, u32; i64, u64; }
