//! Whether a program with other orderings is safe, as far as a budget allows to say.

use crate::verify::{Budget, Request, once};
use crate::{Error, Input};
use porf_ir::{Change, Program};
use porf_model::Model;
use porf_verdict::{Limit, Verdict, ViolationKind};
use std::time::Instant;

/// What is left of a budget, and how it was used.
pub(super) struct Trials<'a> {
    input: &'a Input,
    request: Request<'a>,
    /// A program must be safe under each of them.
    models: &'a [Model],
    start: Instant,
    /// How many programs were tried.
    pub tried: u64,
    /// For how many of them the budget was too small.
    pub undecided: u64,
    /// Executions in all.
    pub executions: u64,
}

/// What was found out about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrialOutcome {
    Safe,
    Violated,
    /// The budget is used up, or the search could not do it.
    Undecided,
}

impl<'a> Trials<'a> {
    pub fn new(input: &'a Input, request: &Request<'a>, models: &'a [Model]) -> Trials<'a> {
        let request =
            Request { all: false, first: true, checkpoint: None, progress: None, remote: None, ..*request };
        let start = Instant::now();
        Trials { input, request, models, start, tried: 0, undecided: 0, executions: 0 }
    }

    /// Whether the budget is used up.
    pub fn over(&self) -> bool {
        let Budget { executions, time, .. } = self.request.budget;
        executions.is_some_and(|limit| self.executions >= limit)
            || time.is_some_and(|limit| self.start.elapsed() >= limit)
            || self.request.interrupt.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed))
    }

    /// The program with changes.
    pub fn changed(&mut self, changes: &[Change]) -> Result<TrialOutcome, Error> {
        self.program(self.input.program.with(changes))
    }

    /// Whether an assertion may fail in another program.
    pub fn fails(&mut self, program: Program) -> Result<bool, Error> {
        let checks = self.request.checks;
        self.request.checks = checks.with(ViolationKind::Assertion);
        let outcome = self.program(program);
        self.request.checks = checks;
        Ok(outcome? != TrialOutcome::Safe)
    }

    fn program(&mut self, program: Program) -> Result<TrialOutcome, Error> {
        self.tried += 1;
        let input = Input { program, ..self.input.clone() };
        for &model in self.models {
            let outcome = self.under(&input, model)?;
            if outcome != TrialOutcome::Safe {
                self.undecided += u64::from(outcome == TrialOutcome::Undecided);
                return Ok(outcome);
            }
        }
        Ok(TrialOutcome::Safe)
    }

    fn under(&mut self, input: &Input, model: Model) -> Result<TrialOutcome, Error> {
        if self.over() {
            return Ok(TrialOutcome::Undecided);
        }
        let Budget { executions, time, memory } = self.request.budget;
        let budget = Budget {
            executions: executions.map(|limit| limit - self.executions),
            time: time.map(|limit| limit.saturating_sub(self.start.elapsed())),
            memory,
        };
        let (answer, _) = once(input, &Request { model, budget, ..self.request })?;
        self.executions += answer.executions + answer.blocked;
        Ok(match answer.verdict {
            Verdict::Safe(_) => TrialOutcome::Safe,
            Verdict::Violated(_) => TrialOutcome::Violated,
            // Every thread waits, whatever the orderings: that is no help.
            Verdict::Inconclusive(Limit::Incomplete { .. }) => TrialOutcome::Violated,
            Verdict::Inconclusive(_) => TrialOutcome::Undecided,
        })
    }
}
