//! The vocabulary of executions: who did what, where, with which ordering.
//!
//! An execution is made of events. An event has an identity ([`EventId`]: a thread and a position in
//! its program order), a [`Label`] (what it does) and, for models that need them, [`Dependencies`] on
//! earlier reads of its thread. Everything here is plain data: no engine, no model, no program.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod dependency;
mod fence;
mod id;
mod label;
mod mode;
mod tags;
pub mod wide;

pub use dependency::{DepSet, Dependencies};
pub use fence::{ArmDomain, ArmKind, FenceMode, RwSet};
pub use id::{EventId, ThreadId};
pub use label::{Access, BlockReason, Label, LockKind, RmwKind};
pub use mode::{ReadMode, WriteMode};
pub use tags::{Tags, tags};

/// The contents of a memory cell or register; narrower values are zero-extended. A cell of 16 bytes holds the
/// [number](wide::number) of its value.
pub type Value = u64;

/// The address of the first byte of a memory cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(pub u64);

/// The language that a program was written in. It decides what the sets of a cat model (`A`, `L`, `X`,
/// …) mean for its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Dialect {
    /// C11, C++ and Linux-kernel C: the same labels serve both kinds of model.
    #[default]
    C,
    /// Arm, 64 bits.
    AArch64,
    /// Arm, version 7.
    Arm,
    /// POWER.
    Ppc,
    /// RISC-V, 64 bits.
    RiscV,
    /// x86 and x86-64.
    X86,
}

impl Dialect {
    /// Its name, as in the first word of a litmus test.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::C => "C",
            Dialect::AArch64 => "AArch64",
            Dialect::Arm => "ARM",
            Dialect::Ppc => "PPC",
            Dialect::RiscV => "RISCV",
            Dialect::X86 => "X86",
        }
    }
}
