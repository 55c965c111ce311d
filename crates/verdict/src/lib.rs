//! What an engine answers, and how much that answer is worth.
//!
//! "Yes" says what it covers ([`Coverage`]), "no" carries its reason ([`Violation`]), and a limit
//! that was reached is neither ([`Limit`]). Every engine ends in a [`Verdict`], every renderer starts
//! from one; exit codes are a function of it.

use std::fmt;

/// The answer of an engine to "is this program safe?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Safe(Coverage),
    Violated(Box<Violation>),
    Inconclusive(Limit),
}

/// What "safe" covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every execution of the program was considered.
    Exhaustive,
    /// Every execution in which no loop runs more than `unroll` times.
    Bounded { unroll: u32 },
    /// So many executions were run; nothing is said of the others.
    Sampled { executions: u64, seed: u64 },
    /// Every number of processes: an inductive invariant of so many cubes was found.
    AllInstances { cubes: usize },
}

/// Why an engine stopped without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    Time { seconds: u64 },
    Executions { limit: u64 },
    Events { given: u64, limit: u64 },
    Nodes { limit: u64 },
    Memory { limit_bytes: u64 },
    Unroll { unroll: u32 },
    Interrupted,
    Other(String),
}

/// Something the program must not do, and where it does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub kind: ViolationKind,
    pub message: String,
    pub location: Option<SourceLocation>,
    /// The other access of a race, the first free of a double free, …
    pub related: Vec<(String, SourceLocation)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViolationKind {
    Assertion,
    Race,
    Memory,
    Deadlock,
    Liveness,
    Lock,
    Trap,
    Panic,
    /// An unsafe state of a parameterised system is reachable.
    Unsafe,
}

/// A place in the user's text; lines and columns start at 1, 0 means unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Verdict {
    /// The process exit code that every verb uses for this verdict.
    pub fn exit_code(&self) -> u8 {
        match self {
            Verdict::Safe(_) => 0,
            Verdict::Violated(_) => 1,
            Verdict::Inconclusive(limit) => limit.exit_code(),
        }
    }

    /// The word used in text and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Safe(_) => "safe",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(_) => "inconclusive",
        }
    }
}

impl Limit {
    /// The process exit code where there is no verdict because of it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Limit::Interrupted => 130,
            _ => 3,
        }
    }
}

impl ViolationKind {
    /// The word used in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "assertion",
            ViolationKind::Race => "race",
            ViolationKind::Memory => "memory",
            ViolationKind::Deadlock => "deadlock",
            ViolationKind::Liveness => "liveness",
            ViolationKind::Lock => "lock",
            ViolationKind::Trap => "trap",
            ViolationKind::Panic => "panic",
            ViolationKind::Unsafe => "unsafe",
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhaustive => write!(f, "every execution"),
            Coverage::Bounded { unroll } => write!(f, "every execution with loops up to {unroll} iterations"),
            Coverage::Sampled { executions, seed } => {
                write!(f, "{executions} sampled executions, seed {seed}")
            }
            Coverage::AllInstances { cubes } => {
                write!(f, "any number of processes, by an inductive invariant of {cubes} cubes")
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Time { seconds } => write!(f, "time limit of {seconds} s reached"),
            Limit::Executions { limit } => write!(f, "limit of {limit} executions reached"),
            Limit::Events { given, limit } => write!(f, "{given} events, limit {limit}"),
            Limit::Nodes { limit } => write!(f, "limit of {limit} nodes reached"),
            Limit::Memory { limit_bytes } => write!(f, "memory limit of {limit_bytes} bytes reached"),
            Limit::Unroll { unroll } => write!(f, "a loop ran more than {unroll} times"),
            Limit::Interrupted => write!(f, "interrupted"),
            Limit::Other(what) => write!(f, "{what}"),
        }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}
