//! Choices, assumptions and settings for tests that Porf explores. Under `cargo test` they do nothing.

mod porf_intrinsics;

pub use porf_test_macros::test;

/// One of `0..n`: each of them in some execution. Natively 0.
///
/// # Panics
/// If there is nothing to choose.
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "a choice among nothing");
    let mut chosen = 0;
    while chosen + 1 < n && porf_intrinsics::flip() {
        chosen += 1;
    }
    chosen
}

/// Executions in which this does not hold are of no interest. Natively they go on.
pub fn assume(holds: bool) {
    porf_intrinsics::assume(holds);
}

/// Whether Porf explores the program.
pub fn is_explored() -> bool {
    porf_intrinsics::is_explored()
}

#[doc(hidden)]
pub fn settings(json: &'static str) {
    porf_intrinsics::settings(json);
}
