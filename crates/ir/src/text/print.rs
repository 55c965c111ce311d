//! The printer: the flat form.

use super::words::{BINS, CMPS, FENCES, KINDS, READS, RMWS, WRITES, word};
use crate::{Function, Instr, Operand, Program, Reg};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// The whole program, one instruction per line; [`parse`](super::parse) gives it back.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "program {:?}", program.name);
    for global in &program.globals {
        let _ = write!(out, "global {:?} at {:#x} size {}", global.name, global.address, global.size);
        for cell in &global.init {
            let _ = write!(out, " init {} {} {}", cell.offset, cell.size, cell.value);
        }
        out.push('\n');
    }
    for function in &program.functions {
        print_function(program, function, &mut out);
    }
    for thread in &program.threads {
        let name = &program.function(thread.function).name;
        let values: Vec<String> = thread.registers.iter().map(u64::to_string).collect();
        let _ = writeln!(out, "thread {:?} runs {name:?} ({})", thread.name, values.join(", "));
    }
    out
}

fn print_function(program: &Program, function: &Function, out: &mut String) {
    let names = function.register_names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let (params, registers) = (function.params, function.registers);
    let _ = writeln!(out, "flat {:?} params {params} registers {registers} ({names}) {{", function.name);
    let targets: BTreeSet<u32> = function.code.iter().flat_map(Instr::targets).collect();
    for (at, instr) in function.code.iter().enumerate() {
        if targets.contains(&(at as u32)) {
            let _ = writeln!(out, "L{at}:");
        }
        match flat(program, instr) {
            Some(text) => {
                let _ = writeln!(out, "  {text}");
            }
            None => {
                let _ = writeln!(out, "  // no text form: {instr:?}");
            }
        }
    }
    out.push_str("}\n");
}

/// One instruction; `None` for those that have no text form.
fn flat(program: &Program, instr: &Instr) -> Option<String> {
    let bin = |op| BINS.iter().find(|(_, _, known)| *known == op).map(|(word, _, _)| *word);
    Some(match instr {
        Instr::Move { dst, src } => format!("{dst} = move {src}"),
        Instr::Bin { dst, op, width, a, b } => format!("{dst} = {}.{} {a}, {b}", bin(*op)?, width.0),
        Instr::Cmp { dst, op, width, a, b } => format!("{dst} = {}.{} {a}, {b}", word(CMPS, op)?, width.0),
        Instr::SignExtend { dst, from, src } => format!("{dst} = sext.{} {src}", from.0),
        Instr::Select { dst, cond, a, b } => format!("{dst} = select {cond}, {a}, {b}"),
        Instr::Load { dst, address, size, mode } => {
            format!("{dst} = load.{size} {address}, {}", word(READS, mode)?)
        }
        Instr::Store { address, value, size, mode } => {
            format!("store.{size} {address}, {value}, {}", word(WRITES, mode)?)
        }
        Instr::Rmw { dst, op, address, operand, size, read, write, kind } => format!(
            "{dst} = {}.{size} {address}, {operand}, {}, {}, {}",
            word(RMWS, op)?,
            word(READS, read)?,
            word(WRITES, write)?,
            word(KINDS, kind)?
        ),
        Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind } => format!(
            "{dst} = {}.{size} {address}, {expected}, {new}, {}, {}, {}, {}",
            if *weak { "cas_weak" } else { "cas" },
            word(READS, read)?,
            word(WRITES, write)?,
            word(READS, failure)?,
            word(KINDS, kind)?
        ),
        Instr::Fence { mode } => format!("fence {}", word(FENCES, mode)?),
        Instr::Jump { target } => format!("goto L{target}"),
        Instr::Branch { cond, then, otherwise } => format!("if {cond} goto L{then} else L{otherwise}"),
        Instr::Call { function, args, dst } => {
            let name = &program.function(*function).name;
            let args = list(args);
            match dst {
                Some(dst) => format!("{dst} = call {name:?} ({args})"),
                None => format!("call {name:?} ({args})"),
            }
        }
        Instr::Return { value: None } => "return".into(),
        Instr::Return { value: Some(value) } => format!("return {value}"),
        Instr::Assume { cond } => format!("assume {cond}"),
        Instr::Assert { cond, message } => format!("assert {cond}, {message:?}"),
        Instr::Nondet { dst, options } => format!("{dst} = nondet {options}"),
        Instr::Create { dst, function, arg } => {
            format!("{dst} = create {:?}, {arg}", program.function(*function).name)
        }
        Instr::Join { thread } => format!("join {thread}"),
        Instr::Lock { address } => format!("lock {address}"),
        Instr::Unlock { address } => format!("unlock {address}"),
        Instr::TryLock { dst, address } => format!("{dst} = trylock {address}"),
        Instr::IsLocked { dst, address } => format!("{dst} = islocked {address}"),
        Instr::LoopHead { effects, memory, variables } => {
            let pairs: Vec<String> = variables.iter().map(|(a, b)| format!("{a} {b}")).collect();
            format!("loop {effects} {memory} ({})", pairs.join(", "))
        }
        Instr::Block { reason: porf_event::BlockReason::Assume } => "block".into(),
        _ => return None,
    })
}

fn list(operands: &[Operand]) -> String {
    operands.iter().map(Operand::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(reg) => reg.fmt(f),
            Operand::Const(value) => value.fmt(f),
        }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
