//! Safety of array systems for any number of processes, over sequentially consistent and weak memory.
//!
//! The way of the data: [`syntax`] (text to tree and back) → [`typing`] (tree to [`system::System`]) →
//! [`mod@prove`] (backward reachability: any number of processes) and [`explore`] (forward search of one
//! finite instance), two engines that share nothing but the system and hold each other honest.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answer;
pub mod certificate;
pub mod explore;
pub mod fences;
pub mod law;
pub mod program;
pub mod prove;
pub mod syntax;
pub mod system;
pub mod typing;
mod warning;

pub use answer::{Approximation, ProofAnswer, Request, Robust, prove};
use syntax::Diagnostic;
pub use warning::Warning;

/// The memory under the system's weak variables and arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// Sequential consistency: `weak` and `fence()` mean nothing.
    Sc,
    /// Total store order: one FIFO store buffer per process.
    Tso,
    /// Partial store order: buffered writes to different locations may overtake each other.
    Pso,
    /// Release–acquire: messages with views, as in the release–acquire fragment of C11.
    Ra,
}

impl Memory {
    /// Every memory.
    pub const ALL: [Memory; 4] = [Memory::Sc, Memory::Tso, Memory::Pso, Memory::Ra];
    /// Those that are store-buffer machines, the strongest first. Release–acquire allows all that TSO allows; it
    /// and PSO each allow what the other does not.
    pub const BUFFERED: [Memory; 3] = [Memory::Sc, Memory::Tso, Memory::Pso];

    /// The word used on the command line, in text and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Memory::Sc => "sc",
            Memory::Tso => "tso",
            Memory::Pso => "pso",
            Memory::Ra => "ra",
        }
    }
}

/// Parses and checks a system.
pub fn load(source: &str) -> Result<system::System, Diagnostic> {
    typing::check(&syntax::parse(source)?)
}
