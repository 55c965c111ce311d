//! The runtime library inside this binary, and where it is put for linkers.

use porf_frontend_llvm::cache::{self, Place};
use std::io;
use std::path::PathBuf;

static RUNTIME: &[u8] = include_bytes!(env!("PORF_RUNTIME_LIBRARY"));
const NAME: &str = "libporf_runtime.a";

/// The path of the runtime library, written out on first use: once per version, in the user's cache. Never
/// among the temporary files: programs go on being linked with it.
pub fn runtime_library() -> io::Result<PathBuf> {
    if RUNTIME.is_empty() {
        return Err(io::Error::other("programs can be sampled on x86-64 Linux with glibc only"));
    }
    Ok(cache::directory("runtime", &[(NAME, RUNTIME)], Place::Cache)?.join(NAME))
}
