//! Expectation files, read in one place: TOML under `corpus`, into whatever the test wants.

use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A folder of the corpus.
pub fn folder(name: &str) -> PathBuf {
    crate::root().join("corpus").join(name)
}

/// The `expected.toml` of a folder of the corpus.
pub fn expected<T: DeserializeOwned>(name: &str) -> T {
    read(&folder(name).join("expected.toml"))
}

/// A file of expectations. One that is missing or malformed ends the test: no check may pass for want of it.
pub fn read<T: DeserializeOwned>(path: &Path) -> T {
    let wrong = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", path.display()) };
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| wrong(&error));
    toml::from_str(&text).unwrap_or_else(|error| wrong(&error))
}
