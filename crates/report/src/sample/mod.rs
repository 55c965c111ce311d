//! What `porf sample` found: the report, and its renderers.

mod html;
mod json;
mod sarif;
mod text;

use porf_verdict::{SourceLocation, Verdict, Violation, ViolationKind};
use std::time::Duration;

/// A run of many executions.
pub struct Summary {
    /// What follows from the findings, or which limit was reached.
    pub verdict: Verdict,
    /// How many were run.
    pub executions: u64,
    /// How many were wanted.
    pub asked: u64,
    /// Executions with a finding.
    pub violating: u64,
    /// Executions that differ by reads-from, and whether there may be more.
    pub distinct: u64,
    /// There may be more distinct ones than were counted.
    pub is_lower_bound: bool,
    /// Reads-from relations that exactly one execution had.
    pub once: u64,
    /// Visible events, over all executions.
    pub events: u64,
    /// Executions that ended by the limit of events.
    pub cut_off: u64,
    /// The most threads of one execution.
    pub threads: u32,
    /// How executions were kept apart.
    pub isolation: &'static str,
    /// The program ended before it created a thread.
    pub single_threaded: bool,
    /// What is copied back between executions.
    pub snapshot_bytes: u64,
    /// The most stores that were kept at one time.
    pub peak_stores: u64,
    /// The most memory of the program and its runtime.
    pub peak_memory_bytes: u64,
    /// On the wall clock.
    pub elapsed: Duration,
    /// The most frequent first.
    pub findings: Vec<Finding>,
    /// Findings that did not fit the table.
    pub dropped: u32,
    /// The user asked to stop.
    pub interrupted: bool,
    /// The seed of the first execution.
    pub seed: u64,
    /// How the program ended.
    pub status: String,
    /// All executions were to be run, one after the other.
    pub systematic: Option<Systematic>,
}

/// How far all executions were run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Systematic {
    /// There are no others.
    pub complete: bool,
    /// Executions that were given up, because they repeat others.
    pub repeats: u64,
    /// Others were left out: a thread reads the same stores more than so many times in a row.
    pub spins: Option<u32>,
}

impl Summary {
    /// The estimated probability that one more execution would have a reads-from relation not seen yet: the share of
    /// those seen once (Good, Biometrika 1953, after Turing). None before there is anything to estimate from.
    pub fn unseen(&self) -> Option<f64> {
        (self.executions > 1 && !self.is_lower_bound).then(|| self.once as f64 / self.executions as f64)
    }
}

/// One bug, however often it was seen.
pub struct Finding {
    /// What sort of error it is.
    pub kind: ViolationKind,
    /// The sort in words.
    pub title: String,
    /// What happens, for the user; may be empty.
    pub message: String,
    /// Executions in which it occurred, and the seed of the first.
    pub count: u64,
    /// The execution with this seed shows it.
    pub seed: u64,
    /// The memory that it is about, in the address space of the program; 0 if none.
    pub address: u64,
    /// Bytes from that address on.
    pub size: u32,
    /// The variable there, if it has a name.
    pub object: Option<String>,
    /// What each thread did, with its calls, innermost first.
    pub stacks: Vec<(String, Vec<Frame>)>,
    /// Findings with the same cause.
    pub elsewhere: Vec<Elsewhere>,
    /// How small it was made.
    pub minimised: Option<Minimised>,
    /// The decisions of the smallest execution: thread, sort, number, repeat, value.
    pub decisions: Vec<[u32; 5]>,
    /// The execution around it, where it was traced.
    pub trace: Vec<Step>,
}

/// A finding with the same cause as another one.
pub struct Elsewhere {
    /// Executions in which it occurred.
    pub count: u64,
    /// Where each thread was.
    pub frames: Vec<Frame>,
}

impl Elsewhere {
    /// The places, in one line.
    pub fn places(&self) -> String {
        let mut places: Vec<String> = self
            .frames
            .iter()
            .map(|frame| match text::place(frame) {
                Some(place) => format!("{place} ({})", frame.function),
                None => frame.function.clone(),
            })
            .collect();
        places.sort();
        places.join(" and ")
    }
}

/// The smallest execution that was found to show a finding, beside the one that showed it first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Minimised {
    /// Changes of threads up to the finding.
    pub switches: u32,
    /// Loads up to it that do not return the newest store.
    pub weak_reads: u32,
    /// Changes of threads of the first one.
    pub first_switches: u32,
    /// Such loads of the first one.
    pub first_weak_reads: u32,
    /// Executions that were run for it.
    pub runs: u32,
    /// No single decision can be left out.
    pub minimal: bool,
}

impl Minimised {
    /// For people.
    pub fn text(&self) -> String {
        let plural = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        format!(
            "smallest execution: {}, {} of older stores (first seen with {} and {}; {}{})",
            plural(self.switches, "context switch").replace("switchs", "switches"),
            plural(self.weak_reads, "read"),
            self.first_switches,
            self.first_weak_reads,
            plural(self.runs, "run"),
            if self.minimal { "" } else { ", not minimal" },
        )
    }
}

/// One event of the execution that shows a finding.
pub struct Step {
    /// The number of its thread.
    pub thread: u16,
    /// What it does, in a few words.
    pub text: String,
    /// `read`, `write`, `fence`, `thread` or `other`.
    pub kind: &'static str,
    /// For a read: the step, from 0, whose write it returns, if that is among the steps.
    pub rf: Option<usize>,
    /// It belongs to the finding.
    pub marked: bool,
    /// Its calls, innermost first.
    pub frames: Vec<Frame>,
}

/// One place in the program; several per address where functions were inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name, demangled.
    pub function: String,
    /// The source file, where debug information tells it.
    pub file: Option<String>,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1, in characters; 0 if unknown.
    pub column: u32,
}

impl Summary {
    /// The process exit code: that of the verdict, unless the user asked to stop.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted { 130 } else { self.verdict.exit_code() }
    }

    /// The finding that was seen first.
    pub fn first(&self) -> Option<&Finding> {
        self.findings.iter().min_by_key(|finding| finding.seed)
    }
}

impl Finding {
    /// The innermost place that has a source file.
    pub fn location(&self) -> Option<SourceLocation> {
        self.stacks.iter().flat_map(|(_, frames)| frames).find_map(|frame| {
            let file = frame.file.clone()?;
            Some(SourceLocation { file, line: frame.line, column: frame.column })
        })
    }

    /// The finding in the vocabulary of all engines.
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
