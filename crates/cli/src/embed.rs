//! The runtime library inside this binary, and where it is put for linkers.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

static RUNTIME: &[u8] = include_bytes!(env!("PORF_RUNTIME_LIBRARY"));

/// The path of the runtime library, written out on first use: once per version, in the user's cache.
pub fn runtime_library() -> io::Result<PathBuf> {
    if RUNTIME.is_empty() {
        return Err(io::Error::other("programs can be sampled on x86-64 Linux with glibc only"));
    }
    let mut hasher = DefaultHasher::new();
    RUNTIME.hash(&mut hasher);
    let name = format!("porf/{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
    // Never among the temporary files, where anybody may have put a library of this name before us.
    let user_cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .into_iter()
        .chain(env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .filter(|place| place.is_absolute());
    let mut last = io::Error::other("no directory for the runtime library: set HOME or XDG_CACHE_HOME");
    for place in user_cache {
        match write_once(&place.join(&name)) {
            Ok(path) => return Ok(path),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn write_once(directory: &Path) -> io::Result<PathBuf> {
    let path = directory.join("libporf_runtime.a");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let owner = fs::metadata(directory)?;
    // SAFETY: geteuid cannot fail.
    if owner.uid() != unsafe { libc::geteuid() } || owner.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("{} can be written by others", directory.display())));
    }
    if fs::metadata(&path).is_ok_and(|found| found.len() == RUNTIME.len() as u64) {
        return Ok(path);
    }
    // Builds run in parallel: whoever renames last wins, with the same bytes.
    let temporary = directory.join(format!("write-{}", std::process::id()));
    fs::write(&temporary, RUNTIME)?;
    fs::rename(&temporary, &path)?;
    Ok(path)
}
