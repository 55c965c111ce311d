//! Expectations and the inputs they speak of (development only).

#![forbid(unsafe_code)]

pub mod check;
pub mod disagreements;
pub mod expected;
pub mod family;
pub mod generate;
pub mod herd;
pub mod intree;
pub mod words;

use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("crates/corpus lies two levels down").to_path_buf()
}

/// Whether the long suites shall run.
pub fn full() -> bool {
    std::env::var_os("PORF_FULL").is_some_and(|value| value != "0")
}
