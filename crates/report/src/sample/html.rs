//! The findings as a page: the execution around each, where it was traced, and otherwise what each thread did, with
//! its calls, beside the source.

use super::{Finding, Frame, Step, Summary, colon};
use crate::page::{Page, View};
use porf::trace::StackFrame;
use porf_verdict::{SourceLocation, Verdict};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};

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
            view.notes.extend(finding.minimised.map(|minimised| minimised.text()));
            let elsewhere = finding.elsewhere.iter();
            view.notes
                .extend(elsewhere.map(|other| format!("also at {}, in {}", other.places(), other.count)));
            for (what, frames) in &finding.stacks {
                view.add_stack(what, &frames.iter().map(call).collect::<Vec<_>>());
            }
            if !finding.trace.is_empty() {
                trace(&mut view, finding);
                return view;
            }
            for (column, (what, frames)) in finding.stacks.iter().enumerate() {
                let stack: Vec<StackFrame> = frames.iter().map(call).collect();
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

/// The execution around a finding: a column for each thread, and the events in the order in which they happened.
fn trace(view: &mut View, finding: &Finding) {
    let steps = &finding.trace;
    let threads: BTreeSet<u16> = steps.iter().map(|step| step.thread).collect();
    let columns: HashMap<u16, usize> = threads.iter().enumerate().map(|(at, thread)| (*thread, at)).collect();
    view.threads = threads.iter().map(|&thread| (format!("T{thread}"), thread_name(thread, steps))).collect();
    view.notes.push(
        "the rows are in the order in which they happened; a read may return an older write: see rf"
            .to_string(),
    );
    // Named as everywhere: by the thread, and the place there.
    let mut counts: HashMap<u16, usize> = HashMap::new();
    let ids: Vec<String> = steps
        .iter()
        .map(|step| {
            let count = counts.entry(step.thread).or_default();
            *count += 1;
            format!("T{}.{}", step.thread, *count - 1)
        })
        .collect();
    for (step, id) in steps.iter().zip(&ids) {
        let stack: Vec<StackFrame> = step.frames.iter().map(call).collect();
        let mut row = json!({
            "id": id,
            "thread": columns[&step.thread],
            "text": step.text,
            "kind": step.kind,
        });
        if let Some(from) = step.rf {
            row["rf"] = json!(ids[from]);
        }
        if step.marked {
            row["marked"] = json!(true);
        }
        if let Some(frame) = porf::source(&stack) {
            view.place(&mut row, &frame.location, porf::names::is_library(frame));
        }
        if stack.len() > 1 {
            row["stack"] = crate::page::frames(&stack);
        }
        view.events.push(row);
    }
    let rf = steps.iter().zip(&ids).filter_map(|(step, id)| Some((ids[step.rf?].clone(), id.clone())));
    view.edges = vec![("rf", rf.collect())];
}

/// What a thread runs: the user's outermost function; a lambda by its line.
fn thread_name(thread: u16, steps: &[Step]) -> String {
    let own = |step: &Step| {
        let stack: Vec<StackFrame> = step.frames.iter().map(call).collect();
        stack.into_iter().rfind(|frame| !porf::names::is_library(frame))
    };
    let Some(frame) = steps.iter().filter(|step| step.thread == thread).find_map(own) else {
        return String::new();
    };
    let is_lambda = ["lambda", "$_", "{closure"].iter().any(|part| frame.function.contains(part));
    if is_lambda { format!("lambda at line {}", frame.location.line) } else { frame.function }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn call(frame: &Frame) -> StackFrame {
    let file = frame.file.clone().unwrap_or_default();
    let location = SourceLocation { file, line: frame.line, column: frame.column };
    StackFrame { function: frame.function.clone(), location }
}
