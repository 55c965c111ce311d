//! Reductions: executions that need not be visited, because others show the same.
//!
//! Each can be switched off by its name, and counts what it did. Why each of them is sound is told where it
//! is made, and in `docs/exploration.md`.

mod awaits;
mod counters;
mod flags;
mod in_vain;
mod known_locks;
mod own_nodes;
mod own_variables;
mod retries;
mod tries;

pub(crate) use awaits::Awaits;
pub use counters::Counter;
pub use flags::{Flag, Flags};
pub use known_locks::{KnownLock, KnownLocks, LockUse};
pub(crate) use own_nodes::Watched;
pub use own_variables::Owner;
pub(crate) use retries::Retries;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A way to visit fewer executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reduction {
    /// An iteration that leads where an earlier read could have led at once is not made.
    Retries,
    /// A loop whose iterations write, but leave everything as it was, waits.
    NetEffect,
    /// Threads that come to a barrier are not ordered.
    Barriers,
    /// Of executions that differ in the names of equal threads one is visited.
    Symmetry,
    /// A read that may have to wait for a value comes when no other thread can move.
    Awaits,
    /// A retry may write to a node that no other thread has seen.
    OwnNodes,
    /// A loop that takes a flag and gives it back, and does nothing else, waits.
    Flags,
    /// Critical sections that do not conflict are not ordered.
    Locks,
    /// A loop that changes a counter and takes that back, and does nothing else, waits.
    Counters,
    /// A loop may store to a variable that no other thread writes, if it leaves there what was there.
    OwnVariables,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 10] = [
        Reduction::Retries,
        Reduction::NetEffect,
        Reduction::Barriers,
        Reduction::Symmetry,
        Reduction::Awaits,
        Reduction::OwnNodes,
        Reduction::Flags,
        Reduction::Locks,
        Reduction::Counters,
        Reduction::OwnVariables,
    ];

    /// What it is called on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Retries => "retries",
            Reduction::NetEffect => "net-effect",
            Reduction::Barriers => "barriers",
            Reduction::Symmetry => "symmetry",
            Reduction::Awaits => "awaits",
            Reduction::OwnNodes => "own-nodes",
            Reduction::Flags => "flags",
            Reduction::Locks => "locks",
            Reduction::Counters => "counters",
            Reduction::OwnVariables => "own-variables",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reduction {
    type Err = String;

    fn from_str(word: &str) -> Result<Reduction, String> {
        let known = Reduction::ALL.into_iter().find(|reduction| reduction.name() == word);
        known.ok_or_else(|| format!("one of {}", Reduction::ALL.map(Reduction::name).join(", ")))
    }
}

/// A set of reductions; all of them by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reductions(u16);

impl Reductions {
    /// Every execution is visited.
    pub const NONE: Reductions = Reductions(0);
    /// Every reduction there is.
    pub const ALL: Reductions = Reductions((1 << Reduction::ALL.len()) - 1);

    /// Only one.
    pub const fn only(reduction: Reduction) -> Reductions {
        Reductions(1 << reduction as u8)
    }

    /// Whether a reduction is made.
    pub const fn has(self, reduction: Reduction) -> bool {
        self.0 >> reduction as u8 & 1 != 0
    }

    /// One more.
    #[must_use]
    pub const fn with(self, reduction: Reduction) -> Reductions {
        Reductions(self.0 | 1 << reduction as u8)
    }

    /// The others.
    #[must_use]
    pub const fn without(self, reduction: Reduction) -> Reductions {
        Reductions(self.0 & !(1 << reduction as u8))
    }
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions::ALL
    }
}

/// How often each reduction was made. What is counted differs: see `docs/report-format.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced([u64; Reduction::ALL.len()]);

impl Reduced {
    /// How often one was made.
    pub fn by(&self, reduction: Reduction) -> u64 {
        self.0[reduction as usize]
    }

    /// One was made so many more times.
    pub fn count(&mut self, reduction: Reduction, times: u64) {
        let made = &mut self.0[reduction as usize];
        *made = made.saturating_add(times);
    }

    /// Adds what another part of the search did.
    pub fn add(&mut self, other: &Reduced) {
        for reduction in Reduction::ALL {
            self.count(reduction, other.by(reduction));
        }
    }

    /// How often since.
    pub(crate) fn since(&self, before: &Reduced) -> Reduced {
        Reduced(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }

    /// Those that were made, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Reduction, u64)> + '_ {
        Reduction::ALL
            .into_iter()
            .map(|reduction| (reduction, self.by(reduction)))
            .filter(|(_, times)| *times > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_by_names() {
        let mut set = Reductions::default();
        for reduction in Reduction::ALL {
            assert_eq!(reduction.name().parse(), Ok(reduction));
            assert!(set.has(reduction) && Reductions::only(reduction).has(reduction));
            set = set.without(reduction);
            assert!(!set.has(reduction));
        }
        assert_eq!(set, Reductions::NONE);
        assert!("retry".parse::<Reduction>().is_err());
    }
}
