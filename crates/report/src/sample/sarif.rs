//! Every finding as a result of a SARIF log, with the places of the other threads.

use super::{Frame, Summary};
use crate::sarif::{Log, flow, place};
use porf_verdict::{SourceLocation, Verdict};
use serde_json::Value;

impl Summary {
    /// A SARIF 2.1.0 log with one run.
    pub fn sarif(&self) -> Value {
        let mut log = Log::default();
        for finding in &self.findings {
            let message = format!(
                "{} (in {} of {} sampled executions, first with seed {})",
                finding.violation().message,
                finding.count,
                self.executions,
                finding.seed
            );
            let result = log.error(finding.kind.word(), &message, finding.location().as_ref());
            let others =
                finding.stacks.iter().skip(1).filter_map(|(title, frames)| {
                    Some(place(&frames.iter().find_map(location)?, Some(title)))
                });
            let elsewhere = finding.elsewhere.iter().flat_map(|other| &other.frames);
            let elsewhere =
                elsewhere.filter_map(|frame| Some(place(&location(frame)?, Some("the same cause"))));
            result["relatedLocations"] = others.chain(elsewhere).collect();
            // What each thread is at: its calls, outermost first.
            let calls = finding.stacks.iter().flat_map(|(title, frames)| {
                let known = frames.iter().rev().filter_map(move |frame| Some((location(frame)?, frame)));
                known.map(move |(at, frame)| (title.clone(), place(&at, Some(&frame.function))))
            });
            result["codeFlows"] = flow(calls);
        }
        if let Verdict::Inconclusive(limit) = &self.verdict {
            log.inconclusive(&limit.to_string());
        }
        log.finish()
    }
}

fn location(frame: &Frame) -> Option<SourceLocation> {
    let file = frame.file.clone()?;
    Some(SourceLocation { file, line: frame.line, column: frame.column })
}
