//! What one model allows and another one forbids.
//!
//! All executions of a litmus test under the first model, by brute force, each put to the second one.

use super::{Axioms, refused};
use crate::explain::{Why, explain_by};
use crate::trace::Trace;
use crate::{Error, mapping};
use porf_cat::{Diagnostic, Evaluator, EventStructure, EventView};
use porf_frontend_litmus::LitmusTest;
use porf_ir::Program;
use porf_oracle::{Candidate, CandidateExecution, CatJudge, Judge};
use porf_relation::Relation;

/// The executions of a test under one model that another model forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDifference {
    /// Executions that the first model allows.
    pub allowed: u64,
    /// Those of them that the second one forbids.
    pub forbidden: u64,
    /// The first of these, and why each model allows or forbids it.
    pub witness: Option<(Trace, Why, Why)>,
}

/// The executions of a test that `first` allows and `second` forbids.
pub fn difference(
    test: &LitmusTest,
    first: &Axioms,
    second: &Axioms,
    unroll: u32,
) -> Result<TestDifference, Error> {
    let machine = first.reading(test)?;
    if machine != second.reading(test)? {
        let message =
            format!("{} and {} do not take this test in the same language", first.name, second.name);
        return Err(Error::Unsupported(message));
    }
    let compiled;
    let test = match machine {
        None => test,
        Some(machine) => {
            let mut copy = test.clone();
            copy.program = mapping::compile_to(&test.program, machine)?;
            compiled = copy;
            &compiled
        }
    };
    let dependencies = first.cat.needs_dependencies() || second.cat.needs_dependencies();
    let mixed = first.cat.takes_mixed_sizes() && second.cat.takes_mixed_sizes();
    let mut judge = Tracking(CatJudge::new(&first.cat), dependencies, mixed);
    let mut other = Evaluator::new(&second.cat);
    let mut found = TestDifference { allowed: 0, forbidden: 0, witness: None };
    let mut error = None;
    porf_oracle::enumerate(&test.program, &mut judge, unroll, |execution, _| {
        found.allowed += 1;
        match allows(test, &mut other, execution) {
            Ok(true) => {}
            Ok(false) => {
                found.forbidden += 1;
                // A trace has no events for parts of an access.
                if found.witness.is_none() && !execution.candidate.is_mixed {
                    let trace = Trace::of_candidate(&test.program, execution);
                    let why = |model: &Axioms| explain_by(&trace, &model.name, &model.cat).ok().flatten();
                    found.witness = why(first).zip(why(second)).map(|(one, two)| (trace.clone(), one, two));
                }
            }
            Err(diagnostic) => error = Some(diagnostic),
        }
        error.is_none()
    })
    .map_err(|refusal| refused(refusal, if first.cat.takes_mixed_sizes() { second } else { first }))?;
    match error.or(judge.0.error()) {
        Some(diagnostic) => Err(Error::Unsupported(diagnostic.to_string())),
        None => Ok(found),
    }
}

/// The first model, on executions that have what the second one wants to know: dependencies, and accesses that are
/// several events.
struct Tracking<'m>(CatJudge<'m>, bool, bool);

impl Judge for Tracking<'_> {
    fn implies_coherence(&self) -> bool {
        self.0.implies_coherence()
    }

    fn implies_atomicity(&self) -> bool {
        self.0.implies_atomicity()
    }

    fn needs_dependencies(&self) -> bool {
        self.1
    }

    fn takes_mixed_sizes(&self) -> bool {
        self.2
    }

    fn begin(&mut self, program: &Program, candidate: &Candidate<'_>) {
        self.0.begin(program, candidate);
    }

    fn set_rf(&mut self, rf: &Relation) -> bool {
        self.0.set_rf(rf)
    }

    fn count(&mut self, co: &Relation) -> usize {
        self.0.count(co)
    }
}

fn allows(
    test: &LitmusTest,
    evaluator: &mut Evaluator<'_>,
    execution: &CandidateExecution<'_, '_>,
) -> Result<bool, Diagnostic> {
    let candidate = execution.candidate;
    let views: Vec<EventView<'_>> = candidate
        .events
        .iter()
        .map(|event| EventView { id: event.id, label: &event.label, dependencies: event.dependencies })
        .collect();
    let structure = EventStructure::new(test.program.dialect, &views, &candidate.rmw);
    evaluator.bind(&structure)?;
    let mut rf = Relation::empty(candidate.len());
    for (read, &source) in execution.rf.iter().enumerate() {
        if candidate.events[read].label.is_read() {
            rf.insert(source, read);
        }
    }
    evaluator.set_rf(&rf)?;
    let mut co = Relation::empty(candidate.len());
    for order in &execution.co {
        for (at, &write) in order.iter().enumerate() {
            order[..at].iter().for_each(|&earlier| co.insert(earlier, write));
        }
    }
    evaluator.set_co(&co);
    Ok(evaluator.check()?.is_consistent())
}
