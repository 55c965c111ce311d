//! The registry of memory models: one row for each model that ships with Porf.
//!
//! A row says what the model is called, where its axioms come from, which programs it speaks of, how C
//! is compiled to it, and which engines take it. Nothing else in Porf recognises a model by its name:
//! the command line, the dispatch of the explorer and the tables of the documentation ask the registry.
//! `docs/adding-a-model.md` shows how to add one.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod registry;

pub use registry::{ENTRIES, Model};

use porf_event::Dialect;
use std::fmt;
use std::str::FromStr;

/// What the registry knows of a model.
#[derive(Debug)]
pub struct Entry {
    /// The model that this row is about.
    pub model: Model,
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// Where its axioms come from.
    pub citation: &'static str,
    /// The text of `NAME.cat`.
    pub cat: &'static str,
    /// The languages of the litmus tests that it speaks of.
    pub languages: &'static [Language],
    /// What becomes of a C program before it runs under the model.
    pub mapping: Mapping,
    /// What the model keeps of program order; `None` if it forbids cycles in po | rf.
    pub architecture: Option<Architecture>,
    /// Whether the writes to a location are in one order, co, for all threads.
    pub orders_writes: bool,
    /// Whether a data race is an error under the model, and is looked for.
    pub races: bool,
    /// When two executions count as the same; the explorer offers these choices, the first by default.
    pub equivalences: &'static [Equivalence],
    /// How the explorer checks executions.
    pub checked: CheckedBy,
    /// Whether `porf prove` has it.
    pub proves: bool,
}

/// How the explorer checks executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckedBy {
    /// By a checker made for the model.
    Code,
    /// By a checker that asks the cat text where coherence and atomicity do not decide.
    CodeAndCat,
    /// By the cat text alone. That is the choice for a new model.
    Cat,
}

/// When two executions count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// Same events, rf and co.
    Mo,
    /// Same events and rf.
    Rf,
    /// Same events and final memory, where a read has its value and not the write that it comes from. An experiment.
    Values,
}

/// What a litmus test is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C with C11's atomics.
    C,
    /// C with the primitives of the Linux kernel.
    Kernel,
    /// AArch64 assembly.
    AArch64,
    /// 32-bit Arm assembly.
    Arm,
    /// Power assembly.
    Ppc,
    /// RISC-V assembly.
    RiscV,
    /// x86 assembly, 32 or 64 bits.
    X86,
}

/// What becomes of a C program before it runs under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// It runs as it is: the model speaks of C's own accesses and fences.
    Itself,
    /// It is compiled to the instructions of a machine.
    Machine(Machine),
    /// It must be kernel code.
    Kernel,
}

/// A machine that C is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86 under total store order.
    X86,
    /// SPARC under partial store order.
    Pso,
    /// Arm, version 8.
    Armv8,
    /// Arm, version 7.
    Armv7,
    /// IBM Power.
    Power,
    /// RISC-V.
    Riscv,
}

/// A model that does not keep program order, but an order of its own inside a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// The intermediate memory model.
    Imm,
    /// Arm, version 8.
    Armv8,
    /// Arm, version 7.
    Armv7,
    /// IBM Power.
    Power,
    /// RISC-V.
    Riscv,
    /// The Linux kernel.
    Lkmm,
}

impl Model {
    /// All models, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Model> {
        ENTRIES.iter().map(|entry| entry.model)
    }

    /// The model's row in the registry.
    pub fn entry(self) -> &'static Entry {
        // A test holds the order of the rows to that of the enum.
        &ENTRIES[self as usize]
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Whether the writes to a location are in one order, co, for all threads.
    pub fn orders_writes(self) -> bool {
        self.entry().orders_writes
    }

    /// What it keeps of program order, if that is not all.
    pub fn architecture(self) -> Option<Architecture> {
        self.entry().architecture
    }

    /// Whether the model speaks of programs with the labels of a dialect.
    pub fn speaks(self, dialect: Dialect) -> bool {
        self.entry().languages.iter().any(|language| language.dialect() == dialect)
    }

    /// The model that describes a machine.
    pub fn of_machine(machine: Machine) -> Model {
        let entry = ENTRIES.iter().find(|entry| entry.mapping == Mapping::Machine(machine));
        entry.map(|entry| entry.model).unwrap_or_else(|| unreachable!("every machine has a model"))
    }

    /// The model for tests in a language, where the user names none.
    pub fn default_for(language: Language) -> Model {
        match language {
            Language::C => Model::Rc11,
            Language::Kernel => Model::Lkmm,
            Language::AArch64 => Model::Armv8,
            Language::Arm => Model::Armv7,
            Language::Ppc => Model::Power,
            Language::RiscV => Model::Riscv,
            Language::X86 => Model::Tso,
        }
    }
}

impl Entry {
    /// The machine that C is compiled to for this model.
    pub fn machine(&self) -> Option<Machine> {
        match self.mapping {
            Mapping::Machine(machine) => Some(machine),
            Mapping::Itself | Mapping::Kernel => None,
        }
    }

    /// Whether the explorer can search up to an equivalence.
    pub fn has(&self, equivalence: Equivalence) -> bool {
        self.equivalences.contains(&equivalence)
    }
}

impl Machine {
    /// Every machine.
    pub const ALL: [Machine; 6] =
        [Machine::X86, Machine::Pso, Machine::Armv8, Machine::Armv7, Machine::Power, Machine::Riscv];

    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86 => "x86",
            Machine::Pso => "sparc",
            Machine::Armv8 => "aarch64",
            Machine::Armv7 => "armv7",
            Machine::Power => "power",
            Machine::Riscv => "riscv",
        }
    }

    /// The labels of its programs. PSO has no dialect of its own: C's fences serve it.
    pub fn dialect(self) -> Dialect {
        match self {
            Machine::X86 => Dialect::X86,
            Machine::Pso => Dialect::C,
            Machine::Armv8 => Dialect::AArch64,
            Machine::Armv7 => Dialect::Arm,
            Machine::Power => Dialect::Ppc,
            Machine::Riscv => Dialect::RiscV,
        }
    }
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 7] = [
        Language::C,
        Language::Kernel,
        Language::AArch64,
        Language::Arm,
        Language::Ppc,
        Language::RiscV,
        Language::X86,
    ];

    /// The labels of its programs.
    pub fn dialect(self) -> Dialect {
        match self {
            Language::C | Language::Kernel => Dialect::C,
            Language::AArch64 => Dialect::AArch64,
            Language::Arm => Dialect::Arm,
            Language::Ppc => Dialect::Ppc,
            Language::RiscV => Dialect::RiscV,
            Language::X86 => Dialect::X86,
        }
    }

    /// As the reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Kernel => "LKMM",
            other => other.dialect().name(),
        }
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        let known = ENTRIES.iter().find(|entry| entry.name == name);
        known.map(|entry| entry.model).ok_or_else(|| {
            let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
            format!("no model '{name}': one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Equivalence::Mo => "mo",
            Equivalence::Rf => "rf",
            Equivalence::Values => "values",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum() {
        for (at, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.model as usize, at, "{}", entry.name);
            assert_eq!(entry.name.parse(), Ok(entry.model));
        }
    }

    #[test]
    fn every_machine_and_language_has_its_model() {
        for machine in Machine::ALL {
            assert_eq!(Model::of_machine(machine).entry().machine(), Some(machine));
        }
        for language in Language::ALL {
            let model = Model::default_for(language);
            assert!(model.entry().languages.contains(&language), "{model} for {}", language.name());
        }
    }
}
