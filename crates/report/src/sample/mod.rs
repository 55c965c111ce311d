//! What `porf sample` found: the report, and its renderers.

mod json;
mod text;

use porf_verdict::{SourceLocation, Verdict, Violation, ViolationKind};
use std::time::Duration;

/// A run of many executions.
pub struct Summary {
    pub verdict: Verdict,
    pub executions: u64,
    pub asked: u64,
    /// Executions with a finding.
    pub violating: u64,
    /// Executions that differ by reads-from, and whether there may be more.
    pub distinct: u64,
    pub is_lower_bound: bool,
    pub events: u64,
    /// Executions that ended by the limit of events.
    pub cut_off: u64,
    pub threads: u32,
    pub isolation: &'static str,
    pub single_threaded: bool,
    pub snapshot_bytes: u64,
    pub peak_stores: u64,
    pub peak_memory_bytes: u64,
    pub elapsed: Duration,
    pub findings: Vec<Finding>,
    /// Findings that did not fit the table.
    pub dropped: u32,
    pub interrupted: bool,
    pub seed: u64,
    /// How the program ended.
    pub status: String,
}

/// One bug, however often it was seen.
pub struct Finding {
    pub kind: ViolationKind,
    pub title: String,
    pub message: String,
    /// Executions in which it occurred, and the seed of the first.
    pub count: u64,
    pub seed: u64,
    pub address: u64,
    pub size: u32,
    /// What each thread did, with its calls, innermost first.
    pub stacks: Vec<(String, Vec<Frame>)>,
}

/// One place in the program; several per address where functions were inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
}

impl Summary {
    pub fn exit_code(&self) -> u8 {
        if self.interrupted { 130 } else { self.verdict.exit_code() }
    }

    pub fn first_seed(&self) -> Option<u64> {
        self.findings.iter().map(|finding| finding.seed).min()
    }
}

impl Finding {
    pub fn location(&self) -> Option<SourceLocation> {
        self.stacks.iter().flat_map(|(_, frames)| frames).find_map(|frame| {
            let file = frame.file.clone()?;
            Some(SourceLocation { file, line: frame.line, column: frame.column })
        })
    }

    pub fn violation(&self) -> Violation {
        Violation {
            kind: self.kind,
            message: format!("{}{}", self.title, colon(&self.message)),
            location: self.location(),
            related: Vec::new(),
        }
    }
}

fn colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
