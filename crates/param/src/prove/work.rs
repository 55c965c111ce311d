//! The work of a search: counted in steps, not in time, so that a limit ends it at the same place on every
//! machine.
//!
//! A step is one check in the comparison of two cubes, one literal that a pre-image handles, one place tried for
//! a read of a candidate, or 64 states looked at for one of its literals; exploring a state counts as 32. The
//! loops that may be long count their steps and stop when [`Work::spend`] says so, with whatever errs on the safe
//! side ("not covered", no predecessors); the search asks [`Work::stopped`] before it relies on an answer. On the
//! way the clock and the interrupt are looked at, so a budget of time ends a search within milliseconds too.
//!
//! Several workers share the count. What one batch of cubes needs is the same whoever does it, so whether a limit
//! is exceeded does not depend on the workers either.

use porf_verdict::Limit;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub struct Work<'a> {
    limit: u64,
    done: AtomicU64,
    stopped: AtomicU8,
    end: Option<Instant>,
    time: Duration,
    interrupt: Option<&'a AtomicBool>,
}

/// Steps between two looks at the clock.
const GLANCE: u64 = 1 << 14;

const RUNNING: u8 = 0;
const EXHAUSTED: u8 = 1;
const LATE: u8 = 2;
const INTERRUPTED: u8 = 3;

impl<'a> Work<'a> {
    /// `limit` steps, for `time` from now.
    pub fn new(limit: u64, time: Duration, interrupt: Option<&'a AtomicBool>) -> Work<'a> {
        let end = Instant::now().checked_add(time);
        Work { limit, done: AtomicU64::new(0), stopped: AtomicU8::new(RUNNING), end, time, interrupt }
    }

    /// Counts steps; `false`: the search has to end.
    pub fn spend(&self, steps: u64) -> bool {
        let before = self.done.fetch_add(steps, Ordering::Relaxed);
        let after = before.saturating_add(steps);
        if after > self.limit {
            self.stop(EXHAUSTED);
        } else if before / GLANCE != after / GLANCE {
            self.look();
        }
        !self.is_over()
    }

    /// Whether the search has to end.
    pub fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) != RUNNING
    }

    /// Looks at the clock and the interrupt.
    pub fn look(&self) -> bool {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stop(INTERRUPTED);
        } else if self.end.is_some_and(|end| Instant::now() >= end) {
            self.stop(LATE);
        }
        !self.is_over()
    }

    /// The first reason stays.
    fn stop(&self, why: u8) {
        let _ = self.stopped.compare_exchange(RUNNING, why, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Steps so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Why the search has to end, if it has.
    pub fn stopped(&self) -> Option<Limit> {
        match self.stopped.load(Ordering::Relaxed) {
            RUNNING => None,
            EXHAUSTED => Some(exhausted(self.limit)),
            LATE => Some(Limit::Time { seconds: self.time.as_secs() }),
            _ => Some(Limit::Interrupted),
        }
    }
}

/// The limit on the work of a search, as an answer.
pub fn exhausted(limit: u64) -> Limit {
    Limit::Other(format!("limit of {limit} steps of work reached"))
}
