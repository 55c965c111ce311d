//! What a thread can do wrong by itself.

use serde::{Deserialize, Serialize};

/// The sorts of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FaultKind {
    /// An assertion does not hold.
    Assertion,
    /// `abort()`, and traps that the compiler put there.
    Abort,
    /// A panic that nobody catches.
    Panic,
    /// A division or remainder by 0.
    DivisionByZero,
    /// Arithmetic that C leaves undefined: shifts past the width, quotients without a place.
    Arithmetic,
    /// Unlocking what is not locked, and the like.
    Lock,
    /// An access through something that is no pointer.
    BadAddress,
    /// An access through null, or through null and a small offset.
    NullPointer,
    /// An access that leaves the object its pointer belongs to.
    OutOfBounds,
    /// An access to an object that has ended.
    UseAfterFree,
    /// A read of memory that nothing was written to.
    Uninitialised,
    /// Freeing what was not allocated, or twice.
    BadFree,
    /// A call through something that is no function, or of another type.
    BadCall,
    /// More calls inside each other than we follow.
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
