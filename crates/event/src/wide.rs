//! Values of 16 bytes: each has a number of 8 bytes that stands for it.
//!
//! Claim: [`number`] is one-to-one. Code that only asks whether two values are equal (reads, compare-and-swap,
//! coherence) can use the numbers instead, so cells of 16 bytes need no other change.
//! A value below 2^63 is its own number. Any other value gets a hash with the highest bit set. Every process
//! computes the same hash; if two values collide, the later one gets another number.
//! Limits: the value of a number that another process gave out is not known here; see [`learn`]. No value is
//! ever forgotten.
//! Cost: a lock and a look into a table for each value that is not small.

use crate::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

const IS_HASH: Value = 1 << 63;

static VALUES: LazyLock<RwLock<HashMap<Value, u128>>> = LazyLock::new(RwLock::default);

/// The number that stands for a value.
pub fn number(value: u128) -> Value {
    if value < u128::from(IS_HASH) {
        return value as Value;
    }
    let mut number = hash(value) | IS_HASH;
    loop {
        match known(number) {
            Some(other) if other == value => return number,
            Some(_) => number = number.wrapping_add(1) | IS_HASH,
            None => {
                let mut values = VALUES.write().unwrap_or_else(PoisonError::into_inner);
                // Another thread may have come first.
                if *values.entry(number).or_insert(value) == value {
                    return number;
                }
            }
        }
    }
}

/// The value that a number stands for; `None` if it was never given out here.
pub fn value(number: Value) -> Option<u128> {
    if number < IS_HASH { Some(number.into()) } else { known(number) }
}

/// What a cell holds that has these bytes.
pub fn held(bytes: u128, size: u8) -> Value {
    if size > 8 { number(bytes) } else { bytes as Value }
}

/// The bytes of a cell that holds `held`, of an unknown number zeroes.
pub fn bytes(held: Value, size: u8) -> [u8; 16] {
    let bytes = if size > 8 { value(held).unwrap_or_default() } else { held.into() };
    bytes.to_le_bytes()
}

/// Takes over a number from another process. False if it stands for something else here.
pub fn learn(number: Value, value: u128) -> bool {
    self::number(value) == number
}

fn known(number: Value) -> Option<u128> {
    VALUES.read().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
}

/// Two rounds of a multiplicative mix (the finaliser of splitmix64), one for each half.
fn hash(value: u128) -> Value {
    let mix = |seed: u64| {
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    mix(mix(value as u64) ^ (value >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_to_one() {
        let some = [0, 1, (1 << 63) - 1, 1 << 63, u128::from(u64::MAX), 1 << 64, 1 << 127, u128::MAX];
        for a in some {
            assert_eq!(value(number(a)), Some(a));
            for b in some {
                assert_eq!(number(a) == number(b), a == b, "{a:#x} {b:#x}");
            }
        }
        assert!(learn(number(7 << 64), 7 << 64));
        assert!(!learn(3, 7 << 64));
        assert_eq!(value(u64::MAX - 12345), None);
    }
}
