//! C and C++ programs (and anything else that LLVM knows) as [`porf_ir::Program`].
//!
//! Source files go through the clang that is there to bitcode, bitcode through the LLVM-C API of a
//! libLLVM loaded at run time into our IR. Of LLVM's passes only `sroa` runs (local variables become
//! registers) and the removal of what is not used: every other pass would lose races, dependencies or
//! accesses that the engines check.
//!
//! What cannot be translated does not refuse the program: an instruction that fails with a message
//! and a source line takes its place, and an execution that comes there says so.
//!
//! Limits: docs/limits.md. Cost: loading libLLVM some 20 ms, translation a few microseconds per
//! instruction.

mod api;
mod compile;
mod library;
mod module;
mod runtime;
mod translate;

pub use api::version;
pub use compile::{compile, find_clang, include_directory, is_cpp};

use module::Module;
use porf_ir::Program;
use std::path::{Path, PathBuf};

/// How source files are compiled and where the program begins.
#[derive(Clone, Debug)]
pub struct Options {
    /// For clang: include paths, definitions, `-std=…`.
    pub flags: Vec<String>,
    /// The compiler to use instead of the one that is found.
    pub clang: Option<String>,
    /// The function that thread 0 runs.
    pub entry: String,
    /// Weak compare-and-swaps may fail for no reason.
    pub spurious: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Library(String),
    #[error("no clang found: install clang (14 or newer)")]
    NoClang,
    /// The compiler's own words.
    #[error("{file} does not compile\n{message}")]
    Compile { file: String, message: String },
    #[error("{file}: {reason}")]
    Bitcode { file: String, reason: String },
    #[error("{file}: {source}")]
    Io { file: String, source: std::io::Error },
    #[error("the program has no function {0}")]
    NoEntry(String),
    #[error("{0}")]
    Unsupported(String),
}

impl Default for Options {
    fn default() -> Options {
        Options { flags: Vec::new(), clang: None, entry: "main".to_string(), spurious: false }
    }
}

/// Whether a file is one that [`load`] takes, by its name.
pub fn is_supported(path: &Path) -> bool {
    compile::is_source(path) || compile::is_bitcode(path)
}

/// The program made of all the files: `.c .cc .cpp .cxx .bc .ll`.
pub fn load(files: &[PathBuf], options: &Options) -> Result<Program, Error> {
    let mut inputs = files.iter();
    let first = inputs.next().ok_or_else(|| Error::NoEntry(options.entry.clone()))?;
    let name = first.display().to_string();
    let mut module = Module::parse(&name, &compile(first, options)?)?;
    for file in inputs {
        module.link(&file.display().to_string(), &compile(file, options)?)?;
    }
    for part in runtime::needed(&module) {
        module.link(part.name, &part.compile(options)?)?;
    }
    module.verify(&name)?;
    if module.function(&options.entry).is_none_or(|entry| entry.is_declaration()) {
        return Err(Error::NoEntry(options.entry.clone()));
    }
    module.run_passes(&format!("internalize<preserve-gv={}>,globaldce,function(sroa)", options.entry))?;
    let program = translate::program(&module, &name, &options.entry, options.spurious)?;
    porf_ir::validate(&program).map_err(|malformed| Error::Unsupported(malformed.0))?;
    Ok(program)
}
