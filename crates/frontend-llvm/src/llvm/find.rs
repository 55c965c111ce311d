//! Which libLLVM is used: the one that the Rust toolchain or the distribution ships.
//!
//! It is loaded once and stays for the life of the process.

use super::api::Api;
use crate::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library, loaded on first use.
pub(super) fn api() -> Result<&'static Api, Error> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(load).as_ref().map_err(|message| Error::Library(message.clone()))
}

/// The version of the libLLVM in use and where it lies.
pub fn version() -> Result<(String, PathBuf), Error> {
    let api = api()?;
    let (major, minor, patch) = api.version();
    Ok((format!("{major}.{minor}.{patch}"), api.path().to_path_buf()))
}

/// A directory whose library is taken before others: that of the compiler whose bitcode is read. Says
/// nothing where a library is loaded already.
pub fn prefer(directory: &Path) {
    let _ = PREFERRED.set(directory.to_path_buf());
}

static PREFERRED: OnceLock<PathBuf> = OnceLock::new();

/// The library; a handle exists only if it was loaded.
pub(super) fn llvm() -> &'static Api {
    api().unwrap_or_else(|error| unreachable!("a module was read without a library: {error}"))
}

fn load() -> Result<Api, String> {
    let mut tried = Vec::new();
    for path in candidates() {
        match Api::load(path.clone()) {
            Ok(api) => return Ok(api),
            Err(error) => tried.push(format!("{}: {error}", path.display())),
        }
    }
    Err(match tried.is_empty() {
        true => "no libLLVM found: install the Rust toolchain or set PORF_LIBLLVM to one".to_string(),
        false => format!("no usable libLLVM: {}", tried.join("; ")),
    })
}

/// `PORF_LIBLLVM`, or what the Rust toolchains and the distribution have, newest first.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("PORF_LIBLLVM") {
        return vec![path.into()];
    }
    let rustup = std::env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".rustup")));
    let mut directories: Vec<PathBuf> = rustup
        .iter()
        .flat_map(|home| entries(&home.join("toolchains")))
        .map(|path| path.join("lib"))
        .collect();
    directories.extend((15..=30).map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/lib"))));
    let mut found: Vec<PathBuf> = directories.iter().flat_map(|directory| libraries(directory)).collect();
    if found.is_empty()
        && let Ok(output) = Command::new("rustc").args(["--print", "sysroot"]).output()
    {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        found = libraries(&sysroot.join("lib"));
    }
    found.sort_by_key(|path| std::cmp::Reverse(major(path)));
    let preferred = PREFERRED.get().map_or(Vec::new(), |directory| libraries(directory));
    preferred.into_iter().chain(found).collect()
}

/// The shared libraries of LLVM in a directory; links and linker scripts are not among them.
fn libraries(directory: &Path) -> Vec<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libLLVM") && name.contains(".so") && major(path) > 0
    };
    let is_large = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|data| data.len() > 1 << 20);
    entries(directory).into_iter().filter(is_library).filter(is_large).collect()
}

/// The first number in the file's name.
fn major(path: &Path) -> u32 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digits: String =
        name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).map_or(Vec::new(), |all| all.flatten().map(|entry| entry.path()).collect())
}
