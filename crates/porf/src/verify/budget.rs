//! How much work a search may do, and whether that is used up.

use porf_verdict::Limit;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much work is allowed. The default is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Executions, complete or blocked.
    pub executions: Option<u64>,
    /// Time on the clock.
    pub time: Option<Duration>,
}

impl FromStr for Budget {
    type Err = String;

    /// A number of executions, or a time: `1000`, `10s`, `5m`, `1h`.
    fn from_str(text: &str) -> Result<Budget, String> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let value: u64 =
            number.parse().map_err(|_| format!("{text}: a number of executions, or 10s, 5m, 1h"))?;
        let seconds =
            |factor| Budget { time: Some(Duration::from_secs(factor * value)), ..Budget::default() };
        match &text[number.len()..] {
            "" => Ok(Budget { executions: Some(value), ..Budget::default() }),
            "s" => Ok(seconds(1)),
            "m" => Ok(seconds(60)),
            "h" => Ok(seconds(3600)),
            unit => Err(format!("{text}: no unit {unit}")),
        }
    }
}

/// A budget that runs, and the user's wish to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    budget: Budget,
    start: Instant,
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> Watch<'a> {
    /// Begins now.
    pub fn start(budget: Budget, interrupt: Option<&'a AtomicBool>) -> Watch<'a> {
        Watch { budget, start: Instant::now(), interrupt }
    }

    /// Whether every single execution counts.
    pub fn counts_executions(&self) -> bool {
        self.budget.executions.is_some()
    }

    /// Whether the budget is used up, now that `new` more executions were seen.
    pub fn spent(&self, executions: u64, new: u64) -> Option<Limit> {
        if let Some(limit) = self.budget.executions.filter(|limit| executions >= *limit) {
            return Some(Limit::Executions { limit });
        }
        // The clock is not looked at for every execution.
        if new > 1 || executions.is_multiple_of(64) { self.over() } else { None }
    }

    /// Whether the time is over, or the user does not want to wait.
    pub fn over(&self) -> Option<Limit> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        let time = self.budget.time?;
        (self.start.elapsed() >= time).then_some(Limit::Time { seconds: time.as_secs() })
    }
}
