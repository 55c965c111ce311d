//! Directories of the user's own, for what is written out once: headers for compilers, libraries for linkers.
//!
//! Whoever can write there decides what is compiled or linked. So a directory is made for its owner alone, and
//! one that is there already is taken only if it belongs to the user and nobody else may write to it. That
//! holds among the temporary files too, which are the last resort: whoever comes first there makes us fail,
//! and no more.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where files may be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The user's cache (`XDG_CACHE_HOME`, or `.cache` in `HOME`).
    Cache,
    /// The same, or among the temporary files if there is no home to write to.
    Anywhere,
}

/// A directory that holds these files, by name and contents, for as long as they do not change.
pub fn directory(kind: &str, files: &[(&str, &[u8])], place: Place) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let name = format!("{kind}-{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
    let mut last = io::Error::other("no directory for files of our own: set HOME or XDG_CACHE_HOME");
    for base in bases(place) {
        match fill(&base, &name, files) {
            Ok(directory) => return Ok(directory),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A directory for what is made from something with this key, empty at first.
pub fn keyed(kind: &str, key: &impl Hash) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let name = format!("{kind}-{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
    let mut last = io::Error::other("no directory for files of our own: set HOME or XDG_CACHE_HOME");
    for base in bases(Place::Cache) {
        match own(&base).and_then(|()| own(&base.join(&name))) {
            Ok(()) => return Ok(base.join(&name)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bases(place: Place) -> impl Iterator<Item = PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let user = cache.into_iter().chain(home).filter(|base| base.is_absolute()).map(|base| base.join("porf"));
    let temporary = (place == Place::Anywhere).then(|| env::temp_dir().join(format!("porf-{}", uid())));
    user.chain(temporary)
}

fn fill(base: &Path, name: &str, files: &[(&str, &[u8])]) -> io::Result<PathBuf> {
    own(base)?;
    let directory = base.join(name);
    own(&directory)?;
    for (name, contents) in files {
        let path = directory.join(name);
        if fs::metadata(&path).is_ok_and(|found| found.len() == contents.len() as u64) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // Several processes may do this: whoever renames last wins, with the same bytes.
        let aside = directory.join(format!("{name}.{}", std::process::id()));
        fs::write(&aside, contents)?;
        fs::rename(&aside, &path)?;
    }
    Ok(directory)
}

/// Makes a directory for the user alone, or finds that it is one.
fn own(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Not where a link leads: the link may be somebody else's.
    let found = fs::symlink_metadata(directory)?;
    if !found.is_dir() || found.uid() != uid() || found.mode() & 0o022 != 0 {
        let message =
            format!("{} is not a directory that only its owner, this user, writes to", directory.display());
        return Err(io::Error::other(message));
    }
    Ok(())
}

fn uid() -> u32 {
    // SAFETY: geteuid cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn only_a_directory_of_our_own_will_do() {
        let base = env::temp_dir().join(format!("porf-cache-test-{}", std::process::id()));
        let files: &[(&str, &[u8])] = &[("a.h", b"int a;\n")];
        let found = fill(&base, "kind", files).unwrap();
        assert_eq!(fs::read(found.join("a.h")).unwrap(), b"int a;\n");
        assert_eq!(fs::metadata(&base).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fill(&base, "kind", files).unwrap(), found, "the second time as the first");

        // A link, as somebody else could have put it among the temporary files.
        symlink(&found, base.join("link")).unwrap();
        assert!(fill(&base.join("link"), "kind", files).is_err());
        // A directory that everybody writes to.
        let open = base.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(fill(&open, "kind", files).is_err());
        fs::remove_dir_all(&base).unwrap();
    }
}
