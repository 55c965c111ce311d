//! The answer to a litmus test: its final states, and how often its proposition holds.
//!
//! An engine calls [`Collector::add`] once per execution. The result is what herd prints: the distinct
//! final states projected on the observables, the executions for and against the proposition, and the
//! observation. `filter` drops executions before they are counted.

use crate::{LitmusTest, Observable, Quantifier};
use porf_event::Value;
use std::collections::BTreeMap;

/// Gathers the executions of one test.
#[derive(Clone, Debug)]
pub struct Collector<'t> {
    test: &'t LitmusTest,
    observables: Vec<Observable>,
    states: BTreeMap<Vec<Value>, u64>,
    positive: u64,
    negative: u64,
}

/// What all executions of a test say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The registers and cells that a state lists.
    pub observables: Vec<Observable>,
    /// The values of the observables, in their order, and how many executions end with them.
    pub states: BTreeMap<Vec<Value>, u64>,
    /// Executions for which the proposition holds.
    pub positive: u64,
    /// Executions for which it does not hold.
    pub negative: u64,
    /// Both numbers in one word.
    pub observation: Observation,
    /// Whether the quantified condition holds.
    pub ok: bool,
}

/// How often the proposition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observation {
    /// In no execution.
    Never,
    /// In some executions, but not in all.
    Sometimes,
    /// In every execution.
    Always,
}

impl<'t> Collector<'t> {
    /// A collector that has seen no execution yet.
    pub fn new(test: &'t LitmusTest) -> Collector<'t> {
        Collector { test, observables: test.observables(), states: BTreeMap::new(), positive: 0, negative: 0 }
    }

    /// Adds one execution, given by the final value of each register and location.
    pub fn add(&mut self, mut value: impl FnMut(&Observable) -> Value) {
        if let Some(filter) = &self.test.filter
            && !filter.holds(&mut value)
        {
            return;
        }
        match self.test.condition.prop.holds(&mut value) {
            true => self.positive += 1,
            false => self.negative += 1,
        }
        let state = self.observables.iter().map(|o| o.canonical(value(o))).collect();
        *self.states.entry(state).or_default() += 1;
    }

    /// The answer.
    pub fn finish(self) -> Outcome {
        Outcome::of(self.test, self.states, self.positive, self.negative)
    }
}

impl Outcome {
    /// What final states, and numbers of executions for and against the proposition, say of a test.
    pub fn of(test: &LitmusTest, states: BTreeMap<Vec<Value>, u64>, positive: u64, negative: u64) -> Outcome {
        let observation = match (positive, negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        };
        let ok = match test.condition.quantifier {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::Forall => negative == 0,
        };
        Outcome { observables: test.observables(), states, positive, negative, observation, ok }
    }
}

impl Observation {
    /// The word that herd uses.
    pub fn word(self) -> &'static str {
        match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        }
    }
}
