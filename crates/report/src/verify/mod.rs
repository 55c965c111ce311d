//! The answer of `porf verify`: text, JSON, HTML, DOT, SARIF, witnesses.

mod dot;
mod fold;
mod html;
mod json;
mod sarif;
mod text;

pub use dot::dot;
pub use html::html;
pub use json::{execution_json, json, witness};
pub use sarif::sarif;
pub use text::{execution_text, text};

use crate::names;
use crate::trace::{StackFrame, Trace};
use porf_event::EventId;
use porf_ir::Split;
use porf_verdict::Verdict;

/// Everything that is known when a verification ends.
#[derive(Clone, Debug)]
pub struct Answer {
    pub files: Vec<String>,
    pub flags: Vec<String>,
    /// How accesses of the program were cut, see [`porf_ir::Split`].
    pub cuts: Vec<Vec<Split>>,
    pub entry: String,
    /// Whether weak compare-and-swaps could fail for no reason.
    pub spurious: bool,
    pub model: String,
    pub equivalence: String,
    pub verdict: Verdict,
    pub executions: u64,
    pub blocked: u64,
    pub events: u64,
    pub seconds: Seconds,
    /// The most memory that the process has had so far, shared libraries included.
    pub peak_bytes: u64,
    pub violation: Option<Shown>,
}

/// How long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    pub frontend: f64,
    pub explore: f64,
    /// What all threads spent on the exploration.
    pub cpu: f64,
}

/// How a violation comes about.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The calls that lead to it, innermost first.
    pub stack: Vec<StackFrame>,
    /// The other side: the second access of a race, the free, the lock that is held.
    pub related: Vec<Related>,
    pub trace: Trace,
    /// Events to point out.
    pub marked: Vec<EventId>,
}

#[derive(Clone, Debug)]
pub struct Related {
    pub message: String,
    pub stack: Vec<StackFrame>,
}

impl Shown {
    /// The innermost call in the user's own code.
    pub fn source(&self) -> Option<&StackFrame> {
        source(&self.stack)
    }
}

/// The call of the user's own code that matters.
pub fn source(stack: &[StackFrame]) -> Option<&StackFrame> {
    names::place(stack)
}
