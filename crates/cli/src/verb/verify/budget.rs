//! How much work a search may do.

use porf_verdict::Limit;
use std::time::Instant;

/// How much work is allowed.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub executions: u64,
    seconds: Option<u64>,
    start: Instant,
}

impl Budget {
    pub fn parse(text: Option<&str>) -> Result<Budget, String> {
        let mut budget = Budget { executions: u64::MAX, seconds: None, start: Instant::now() };
        let Some(text) = text else { return Ok(budget) };
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let value: u64 =
            number.parse().map_err(|_| format!("--budget {text}: a number of executions, or 10s, 5m, 1h"))?;
        match &text[number.len()..] {
            "" => budget.executions = value,
            "s" => budget.seconds = Some(value),
            "m" => budget.seconds = Some(60 * value),
            "h" => budget.seconds = Some(3600 * value),
            unit => return Err(format!("--budget {text}: no unit {unit}")),
        }
        Ok(budget)
    }

    /// Whether it is used up, now that `new` more executions were seen.
    pub fn spent(&self, executions: u64, new: u64) -> Option<Limit> {
        if executions >= self.executions {
            return Some(Limit::Executions { limit: self.executions });
        }
        // The clock is not looked at for every execution.
        if new > 1 || executions.is_multiple_of(64) { self.over() } else { None }
    }

    /// Whether the time is over, or the user does not want to wait.
    pub fn over(&self) -> Option<Limit> {
        if crate::interrupt::requested() {
            return Some(Limit::Interrupted);
        }
        let seconds = self.seconds?;
        (self.start.elapsed().as_secs() >= seconds).then_some(Limit::Time { seconds })
    }
}
