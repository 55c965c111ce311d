//! Hints.

pub use std::hint::spin_loop;

/// A panic where it is reached.
///
/// # Safety
/// As of `std::hint::unreachable_unchecked`.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked is reached")
}
