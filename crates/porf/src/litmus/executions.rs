//! The executions of a litmus test one by one: those that a model allows, and those that it forbids although the test
//! asks about them.
//!
//! All candidates are enumerated, by brute force. If the model implies coherence, incoherent ones are left out, unless
//! no other candidate ends as the condition asks.
//!
//! Limits: [`MOST`] executions of each kind are kept, and [`TRIED`] candidates are looked at.

use super::{Axioms, observe_candidate, refused};
use crate::explain::{Why, explain_by};
use crate::trace::Trace;
use crate::{Error, mapping};
use porf_frontend_litmus::{LitmusTest, format_value};
use porf_ir::Program;
use porf_oracle::{Candidate, Judge, Refusal};
use porf_relation::Relation;

/// As many executions of each kind are kept.
const MOST: usize = 200;
/// As many candidates are looked at.
const TRIED: usize = 20_000;

const MIXED: &str = "executions with accesses of different sizes to the same bytes cannot be shown";

/// The executions of a test under a model.
#[derive(Clone, Debug)]
pub struct TestExecutions {
    /// Those that the model allows, and then those that it forbids and that end as the condition asks; of these the
    /// ones first that come closest to being allowed.
    pub list: Vec<TestExecution>,
    /// Candidates that end as the condition asks and are forbidden: how many by which axiom.
    pub forbidden: Vec<(String, u64)>,
    /// Whether there are more than could be kept or looked at.
    pub cut: bool,
}

/// An execution of a litmus test.
#[derive(Clone, Debug)]
pub struct TestExecution {
    /// Its events.
    pub trace: Trace,
    /// Why the model allows or forbids it.
    pub why: Why,
    /// What the condition mentions, with the values at the end.
    pub state: Vec<(String, String)>,
    /// Whether it ends as the proposition of the condition says.
    pub holds: bool,
}

/// The executions of a test that the model allows, and those of interest that it forbids.
pub fn executions(test: &LitmusTest, model: &Axioms, unroll: u32) -> Result<TestExecutions, Error> {
    let compiled;
    let test = match model.reading(test)? {
        None => test,
        Some(machine) => {
            let program = mapping::compile_to(&test.program, machine)?;
            compiled = LitmusTest { program, dialect: machine.dialect(), ..test.clone() };
            &compiled
        }
    };
    let coherent = model.cat.implies_coherence();
    let found = enumerate(test, model, unroll, coherent)?;
    let answered = found.list.iter().any(|execution| execution.holds) || found.cut;
    if answered || !coherent { Ok(found) } else { enumerate(test, model, unroll, false) }
}

fn enumerate(
    test: &LitmusTest,
    model: &Axioms,
    unroll: u32,
    coherent: bool,
) -> Result<TestExecutions, Error> {
    let (mut allowed, mut forbidden) = (Vec::new(), Vec::new());
    let mut found = TestExecutions { list: Vec::new(), forbidden: Vec::new(), cut: false };
    let (mut tried, mut error) = (0, None);
    let observables = test.observables();
    porf_oracle::enumerate(&test.program, &mut Any { coherent }, unroll, |execution, _| {
        tried += 1;
        if tried > TRIED {
            found.cut = true;
            return false;
        }
        let mut value = |observable: &_| observe_candidate(test, execution, observable);
        if test.filter.as_ref().is_some_and(|filter| !filter.holds(&mut value)) {
            return true;
        }
        let holds = test.condition.prop.holds(&mut value);
        let trace = Trace::of_candidate(&test.program, execution);
        let why = match explain_by(&trace, &model.name, &model.cat) {
            Ok(Some(why)) => why,
            Ok(None) => return true,
            Err(diagnostic) => {
                error = Some(diagnostic);
                return false;
            }
        };
        let is_allowed = why.is_allowed();
        if !is_allowed && !holds {
            return true;
        }
        let broken = why.axioms.iter().filter(|axiom| axiom.broken.is_some());
        if let Some(axiom) = broken.min_by_key(|axiom| axiom.broken.as_ref().map_or(0, Vec::len)) {
            match found.forbidden.iter_mut().find(|(name, _)| *name == axiom.name) {
                Some((_, count)) => *count += 1,
                None => found.forbidden.push((axiom.name.clone(), 1)),
            }
        }
        let list = if is_allowed { &mut allowed } else { &mut forbidden };
        if list.len() >= MOST {
            found.cut = true;
            return true;
        }
        let state = observables.iter().map(|observable| {
            let value = observe_candidate(test, execution, observable);
            (observable.to_string(), format_value(&test.program, value, observable.size()))
        });
        list.push(TestExecution { trace, why, state: state.collect(), holds });
        true
    })
    .map_err(|refusal| match refusal {
        Refusal::MixedSizes => Error::Unsupported(MIXED.to_string()),
        other => refused(other, model),
    })?;
    if let Some(diagnostic) = error {
        return Err(Error::Unsupported(diagnostic.to_string()));
    }
    // The fewer axioms it breaks, and the longer the shortest cycle, the closer it is to being allowed.
    forbidden.sort_by_key(|execution: &TestExecution| {
        let broken = || execution.why.axioms.iter().filter_map(|axiom| axiom.broken.as_ref());
        (broken().count(), std::cmp::Reverse(broken().map(Vec::len).min()))
    });
    found.list = allowed;
    found.list.append(&mut forbidden);
    Ok(found)
}

/// Takes every candidate.
struct Any {
    coherent: bool,
}

impl Judge for Any {
    fn implies_coherence(&self) -> bool {
        self.coherent
    }

    fn implies_atomicity(&self) -> bool {
        false
    }

    fn needs_dependencies(&self) -> bool {
        true
    }

    fn takes_mixed_sizes(&self) -> bool {
        false
    }

    fn begin(&mut self, _: &Program, _: &Candidate<'_>) {}

    fn set_rf(&mut self, _: &Relation) -> bool {
        true
    }

    fn count(&mut self, _: &Relation) -> usize {
        1
    }
}
