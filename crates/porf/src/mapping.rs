//! C as it is compiled for the machine that a model describes.

use crate::Error;
use porf_event::{Dialect, ReadMode, WriteMode};
use porf_frontend_litmus::LitmusTest;
use porf_ir::{FunctionId, Instr, Program, Span};
use porf_model::{Language, Machine, Mapping, Model};

/// How a model takes a litmus test: `None` if it speaks of the test as it stands, or the machine that the test is
/// compiled to first. A test in another language is refused.
pub fn reading(test: &LitmusTest, model: Model) -> Result<Option<Machine>, Error> {
    let (language, entry) = (test.language(), model.entry());
    match entry.mapping {
        Mapping::Machine(machine) if language == Language::C => Ok(Some(machine)),
        // Plain C is kernel code too.
        Mapping::Kernel if language == Language::C && !test.text.contains("memory_order") => Ok(None),
        _ if entry.languages.contains(&language) => Ok(None),
        _ => Err(Error::Unsupported(format!(
            "architecture mismatch: {model} does not speak of tests in {}",
            language.name()
        ))),
    }
}

/// The program that a search under `model` runs. Under the models of languages that is the program itself,
/// and so is a litmus test in a machine's own language.
pub fn compile(program: Program, model: Model) -> Result<Program, Error> {
    match model.entry().mapping {
        Mapping::Kernel if program.image.is_some() => linux(program),
        Mapping::Machine(machine) if program.dialect == Dialect::C => compile_to(&program, machine),
        Mapping::Kernel | Mapping::Machine(_) | Mapping::Itself => Ok(program),
    }
}

/// The program in the instructions of a machine.
pub(crate) fn compile_to(program: &Program, machine: Machine) -> Result<Program, Error> {
    program
        .compiled_to(machine)
        .map_err(|unmapped| located(program, unmapped.function, unmapped.span, &unmapped.to_string()))
}

/// Kernel code: relaxed, acquire and release accesses are its own, what else C11 has is not.
fn linux(mut program: Program) -> Result<Program, Error> {
    for (at, function) in program.functions.iter().enumerate() {
        for (instr, span) in function.code.iter().zip(&function.spans) {
            let what = match instr {
                Instr::Load { mode: ReadMode::SeqCst, .. }
                | Instr::Store { mode: WriteMode::SeqCst, .. }
                | Instr::Rmw { read: ReadMode::SeqCst, .. }
                | Instr::Cas { read: ReadMode::SeqCst, .. } => "a seq_cst access",
                Instr::Fence { mode } if mode.is_acquire() || mode.is_release() => "a fence of C11",
                _ => continue,
            };
            let message = format!("{what} has no counterpart under lkmm: see lkmm.h");
            return Err(located(&program, FunctionId(at as u32), *span, &message));
        }
    }
    program.mark_ifs();
    Ok(program)
}

fn located(program: &Program, function: FunctionId, span: Span, message: &str) -> Error {
    let file = program.file(function);
    let place = if file.is_empty() { program.function(function).name.clone() } else { file.to_string() };
    Error::Unsupported(match span.line {
        0 => format!("{place}: {message}"),
        line => format!("{place}:{line}: {message}"),
    })
}
