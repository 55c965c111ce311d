//! From source files to bitcode, with the clang that is there.

use crate::cache::{self, Place};
use crate::{Error, Options};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What keeps the program as it is written: see the crate's documentation.
const NO_PASSES: &[&str] = &["-O1", "-Xclang", "-disable-llvm-passes"];
/// The passes that a program needs to be whole, and no others.
const LEAST_PASSES: &[&str] = &["-O0", "-Xclang", "-disable-O0-optnone"];
/// Line numbers, names, and bitcode.
const FLAGS: &[&str] = &[
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

/// What old C does, and newer compilers take for an error unless they are told otherwise.
const OLD_C: &[&str] = &[
    "-Wno-error=return-type",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
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
        ("barrier", include_str!("../include/barrier")),
        ("latch", include_str!("../include/latch")),
        ("mutex", include_str!("../include/mutex")),
        ("pthread.h", include_str!("../include/pthread.h")),
        ("semaphore", include_str!("../include/semaphore")),
    ];
    let parts = crate::runtime::PARTS.iter().map(|part| (part.name, part.text));
    let files: Vec<(&str, &[u8])> =
        headers.into_iter().chain(parts).map(|(name, text)| (name, text.as_bytes())).collect();
    cache::directory("include", &files, Place::Anywhere)
        .map_err(|source| Error::Io { file: "the headers of porf".to_string(), source })
}

pub(crate) fn is_source(path: &Path) -> bool {
    is_cpp(path) || matches!(extension(path).as_str(), "c" | "i")
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
    run(options, language(path), &file, |command| {
        command.args(NO_PASSES).args(preprocessed(path)).args(flags).arg(path)
    })
}

/// The bitcode of a source file after the passes that every program goes through: those for coroutines.
pub(crate) fn with_passes(path: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    let (file, flags) = (path.display().to_string(), &options.flags);
    run(options, language(path), &file, |command| {
        command.args(LEAST_PASSES).args(preprocessed(path)).args(flags).arg(path)
    })
}

/// The bitcode of a file of our own, with these flags; it has no line numbers.
pub(crate) fn part(name: &str, path: &Path, flags: &[&str], options: &Options) -> Result<Vec<u8>, Error> {
    run(options, language(path), name, |command| {
        command.args(NO_PASSES).args(["-g0", "-w"]).args(flags).arg(path)
    })
}

/// A language as clang calls it.
fn language(path: &Path) -> &'static str {
    if is_cpp(path) { "c++" } else { "c" }
}

/// Flags for what was preprocessed, perhaps with gcc and its headers, of which clang does not know all attributes. It
/// goes through the preprocessor once more, which has no macros but these.
fn preprocessed(path: &Path) -> &'static [&'static str] {
    match extension(path).as_str() {
        "i" | "ii" => &["-undef", "-D__malloc__(...)=__malloc__"],
        _ => &[],
    }
}

/// Runs the compiler on what `add` names.
fn run(
    options: &Options,
    language: &str,
    file: &str,
    add: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<Vec<u8>, Error> {
    let clang = match &options.clang {
        Some(clang) => clang.clone(),
        None => find_clang().ok_or(Error::NoClang)?,
    };
    let mut command = Command::new(&clang);
    command.arg("-x").arg(language);
    if language.starts_with("c++") {
        // libstdc++ then keeps from reading two counters of a shared_ptr as one word.
        command.args(["-D_GLIBCXX_TSAN=1", CPP_STANDARD]);
    } else {
        command.args(OLD_C);
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
pub(crate) fn is_cpp(path: &Path) -> bool {
    // `.C` is C++, and `.c` is not.
    path.extension().is_some_and(|extension| extension == "C")
        || matches!(extension(path).as_str(), "cc" | "cpp" | "cxx" | "c++" | "cp" | "ii")
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn runs(name: &str) -> bool {
    on_path(name).is_some()
}

/// The file that a command is.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).map(|directory| directory.join(name)).find(|file| file.is_file())
}
