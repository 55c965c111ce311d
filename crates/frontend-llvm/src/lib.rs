//! C, C++ and Rust programs (and anything else that LLVM knows) as [`porf_ir::Program`].
//!
//! Source files go through the clang or rustc that is there to bitcode, bitcode through the LLVM-C API of a
//! libLLVM loaded at run time into our IR. Of LLVM's passes only `sroa` runs (local variables become
//! registers) and the removal of what is not used: every other pass would lose races, dependencies or
//! accesses that the engines check.
//!
//! What cannot be translated does not refuse the program: an instruction that fails with a message
//! and a source line takes its place, and an execution that comes there says so.
//!
//! Limits: docs/limits.md. Cost: loading libLLVM some 20 ms, translation a few microseconds per
//! instruction.

#![warn(missing_docs)]

pub mod cache;
mod code;
mod compile;
mod database;
mod instrument;
mod library;
mod llvm;
mod promote;

mod runtime;
mod rust;
mod tests;
mod translate;

pub use code::Code;
pub use compile::{compile, find_clang, include_directory};
pub use instrument::instrument;
pub use library::verifier::SECTION as ATOMIC_SECTION;
pub use llvm::version;
pub use rust::is_source as is_rust;
pub use tests::{ShouldPanic, Test};

use porf_ir::Program;
use porf_verdict::Diagnostic;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How source files are compiled and where the program begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// For clang: include paths, definitions, `-std=…`. For rustc where the program is Rust.
    pub flags: Vec<String>,
    /// The compiler to use instead of the one that is found.
    pub clang: Option<String>,
    /// The function that thread 0 runs.
    pub entry: String,
    /// The arguments of `main` behind the name of the program.
    pub arguments: Vec<String>,
    /// How many arguments of any text `main` may have behind those.
    pub any_arguments: u32,
    /// The texts that are tried as input; those that the program tells apart if there are none.
    pub texts: Vec<String>,
    /// The functions, if nobody defines them, that return any value and do nothing else; `*` stands for any text.
    pub stubs: Vec<String>,
    /// Weak compare-and-swaps may fail for no reason.
    pub spurious: bool,
    /// An overflow of a signed number is a trap.
    pub overflow: bool,
    /// Bitcode that is given was written by rustc.
    pub is_rust: bool,
    /// What volatile accesses are.
    pub volatile: Volatile,
    /// The values of input that are tried; those that the program tells apart if not given.
    pub inputs: Option<porf_ir::Domain>,
    /// Rust's std as it is compiled, with none of its parts replaced by ones with fewer events.
    pub real_std: bool,
    /// Leaks are looked for: std frees what it has allocated.
    pub leaks: bool,
}

/// What volatile accesses are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Volatile {
    /// Ordinary accesses, as in the standards: two of them can race.
    #[default]
    Plain,
    /// Relaxed atomics.
    Relaxed,
    /// Acquire loads and release stores.
    AcqRel,
}

/// Why a program could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no libLLVM, or none that can be used.
    #[error("{0}")]
    Library(String),
    /// There is no compiler.
    #[error("no clang found: install clang (14 or newer)")]
    NoClang,
    /// There is no Rust compiler.
    #[error("no rustc found: install Rust, or set RUSTC to the compiler")]
    NoRustc,
    /// The compiler's own words.
    #[error("{file} does not compile\n{message}")]
    Compile {
        /// What it compiled.
        file: String,
        /// What it said.
        message: String,
    },
    /// LLVM cannot take a file.
    #[error("{file}: {reason}")]
    Bitcode {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Several files of a build define the same.
    #[error("{what} is defined by several files of the build: {files}\nname the one that is meant")]
    Several {
        /// The symbol.
        what: String,
        /// The files.
        files: String,
    },
    /// The function that the first thread runs is not there.
    #[error("the program has no function {0}")]
    NoEntry(String),
    /// Something in the program that we cannot translate.
    #[error("{0}")]
    Unsupported(Diagnostic),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            flags: Vec::new(),
            clang: None,
            entry: "main".to_string(),
            arguments: Vec::new(),
            any_arguments: 0,
            texts: Vec::new(),
            stubs: Vec::new(),
            spurious: false,
            overflow: false,
            is_rust: false,
            volatile: Volatile::default(),
            inputs: None,
            real_std: false,
            leaks: false,
        }
    }
}

/// Whether a file is one that [`load`] takes, by its name.
pub fn is_supported(path: &Path) -> bool {
    let known = [compile::is_source, compile::is_bitcode, rust::is_source, database::is_database];
    known.iter().any(|is_known| is_known(path))
}

/// Whether a file is C++, or lists files that are.
pub fn is_cpp(path: &Path) -> bool {
    compile::is_cpp(path) || database::is_database(path) && database::has_cpp(path)
}

/// The program made of all the files: C and C++ (also preprocessed), bitcode, or one `.rs` and what it names. A
/// `compile_commands.json` says how its sources are compiled: see [`database`].
pub fn load(files: &[PathBuf], options: &Options) -> Result<Program, Error> {
    let mut code = Code::read(files, options)?;
    let entry = code.main(&options.entry)?;
    code.prepare(std::slice::from_ref(&entry))?;
    code.program(&entry)
}
