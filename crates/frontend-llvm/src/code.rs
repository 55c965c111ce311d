//! Code in LLVM's hands, from which programs are made: one for each function to begin with.
//!
//! First all files are read and linked ([`Code::read`]), then what the wanted functions do not need is
//! removed and the rest is prepared ([`Code::prepare`]), then each becomes a program of its own
//! ([`Code::program`]).

use crate::llvm::Module;
use crate::tests::{self, Test};
use crate::{Error, Options, compile, database, library, promote, runtime, rust, translate};
use porf_ir::Program;
use porf_verdict::{Diagnostic, SourceLocation};
use std::path::{Path, PathBuf};

/// All files of a program, linked.
pub struct Code {
    module: Module,
    name: String,
    options: Options,
}

/// How the labels begin that start a thread under CBMC.
const ASYNC: &str = "__CPROVER_ASYNC_";

impl Code {
    /// Compiles and links files.
    pub fn read(files: &[PathBuf], options: &Options) -> Result<Code, Error> {
        let first = files.first().ok_or_else(|| Error::NoEntry(options.entry.clone()))?;
        let name = first.display().to_string();
        if options.is_rust || files.iter().any(|file| rust::is_source(file)) {
            rust::use_its_llvm()?;
        }
        let (lists, named): (Vec<PathBuf>, Vec<PathBuf>) =
            files.iter().cloned().partition(|file| database::is_database(file));
        let mut module = if lists.is_empty() {
            let mut module = Module::parse(&name, &Code::compiled(first, options)?)?;
            for file in &files[1..] {
                module.link(&file.display().to_string(), &Code::compiled(file, options)?)?;
            }
            module
        } else {
            database::link(&lists, &named, options)?
        };
        if !module.is_rust() {
            runtime::link(&mut module, options)?;
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
        Ok(Code { module, name, options: options.clone() })
    }

    /// The function that stands for an entry: the user's own `main` rather than what calls it, and a function of
    /// C++ by its name in the source, as in `test` or `queue::test`.
    pub fn main(&self, entry: &str) -> Result<String, Error> {
        if self.module.function(entry).is_some() {
            return Ok(rust::entry(&self.module, entry));
        }
        let defined = self.module.functions().filter(|function| !function.is_declaration());
        let found: Vec<&str> =
            defined.map(|function| function.name()).filter(|name| is_called(name, entry)).collect();
        match found.as_slice() {
            [] => Err(Error::NoEntry(entry.to_string())),
            [one] => Ok(one.to_string()),
            several => Err(Error::Several { what: entry.to_string(), files: several.join(", ") }),
        }
    }

    /// The bitcode of a file. LLVM may end the process where it reads coroutines that another version wrote, and
    /// they are whole only after passes: the compiler that wrote them runs those.
    pub(crate) fn compiled(file: &Path, options: &Options) -> Result<Vec<u8>, Error> {
        if rust::is_source(file) {
            return rust::compile(file, options);
        }
        let bytes = compile(file, options)?;
        let contains = |what: &str| bytes.windows(what.len()).any(|window| window == what.as_bytes());
        if options.is_rust {
            return Ok(bytes);
        }
        // CBMC's way to create threads, which the names of labels in the debugging information tell.
        if contains(ASYNC) {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().position(|line| line.contains(ASYNC)).map_or(0, |at| at as u32 + 1);
            let place = SourceLocation { file: file.display().to_string(), line, column: 0 };
            let refusal = Diagnostic::new(place, "a label that starts a thread is not supported");
            return Err(Error::Unsupported(refusal.help("call pthread_create")));
        }
        if !contains("llvm.coro.begin") {
            return Ok(bytes);
        }
        if compile::is_source(file) {
            return compile::with_passes(file, options);
        }
        let refusal =
            Diagnostic::about(file.display().to_string(), "coroutines in bitcode are not supported");
        Err(Error::Unsupported(
            refusal.help("run LLVM's coroutine passes before: coro-early, coro-split, coro-cleanup"),
        ))
    }

    /// The tests of a Rust crate that was compiled with `--test`.
    pub fn tests(&self) -> Result<Vec<Test>, Error> {
        tests::of(&self.module)
    }

    /// Keeps what these functions need, and makes it ready for translation.
    pub fn prepare(&mut self, entries: &[String]) -> Result<(), Error> {
        let module = &mut self.module;
        for entry in entries {
            if module.function(entry).is_none_or(|entry| entry.is_declaration()) {
                return Err(Error::NoEntry(entry.clone()));
            }
            module.export(entry);
        }
        // What our own parts define for us, and nobody names.
        let hooks = library::HOOKS.iter().map(|hook| hook.to_string());
        let hooks: Vec<String> =
            hooks.filter(|hook| module.function(hook).is_some_and(|hook| !hook.is_declaration())).collect();
        hooks.iter().for_each(|hook| module.export(hook));
        let kept: Vec<String> =
            entries.iter().chain(&hooks).map(|entry| format!("preserve-gv={entry}")).collect();
        module.run_passes(&format!("internalize<{}>,globaldce", kept.join(";")))?;
        // Rust's own rules see to it that variables are used in their scope, and after they are set.
        if !module.is_rust() {
            let kept = promote::kept(module);
            module.keep_in_memory(library::KEEPER, &kept);
        }
        module.run_passes("function(sroa)")
    }

    /// The program that begins with a function.
    pub fn program(&self, entry: &str) -> Result<Program, Error> {
        let mut program = translate::program(&self.module, &self.name, entry, &self.options)?;
        program.settle_inputs(self.options.inputs.as_ref());
        porf_ir::validate(&program)
            .map_err(|malformed| Error::Unsupported(Diagnostic::about(&self.name, malformed.0)))?;
        Ok(program)
    }
}

/// Whether a mangled name is that of a function with this name: with its namespaces, or without.
fn is_called(mangled: &str, name: &str) -> bool {
    let demangled = match cpp_demangle::Symbol::new(mangled) {
        Ok(symbol) => symbol.demangle(&cpp_demangle::DemangleOptions::new().no_params()).unwrap_or_default(),
        Err(_) => return false,
    };
    let demangled = demangled.split(['(', '[']).next().unwrap_or_default().trim();
    demangled == name || demangled.rsplit("::").next() == Some(name)
}
