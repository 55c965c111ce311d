//! Reads litmus tests in herd's format: a program in `porf_ir` and a question about its final states.
//!
//! A test is a head (architecture, name, meta lines), an initial state in braces, the code of the
//! threads, and a condition. The format is that of the herdtools (Alglave, Maranget, Tautschnig,
//! "Herding Cats", TOPLAS 2014). One file of this crate reads the code of each dialect; [`Dialect`]
//! names them.
//!
//! Limits: what is not supported gives a [`Diagnostic`] that names the construct, its line and column.
//! Cost: one pass over the text, some tens of microseconds for an ordinary test.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod aarch64;
mod arm;
mod asm;
mod c;
mod condition;
mod header;
mod init;
mod memory;
mod outcome;
mod ppc;
mod print;
mod riscv;
mod size;
mod source;
mod thread;
mod x86;

pub use condition::{Condition, Constant, Observable, Prop, Quantifier};
pub use outcome::{Collector, Observation, Outcome};
pub use porf_event::Dialect;
pub use porf_verdict::Diagnostic;

use memory::Memory;
use porf_event::Value;
use porf_ir::{FunctionId, Program, ThreadEntry, Width};
use porf_model::Language;
use source::{Comments, Cursor, Source};
use thread::Thread;

/// A litmus test, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusTest {
    /// Its name, without `.litmus`.
    pub name: String,
    /// The language of its code.
    pub dialect: Dialect,
    /// The architecture as written: "C", "X86_64", …
    pub arch: String,
    /// Its threads and variables.
    pub program: Program,
    /// What is asked.
    pub condition: Condition,
    /// Only final states that satisfy it count.
    pub filter: Option<Prop>,
    /// From `locations [...]`: shown in states beside what the condition mentions.
    pub locations: Vec<Observable>,
    /// Whether accesses of different sizes may touch the same bytes.
    pub mixed: bool,
    /// The meta lines `Key=value`.
    pub info: Vec<(String, String)>,
    /// The source, which the spans of the program point into.
    pub text: String,
    /// The part of the text that is code.
    pub code: std::ops::Range<usize>,
}

/// Reads a test; `file` is only a name for messages.
pub fn parse(file: &str, text: &str) -> Result<LitmusTest, Diagnostic> {
    let source = Source::new(file, text);
    let mut cursor = Cursor::new(&source, 0, Comments::Caml);
    let header = header::parse(&mut cursor)?;
    let Some(dialect) = dialect(header.arch) else {
        return Err(source.error(0, format!("architecture '{}' is not supported", header.arch)));
    };
    let machine = machine(header.arch);
    let mut memory = Memory::new(if dialect == Dialect::C { 8 } else { 4 });
    let registers = init::parse(&mut cursor, &mut memory, dialect == Dialect::C)?;
    let code = cursor.at;
    let mut threads = match &machine {
        Some(machine) => asm::parse(&mut cursor, &mut memory, machine.as_ref())?,
        None => c::parse(&mut cursor, &mut memory)?,
    };
    let code = code..cursor.at;
    let name_of = |name: &str| match &machine {
        Some(machine) => machine.register(name).ok_or_else(|| format!("'{name}' is no register")),
        None => Ok((name.trim_start_matches('%').to_string(), 8)),
    };
    for init in &registers {
        let (name, _) = name_of(init.name).map_err(|message| source.error_at(init.span, message))?;
        let value = memory.value(&init.value);
        match init.thread {
            Some(at) => match threads.get_mut(at) {
                Some(thread) => thread.set_initial(&name, value),
                None => return Err(source.error_at(init.span, format!("there is no thread {at}"))),
            },
            None => {
                let knows = |thread: &&mut Thread| thread.function.register_names.contains(&name);
                threads.iter_mut().filter(knows).for_each(|thread| thread.set_initial(&name, value));
            }
        }
    }
    let mixed = dialect != Dialect::C && size::assign(&mut memory, &threads);
    let question = condition::parse(&mut cursor, &mut memory, &mut |thread, name| {
        let (name, _) = name_of(name)?;
        let Some(code) = threads.get_mut(thread) else {
            return Err(format!("there is no thread {thread}"));
        };
        let reg = code.register(&name);
        let size = register_size(header.arch);
        let words = matches!(dialect, Dialect::AArch64 | Dialect::Ppc | Dialect::X86);
        Ok(Observable::Register { thread, name, reg, size, words })
    })?;
    Ok(LitmusTest {
        program: program(&header.name, dialect, &memory, threads),
        name: header.name,
        dialect,
        arch: header.arch.to_string(),
        condition: question.condition,
        filter: question.filter,
        locations: question.locations,
        mixed,
        info: header.info,
        text: text.to_string(),
        code,
    })
}

/// A value as herd prints it: the name of the variable it points to, or a signed number of `size`
/// bytes.
pub fn format_value(program: &Program, value: Value, size: u8) -> String {
    if value >= Program::FIRST_ADDRESS
        && let Some(global) = program.global_at(value)
    {
        let cell = global.init.first().map_or(global.size, |cell| u64::from(cell.size));
        return match (value - global.address, global.size > cell) {
            (0, false) => global.name.clone(),
            (offset, true) if offset % cell == 0 => format!("{}[{}]", global.name, offset / cell),
            (offset, _) => format!("{}+{}", global.name, offset),
        };
    }
    Width::of_bytes(size).signed(value).to_string()
}

impl LitmusTest {
    /// What a final state lists: everything in the condition and in `locations`, each once. Registers
    /// come first, by thread, then memory.
    pub fn observables(&self) -> Vec<Observable> {
        let mut found = self.locations.clone();
        self.condition.prop.visit(&mut |observable| found.push(observable.clone()));
        found.sort();
        found.dedup();
        found
    }

    /// What the test is written in.
    pub fn language(&self) -> Language {
        match self.dialect {
            Dialect::C if self.is_kernel_code() => Language::Kernel,
            Dialect::C => Language::C,
            Dialect::AArch64 => Language::AArch64,
            Dialect::Arm => Language::Arm,
            Dialect::Ppc => Language::Ppc,
            Dialect::RiscV => Language::RiscV,
            Dialect::X86 => Language::X86,
        }
    }

    /// Whether C code uses the Linux kernel's primitives rather than C11's.
    pub fn is_kernel_code(&self) -> bool {
        let words = [
            "READ_ONCE",
            "WRITE_ONCE",
            "smp_",
            "rcu_",
            "spin_",
            "xchg",
            "atomic_add",
            "atomic_sub",
            "atomic_inc",
            "atomic_dec",
            "atomic_read",
            "atomic_set",
        ];
        let code = &self.text[self.code.clone()];
        self.dialect == Dialect::C
            && words.iter().any(|word| code.contains(word))
            && !code.contains("memory_order")
    }
}

fn dialect(arch: &str) -> Option<Dialect> {
    Some(match arch {
        "C" => Dialect::C,
        "AArch64" => Dialect::AArch64,
        "ARM" => Dialect::Arm,
        "PPC" => Dialect::Ppc,
        "RISCV" => Dialect::RiscV,
        "X86" | "X86_64" => Dialect::X86,
        _ => return None,
    })
}

/// The reader of an assembly language; `None` for C.
fn machine(arch: &str) -> Option<Box<dyn asm::InstructionSet>> {
    Some(match arch {
        "AArch64" => Box::new(aarch64::AArch64),
        "ARM" => Box::new(arm::Arm),
        "PPC" => Box::new(ppc::Ppc),
        "RISCV" => Box::new(riscv::RiscV),
        "X86" => Box::new(x86::X86 { long: false }),
        "X86_64" => Box::new(x86::X86 { long: true }),
        _ => return None,
    })
}

/// The size in bytes of the whole register, whichever part of it a condition names.
fn register_size(arch: &str) -> u8 {
    if matches!(arch, "X86" | "ARM") { 4 } else { 8 }
}

fn program(name: &str, dialect: Dialect, memory: &Memory, threads: Vec<Thread>) -> Program {
    let mut program =
        Program { name: name.to_string(), dialect, globals: memory.globals(), ..Program::default() };
    for (at, thread) in threads.into_iter().enumerate() {
        program.threads.push(ThreadEntry {
            name: format!("P{at}"),
            function: FunctionId(at as u32),
            registers: thread.initial,
        });
        program.functions.push(thread.function);
    }
    program
}
