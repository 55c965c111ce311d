//! The text form of programs, for people and tests.

use crate::{Operand, Program};
use std::fmt::Write;

/// The whole program, one instruction per line.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "program {}", program.name);
    for global in &program.globals {
        let _ = writeln!(out, "global {} at {:#x}, {} bytes", global.name, global.address, global.size);
    }
    for function in &program.functions {
        let _ = writeln!(out, "function {}/{}", function.name, function.params);
        for (at, instr) in function.code.iter().enumerate() {
            let _ = writeln!(out, "  {at:3}: {instr:?}");
        }
    }
    for thread in &program.threads {
        let _ = writeln!(out, "thread {} runs {}", thread.name, program.function(thread.function).name);
    }
    out
}

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Operand::Reg(reg) => write!(f, "%{}", reg.0),
            Operand::Const(value) => write!(f, "{value}"),
        }
    }
}
