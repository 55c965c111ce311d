//! Answers as plain data, a line for each file: tests that are run elsewhere are shown as if they were run here.

use porf::{Error, TestAnswer};
use porf_frontend_litmus::{LitmusTest, Outcome};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// For each model its name, and its answer or why there is none.
type Line = Vec<(String, Result<PlainAnswer, String>)>;
/// The same, as this verb has it.
pub type Answers = Vec<(String, Result<TestAnswer, Error>)>;

#[derive(Serialize, Deserialize)]
struct PlainAnswer {
    states: Vec<(Vec<u64>, u64)>,
    positive: u64,
    negative: u64,
    flags: Vec<(String, u64)>,
    engine: String,
    compiled: Option<String>,
}

/// The line of a file.
pub fn line(answers: &Answers) -> String {
    let plain = |answer: &TestAnswer| PlainAnswer {
        states: answer.outcome.states.iter().map(|(state, count)| (state.clone(), *count)).collect(),
        positive: answer.outcome.positive,
        negative: answer.outcome.negative,
        flags: answer.flags.clone(),
        engine: answer.engine.to_string(),
        compiled: answer.compiled.map(|machine| machine.name().to_string()),
    };
    let told = |(model, answer): &(String, Result<TestAnswer, Error>)| {
        (model.clone(), answer.as_ref().map(plain).map_err(ToString::to_string))
    };
    let line: Line = answers.iter().map(told).collect();
    serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("numbers and strings"))
}

/// The lines of a file of answers.
pub fn lines(path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_string).collect())
}

/// What a line says of a test.
pub fn read(line: &str, test: &LitmusTest) -> Result<Answers, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| format!("no answers: {error}"))?;
    let known = |answer: PlainAnswer| TestAnswer {
        outcome: Outcome::of(test, answer.states.into_iter().collect(), answer.positive, answer.negative),
        flags: answer.flags,
        engine: if answer.engine == "oracle" { "oracle" } else { "explore" },
        compiled: porf_model::Machine::ALL
            .into_iter()
            .find(|machine| Some(machine.name()) == answer.compiled.as_deref()),
    };
    Ok(line
        .into_iter()
        .map(|(model, answer)| (model, answer.map(known).map_err(Error::Unsupported)))
        .collect())
}
