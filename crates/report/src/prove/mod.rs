//! The answers of `porf prove`: a proof or a run, one explored instance, a checked certificate, advice on
//! fences, an error.

mod fences;
mod html;
mod json;
mod sarif;
mod text;
mod words;

pub use fences::{Fences, fences_json, fences_text};
pub use html::proof_html;
pub use json::{checked_json, error_json, explored_json, proof_json};
pub use sarif::proof_sarif;
pub use text::{checked_text, explored_text, proof_text};

use porf_param::certificate::{Certificate, Confirmed, Refusal};
use porf_param::explore::{Exploration, Instance, Trace};
use porf_param::system::System;
use porf_param::{Memory, ProofAnswer, Warning};

/// What was asked about.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The path as the user gave it.
    pub file: &'a str,
    /// Its text.
    pub source: &'a str,
    /// The system.
    pub system: &'a System,
    /// The file is a program that the system was made from.
    pub program: bool,
}

/// The answer of a proof.
pub struct Proof<'a> {
    /// The system.
    pub subject: Subject<'a>,
    /// What was found.
    pub answer: &'a ProofAnswer,
    /// Whether to list the invariant.
    pub invariant: bool,
    /// The certificate that was written, and where.
    pub certificate: Option<(&'a str, &'a Certificate, &'a Confirmed)>,
    /// How long it took.
    pub seconds: f64,
}

/// The exploration of one instance.
pub struct Explored<'a> {
    /// The system.
    pub subject: Subject<'a>,
    /// The memory that was asked for.
    pub memory: Memory,
    /// The processes of the instance.
    pub processes: u8,
    /// What was found.
    pub exploration: &'a Exploration,
    /// How long it took.
    pub seconds: f64,
}

/// The check of a certificate.
pub struct Checked<'a> {
    /// The system.
    pub subject: Subject<'a>,
    /// The file of the certificate.
    pub path: &'a str,
    /// The certificate.
    pub certificate: &'a Certificate,
    /// What the solvers say.
    pub result: &'a Result<Confirmed, Refusal>,
    /// How long it took.
    pub seconds: f64,
}

impl Explored<'_> {
    /// The verdict: `violated`, `safe` or `inconclusive`.
    pub fn word(&self) -> &'static str {
        match (&self.exploration.trace, self.cuts().is_empty()) {
            (Some(_), _) => "violated",
            (None, true) => "safe",
            (None, false) => "inconclusive",
        }
    }

    /// What was left out.
    pub fn cuts(&self) -> Vec<&'static str> {
        let cut = self.exploration.cut;
        [
            (cut.states, "too many states"),
            (cut.buffers, "long store buffers, or many messages of one location, were left out"),
            (cut.numbers, "numbers beyond those of the text"),
            (cut.initial, "too many initial states"),
            (cut.stopped, "the budget of time was used up"),
        ]
        .into_iter()
        .filter_map(|(happened, why)| happened.then_some(why))
        .collect()
    }
}

/// A run, with the instance it is a run of.
struct Run<'a> {
    instance: Instance<'a>,
    trace: &'a Trace,
    property: usize,
    /// The program that the lines of the system are lines of.
    program: Option<&'a str>,
}

impl<'a> Run<'a> {
    fn new(subject: &Subject<'a>, memory: Memory, (trace, property): &'a (Trace, usize)) -> Run<'a> {
        let instance = Instance::new(subject.system, memory, trace.processes);
        Run { instance, trace, property: *property, program: subject.program.then_some(subject.file) }
    }
}

/// Why a certificate is rejected.
fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::System(diagnostic) => diagnostic.message.clone(),
        Refusal::Certificate(why) | Refusal::Obligation(why) | Refusal::Solver(why) => why.clone(),
    }
}

/// A short word for programs, and a sentence.
fn warning(subject: &Subject<'_>, warning: &Warning) -> (&'static str, String) {
    match warning {
        Warning::NothingWeak => {
            ("nothing_weak", "no variable of the system is weak, so this is an answer under sc".to_owned())
        }
        Warning::Processes { most, exactly } => {
            let what = if *exactly { "exactly" } else { "at most" };
            (
                "number_procs",
                format!("the answer is about {what} {most} processes (number_procs), not about any number"),
            )
        }
        Warning::Assumed { span } => {
            let text = subject.source.get(span.start as usize..span.end as usize).unwrap_or("");
            let text: Vec<&str> = text.split_whitespace().collect();
            ("assumed", format!("assumed, not proved (line {}): {}", span.line, text.join(" ")))
        }
        Warning::NoInitialState { processes, assumptions: true } => (
            "contradictory_assumptions",
            format!(
                "the assumptions leave no initial state with {processes} processes: nothing is ever reached"
            ),
        ),
        Warning::NoInitialState { processes, assumptions: false } => (
            "no_initial_state",
            format!("init allows no state with {processes} processes: nothing is ever reached"),
        ),
        Warning::NeverHappens { transition, processes } => {
            let transition = &subject.system.transitions[*transition];
            (
                "never_happens",
                format!(
                    "transition `{}` (line {}) never happens with up to {processes} processes",
                    transition.name, transition.span.line
                ),
            )
        }
        Warning::OfProgram { message } => ("program", message.clone()),
        Warning::NoInvariant { count } => {
            ("no_invariant", format!("{count} stated invariants are not invariant and were not used"))
        }
    }
}
