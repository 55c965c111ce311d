//! The work of a search: counted in steps, not in time, so that a limit ends it at the same place on every
//! machine.
//!
//! A step is one check in the comparison of two cubes, one literal that a pre-image handles, one place tried for
//! a read of a candidate, or 64 states looked at for one of its literals; exploring a state counts as 32. The
//! loops that may be long count their steps and stop when [`Work::spend`] says so, with whatever errs on the safe
//! side ("not covered", no predecessors); the search asks [`Work::stopped`] before it relies on an answer. On the
//! way the clock (which counts what the process has used of its processors) and the interrupt are looked at, so a budget of time ends a search within milliseconds too.
//!
//! Several workers share the count. What one batch of cubes needs is the same whoever does it, so whether a limit
//! is exceeded does not depend on the workers either.

use super::oracle::Behind;
use super::shared::{Asked, Explored};
use super::turns::Turns;
use porf_verdict::Limit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

pub struct Work<'a> {
    limit: u64,
    done: AtomicU64,
    stopped: AtomicU8,
    /// On the clock of [`cpu_time`].
    end: Option<Duration>,
    time: Duration,
    interrupt: Option<&'a AtomicBool>,
    /// The searches beside this one, its number among them, and where its turn began and ends.
    turns: Option<(&'a Turns, usize)>,
    turn_began: AtomicU64,
    turn_ends: AtomicU64,
    /// Cubes whose predecessors are to be computed.
    open: AtomicU64,
}

/// No cube is known yet.
const NO_CUBES: u64 = u64::MAX;

/// Steps between two looks at the clock.
const GLANCE: u64 = 1 << 14;

const RUNNING: u8 = 0;
const EXHAUSTED: u8 = 1;
const LATE: u8 = 2;
const INTERRUPTED: u8 = 3;
/// A search beside this one has an answer.
const OTHER: u8 = 4;

impl<'a> Work<'a> {
    /// `limit` steps, for `time` of the processor from now.
    pub fn new(limit: u64, time: Duration, interrupt: Option<&'a AtomicBool>) -> Work<'a> {
        Work {
            limit,
            done: AtomicU64::new(0),
            stopped: AtomicU8::new(RUNNING),
            end: cpu_time().checked_add(time),
            time,
            interrupt,
            turns: None,
            turn_began: AtomicU64::new(0),
            turn_ends: AtomicU64::new(u64::MAX),
            open: AtomicU64::new(NO_CUBES),
        }
    }

    /// The same, as one of several searches: waits for its first turn.
    pub fn among(mut self, turns: Option<(&'a Turns, usize)>) -> Work<'a> {
        self.turns = turns;
        if let Some((turns, search)) = turns {
            self.goes_on(turns.begin(search));
        }
        self
    }

    /// So many cubes are open: what the next turns are worth depends on it.
    pub fn has_open(&self, cubes: usize) {
        self.open.store(cubes as u64, Ordering::Relaxed);
    }

    /// Steps since the turn began; the next one begins now.
    fn of_turn(&self) -> u64 {
        let done = self.done();
        done.saturating_sub(self.turn_began.swap(done, Ordering::Relaxed))
    }

    fn goes_on(&self, share: Option<u64>) {
        match share {
            Some(share) => self.turn_ends.store(self.done().saturating_add(share), Ordering::Relaxed),
            None => self.stop(OTHER),
        }
    }

    /// Passes the turn on and waits for the next one.
    fn pass(&self) {
        if let Some((turns, search)) = self.turns {
            let open = Some(self.open.load(Ordering::Relaxed)).filter(|open| *open != NO_CUBES);
            self.goes_on(turns.pass(search, self.of_turn(), open));
        }
    }

    /// What several searches explore: the first that asks does, and the others pass their turns until it is done.
    /// A run to an unsafe state is an answer, so nobody waits for it.
    pub fn once<E>(
        &self,
        asked: Asked,
        explore: impl FnOnce() -> Result<Behind, E>,
    ) -> Result<Arc<Behind>, E> {
        let Some((turns, search)) = self.turns else { return explore().map(Arc::new) };
        while !self.is_over() {
            match turns.ask(asked) {
                Explored::Known(behind) => return Ok(behind),
                Explored::ByOther => self.goes_on(turns.pass_until_found(search, self.of_turn())),
                Explored::ByAsker(errand) => {
                    let behind = explore().map(Arc::new);
                    // What was explored when the work was over is not all.
                    if let (Ok(behind), false) = (&behind, self.is_over()) {
                        errand.done(behind.clone());
                    }
                    return behind;
                }
            }
        }
        explore().map(Arc::new)
    }

    /// The search has ended; with an answer, those beside it end too.
    pub fn end(&self, answered: bool) {
        if let Some((turns, search)) = self.turns {
            let steps = self.done().saturating_sub(self.turn_began.swap(u64::MAX, Ordering::Relaxed));
            turns.end(search, steps, answered);
        }
    }

    /// Counts steps; `false`: the search has to end.
    pub fn spend(&self, steps: u64) -> bool {
        if self.is_over() {
            return false;
        }
        let before = self.done.fetch_add(steps, Ordering::Relaxed);
        let after = before.saturating_add(steps);
        if after > self.limit {
            self.stop(EXHAUSTED);
        } else if before / GLANCE != after / GLANCE {
            self.look();
        }
        if after > self.turn_ends.load(Ordering::Relaxed) && !self.is_over() {
            self.pass();
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
        } else if self.end.is_some_and(|end| cpu_time() >= end) {
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
            INTERRUPTED => Some(Limit::Interrupted),
            _ => Some(Limit::Other("another search was faster".into())),
        }
    }
}

/// A search that does not come to its end passes the turn on all the same.
impl Drop for Work<'_> {
    fn drop(&mut self) {
        if self.turn_began.load(Ordering::Relaxed) != u64::MAX {
            self.end(false);
        }
    }
}

/// What the process has used of its processors so far.
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// The limit on the work of a search, as an answer.
pub fn exhausted(limit: u64) -> Limit {
    Limit::Other(format!("limit of {limit} steps of work reached"))
}
