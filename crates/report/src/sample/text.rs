//! The report as text.

use super::{Frame, Summary, Systematic, colon};
use crate::Paint;
use porf_verdict::Verdict;
use std::fmt::Write;

impl Summary {
    /// For people; `program` is the command line that was sampled.
    pub fn text(&self, program: &[String], paint: Paint) -> String {
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments| {
            let _ = writeln!(out, "{text}");
        };
        for finding in &self.findings {
            let title = paint.strong(&paint.bad(&finding.title));
            line(format_args!("{title}{}", paint.strong(&colon(&finding.message))));
            let rate = 100.0 * finding.count as f64 / self.executions.max(1) as f64;
            let first = match self.systematic {
                None => format!("--seed {}", finding.seed),
                Some(_) => format!("number {}", finding.seed),
            };
            line(format_args!(
                "  in {} of {} executions ({rate:.1} %), first with {first}",
                finding.count, self.executions
            ));
            if let Some(minimised) = finding.minimised {
                line(format_args!("  {}", minimised.text()));
            }
            for (title, frames) in &finding.stacks {
                line(format_args!("  {title}"));
                for frame in frames {
                    let place = place(frame).map_or(String::new(), |place| format!(" {}", paint.dim(&place)));
                    line(format_args!("    {}{place}", frame.function));
                }
            }
            for other in &finding.elsewhere {
                line(format_args!("  also at {}, in {}", other.places(), other.count));
            }
            line(format_args!(""));
        }
        if self.dropped > 0 {
            line(format_args!("more findings than fit the table were dropped"));
        }
        let all = self.systematic.is_some_and(|systematic| systematic.complete);
        let word = match self.verdict {
            Verdict::Safe(_) => paint.good("no finding"),
            Verdict::Violated(_) => paint.bad(&format!("{} finding(s)", self.findings.len())),
            Verdict::Inconclusive(ref limit) => format!("inconclusive: {limit}"),
        };
        let seed = if self.systematic.is_some() { String::new() } else { format!(" seed {},", self.seed) };
        line(format_args!(
            "{}: {word} in {}{} executions ({}{} distinct by reads-from), {} events, {} threads,{seed} {:.2} s, {}",
            program[0],
            if all { "every execution of the fragment: " } else { "" },
            self.executions,
            if self.is_lower_bound { "at least " } else { "" },
            self.distinct,
            self.events,
            self.threads.max(1),
            self.elapsed.as_secs_f64(),
            self.isolation,
        ));
        if let Some(Systematic { repeats, spins, .. }) = self.systematic {
            if let Some(spins) = spins {
                line(format_args!(
                    "the fragment: no thread reads the same stores more than {spins} times in a row"
                ));
            }
            if repeats > 0 {
                line(format_args!("{repeats} more were given up, because they repeat others"));
            }
        } else if let Some(unseen) = self.unseen() {
            line(format_args!("one more would be new with a probability of about {:.1} %", 100.0 * unseen));
        }
        if self.cut_off > 0 {
            line(format_args!("{} executions were cut off by --max-events", self.cut_off));
        }
        if self.single_threaded {
            line(format_args!(
                "the program created no thread: it ran once, unsampled, and ended with {}",
                self.status
            ));
        }
        out
    }
}

pub(super) fn place(frame: &Frame) -> Option<String> {
    let file = frame.file.as_ref()?;
    Some(if frame.line == 0 { file.clone() } else { format!("{file}:{}", frame.line) })
}
