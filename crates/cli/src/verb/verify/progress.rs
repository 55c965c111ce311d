//! How far a search is, on a terminal.

use crate::options::width;
use indicatif::{ProgressBar, ProgressStyle};
use porf::{Estimate, Progress};
use std::sync::OnceLock;

/// A bar that appears when the search begins. It has a length if there is a good estimate of the number of
/// executions; otherwise it counts.
#[derive(Default)]
pub struct Bar(OnceLock<ProgressBar>);

/// Where the ends of the interval are further apart than this factor, the estimate says nothing.
const ROUGH: f64 = 2.0;

impl Progress for Bar {
    fn begin(&self, expected: Option<Estimate>) {
        self.0.get_or_init(|| match expected.and_then(|expected| length(&expected)) {
            // A line that is too long for the terminal wraps, and then stays behind.
            Some(length) if width() < 100 => {
                ProgressBar::new(length).with_style(style("{human_pos} of about {human_len} executions"))
            }
            Some(length) => ProgressBar::new(length).with_style(style(
                "{bar:30} {human_pos} of about {human_len} executions, {per_sec}, {eta} left",
            )),
            None => ProgressBar::no_length().with_style(counting()),
        });
    }

    fn executed(&self, executions: u64) {
        let Some(bar) = self.0.get() else { return };
        bar.inc(executions);
        // There are more than were expected: nobody knows how many.
        if bar.length().is_some_and(|length| bar.position() > length) {
            bar.unset_length();
            bar.set_style(counting());
        }
    }

    fn end(&self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
    }
}

/// The number of executions to expect, if it is about known.
fn length(expected: &Estimate) -> Option<u64> {
    let (low, high) = expected.interval;
    (low >= 1.0 && high <= ROUGH * low).then_some(expected.executions.round() as u64)
}

fn counting() -> ProgressStyle {
    style(if width() < 60 { "{human_pos}" } else { "{spinner} {human_pos} executions, {per_sec}" })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(executions: f64, low: f64, high: f64) -> Estimate {
        Estimate { executions, standard_error: 1.0, interval: (low, high), blocked: 0.0 }
    }

    #[test]
    fn a_rough_estimate_is_no_length() {
        assert_eq!(length(&estimate(720.0, 700.0, 760.0)), Some(720));
        assert_eq!(length(&estimate(720.0, 300.0, 1500.0)), None);
        // No complete execution was seen.
        assert_eq!(length(&estimate(0.0, 0.0, 0.0)), None);
    }

    #[test]
    fn more_than_expected_are_counted() {
        let bar = Bar::default();
        bar.begin(Some(estimate(100.0, 90.0, 110.0)));
        bar.executed(64);
        assert_eq!(bar.0.get().unwrap().length(), Some(100));
        bar.executed(64);
        assert_eq!(bar.0.get().unwrap().length(), None);
        assert_eq!(bar.0.get().unwrap().position(), 128);
    }
}
