//! The public corpora, where they are there.

#![allow(dead_code)] // each test uses a part

use flate2::read::GzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The names of the corpora, and where they lie.
pub fn corpora() -> Option<(PathBuf, Vec<String>)> {
    let root = oracle()?;
    let mut names: Vec<String> = std::fs::read_dir(root.join("corpus"))
        .expect("a readable folder")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".tar.gz").map(str::to_string))
        .collect();
    names.sort();
    Some((root, names))
}

/// All tests of a corpus: path and text.
pub fn files(root: &Path, corpus: &str) -> Vec<(String, String)> {
    let archive = File::open(root.join("corpus").join(format!("{corpus}.tar.gz"))).expect("an archive");
    let mut archive = tar::Archive::new(GzDecoder::new(archive));
    let mut files = Vec::new();
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").to_string_lossy().into_owned();
        let Some(path) = path.strip_prefix(&format!("{corpus}/")).filter(|path| path.ends_with(".litmus"))
        else {
            continue;
        };
        let path = path.to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("contents");
        files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
    }
    files
}

fn oracle() -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A worktree may lie one level deeper than the repository itself.
    ["../shared/oracle", "../../shared/oracle"]
        .iter()
        .map(|path| repository.join(path))
        .find(|path| path.is_dir())
}
