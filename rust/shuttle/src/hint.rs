//! Hints.

pub use std::hint::*;
