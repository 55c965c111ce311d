//! What an engine answers, and how much that answer is worth.
//!
//! "Yes" says what it covers ([`Coverage`]). "No" carries its reason ([`Violation`]). A limit that
//! was reached is neither ([`Limit`]). Every engine ends in a [`Verdict`], and every renderer starts
//! from one. The exit code is a function of it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod diagnostic;

pub use diagnostic::{Diagnostic, Lines};

use std::fmt;

/// The answer of an engine to "is this program safe?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing goes wrong in what was covered.
    Safe(Coverage),
    /// Something goes wrong.
    Violated(Box<Violation>),
    /// A limit was reached before either was known.
    Inconclusive(Limit),
}

/// What "safe" covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every execution of the program was considered.
    Exhaustive,
    /// Every execution in which no loop runs more than `unroll` times, and input has one of some values.
    Bounded {
        /// The most iterations of a loop, if there is a bound that cut one off.
        unroll: Option<u32>,
        /// The loops that the bound cut off.
        loops: Vec<SourceLocation>,
        /// The loops that look at a clock and wait: no time passes in them.
        clocks: Vec<SourceLocation>,
        /// The input of which not every value is covered.
        inputs: Vec<TriedInput>,
        /// An atomic access of a size that no event has. All such accesses are ordered as if under one lock.
        locked: Option<SourceLocation>,
        /// A variable that is accessed in whole and in part: accesses to its parts are made on the whole.
        mixed: Option<String>,
        /// The functions that nobody defines: calls of them return any value and do nothing else.
        stubs: Vec<String>,
    },
    /// Some executions were run. Nothing is said about the others.
    Sampled {
        /// How many were run.
        executions: u64,
        /// The seed of the first one.
        seed: u64,
    },
    /// Every execution that the sampler can produce was run.
    Systematic {
        /// How many there are.
        executions: u64,
        /// How many times in a row a thread may read the same stores, if that bound cut executions off.
        spins: Option<u32>,
    },
    /// Every number of processes: an inductive invariant was found.
    AllInstances {
        /// The size of the invariant.
        cubes: usize,
    },
}

/// Input of a program, and the values of it that were tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedInput {
    /// Where the program asks for it.
    pub place: SourceLocation,
    /// As people write them.
    pub values: Vec<String>,
}

/// Why an engine stopped without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time is over.
    Time {
        /// The time that was allowed.
        seconds: u64,
    },
    /// Enough executions were visited.
    Executions {
        /// How many were allowed.
        limit: u64,
    },
    /// An execution has too many events.
    Events {
        /// How many it has.
        given: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// The prover has computed enough nodes.
    Nodes {
        /// How many were allowed.
        limit: u64,
    },
    /// The memory is used up.
    Memory {
        /// How much was allowed.
        limit_bytes: u64,
    },
    /// A loop ran too often.
    Unroll {
        /// How often it was allowed to run.
        unroll: u32,
    },
    /// No execution is complete, so that nothing was checked to its end.
    Incomplete {
        /// The loops that the bound cut off.
        loops: Vec<SourceLocation>,
        /// The loops that look at a clock and wait: no time passes in them.
        clocks: Vec<SourceLocation>,
        /// The assumptions that do not hold.
        assumptions: Vec<SourceLocation>,
    },
    /// The user asked to stop.
    Interrupted,
    /// Any other limit, in words.
    Other(String),
}

/// Something that the program must not do, and where it does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What sort of error it is.
    pub kind: ViolationKind,
    /// What happens, for the user.
    pub message: String,
    /// Where it happens, if that is known.
    pub location: Option<SourceLocation>,
    /// The other access of a race, the first free of a double free, …
    pub related: Vec<(String, SourceLocation)>,
}

/// The sorts of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViolationKind {
    /// An assertion fails.
    Assertion,
    /// Two conflicting accesses, at least one of them not atomic, are not ordered.
    Race,
    /// An access to memory that it must not touch.
    Memory,
    /// No thread can continue.
    Deadlock,
    /// A loop waits for something that never comes.
    Liveness,
    /// Misuse of a lock.
    Lock,
    /// The program crashes: division by zero, a bad pointer, unreachable code.
    Trap,
    /// The program aborts itself.
    Panic,
    /// Memory is never freed.
    Leak,
    /// An unsafe state of a parameterised system is reachable.
    Unsafe,
}

/// A place in the user's text; lines and columns start at 1, 0 means unknown. Columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The file as the user named it.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
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

/// Kinds of violations to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks(u16);

impl Checks {
    /// Every kind.
    pub const ALL: Checks = Checks(u16::MAX);

    /// None of the kinds.
    pub const NONE: Checks = Checks(0);

    /// These and one more.
    pub const fn with(self, kind: ViolationKind) -> Checks {
        Checks(self.0 | 1 << kind as u16)
    }

    /// These without one.
    pub const fn without(self, kind: ViolationKind) -> Checks {
        Checks(self.0 & !(1 << kind as u16))
    }

    /// Whether a kind is looked for.
    pub const fn has(self, kind: ViolationKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }
}

impl Default for Checks {
    /// All but leaks.
    fn default() -> Checks {
        Checks::ALL.without(ViolationKind::Leak)
    }
}

impl ViolationKind {
    /// Every kind.
    pub const ALL: [ViolationKind; 10] = [
        ViolationKind::Assertion,
        ViolationKind::Race,
        ViolationKind::Memory,
        ViolationKind::Deadlock,
        ViolationKind::Liveness,
        ViolationKind::Lock,
        ViolationKind::Trap,
        ViolationKind::Panic,
        ViolationKind::Leak,
        ViolationKind::Unsafe,
    ];

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
            ViolationKind::Leak => "leak",
            ViolationKind::Unsafe => "unsafe",
        }
    }

    /// What it means, in one sentence for people who meet the word in a report.
    pub fn description(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "An assertion of the program fails in some execution.",
            ViolationKind::Race => {
                "Two accesses to the same memory, one of them a write and one not atomic, are not ordered: undefined behaviour."
            }
            ViolationKind::Memory => {
                "Memory is used that is not there: freed, never allocated, out of bounds or uninitialised."
            }
            ViolationKind::Deadlock => "Threads wait for each other, and none can go on.",
            ViolationKind::Liveness => "A loop waits for something that never happens.",
            ViolationKind::Lock => "A lock is used against its rules.",
            ViolationKind::Trap => "The program does what the language leaves undefined, or aborts.",
            ViolationKind::Panic => "The program panics.",
            ViolationKind::Leak => "Memory is never freed.",
            ViolationKind::Unsafe => "A state that the system calls unsafe can be reached.",
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhaustive => write!(f, "every execution"),
            Coverage::Bounded { unroll, loops, clocks, inputs, locked, mixed, stubs } => {
                write!(f, "every execution")?;
                let mut and = " in which";
                if locked.is_some() {
                    write!(f, "{and} atomics of an odd size are ordered as by a lock")?;
                    and = " and";
                }
                if let Some(mixed) = mixed {
                    write!(f, "{and} atomic accesses to parts of {mixed} are accesses to the whole of it")?;
                    and = " and";
                }
                if !stubs.is_empty() {
                    write!(f, "{and} {} only return a value", calls(stubs))?;
                }
                if let Some(unroll) = unroll {
                    write!(f, " with loops up to {unroll} iterations")?;
                }
                if !inputs.is_empty() {
                    write!(f, ", for some values of its input only")?;
                }
                if !loops.is_empty() {
                    write!(f, "; cut off: {}", places("the loop", loops))?;
                }
                if !clocks.is_empty() {
                    write!(f, "; no time passes in {}", places("the loop", clocks))?;
                }
                for input in inputs {
                    write!(f, "; tried: {}", input)?;
                }
                match locked {
                    Some(place) => write!(f, "; such an access: {place}"),
                    None => Ok(()),
                }
            }
            Coverage::Sampled { executions, seed } => {
                write!(f, "{executions} sampled executions, seed {seed}")
            }
            Coverage::Systematic { executions, spins } => {
                write!(f, "every execution of the fragment ({executions} of them)")?;
                spins.map_or(Ok(()), |spins| {
                    write!(f, " in which no thread reads the same stores more than {spins} times in a row")
                })
            }
            Coverage::AllInstances { cubes } => {
                write!(f, "any number of processes, by an inductive invariant of {cubes} cubes")
            }
        }
    }
}

impl fmt::Display for TriedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.values.join(", "))?;
        // Functions of the library that read input have no lines.
        if self.place.line == 0 { Ok(()) } else { write!(f, " at {}", self.place) }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Time { seconds } => write!(f, "time limit of {seconds} s reached"),
            Limit::Executions { limit } => write!(f, "limit of {limit} executions reached"),
            Limit::Events { given, limit } => write!(f, "{given} events, limit {limit}"),
            Limit::Nodes { limit } => write!(f, "limit of {limit} nodes reached"),
            Limit::Memory { limit_bytes } => {
                write!(f, "memory limit of {} MiB reached (--max-memory)", limit_bytes.div_ceil(1 << 20))
            }
            Limit::Unroll { unroll } => write!(f, "a loop ran more than {unroll} times"),
            Limit::Incomplete { loops, clocks, assumptions } => {
                write!(f, "no execution is complete")?;
                if !loops.is_empty() {
                    write!(f, "; the bound cuts off {}", places("the loop", loops))?;
                }
                if !clocks.is_empty() {
                    write!(f, "; no time passes in {}", places("the loop", clocks))?;
                }
                if !assumptions.is_empty() {
                    write!(f, "; {} never holds", places("the assumption", assumptions))?;
                }
                Ok(())
            }
            Limit::Interrupted => write!(f, "interrupted"),
            Limit::Other(what) => write!(f, "{what}"),
        }
    }
}

/// `the loop at a.c:3, a.c:9`.
/// "calls of f", "calls of f and g", "calls of f, g and h".
fn calls(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("calls of {} and {last}", rest.join(", ")),
        _ => format!("calls of {}", names.join(", ")),
    }
}

fn places(what: &str, places: &[SourceLocation]) -> String {
    let places: Vec<String> = places.iter().map(|place| format!("{}:{}", place.file, place.line)).collect();
    format!("{what} at {}", places.join(", "))
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
