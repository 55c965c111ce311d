//! What a thread can do wrong by itself.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    Assertion,
    /// `abort()`, and traps that the compiler put there.
    Abort,
    /// A panic that nobody catches.
    Panic,
    DivisionByZero,
    /// Arithmetic that C leaves undefined: shifts past the width, quotients without a place.
    Arithmetic,
    /// Unlocking what is not locked, and the like.
    Lock,
    /// An access through something that is no pointer.
    BadAddress,
    NullPointer,
    OutOfBounds,
    UseAfterFree,
    Uninitialised,
    /// Freeing what was not allocated, or twice.
    BadFree,
    /// A call through something that is no function, or of another type.
    BadCall,
    StackOverflow,
    /// A loop that does nothing visible and does not end.
    SilentLoop,
    /// Not the program's fault: something that we cannot run.
    Unsupported,
    /// Not the program's fault: more memory than we give.
    OutOfMemory,
}

impl FaultKind {
    /// Whether the program is not wrong, but more than the tool can do.
    pub fn is_limit(self) -> bool {
        matches!(
            self,
            FaultKind::Unsupported
                | FaultKind::OutOfMemory
                | FaultKind::SilentLoop
                | FaultKind::StackOverflow
        )
    }
}
