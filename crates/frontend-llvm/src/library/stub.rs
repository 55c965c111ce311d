//! Functions that nobody defines, and that the user wants to leave out (`porf verify --stub`).
//!
//! A call returns any value of its type, as `__VERIFIER_nondet_…` does, and does nothing else: what its arguments
//! point to keeps its contents. The program notes each such function, so that the answer can say what it assumes.
//! A function that Porf knows is never left out.

use super::table::{Lowered, find, matches};
use crate::llvm::{Type, Value};
use crate::translate::Body;
use crate::translate::types::{self, Word};
use porf_ir::{InputType, Instr, Operand, Precision};

/// Whether calls of a function are left out.
pub fn is_stub(body: &Body<'_, '_>, function: Value<'_>) -> bool {
    let name = function.name();
    let is_named = |pattern: &String| matches(pattern, name) || matches(pattern, &source_name(name));
    function.is_declaration() && body.tr.stubs.iter().any(is_named) && find(name).is_none()
}

/// The result of a call that is left out, word by word.
pub fn call(body: &mut Body<'_, '_>, function: Value<'_>, result: Type<'_>) -> Lowered {
    let words = types::words(body.tr.module, result)?;
    body.note_stub(source_name(function.name()));
    Ok(words.into_iter().map(|word| input(body, word)).collect())
}

fn input(body: &mut Body<'_, '_>, word: Word) -> Operand {
    let kind = match word.float {
        Some(Precision::Single) => InputType::Float,
        Some(Precision::Double) => InputType::Double,
        // C says in the source alone whether an integer has a sign; a flag has none.
        None => InputType::Integer { bits: word.bits, signed: word.bits > 1 },
    };
    let dst = body.b.register("result");
    body.b.push(Instr::Input { dst, kind, values: [].into() });
    dst.into()
}

/// A name as the source has it: of C++ with its namespaces, without parameters.
pub fn source_name(name: &str) -> String {
    let demangled = cpp_demangle::Symbol::new(name).ok().and_then(|symbol| {
        symbol.demangle(&cpp_demangle::DemangleOptions::new().no_params().no_return_type()).ok()
    });
    demangled.unwrap_or_else(|| name.to_string())
}
