//! What a thread can do wrong by itself.

use porf_ir::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    Assertion,
    DivisionByZero,
    /// Unlocking what is not locked.
    Lock,
    /// An access through something that is no pointer.
    BadAddress,
    StackOverflow,
    /// A loop that does nothing visible and does not end.
    SilentLoop,
}
