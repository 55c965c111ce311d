//! The answers of `porf litmus`: a line, a page or a table for people, JSON for programs.

use crate::sarif::Log;
use crate::{Paint, diagnostic};
use porf::{TestAnswer, TestDifference};
use porf_frontend_litmus::{LitmusTest, Observation, Outcome, format_value};
use porf_verdict::{Diagnostic, SourceLocation};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// One object: a test under a model. The format is documented in docs/report-format.md.
pub fn json(file: &str, test: &LitmusTest, model: &str, answer: &TestAnswer) -> Json {
    let Outcome { states, positive, negative, observation, ok, .. } = &answer.outcome;
    let states: Vec<Json> = states
        .iter()
        .map(|(values, count)| {
            let values: serde_json::Map<_, _> = pairs(test, &answer.outcome, values)
                .map(|(name, value)| (name, Json::String(value)))
                .collect();
            json!({"values": values, "count": count})
        })
        .collect();
    let mut object = json!({
        "schema": 1,
        "test": test.name,
        "file": file,
        "arch": test.arch,
        "model": model,
        "engine": answer.engine,
        "observation": observation.word(),
        "ok": ok,
        "positive": positive,
        "negative": negative,
        "states": states,
        "executions": positive + negative,
    });
    if let Some(machine) = answer.compiled {
        object["compiled"] = json!(machine.name());
    }
    if !answer.flags.is_empty() {
        object["flags"] = answer.flags.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    }
    object
}

/// One object for a test that has no answer.
pub fn json_error(file: &str, test: Option<&LitmusTest>, model: Option<&str>, wrong: &Diagnostic) -> Json {
    let mut object = json!({
        "schema": 1,
        "test": test.map(|test| &test.name),
        "file": file,
        "error": diagnostic::json(wrong),
    });
    if let Some(model) = model {
        object["model"] = json!(model);
    }
    object
}

/// The tests whose `forall` or `~exists` fails under a model, as a SARIF 2.1.0 log with one run.
pub fn sarif<'a>(failed: impl Iterator<Item = (&'a str, &'a LitmusTest, &'a str)>) -> Json {
    let mut log = Log::default();
    for (file, test, model) in failed {
        let at = SourceLocation { file: file.to_string(), line: 0, column: 0 };
        let message = format!("{}: the condition fails (model {model}): {}", test.name, test.condition);
        log.error("condition", &message, Some(&at));
    }
    log.finish()
}

/// A test in one line.
pub fn line(test: &LitmusTest, model: &str, answer: &TestAnswer, paint: Paint) -> String {
    let Outcome { positive, negative, observation, ok, .. } = &answer.outcome;
    let verdict = if *ok { paint.good("ok") } else { paint.bad("no") };
    let counts = format!("{positive}/{}", positive + negative);
    let flags: String = answer.flags.iter().map(|(name, _)| format!("  flag {name}")).collect();
    format!(
        "{:<40} {:<6} {} {counts:>9}  {verdict}{flags}",
        test.name,
        model,
        paint.observation(*observation, 10)
    )
}

/// A test on a page of its own: its states, and what they mean for its condition.
pub fn detail(test: &LitmusTest, model: &str, answer: &TestAnswer, paint: Paint) -> String {
    let Outcome { states, positive, negative, observation, ok, .. } = &answer.outcome;
    let mut out = String::new();
    let compiled =
        answer.compiled.map_or(String::new(), |machine| format!(", compiled to {}", machine.name()));
    let _ = writeln!(out, "{} ({}{compiled}) under {model}", paint.strong(&test.name), test.arch);
    let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = writeln!(
        out,
        "{}, {} ({})",
        count(states.len() as u64, "state"),
        count(positive + negative, "execution"),
        answer.engine
    );
    let holds = |values: &[u64]| {
        test.condition.prop.holds(&mut |observable| {
            let at = answer.outcome.observables.iter().position(|o| o == observable);
            at.map_or(0, |at| values[at])
        })
    };
    for (values, count) in states {
        let text: Vec<String> =
            pairs(test, &answer.outcome, values).map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if holds(values) { paint.strong("*") } else { " ".to_string() };
        let _ = writeln!(out, "  {mark} {:<50} {count:>6}", text.join("  "));
    }
    for (name, raised) in &answer.flags {
        let all = count(positive + negative, "execution");
        let _ = writeln!(out, "flag {name} raised in {raised} of {all}");
    }
    let verdict = if *ok { paint.good("Ok") } else { paint.bad("No") };
    let _ = writeln!(out, "{verdict}: {}", test.condition);
    let _ = writeln!(out, "{}: {positive} for, {negative} against", paint.observation(*observation, 0));
    out
}

/// Tests down, models across.
pub fn matrix(models: &[&str], rows: &[(&LitmusTest, Vec<Option<Observation>>)], paint: Paint) -> String {
    let first = rows.iter().map(|(test, _)| test.name.chars().count()).max().unwrap_or(0).max(4);
    let widths: Vec<usize> = models.iter().map(|model| model.chars().count().max(9)).collect();
    let mut out = String::new();
    let _ = write!(out, "{:first$}", "");
    for (model, width) in models.iter().zip(&widths) {
        let _ = write!(out, "  {}", paint.strong(&format!("{model:width$}")));
    }
    let _ = writeln!(out);
    for (test, cells) in rows {
        let _ = write!(out, "{:first$}", test.name);
        for (cell, width) in cells.iter().zip(&widths) {
            let text = match cell {
                Some(observation) => paint.observation(*observation, *width),
                None => format!("{:width$}", "?"),
            };
            let _ = write!(out, "  {text}");
        }
        let _ = writeln!(out);
    }
    out
}

/// The last line of a run over many tests.
pub fn summary(tests: usize, answered: usize, unsupported: usize, seconds: f64) -> String {
    format!("{tests} tests, {answered} answers, {unsupported} unsupported, {seconds:.2} s")
}

/// The observables of a state with their values, as people read them.
fn pairs<'a>(
    test: &'a LitmusTest,
    outcome: &'a Outcome,
    values: &'a [u64],
) -> impl Iterator<Item = (String, String)> + 'a {
    outcome.observables.iter().zip(values).map(|(observable, value)| {
        (observable.to_string(), format_value(&test.program, *value, observable.size()))
    })
}

impl Paint {
    fn observation(self, observation: Observation, width: usize) -> String {
        let text = format!("{:width$}", observation.word());
        match observation {
            Observation::Never => self.dim(&text),
            Observation::Sometimes => self.wrap("33", &text),
            Observation::Always => self.wrap("36", &text),
        }
    }
}

/// What one model allows and another one forbids: one object.
pub fn difference_json(test: &str, model: &str, against: &str, difference: &TestDifference) -> Json {
    let witness = difference.witness.as_ref().map(|witness| {
        json!({"events": witness.events, "co": witness.co, "axiom": witness.axiom, "cycle": witness.cycle})
    });
    json!({
        "schema": 1,
        "command": "litmus",
        "test": test,
        "model": model,
        "against": against,
        "allowed": difference.allowed,
        "forbidden": difference.forbidden,
        "witness": witness,
    })
}

/// The same for people.
pub fn difference_text(test: &str, model: &str, against: &str, difference: &TestDifference) -> String {
    let TestDifference { allowed, forbidden, witness } = difference;
    let mut out =
        format!("{test}: {forbidden} of {allowed} executions under {model} are forbidden by {against}\n");
    if let Some(witness) = witness {
        for event in &witness.events {
            let _ = writeln!(out, "  {event}");
        }
        for order in &witness.co {
            let _ = writeln!(out, "  co {order}");
        }
        let _ = writeln!(out, "  {against} forbids it: {} ({})", witness.axiom, witness.cycle.join(" "));
    }
    out
}
