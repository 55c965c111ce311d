//! Why an exploration could not be done.

use crate::mixed::Overlap;
use crate::reduce::{Flag, KnownLock, Reduction};
use porf_ir::Split;
use std::fmt;

/// Why an exploration could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The program uses something that this engine cannot treat.
    Unsupported(String),
    /// Whether some co makes an execution consistent was not found out within the budget: the search
    /// has to be made under the equivalence that sees co.
    Undecided,
    /// Accesses of different sizes overlap, some of them non-atomic: the program must be searched with
    /// these cut. The entry points of this crate do that; callers never see it.
    Mixed(Vec<Split>),
    /// Atomic accesses of different sizes overlap: what is done depends on the model. The entry points of this crate
    /// do it; callers never see it.
    Overlap(Box<Overlap>),
    /// It turned out that a reduction does not fit the program, which must be searched without it. The entry points
    /// of this crate do that; callers never see it.
    Without(Reduction),
    /// A variable is, or is not, a flag: the program must be searched with that knowledge. The entry points of this
    /// crate do that; callers never see it.
    Flag(Flag),
    /// Something is known of a lock now: the program must be searched with that knowledge. The entry points of this crate
    /// do that; callers never see it.
    Lock(KnownLock),
    /// A fixed limit of the engine was reached.
    Limit(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported(what) => write!(f, "not supported: {what}"),
            Error::Undecided => f.write_str("up to rf, it cannot be decided which executions there are"),
            Error::Mixed(_) | Error::Overlap(_) => f.write_str("accesses of different sizes overlap"),
            Error::Without(reduction) => write!(f, "the reduction {reduction} does not fit the program"),
            Error::Flag(flag) => write!(f, "{:#x} is a flag, or is none", flag.address),
            Error::Lock(lock) => {
                write!(f, "the order of those that have the lock {:#x} matters", lock.address)
            }
            Error::Limit(what) => write!(f, "limit reached: {what}"),
        }
    }
}

impl std::error::Error for Error {}
