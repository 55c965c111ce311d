//! Our answers beside herd's.

use crate::disagreements::Disagreements;
use crate::herd::{Corpus, Row, State, our_model};
use porf::{Axioms, Engine, TestAnswer, litmus};
use porf_frontend_litmus::{LitmusTest, format_value};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// How one corpus fares under one of herd's models.
#[derive(Debug, Default)]
pub struct Report {
    pub corpus: String,
    pub model: String,
    pub agree: usize,
    /// Observation and states agree, the number of executions does not.
    pub counts_differ: Vec<String>,
    /// Listed in `corpus/disagreements.toml`.
    pub known: Vec<String>,
    /// The test, and in what it differs.
    pub differ: Vec<(String, String)>,
    /// Tests for which there is no answer, and why.
    pub unanswered: Vec<(String, String)>,
    /// Entries of `corpus/disagreements.toml` for tests that agree.
    pub stale: Vec<String>,
    pub herd_milliseconds: u64,
    pub milliseconds: u64,
}

/// Compares all rows, or those that `sampled` picks by their path.
pub fn check(
    folder: &Path,
    corpus: &Corpus,
    theirs: &str,
    engine: Engine,
    sampled: impl Fn(&str) -> bool + Sync,
) -> Report {
    let rows =
        corpus.rows(folder, theirs).unwrap_or_else(|error| panic!("{} {theirs}: {error}", corpus.name));
    let ours = our_model(theirs).expect("columns for information only are not checked");
    // herd takes C tests as they stand.
    let model = Axioms::load(ours).unwrap_or_else(|error| panic!("{error}")).uncompiled();
    let known = Disagreements::load();
    // A row without an observation (herd refused, or ran out of time) is no expectation.
    let rows: Vec<&Row> =
        rows.iter().filter(|row| !row.observation.is_empty() && sampled(&row.path)).collect();
    let started = std::time::Instant::now();
    let results: Vec<_> = rows.par_iter().map(|row| (row, compare(corpus, row, &model, engine))).collect();
    let mut report = Report {
        corpus: corpus.name.clone(),
        model: theirs.to_string(),
        milliseconds: started.elapsed().as_millis() as u64,
        ..Report::default()
    };
    for (row, result) in results {
        let path = row.path.clone();
        let listed = known.reason(&corpus.name, theirs, &path).is_some();
        report.herd_milliseconds += row.milliseconds;
        match result {
            Agreement::Full | Agreement::CountsDiffer if listed => report.stale.push(path),
            Agreement::Full => report.agree += 1,
            Agreement::CountsDiffer => {
                report.agree += 1;
                report.counts_differ.push(path);
            }
            Agreement::Differs(_) | Agreement::Unanswered(_) if listed => report.known.push(path),
            Agreement::Differs(what) => report.differ.push((path, what)),
            Agreement::Unanswered(why) => report.unanswered.push((path, why)),
        }
    }
    report
}

impl Report {
    pub fn rows(&self) -> usize {
        self.agree + self.known.len() + self.differ.len() + self.unanswered.len() + self.stale.len()
    }

    /// One line for people.
    pub fn line(&self) -> String {
        format!(
            "{:<20} {:<8} {:>6} rows {:>6} agree ({:.2} %), {} known, {} differ, {} unanswered, {} counts differ, {} stale; {} ms, herd {} ms",
            self.corpus,
            self.model,
            self.rows(),
            self.agree,
            100.0 * self.agree as f64 / self.rows().max(1) as f64,
            self.known.len(),
            self.differ.len(),
            self.unanswered.len(),
            self.counts_differ.len(),
            self.stale.len(),
            self.milliseconds,
            self.herd_milliseconds,
        )
    }
}

enum Agreement {
    Full,
    CountsDiffer,
    Differs(String),
    Unanswered(String),
}

fn compare(corpus: &Corpus, row: &Row, model: &Axioms, engine: Engine) -> Agreement {
    let Some(text) = corpus.tests.get(&row.path) else {
        return Agreement::Unanswered("the archive has no such file".to_string());
    };
    let test = match porf_frontend_litmus::parse(&row.path, text) {
        Ok(test) => test,
        Err(diagnostic) => return Agreement::Unanswered(diagnostic.to_string()),
    };
    let answer = match litmus(&test, model, engine) {
        Ok(answer) => answer,
        Err(error) => return Agreement::Unanswered(error.to_string()),
    };
    let outcome = &answer.outcome;
    if outcome.observation.word() != row.observation {
        let message = format!("{} here, {} there", outcome.observation.word(), row.observation);
        return Agreement::Differs(message);
    }
    let states = states(&test, &answer);
    if states != row.states {
        let show = |set: Vec<&State>| set.first().map_or(String::new(), |state| format!("{state:?}"));
        return Agreement::Differs(format!(
            "{} states here, {} there; only here {}; only there {}",
            states.len(),
            row.states.len(),
            show(states.difference(&row.states).collect()),
            show(row.states.difference(&states).collect()),
        ));
    }
    // herd's witness line swaps the counts for `~exists`: compare what does not depend on it.
    let same = outcome.positive + outcome.negative == row.positive + row.negative
        && (outcome.positive == row.positive || outcome.positive == row.negative);
    if same { Agreement::Full } else { Agreement::CountsDiffer }
}

fn states(test: &LitmusTest, answer: &TestAnswer) -> BTreeSet<State> {
    let outcome = &answer.outcome;
    let one = |values: &Vec<u64>| {
        outcome
            .observables
            .iter()
            .zip(values)
            .map(|(o, value)| (o.to_string(), format_value(&test.program, *value, o.size())))
            .collect()
    };
    outcome.states.keys().map(one).collect()
}
