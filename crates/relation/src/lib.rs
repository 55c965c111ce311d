//! Relation algebra over the events of one execution: sets, relations, cycles, vector clocks.
//!
//! Claim: this crate has everything that an axiomatic memory model is written with, and knows nothing of
//! memory. Events are the numbers `0..n`; the caller decides what they stand for.
//!
//! Representation: a set is a row of bits. A relation is an n×n matrix of bits, row-major in `u64` words.
//! Up to 64 events a row is a single word, and the operations have a path of their own for it.
//!
//! Every operation exists in place (`union_with`, `compose_into`, …) and writes into a buffer that the
//! caller owns. So an evaluator allocates nothing once its buffers have grown. The by-value forms (`union`,
//! `compose`, …) are written with the in-place ones.
//!
//! Cost: boolean operations O(n²/64), composition and closure O(n³/64), acyclicity O(n²) at worst.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod clock;
mod cycle;
mod order;
mod relation;
mod set;

pub use clock::VectorClock;
pub use cycle::Cycle;
pub use order::Linearisations;
pub use relation::{Pairs, Relation};
pub use set::{Bits, EventSet};

/// Bits in one word of a row.
const WORD: usize = u64::BITS as usize;

/// Words that a row of `n` bits takes. At least one, so that rows can always be sliced.
const fn words(n: usize) -> usize {
    if n <= WORD { 1 } else { n.div_ceil(WORD) }
}

/// The valid bits of the last word of a row of `n` bits.
const fn tail(n: usize) -> u64 {
    match n % WORD {
        0 if n == 0 => 0,
        0 => u64::MAX,
        rest => (1 << rest) - 1,
    }
}
