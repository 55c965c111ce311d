//! How much work a search may do, and whether that is used up.

use crate::usage;
use porf_verdict::Limit;
use std::cell::Cell;
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
    /// Memory of the process.
    pub memory: Option<MemoryLimit>,
}

/// How much memory the process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// In bytes.
    pub bytes: u64,
}

impl MemoryLimit {
    /// Half of what this machine has; `None` where that is not known.
    pub fn half() -> Option<MemoryLimit> {
        let bytes = usage::machine_bytes() / 2;
        (bytes > 0).then_some(MemoryLimit { bytes })
    }
}

impl FromStr for MemoryLimit {
    type Err = String;

    /// `512M`, `4G`, or a number of bytes.
    fn from_str(text: &str) -> Result<MemoryLimit, String> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor: u64 = match text[number.len()..].to_ascii_uppercase().as_str() {
            "" => 1,
            "K" | "KIB" => 1 << 10,
            "M" | "MIB" => 1 << 20,
            "G" | "GIB" => 1 << 30,
            unit => return Err(format!("{text}: no unit {unit}")),
        };
        let value: Option<u64> = number.parse().ok();
        let bytes = value.and_then(|value| value.checked_mul(factor)).filter(|bytes| *bytes > 0);
        bytes
            .map(|bytes| MemoryLimit { bytes })
            .ok_or_else(|| format!("{text}: a number of bytes, or 512M, 4G"))
    }
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
#[derive(Clone, Debug)]
pub(crate) struct Watch<'a> {
    budget: Budget,
    start: Instant,
    interrupt: Option<&'a AtomicBool>,
    /// When the memory was looked at last.
    measured: Cell<Instant>,
}

/// Time between two looks at the memory: they cost some microseconds.
const MEASURE: Duration = Duration::from_millis(20);

impl<'a> Watch<'a> {
    /// Begins now.
    pub fn start(budget: Budget, interrupt: Option<&'a AtomicBool>) -> Watch<'a> {
        let start = Instant::now();
        Watch { budget, start, interrupt, measured: Cell::new(start) }
    }

    /// Whether every single execution counts.
    pub fn counts_executions(&self) -> bool {
        self.budget.executions.is_some()
    }

    /// Whether the budget is used up, now that `new` more executions were seen.
    pub fn spent(&self, executions: u64, new: u64) -> Option<Limit> {
        // The clock is not looked at for every execution.
        let looks = new > 1 || executions.is_multiple_of(64);
        self.counted(executions).or_else(|| if looks { self.over() } else { None })
    }

    /// Whether these are enough executions.
    pub fn counted(&self, executions: u64) -> Option<Limit> {
        let limit = self.budget.executions.filter(|limit| executions >= *limit)?;
        Some(Limit::Executions { limit })
    }

    /// Whether half of the time is over.
    pub fn half_over(&self) -> bool {
        self.budget.time.is_some_and(|time| self.start.elapsed() * 2 >= time)
    }

    /// Whether the time is over or the memory used up, or the user does not want to wait.
    pub fn over(&self) -> Option<Limit> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        let now = Instant::now();
        if let Some(time) = self.budget.time.filter(|time| now - self.start >= *time) {
            return Some(Limit::Time { seconds: time.as_secs() });
        }
        let limit_bytes = self.budget.memory.filter(|_| now - self.measured.get() >= MEASURE)?.bytes;
        self.measured.set(now);
        (usage::resident_bytes() > limit_bytes).then_some(Limit::Memory { limit_bytes })
    }
}
