//! C as it is compiled for the machine that a model describes.

use porf_event::Dialect;
use porf_explore::Model;
use porf_ir::{Machine, Program};

/// The program that a search under `model` runs. Under the models of languages that is the program itself,
/// and so is a litmus test in a machine's own language.
pub fn compile(program: Program, model: Model) -> Result<Program, String> {
    let machine = match Machine::of_model(model.name()) {
        Some(machine) if program.dialect == Dialect::C => machine,
        _ => return Ok(program),
    };
    program.compiled_to(machine).map_err(|unmapped| {
        let function = program.function(unmapped.function);
        let file = program.file(unmapped.function);
        let place = if file.is_empty() { function.name.clone() } else { file.to_string() };
        match unmapped.span.line {
            0 => format!("{place}: {unmapped}"),
            line => format!("{place}:{line}: {unmapped}"),
        }
    })
}
