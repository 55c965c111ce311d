//! The findings as a page: what each thread did, with its calls, beside the source.

use super::{Frame, Summary, colon};
use crate::page::{Page, View};
use porf::trace::StackFrame;
use porf_verdict::{SourceLocation, Verdict};
use serde_json::json;

impl Summary {
    /// `program` is the command line that was sampled, `read` gives the text of a source file.
    pub fn html(&self, program: &[String], read: &dyn Fn(&str) -> Option<String>) -> String {
        let views = self.findings.iter().enumerate().map(|(at, finding)| {
            let rate = 100.0 * finding.count as f64 / self.executions.max(1) as f64;
            let mut view = View {
                name: format!("{}. {}", at + 1, finding.title),
                tone: "violated",
                notes: vec![
                    format!("{}{}", finding.title, colon(&finding.message)),
                    format!("in {} of {} executions ({rate:.1} %)", finding.count, self.executions),
                    format!("first with --seed {}", finding.seed),
                ],
                ..View::default()
            };
            for (column, (what, frames)) in finding.stacks.iter().enumerate() {
                let stack: Vec<StackFrame> = frames.iter().map(call).collect();
                view.add_stack(what, &stack);
                // Each thread is a column with the place that it is at.
                view.threads.push((format!("#{}", column + 1), what.clone()));
                let text = stack.first().map_or(String::new(), |frame| format!("{}()", frame.function));
                let mut row = json!({
                    "id": format!("#{}", column + 1),
                    "thread": column,
                    "text": text,
                    "kind": "step",
                    "marked": true,
                    "detail": [["what", what]],
                    "stack": crate::page::frames(&stack),
                });
                if let Some(frame) = porf::source(&stack) {
                    view.place(&mut row, &frame.location, porf::names::is_library(frame));
                }
                view.events.push(row);
            }
            view
        });
        let word = match &self.verdict {
            Verdict::Safe(_) => "no finding".to_string(),
            Verdict::Violated(_) => format!("{} finding{}", self.findings.len(), plural(self.findings.len())),
            Verdict::Inconclusive(limit) => limit.to_string(),
        };
        let page = Page {
            verb: "sample",
            verdict: self.verdict.word(),
            title: format!("{}: {word}", program.join(" ")),
            notes: Vec::new(),
            help: None,
            facts: vec![
                ("executions", self.executions.to_string()),
                ("distinct", self.distinct.to_string()),
                ("events", self.events.to_string()),
                ("threads", self.threads.max(1).to_string()),
                ("seed", self.seed.to_string()),
                ("time", format!("{:.2} s", self.elapsed.as_secs_f64())),
            ],
            views: views.collect(),
        };
        page.html(read)
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn call(frame: &Frame) -> StackFrame {
    let file = frame.file.clone().unwrap_or_default();
    let location = SourceLocation { file, line: frame.line, column: frame.column };
    StackFrame { function: frame.function.clone(), location }
}
