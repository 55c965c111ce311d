//! Crates of ours in the place of others: models of loom and Shuttle run as they are, over std.
//!
//! Their sources are in this binary and are written to the user's cache with the version that the crate asks
//! for. cargo is told by `--config patch.crates-io…`, so that no file of the user's changes: cargo writes the
//! patch into `Cargo.lock`, which is put back afterwards.

use porf::Error;
use porf_frontend_llvm::cache::{self, Place};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate that takes the place of another.
struct DropIn {
    name: &'static str,
    features: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
}

macro_rules! sources {
    ($folder:literal: $($file:literal)*) => {
        &[$(($file, include_str!(concat!("../../native/", $folder, "/", $file)))),*]
    };
}

const CRATES: &[DropIn] = &[
    DropIn {
        name: "loom",
        features: &["checkpoint", "futures"],
        files: sources!("loom":
        "lib.rs" "alloc.rs" "cell.rs" "future.rs" "hint.rs" "lazy_static.rs" "macros.rs" "model.rs"
        "porf_intrinsics.rs" "thread.rs"
        "sync/mod.rs" "sync/arc.rs" "sync/atomic.rs" "sync/mpsc.rs" "sync/notify.rs"),
    },
    DropIn {
        name: "shuttle",
        features: &["annotation", "vector-clocks"],
        files: sources!("shuttle":
            "lib.rs" "annotations.rs" "current.rs" "future.rs" "hint.rs" "lazy_static.rs" "macros.rs"
            "porf_intrinsics.rs" "rand.rs" "scheduler.rs" "sync.rs" "thread.rs"),
    },
];

/// The crates that are put in place, for as long as cargo runs.
pub struct Patches {
    folders: Vec<(&'static str, PathBuf)>,
    lock: Lock,
}

/// `Cargo.lock` as it was.
struct Lock {
    path: PathBuf,
    before: Option<Vec<u8>>,
}

impl Patches {
    /// What a workspace needs, by cargo's metadata and by its lock file.
    pub fn of(metadata: &Value) -> Result<Patches, Error> {
        let root = metadata["workspace_root"].as_str().unwrap_or(".");
        let path = Path::new(root).join("Cargo.lock");
        let before = std::fs::read(&path).ok();
        let locked = before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let mut folders = Vec::new();
        for one in CRATES {
            let mut versions = in_lock(&locked, one.name);
            if versions.is_empty() {
                versions = required(metadata, one.name);
            }
            for version in versions {
                folders.push((one.name, one.unpack(&version)?));
            }
        }
        Ok(Patches { folders, lock: Lock { path, before } })
    }

    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Tells cargo.
    pub fn add(&self, command: &mut Command) {
        for (at, (name, folder)) in self.folders.iter().enumerate() {
            // Several versions of a crate need different names here.
            let key = format!("patch.crates-io.porf-{name}-{at}");
            command.args(["--config", &format!("{key}.package=\"{name}\"")]);
            command.args(["--config", &format!("{key}.path={:?}", folder.display().to_string())]);
        }
    }
}

impl Drop for Patches {
    fn drop(&mut self) {
        let Lock { path, before } = &self.lock;
        if self.folders.is_empty() || std::fs::read(path).ok() == *before {
            return;
        }
        // Best effort: a lock file that names a path of ours still works.
        let _ = match before {
            Some(before) => std::fs::write(path, before),
            None => std::fs::remove_file(path),
        };
    }
}

impl DropIn {
    /// Where it is, as this version.
    fn unpack(&self, version: &str) -> Result<PathBuf, Error> {
        let features: String = self.features.iter().map(|feature| format!("{feature} = []\n")).collect();
        let manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"{version}\"\nedition = \"2021\"\n\
             [lib]\npath = \"lib.rs\"\n[features]\ndefault = []\n{features}[workspace]\n",
            self.name
        );
        let mut files = vec![("Cargo.toml", manifest.as_bytes())];
        files.extend(self.files.iter().map(|(name, text)| (*name, text.as_bytes())));
        cache::directory(self.name, &files, Place::Cache)
            .map_err(|error| Error::Input(format!("the sources of our {}: {error}", self.name)))
    }
}

/// The versions of a crate in a lock file.
fn in_lock(lock: &str, name: &str) -> Vec<String> {
    let header = format!("name = \"{name}\"");
    let lines: Vec<&str> = lock.lines().collect();
    let version = |at: usize| lines.get(at + 1)?.strip_prefix("version = \"")?.strip_suffix('"');
    let found = lines.iter().enumerate().filter(|(_, line)| **line == header);
    found.filter_map(|(at, _)| version(at)).map(str::to_string).collect()
}

/// Versions of a crate that satisfy what the packages of a workspace require.
fn required(metadata: &Value, name: &str) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let dependencies = packages.flat_map(|package| package["dependencies"].as_array().into_iter().flatten());
    let wanted = dependencies.filter(|dependency| dependency["name"] == name);
    let mut versions: Vec<String> =
        wanted.filter_map(|one| one["req"].as_str()).filter_map(satisfying).collect();
    versions.sort();
    versions.dedup();
    versions
}

/// A version that satisfies a requirement such as `^0.7.1`: the newest that its first two numbers allow.
fn satisfying(requirement: &str) -> Option<String> {
    let first = requirement.split(',').next()?.trim();
    if let Some(exact) = first.strip_prefix('=') {
        return Some(exact.trim().to_string());
    }
    let mut numbers = first.trim_start_matches(['^', '~', '>', '=', ' ']).split('.');
    let major: u32 = numbers.next()?.parse().ok()?;
    let minor: u32 = numbers.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Some(format!("{major}.{minor}.99"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let lock = "[[package]]\nname = \"loom\"\nversion = \"0.5.6\"\n\n[[package]]\nname = \"loom\"\nversion = \"0.7.2\"\n";
        assert_eq!(in_lock(lock, "loom"), ["0.5.6", "0.7.2"]);
        assert!(in_lock(lock, "shuttle").is_empty());
        assert_eq!(satisfying("^0.7.1").as_deref(), Some("0.7.99"));
        assert_eq!(satisfying("^0.5").as_deref(), Some("0.5.99"));
        assert_eq!(satisfying("=0.7.2").as_deref(), Some("0.7.2"));
        assert_eq!(satisfying(">=0.5, <0.8").as_deref(), Some("0.5.99"));
        assert_eq!(satisfying("*"), None);
    }
}
