//! What is known when a verification ends.

use crate::advise::{Repair, Suggestion};
use crate::explain::{Why, explain, explain_changed};
use crate::input::Origin;
use crate::names;
use crate::trace::{StackFrame, Trace};
use porf_event::EventId;
use porf_explore::Reduced;
use porf_ir::Split;
use porf_model::{Equivalence, Model};
use porf_verdict::{Checks, Limit, Verdict, Violation};

/// Everything that is known when a verification ends.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was verified.
    pub origin: Origin,
    /// How accesses of the program were cut, see [`porf_ir::Split`].
    pub cuts: Vec<Vec<Split>>,
    /// The memory model.
    pub model: Model,
    /// When two executions counted as the same.
    pub equivalence: Equivalence,
    /// The kinds of violations that were looked for.
    pub checks: Checks,
    /// The answer itself.
    pub verdict: Verdict,
    /// Complete executions.
    pub executions: u64,
    /// Executions in which some thread cannot finish.
    pub blocked: u64,
    /// Events added to graphs.
    pub events: u64,
    /// How often each reduction was made.
    pub reduced: Reduced,
    /// How long it took.
    pub seconds: Seconds,
    /// The most memory that the process has had so far, shared libraries included.
    pub peak_bytes: u64,
    /// What goes wrong, the violation of the verdict first. One at most, unless all were asked for.
    pub found: Vec<Found>,
    /// Whether all violations were asked for.
    pub all: bool,
    /// If all violations were asked for and one was found: why there may be more than these.
    pub unfinished: Option<Limit>,
    /// What stronger orderings do about the violations, if that was looked for ([`crate::repair()`]).
    pub repair: Option<Repair>,
    /// What the user should know beside the verdict.
    pub warnings: Vec<String>,
}

/// How long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Reading and compiling the program. The caller knows: the search does not.
    pub frontend: f64,
    /// The exploration, on the clock.
    pub explore: f64,
    /// What all threads spent on the exploration.
    pub cpu: f64,
}

/// A violation.
#[derive(Clone, Debug)]
pub struct Found {
    /// What goes wrong, and where.
    pub violation: Violation,
    /// How it comes about; `None` if it is that something does not happen.
    pub shown: Option<Shown>,
}

/// How a violation comes about.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The calls that lead to it, innermost first.
    pub stack: Vec<StackFrame>,
    /// The other side: the second access of a race, the free, the lock that is held.
    pub related: Vec<Related>,
    /// The events that lead to it.
    pub trace: Trace,
    /// Events to point out.
    pub marked: Vec<EventId>,
    /// Why the model allows it, if that was asked ([`Answer::explain`]).
    pub why: Option<Why>,
    /// The same under a suggestion that repairs the program: which axiom then forbids this execution.
    pub repaired: Option<(Suggestion, Why)>,
}

/// Another place that a violation has to do with.
#[derive(Clone, Debug)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// The calls that lead there, innermost first.
    pub stack: Vec<StackFrame>,
}

impl Answer {
    /// Finds out why the model allows the executions that show violations, and how a hint forbids the first of them.
    ///
    /// Nothing is said where an access is several events: a trace does not tell which they are.
    pub fn explain(&mut self) {
        if self.cuts.iter().flatten().any(|split| matches!(split, Split::Bounds { .. })) {
            return;
        }
        let suggestion = match &self.repair {
            Some(Repair::Orderings(sets)) => sets.iter().find(|set| set.len() == 1).map(|set| &set[0]),
            _ => None,
        };
        for (at, shown) in self.found.iter_mut().filter_map(|found| found.shown.as_mut()).enumerate() {
            shown.why = explain(&shown.trace, self.model);
            if let Some(suggestion) = suggestion.filter(|_| at == 0) {
                let why = explain_changed(&shown.trace, self.model, suggestion);
                shown.repaired = why.filter(|why| !why.is_allowed()).map(|why| (suggestion.clone(), why));
            }
        }
    }
}

impl Shown {
    /// An execution that nobody has explained yet.
    pub fn new(stack: Vec<StackFrame>, related: Vec<Related>, trace: Trace, marked: Vec<EventId>) -> Shown {
        Shown { stack, related, trace, marked, why: None, repaired: None }
    }

    /// The innermost call in the user's own code.
    pub fn source(&self) -> Option<&StackFrame> {
        source(&self.stack)
    }
}

/// The call of the user's own code that matters.
pub fn source(stack: &[StackFrame]) -> Option<&StackFrame> {
    names::place(stack)
}
