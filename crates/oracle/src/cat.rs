//! A cat model as the judge of candidates.
//!
//! Cost: see `porf-cat`; what does not depend on rf or co is computed once per choice of traces.

use crate::{Candidate, Judge};
use porf_cat::{CatModel, Diagnostic, Evaluator, EventStructure, EventView, Judgement};
use porf_ir::Program;
use porf_relation::Relation;

/// Judges candidates by a cat model.
pub struct CatJudge<'m> {
    evaluator: Evaluator<'m>,
    /// Whether the current structure can be consistent at all.
    possible: bool,
    outcome: Judgement,
    error: Option<Diagnostic>,
    coherence: bool,
    atomicity: bool,
    dependencies: bool,
    mixed: bool,
}

impl<'m> CatJudge<'m> {
    /// A judge that has seen no execution yet.
    pub fn new(model: &'m CatModel) -> CatJudge<'m> {
        CatJudge {
            evaluator: Evaluator::new(model),
            possible: false,
            outcome: Judgement::default(),
            error: None,
            coherence: model.implies_coherence(),
            atomicity: model.implies_atomicity(),
            dependencies: model.needs_dependencies(),
            mixed: model.takes_mixed_sizes(),
        }
    }

    /// The model's answer for the execution that was visited last.
    pub fn outcome(&self) -> Judgement {
        self.outcome
    }

    /// Names of the flags that it raised.
    pub fn flags(&self) -> Vec<String> {
        self.evaluator.flag_names(self.outcome.flags)
    }

    /// What went wrong while the model was evaluated, if anything did.
    pub fn error(self) -> Option<Diagnostic> {
        self.error
    }

    fn note<T>(&mut self, result: Result<T, Diagnostic>, otherwise: T) -> T {
        result.unwrap_or_else(|diagnostic| {
            self.error.get_or_insert(diagnostic);
            otherwise
        })
    }
}

impl Judge for CatJudge<'_> {
    fn implies_coherence(&self) -> bool {
        self.coherence
    }

    fn implies_atomicity(&self) -> bool {
        self.atomicity
    }

    fn needs_dependencies(&self) -> bool {
        self.dependencies
    }

    fn takes_mixed_sizes(&self) -> bool {
        self.mixed
    }

    fn begin(&mut self, program: &Program, candidate: &Candidate<'_>) {
        let views: Vec<EventView<'_>> = candidate
            .events
            .iter()
            .map(|event| EventView { id: event.id, label: &event.label, dependencies: event.dependencies })
            .collect();
        let structure = EventStructure::new(program.dialect, &views, &candidate.rmw);
        let bound = self.evaluator.bind(&structure);
        self.possible = self.note(bound, false);
    }

    fn set_rf(&mut self, rf: &Relation) -> bool {
        if !self.possible {
            return false;
        }
        let set = self.evaluator.set_rf(rf);
        self.note(set, false)
    }

    fn count(&mut self, co: &Relation) -> usize {
        self.evaluator.set_co(co);
        let checked = self.evaluator.check();
        self.outcome = self.note(checked, Judgement::default());
        self.outcome.consistent
    }
}
