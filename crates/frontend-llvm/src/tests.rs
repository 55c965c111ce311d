//! The tests of a Rust crate, by the descriptors that `rustc --test` leaves for libtest.
//!
//! The crate's `main` hands a list of `test::TestDescAndFn` to `test::test_main_static`. libtest is not run: a
//! test is a function to begin with. A descriptor has, in this order, what to expect of a panic, the name, the
//! source file, why it is ignored, flags, and the function. That order is rustc's choice (seen with 1.95); a
//! descriptor that looks different is an error, not a guess.

use crate::llvm::{Module, Value, ValueKind};
use crate::{Error, rust};
use porf_verdict::Diagnostic;

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its path in the crate, as libtest prints it.
    pub name: String,
    /// The function to begin with.
    pub entry: String,
    /// `#[ignore]`
    pub ignored: bool,
    /// `#[should_panic]`
    pub should_panic: ShouldPanic,
}

/// What `#[should_panic]` says of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShouldPanic {
    /// It must not panic.
    No,
    /// It must panic.
    Yes,
    /// It must panic with a message that contains this.
    With(String),
}

/// A part of a descriptor.
enum Part<'m> {
    Bytes(Vec<u8>),
    Text(Vec<u8>),
    Function(Value<'m>),
}

pub fn of(module: &Module) -> Result<Vec<Test>, Error> {
    let main = rust::entry(module, "main");
    let main = module.function(&main).ok_or_else(|| Error::NoEntry("main".to_string()))?;
    let mut calls = main.blocks().flat_map(|block| block.instructions()).filter(|i| i.is_call());
    let starts = |call: &Value<'_>| call.callee().name().contains("4test16test_main_static");
    let Some(list) = calls.find(starts).map(|call| call.operand(0)) else { return Ok(Vec::new()) };
    if list.kind() != ValueKind::GlobalVariable {
        return Ok(Vec::new());
    }
    elements(list).into_iter().map(|test| describe(test).ok_or_else(|| unknown(test))).collect()
}

fn unknown(test: Value<'_>) -> Error {
    let message = "a test descriptor of another layout than rustc 1.95 has is not supported";
    Error::Unsupported(Diagnostic::about("", message).help(test.print()))
}

fn describe(test: Value<'_>) -> Option<Test> {
    let mut parts = Vec::new();
    for element in elements(test) {
        parts.push(match element.kind() {
            ValueKind::Function => Part::Function(element),
            ValueKind::GlobalVariable => Part::Text(bytes(element.initializer()?)?),
            _ => Part::Bytes(bytes(element)?),
        });
    }
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        })
        .collect();
    let source = texts.iter().position(|text| text.ends_with(".rs"))?;
    let name = texts.get(source.checked_sub(1)?)?.clone();
    let Part::Bytes(first) = parts.first()? else { return None };
    let should_panic = match (first.first()?, source) {
        (0, 1) => ShouldPanic::No,
        (1, 1) => ShouldPanic::Yes,
        (2, 2) => ShouldPanic::With(texts[0].clone()),
        _ => return None,
    };
    let function = parts.iter().position(|part| matches!(part, Part::Function(_)))?;
    let Part::Function(entry) = parts[function] else { return None };
    // Before the function: the kind of function, padding, and the flags, of which the first is `ignore`.
    let Part::Bytes(flags) = parts.get(function.checked_sub(3)?)? else { return None };
    let ignored = *flags.get(flags.len().checked_sub(4)?)? != 0;
    Some(Test { name, entry: entry.name().to_string(), ignored, should_panic })
}

/// The elements of what a constant holds.
fn elements(constant: Value<'_>) -> Vec<Value<'_>> {
    let Some(initializer) = constant.initializer() else { return Vec::new() };
    (0..initializer.ty().length() as u32).filter_map(|at| initializer.element(at)).collect()
}

/// The bytes of an array; those that are undefined are 0.
fn bytes(array: Value<'_>) -> Option<Vec<u8>> {
    let byte = |at: u32| Some(array.element(at)?.as_integer().unwrap_or(0) as u8);
    (0..array.ty().length() as u32).map(byte).collect()
}
