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
mod compile;
mod library;
mod llvm;
mod promote;

mod runtime;
mod rust;
mod translate;

pub use compile::{compile, find_clang, include_directory, is_cpp};
pub use library::verifier::SECTION as ATOMIC_SECTION;
pub use llvm::version;
pub use rust::is_source as is_rust;

use llvm::Module;
use porf_ir::Program;
use porf_verdict::Diagnostic;
use std::path::{Path, PathBuf};

/// How source files are compiled and where the program begins.
#[derive(Clone, Debug)]
pub struct Options {
    /// For clang: include paths, definitions, `-std=…`. For rustc where the program is Rust.
    pub flags: Vec<String>,
    /// The compiler to use instead of the one that is found.
    pub clang: Option<String>,
    /// The function that thread 0 runs.
    pub entry: String,
    /// Weak compare-and-swaps may fail for no reason.
    pub spurious: bool,
    /// An overflow of a signed number is a trap.
    pub overflow: bool,
    /// What volatile accesses are.
    pub volatile: Volatile,
    /// Rust's std as it is compiled, with none of its parts replaced by ones with fewer events.
    pub real_std: bool,
}

/// What volatile accesses are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Volatile {
    /// Ordinary accesses, as in the standards: two of them can race.
    #[default]
    Plain,
    /// Relaxed atomics.
    Relaxed,
    /// Acquire loads and release stores.
    AcqRel,
}

impl Volatile {
    /// Every way to take them.
    pub const ALL: [Volatile; 3] = [Volatile::Plain, Volatile::Relaxed, Volatile::AcqRel];

    /// The word for it in options and files.
    pub fn word(self) -> &'static str {
        match self {
            Volatile::Plain => "plain",
            Volatile::Relaxed => "relaxed",
            Volatile::AcqRel => "acqrel",
        }
    }

    /// What a word stands for.
    pub fn from_word(word: &str) -> Option<Volatile> {
        Volatile::ALL.into_iter().find(|one| one.word() == word)
    }
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
            spurious: false,
            overflow: false,
            volatile: Volatile::default(),
            real_std: false,
        }
    }
}

/// Whether a file is one that [`load`] takes, by its name.
pub fn is_supported(path: &Path) -> bool {
    compile::is_source(path) || compile::is_bitcode(path) || rust::is_source(path)
}

/// The program made of all the files: `.c .cc .cpp .cxx .bc .ll`, or of one `.rs` and what it names.
pub fn load(files: &[PathBuf], options: &Options) -> Result<Program, Error> {
    let mut inputs = files.iter();
    let first = inputs.next().ok_or_else(|| Error::NoEntry(options.entry.clone()))?;
    let name = first.display().to_string();
    if files.iter().any(|file| rust::is_source(file)) {
        rust::use_its_llvm()?;
    }
    let mut module = Module::parse(&name, &compiled(first, options)?)?;
    for file in inputs {
        module.link(&file.display().to_string(), &compiled(file, options)?)?;
    }
    for part in runtime::needed(&module) {
        module.link(part.name, &part.compile(options)?)?;
    }
    module.verify(&name)?;
    let layout = module.data_layout();
    let (big, narrow) = (layout.starts_with('E'), layout.contains("-p:32:") || layout.contains("-p:16:"));
    if big || narrow {
        let what = if big { "that is big-endian" } else { "with addresses of less than 64 bits" };
        let target = module.target();
        let refusal = Diagnostic::about(&name, format!("a target {what} ({target}) is not supported"));
        return Err(Error::Unsupported(refusal.help("compile for a little-endian one with 64 bits")));
    }
    if module.function(&options.entry).is_none_or(|entry| entry.is_declaration()) {
        return Err(Error::NoEntry(options.entry.clone()));
    }
    let entry = rust::entry(&module, &options.entry);
    module.export(&entry);
    // Rust's own rules see to it that variables are used in their scope, and after they are set.
    if !module.is_rust() {
        let kept = promote::kept(&module);
        module.keep_in_memory(library::KEEPER, &kept);
    }
    module.run_passes(&format!("internalize<preserve-gv={entry}>,globaldce,function(sroa)"))?;
    let program = translate::program(&module, &name, &entry, options)?;
    porf_ir::validate(&program)
        .map_err(|malformed| Error::Unsupported(Diagnostic::about(&name, malformed.0)))?;
    Ok(program)
}

/// The bitcode of a file. LLVM may end the process where it reads coroutines that another version wrote, and
/// they are whole only after passes that we do not run: they are refused before.
fn compiled(file: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    const COROUTINE: &[u8] = b"llvm.coro.begin";
    let bytes = if rust::is_source(file) { rust::compile(file, options)? } else { compile(file, options)? };
    if bytes.windows(COROUTINE.len()).any(|window| window == COROUTINE) {
        return Err(Error::Unsupported(Diagnostic::about(
            file.display().to_string(),
            "coroutines are not supported",
        )));
    }
    Ok(bytes)
}
