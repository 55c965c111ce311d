//! From source files to bitcode, with the clang that is there.

use crate::cache::{self, Place};
use crate::{Error, Options};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What keeps the program as it is written, with line numbers: see the crate's documentation.
const FLAGS: &[&str] = &[
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-g",
    "-gcolumn-info",
    "-fno-discard-value-names",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
];

/// The standard of C++ programs that name none: the one that current compilers take.
const CPP_STANDARD: &str = "-std=gnu++17";

/// The first compiler of this list that runs: `clang`, then the newest `clang-N`.
pub fn find_clang() -> Option<String> {
    let versions = (14..=30).rev().map(|version| format!("clang-{version}"));
    std::iter::once("clang".to_string()).chain(versions).find(|name| runs(name))
}

/// A directory with our headers and the parts of the library, for the compiler to find.
pub fn include_directory() -> Result<PathBuf, Error> {
    let headers = [
        ("porf.h", include_str!("../include/porf.h")),
        ("genmc.h", include_str!("../include/genmc.h")),
        ("lkmm.h", include_str!("../include/lkmm.h")),
        ("latch", include_str!("../include/latch")),
        ("mutex", include_str!("../include/mutex")),
        ("semaphore", include_str!("../include/semaphore")),
    ];
    let parts = crate::runtime::PARTS.iter().map(|part| (part.name, part.text));
    let files: Vec<(&str, &[u8])> =
        headers.into_iter().chain(parts).map(|(name, text)| (name, text.as_bytes())).collect();
    cache::directory("include", &files, Place::Anywhere)
        .map_err(|source| Error::Io { file: "the headers of porf".to_string(), source })
}

pub(crate) fn is_source(path: &Path) -> bool {
    is_cpp(path) || extension(path) == "c"
}

pub(crate) fn is_bitcode(path: &Path) -> bool {
    matches!(extension(path).as_str(), "bc" | "ll")
}

/// The bitcode (or textual IR) of one file.
pub fn compile(path: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| Error::Io { file: file.clone(), source })?;
    if !is_source(path) {
        return Ok(bytes);
    }
    let flags = &options.flags;
    run(options, is_cpp(path), &file, |command| command.args(flags).arg(path))
}

/// Runs the compiler on what `add` names.
pub(crate) fn run(
    options: &Options,
    cpp: bool,
    file: &str,
    add: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<Vec<u8>, Error> {
    let clang = match &options.clang {
        Some(clang) => clang.clone(),
        None => find_clang().ok_or(Error::NoClang)?,
    };
    let mut command = Command::new(&clang);
    command.arg("-x").arg(if cpp { "c++" } else { "c" });
    if cpp {
        // libstdc++ then keeps from reading two counters of a shared_ptr as one word.
        command.args(["-D_GLIBCXX_TSAN=1", CPP_STANDARD]);
    }
    if options.overflow {
        command.args(["-fsanitize=signed-integer-overflow", "-fsanitize-trap=signed-integer-overflow"]);
    }
    command.args(FLAGS).arg("-isystem").arg(include_directory()?);
    add(&mut command).stdin(Stdio::null());
    let output = command.output().map_err(|source| Error::Io { file: clang, source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim_end().to_string();
        return Err(Error::Compile { file: file.to_string(), message });
    }
    Ok(output.stdout)
}

/// Whether a file is C++, by its name.
pub fn is_cpp(path: &Path) -> bool {
    matches!(extension(path).as_str(), "cc" | "cpp" | "cxx" | "c++")
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn runs(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|directory| directory.join(name).is_file())
}
