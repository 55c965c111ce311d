//! Prints a test as text.
//!
//! The initial state and the questions are written from what was read of them. The code is repeated as it
//! was. Reading the text again gives the same test, except for the places in it.

use crate::{LitmusTest, Observable, format_value};
use porf_event::Dialect;
use porf_ir::{Global, InitCell, Program};
use std::fmt;

impl fmt::Display for LitmusTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.arch, self.name)?;
        for (key, value) in &self.info {
            writeln!(f, "{key}={value}")?;
        }
        writeln!(f, "{{")?;
        for global in &self.program.globals {
            declare(f, global)?;
        }
        // Values come second: they may point to variables that are declared later.
        for global in &self.program.globals {
            initialise(f, &self.program, global)?;
        }
        self.registers(f)?;
        writeln!(f, "}}\n{}", self.text[self.code.clone()].trim())?;
        if !self.locations.is_empty() {
            write!(f, "locations [")?;
            self.locations.iter().try_for_each(|location| write!(f, "{};", Bare(location)))?;
            writeln!(f, "]")?;
        }
        if let Some(filter) = &self.filter {
            writeln!(f, "filter ({filter})")?;
        }
        writeln!(f, "{}", self.condition)
    }
}

impl LitmusTest {
    /// The initial values of registers, except the parameters of C functions.
    fn registers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, entry) in self.program.threads.iter().enumerate() {
            let function = self.program.function(entry.function);
            for (name, value) in function.register_names.iter().zip(&entry.registers) {
                let parameter = self.dialect == Dialect::C
                    && self.program.global(name).is_some_and(|global| global.address == *value);
                if !name.is_empty() && *value != 0 && !parameter {
                    writeln!(f, "{thread}:{name}={};", format_value(&self.program, *value, 8))?;
                }
            }
        }
        Ok(())
    }
}

/// `int32_t x;`, `int32_t x[2];`
fn declare(f: &mut fmt::Formatter<'_>, global: &Global) -> fmt::Result {
    let bits = 8 * global.init.first().map_or(4, |cell| cell.size);
    match global.init.len() {
        1 => writeln!(f, "int{bits}_t {};", global.name),
        cells => writeln!(f, "int{bits}_t {}[{cells}];", global.name),
    }
}

/// `x=1;`, `x={0,1};`, nothing for zeros.
fn initialise(f: &mut fmt::Formatter<'_>, program: &Program, global: &Global) -> fmt::Result {
    let value = |cell: &InitCell| format_value(program, cell.value, cell.size);
    match global.init.as_slice() {
        cells if cells.iter().all(|cell| cell.value == 0) => Ok(()),
        [cell] => writeln!(f, "{}={};", global.name, value(cell)),
        cells => {
            let values: Vec<String> = cells.iter().map(value).collect();
            writeln!(f, "{}={{{}}};", global.name, values.join(","))
        }
    }
}

/// In `locations`, variables have no brackets.
struct Bare<'a>(&'a Observable);

impl fmt::Display for Bare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Observable::Location { name, index: None, .. } => write!(f, "{name}"),
            other => write!(f, "{other}"),
        }
    }
}
