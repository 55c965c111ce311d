//! The runtime library inside this binary, and where it is put for linkers.

use porf_frontend_llvm::cache::{self, Place};
use std::io;
use std::path::PathBuf;

static RUNTIME: &[u8] = include_bytes!(env!("PORF_RUNTIME_LIBRARY"));
const NAME: &str = "porf_runtime.o";
/// What instrumented libraries that are loaded later need to find in the program, and nothing else of it: its own
/// names must not come before theirs. (What libc has too, the linker exports by itself.)
const EXPORTED: &str = "{ __tsan_*; __porf_*; __interceptor_*; __sanitizer_*; __atomic_*; __cxa_*; Annotate*; WTFAnnotate*; };\n";
const EXPORTED_NAME: &str = "exported";

/// The paths of the runtime and of the list of names that it exports, written out on first use: once per version, in
/// the user's cache. Never among the temporary files: programs go on being linked with it.
pub fn runtime() -> io::Result<[PathBuf; 2]> {
    if RUNTIME.is_empty() {
        return Err(io::Error::other("programs can be sampled on x86-64 Linux with glibc only"));
    }
    let files = [(NAME, RUNTIME), (EXPORTED_NAME, EXPORTED.as_bytes())];
    let directory = cache::directory("runtime", &files, Place::Cache)?;
    Ok([directory.join(NAME), directory.join(EXPORTED_NAME)])
}
