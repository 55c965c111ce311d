//! A fault, and the way there.

use porf_ir::{FunctionId, Span};

pub use porf_ir::FaultKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
    /// The calls that lead there, innermost first.
    pub stack: Vec<(FunctionId, Span)>,
}
