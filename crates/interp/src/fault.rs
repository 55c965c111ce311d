//! A fault of a thread, with the calls that lead to it.

use porf_ir::{FunctionId, Span};

pub use porf_ir::FaultKind;

/// What a thread did wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of mistake it is.
    pub kind: FaultKind,
    /// The mistake, in words.
    pub message: String,
    /// The instruction.
    pub span: Span,
    /// The calls that lead there, innermost first.
    pub stack: Vec<(FunctionId, Span)>,
}
