//! The models that a program can be explored under, and when two executions are the same.

use porf_consistency::Architecture;
use porf_event::Dialect;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    Sc,
    Tso,
    Pso,
    Ra,
    Sra,
    Rc11,
    Wrc11,
    /// From here on models keep dependencies instead of program order.
    Imm,
    Armv8,
    Armv7,
    Power,
    Riscv,
    Lkmm,
}

/// When two executions count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// Same events, rf and co.
    Mo,
    /// Same events and rf.
    Rf,
}

impl Model {
    pub const ALL: [Model; 13] = [
        Model::Sc,
        Model::Tso,
        Model::Pso,
        Model::Ra,
        Model::Sra,
        Model::Rc11,
        Model::Wrc11,
        Model::Imm,
        Model::Armv8,
        Model::Armv7,
        Model::Power,
        Model::Riscv,
        Model::Lkmm,
    ];

    /// As its cat file is called.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Ra => "ra",
            Model::Sra => "sra",
            Model::Rc11 => "rc11",
            Model::Wrc11 => "wrc11",
            Model::Imm => "imm",
            Model::Armv8 => "armv8",
            Model::Armv7 => "armv7",
            Model::Power => "power",
            Model::Riscv => "riscv",
            Model::Lkmm => "lkmm",
        }
    }

    /// What it keeps of program order, if that is not all.
    pub fn architecture(self) -> Option<Architecture> {
        match self {
            Model::Imm => Some(Architecture::Imm),
            Model::Armv8 => Some(Architecture::Armv8),
            Model::Armv7 => Some(Architecture::Armv7),
            Model::Power => Some(Architecture::Power),
            Model::Riscv => Some(Architecture::Riscv),
            Model::Lkmm => Some(Architecture::Lkmm),
            _ => None,
        }
    }

    /// The language whose accesses and fences it speaks of: a C program must be compiled to it first.
    pub fn dialect(self) -> Dialect {
        match self {
            Model::Armv8 => Dialect::AArch64,
            Model::Armv7 => Dialect::Arm,
            Model::Power => Dialect::Ppc,
            Model::Riscv => Dialect::RiscV,
            _ => Dialect::C,
        }
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        let known = Model::ALL.into_iter().find(|model| model.name() == name);
        known.ok_or_else(|| format!("no fast checker for a model called {name}"))
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
        })
    }
}
