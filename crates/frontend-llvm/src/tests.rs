//! The tests of a Rust crate, by the descriptors that `rustc --test` leaves for libtest.
//!
//! The crate's `main` hands a list of `test::TestDescAndFn` to `test::test_main_static`. libtest is not run: a
//! test is a function to begin with. A descriptor has, in this order, what to expect of a panic, the name, the
//! source file, why it is ignored, flags, and the function. That order is rustc's choice (seen with 1.95); a
//! descriptor that looks different is an error, not a guess.

use crate::llvm::{Module, Value, ValueKind};
use crate::{Error, rust};
use porf_verdict::Diagnostic;
use std::collections::HashMap;

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
    /// What `#[porf::test(…)]` says, as JSON.
    pub settings: Option<String>,
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

/// How many flags there are, behind the numbers that say where the test is.
const FLAGS: usize = 4;

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
    // A target with a `main` of its own has no list.
    let Some(call) = calls.find(starts) else { return Ok(Vec::new()) };
    let (list, length) = (call.operand(0), call.operand(1).as_integer());
    let tests = match list.kind() {
        ValueKind::GlobalVariable => listed(list),
        _ => Vec::new(),
    };
    // An empty list has no address that is known.
    if length != Some(tests.len() as u128) {
        return Err(unknown(list));
    }
    let settings = settings(module);
    let describe = |test| {
        let mut found = describe(test).ok_or_else(|| unknown(test))?;
        found.settings = settings.get(&found.name).cloned();
        Ok(found)
    };
    tests.into_iter().map(describe).collect()
}

/// What the crate `porf-test` is told at the begin of tests, by their names.
fn settings(module: &Module) -> HashMap<String, String> {
    let told = module.functions().find(|function| function.name().contains("4porf8settings"));
    let calls = told.into_iter().flat_map(|told| told.users()).filter(|user| user.is_call());
    let setting = |call: Value<'_>| {
        let name = format!("{:#}", rustc_demangle::demangle(call.function().name()));
        let (_, name) = name.split_once("::")?;
        let text = String::from_utf8(bytes(call.operand(0).initializer()?)?).ok()?;
        Some((name.to_string(), text))
    };
    calls.filter_map(setting).collect()
}

/// The descriptors that a list points to. One alone is no array.
fn listed(list: Value<'_>) -> Vec<Value<'_>> {
    match list.initializer() {
        Some(only) if only.kind() == ValueKind::GlobalVariable => vec![only],
        _ => elements(list),
    }
}

fn unknown(test: Value<'_>) -> Error {
    let version = rust::version();
    let message = format!(
        "{version} describes tests in another way than rustc 1.95, and tests cannot be found: \
         set RUSTC to one that is known, or explore a binary with `cargo porf verify`"
    );
    Error::Unsupported(Diagnostic::about("the list of tests", message).help(test.print()))
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
    // Before the function: the kind of function, padding, and where the test is with its flags, of which the
    // first is `ignore`.
    let Part::Bytes(flags) = parts.get(function.checked_sub(3)?)? else { return None };
    let ignored = match flags.get(flags.len().checked_sub(FLAGS)?)? {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(Test { name, entry: entry.name().to_string(), ignored, should_panic, settings: None })
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
