//! C as it is compiled for the machine that a model describes.

use porf_event::{Dialect, ReadMode, WriteMode};
use porf_explore::Model;
use porf_ir::{FunctionId, Instr, Machine, Program, Span};

/// The program that a search under `model` runs. Under the models of languages that is the program itself,
/// and so is a litmus test in a machine's own language.
pub fn compile(program: Program, model: Model) -> Result<Program, String> {
    if model == Model::Lkmm && program.image.is_some() {
        return linux(program);
    }
    let machine = match Machine::of_model(model.name()) {
        Some(machine) if program.dialect == Dialect::C => machine,
        _ => return Ok(program),
    };
    program
        .compiled_to(machine)
        .map_err(|unmapped| located(&program, unmapped.function, unmapped.span, &unmapped.to_string()))
}

/// Kernel code: relaxed, acquire and release accesses are its own, what else C11 has is not.
fn linux(mut program: Program) -> Result<Program, String> {
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

fn located(program: &Program, function: FunctionId, span: Span, message: &str) -> String {
    let file = program.file(function);
    let place = if file.is_empty() { program.function(function).name.clone() } else { file.to_string() };
    match span.line {
        0 => format!("{place}: {message}"),
        line => format!("{place}:{line}: {message}"),
    }
}
