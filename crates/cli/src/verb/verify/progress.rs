//! How far a search is, on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use porf::{Estimate, Progress};
use std::sync::OnceLock;

/// A bar that appears when the search begins.
#[derive(Default)]
pub struct Bar(OnceLock<ProgressBar>);

impl Progress for Bar {
    fn begin(&self, expected: Option<Estimate>) {
        let expected = expected.map_or(0.0, |expected| expected.executions).round().max(1.0) as u64;
        let style = "{bar:30} {human_pos} of about {human_len} executions, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.get_or_init(|| ProgressBar::new(expected).with_style(style));
    }

    fn executed(&self, executions: u64) {
        if let Some(bar) = self.0.get() {
            bar.inc(executions);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
    }
}
