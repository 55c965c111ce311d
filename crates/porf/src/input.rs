//! What is verified: a program, where it comes from, and for a litmus test the question about its final
//! states.

use crate::Error;
use crate::question::Question;
use porf_frontend_llvm as llvm;
pub use porf_ir::Domain;
use porf_ir::{LeftOut, Program};
use porf_model::Model;
use porf_verdict::{SourceLocation, TriedInput};
use std::path::{Path, PathBuf};

/// A program to verify.
#[derive(Clone, Debug)]
pub struct Input {
    /// The program itself.
    pub program: Program,
    /// Of a litmus test: its condition.
    pub question: Option<Question>,
    /// The model that the program is meant for.
    pub model: Model,
    /// How to load it again.
    pub origin: Origin,
}

/// Where a program comes from: all that is needed to load it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The files, as the user named them.
    pub files: Vec<String>,
    /// How they were compiled and translated.
    pub options: LoadOptions,
}

pub use porf_frontend_llvm::{Code, Options as LoadOptions, ShouldPanic, Test, Volatile};

impl Input {
    /// A program that was built in memory.
    pub fn new(program: Program) -> Input {
        let model = Model::default_for(porf_model::Language::C);
        Input { program, question: None, model, origin: Origin::default() }
    }

    /// Reads files: C, C++, Rust or bitcode, linked into one program; or a single program in Porf's own text
    /// form (`.porf`), or a single litmus test.
    pub fn load(files: &[PathBuf], options: &LoadOptions) -> Result<Input, Error> {
        let origin = Origin {
            files: files.iter().map(|file| file.display().to_string()).collect(),
            options: options.clone(),
        };
        if let [file] = files {
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("porf") => {
                    let name = file.display().to_string();
                    let parsed = porf_ir::parse(&read(file)?);
                    let mut program = parsed.map_err(|wrong| wrong.in_file(&name))?;
                    program.name = name;
                    return Ok(Input { origin, ..Input::new(program) });
                }
                Some("litmus") => {
                    let name = file.display().to_string();
                    return Ok(Input { origin, ..Input::litmus(&name, &read(file)?)? });
                }
                _ => {}
            }
        }
        if let Some(file) = files.iter().find(|file| !llvm::is_supported(file)) {
            return Err(Error::Input(format!(
                "{}: not a file of a kind that verify knows (.c .cpp .i .ii .rs .bc .ll, compile_commands.json, or a single .porf or .litmus)",
                file.display()
            )));
        }
        let program = llvm::load(files, options)?;
        let mut input = Input { origin, ..Input::new(program) };
        if files.iter().any(|file| llvm::is_cpp(file) || llvm::is_rust(file)) {
            input.model = Model::C20;
        }
        Ok(input)
    }

    /// The inputs for which the values that are tried do not cover all values.
    pub fn tried(&self) -> Vec<TriedInput> {
        let program = &self.program;
        let open = program.inputs.iter().filter(|input| !input.is_covered);
        open.map(|input| {
            let file = program.file(input.function).to_string();
            let place = SourceLocation { file, line: input.span.line, column: input.span.column };
            TriedInput { place, values: input.values.clone() }
        })
        .collect()
    }

    /// An atomic access of a size that no event has: it is explored as if under a lock.
    pub fn locked(&self) -> Option<SourceLocation> {
        let image = self.program.image.as_ref()?;
        let (file, line) = image.locked?;
        let file = image.files.get(file as usize).cloned().unwrap_or_default();
        Some(SourceLocation { file, line, column: 0 })
    }

    /// The functions that were taken to return any value and do nothing else, each with a place that calls it.
    pub fn stubs(&self) -> Vec<(&str, SourceLocation)> {
        let Some(image) = &self.program.image else { return Vec::new() };
        let place = |stub: &LeftOut| {
            let file = image.files.get(stub.file as usize).cloned().unwrap_or_default();
            SourceLocation { file, line: stub.line, column: 0 }
        };
        image.left_out.iter().map(|stub| (stub.name.as_str(), place(stub))).collect()
    }

    /// A program of a Rust crate whose code is read: the one that begins with a function.
    pub fn of_code(code: &Code, entry: &str, origin: Origin) -> Result<Input, Error> {
        let program = code.program(entry)?;
        Ok(Input { origin, model: Model::C20, ..Input::new(program) })
    }

    /// A litmus test as a program; `name` is for messages.
    pub fn litmus(name: &str, text: &str) -> Result<Input, Error> {
        let test = porf_frontend_litmus::parse(name, text)?;
        if test.mixed {
            let message = format!(
                "{name}: accesses of different sizes to the same bytes are not supported here; `porf litmus` \
                 enumerates such a test"
            );
            return Err(Error::Unsupported(message));
        }
        let mut program = test.program.clone();
        program.name = name.to_string();
        let model = Model::default_for(test.language());
        Ok(Input { program, model, question: Some(Question::of(test, text)), origin: Origin::default() })
    }
}

fn read(file: &Path) -> Result<String, Error> {
    std::fs::read_to_string(file).map_err(|error| Error::Input(format!("{}: {error}", file.display())))
}
