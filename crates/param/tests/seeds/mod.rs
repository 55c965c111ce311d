//! Which random systems a test looks at.

use std::ops::Range;

/// The seeds that `PORF_SEEDS=240-1000` asks for, if it is set.
pub fn asked_for() -> Option<Range<u64>> {
    let words = std::env::var("PORF_SEEDS").ok()?;
    let (from, to) = words.split_once('-').expect("PORF_SEEDS=FROM-TO");
    Some(from.parse().expect("a number")..to.parse().expect("a number"))
}
