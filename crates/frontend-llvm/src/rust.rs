//! From Rust source to bitcode of the whole program, std included.
//!
//! The libraries that come with a toolchain carry bitcode for link-time optimisation. A fat one merges them
//! with the user's crate, and `save-temps` leaves the merged module, before LLVM's passes, beside the result:
//! neither nightly nor the source of std is needed. Linking itself is left out. The code is not optimised, so
//! that every access is there and every function that we know by its name can be called.
//!
//! Bitcode is read by the LLVM that wrote it: the libLLVM of the toolchain in use.
//! Cost: rustc takes 2 to 3 s of CPU time for any program. What it makes is kept in the user's cache, together
//! with what the sources were, and used again while none of them changes.

use crate::llvm::{self, Module, ValueKind};
use crate::{Error, Options, cache};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What makes rustc leave the whole program as bitcode.
const FLAGS: &[&str] = &[
    "-Clto=fat",
    "-Csave-temps",
    "-Ccodegen-units=1",
    "-Copt-level=0",
    "-Cdebug-assertions=on",
    "-Cdebuginfo=1",
    "-Clinker=true",
];

/// How the file ends that holds the merged module.
const MERGED: &str = ".lto.after-restriction.bc";

/// Whether a file is Rust, by its name.
pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Reads bitcode from now on with the LLVM of the Rust compiler.
pub fn use_its_llvm() -> Result<(), Error> {
    let sysroot = said(&["--print", "sysroot"])?;
    llvm::prefer(&PathBuf::from(sysroot.trim()).join("lib"));
    let wrote = said(&["-vV"])?
        .lines()
        .find_map(|line| line.strip_prefix("LLVM version: "))
        .map_or(String::new(), str::to_string);
    let (reads, path) = llvm::version()?;
    let major = |version: &str| version.split('.').next().and_then(|number| number.parse::<u32>().ok());
    if major(&wrote) > major(&reads) {
        let path = path.display();
        return Err(Error::Library(format!(
            "rustc has LLVM {wrote}, which LLVM {reads} ({path}) cannot read: set PORF_LIBLLVM to a newer one"
        )));
    }
    Ok(())
}

/// The bitcode of the program whose main file this is.
pub fn compile(path: &Path, options: &Options) -> Result<Vec<u8>, Error> {
    let kept = Kept::of(path, options);
    if let Some(bitcode) = kept.as_ref().and_then(Kept::read) {
        return Ok(bitcode);
    }
    let file = path.display().to_string();
    let directory = scratch(&file)?;
    let mut command = Command::new(rustc());
    if !options.flags.iter().any(|flag| flag.starts_with("--edition")) {
        command.arg("--edition=2024");
    }
    command.args(FLAGS).args(["--crate-type=bin", "--cap-lints=allow"]).args(&options.flags);
    // The names of all source files, for the next time.
    command.arg("--emit=link,dep-info");
    command.arg("-o").arg(directory.join("program")).arg(path).stdin(Stdio::null());
    let output = command.output();
    let merged = merged(&directory);
    let sources = std::fs::read_to_string(directory.join("program.d")).unwrap_or_default();
    let _ = std::fs::remove_dir_all(&directory);
    let output = output.map_err(|_| Error::NoRustc)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim_end().to_string();
        return Err(Error::Compile { file, message });
    }
    let reason = "rustc left no bitcode of the whole program".to_string();
    let merged = merged.ok_or(Error::Bitcode { file, reason })?;
    if let Some(kept) = kept {
        kept.write(&sources, &merged);
    }
    Ok(merged)
}

/// What an earlier run has made of a file.
struct Kept(PathBuf);

impl Kept {
    /// By all that decides what comes out, apart from the sources themselves.
    fn of(path: &Path, options: &Options) -> Option<Kept> {
        let path = std::fs::canonicalize(path).ok()?;
        let key = (path, &options.flags, rustc(), said(&["-vV"]).ok()?);
        cache::keyed("bitcode", &key).ok().map(Kept)
    }

    /// The bitcode, if every source is as it was.
    fn read(&self) -> Option<Vec<u8>> {
        let list = std::fs::read_to_string(self.0.join("sources")).ok()?;
        let same = list.lines().all(|line| {
            let known = line.split_once(' ');
            known.is_some_and(|(hash, file)| hash_of(file).as_deref() == Some(hash))
        });
        if list.is_empty() || !same {
            return None;
        }
        std::fs::read(self.0.join("program.bc")).ok()
    }

    /// Keeps bitcode. A program that looks at the environment as it is compiled is not kept, and a failure to
    /// write costs only time.
    fn write(&self, dependencies: &str, bitcode: &[u8]) {
        let Some((_, files)) = dependencies.lines().next().and_then(|line| line.split_once(": ")) else {
            return;
        };
        if files.contains('\\') || dependencies.contains("# env-dep:") {
            return;
        }
        let list: Option<String> = files
            .split_whitespace()
            .map(|file| Some(format!("{} {}\n", hash_of(file)?, std::path::absolute(file).ok()?.display())))
            .collect();
        let _ = std::fs::remove_file(self.0.join("sources"));
        if let Some(list) = list {
            let _ = replace(&self.0.join("program.bc"), bitcode)
                .and_then(|()| replace(&self.0.join("sources"), list.as_bytes()));
        }
    }
}

/// Puts a whole file in place of another.
fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let aside = path.with_extension(std::process::id().to_string());
    std::fs::write(&aside, contents)?;
    std::fs::rename(aside, path)
}

fn hash_of(file: &str) -> Option<String> {
    let mut hasher = DefaultHasher::new();
    std::fs::read(file).ok()?.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// The function to begin with. The C function `main` only hands the user's own to the runtime, which prepares
/// for signals and overflows of the stack: without it there are fewer events and nothing else is missed. A
/// result of `main` is for the runtime, though.
pub fn entry(module: &Module, entry: &str) -> String {
    let starts = |name: &str| name.contains("2rt10lang_start");
    let users = || {
        let main = module.function(entry).filter(|_| entry == "main" && module.is_rust())?;
        let mut calls = main.blocks().flat_map(|block| block.instructions()).filter(|i| i.is_call());
        let start = calls.find(|call| starts(call.callee().name()))?;
        let users = start.arguments().first().copied()?;
        (users.kind() == ValueKind::Function && users.params().is_empty()).then(|| users.name().to_string())
    };
    users().unwrap_or_else(|| entry.to_string())
}

fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The compiler, as it calls itself.
pub fn version() -> String {
    said(&["-V"]).map_or_else(|_| "this rustc".to_string(), |said| said.trim().to_string())
}

/// What the compiler says of itself.
fn said(arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new(rustc()).args(arguments).output().map_err(|_| Error::NoRustc)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The merged module in a directory.
fn merged(directory: &Path) -> Option<Vec<u8>> {
    let mut files = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    std::fs::read(files.find(|path| path.to_string_lossy().ends_with(MERGED))?).ok()
}

/// A new directory of our own.
fn scratch(file: &str) -> Result<PathBuf, Error> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("porf-rust-{}-{number}", std::process::id()));
    let failed = |source| Error::Io { file: file.to_string(), source };
    std::fs::create_dir_all(&directory).map_err(failed)?;
    Ok(directory)
}
