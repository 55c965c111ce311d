//! The answers of `porf litmus`: a line, a page or a table for people, JSON for programs.

use porf_frontend_litmus::{Diagnostic, LitmusTest, Observation, Outcome, format_value};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// What an engine found out about a test.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub outcome: &'a Outcome,
    /// Flags that the model raised (data races, …), with the number of executions.
    pub flags: &'a [(String, u64)],
    /// What enumerated the executions.
    pub engine: &'a str,
}

/// Whether to use colours.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    pub color: bool,
}

/// One object: a test under a model. The format is documented in docs/report-format.md.
pub fn json(file: &str, test: &LitmusTest, model: &str, facts: &Facts<'_>) -> Json {
    let Outcome { states, positive, negative, observation, ok, .. } = facts.outcome;
    let states: Vec<Json> = states
        .iter()
        .map(|(values, count)| {
            let values: serde_json::Map<_, _> =
                pairs(test, facts.outcome, values).map(|(name, value)| (name, Json::String(value))).collect();
            json!({"values": values, "count": count})
        })
        .collect();
    let mut object = json!({
        "schema": 1,
        "test": test.name,
        "file": file,
        "arch": test.arch,
        "model": model,
        "engine": facts.engine,
        "observation": observation.word(),
        "ok": ok,
        "positive": positive,
        "negative": negative,
        "states": states,
        "executions": positive + negative,
    });
    if !facts.flags.is_empty() {
        object["flags"] = facts.flags.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    }
    object
}

/// One object for a test that has no answer.
pub fn json_error(
    file: &str,
    test: Option<&LitmusTest>,
    model: Option<&str>,
    diagnostic: &Diagnostic,
) -> Json {
    let mut object = json!({
        "schema": 1,
        "test": test.map(|test| &test.name),
        "file": file,
        "error": {"message": diagnostic.message, "line": diagnostic.line, "column": diagnostic.column},
    });
    if let Some(model) = model {
        object["model"] = json!(model);
    }
    object
}

/// A test in one line.
pub fn line(test: &LitmusTest, model: &str, facts: &Facts<'_>, paint: Paint) -> String {
    let Outcome { positive, negative, observation, ok, .. } = facts.outcome;
    let verdict = if *ok { paint.good("ok") } else { paint.bad("no") };
    let counts = format!("{positive}/{}", positive + negative);
    let flags: String = facts.flags.iter().map(|(name, _)| format!("  flag {name}")).collect();
    format!(
        "{:<40} {:<6} {} {counts:>9}  {verdict}{flags}",
        test.name,
        model,
        paint.observation(*observation, 10)
    )
}

/// A test on a page of its own: its states, and what they mean for its condition.
pub fn detail(test: &LitmusTest, model: &str, facts: &Facts<'_>, paint: Paint) -> String {
    let Outcome { states, positive, negative, observation, ok, .. } = facts.outcome;
    let mut out = String::new();
    let _ = writeln!(out, "{} ({}) under {model}", paint.strong(&test.name), test.arch);
    let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = writeln!(
        out,
        "{}, {} ({})",
        count(states.len() as u64, "state"),
        count(positive + negative, "execution"),
        facts.engine
    );
    let holds = |values: &[u64]| {
        test.condition.prop.holds(&mut |observable| {
            let at = facts.outcome.observables.iter().position(|o| o == observable);
            at.map_or(0, |at| values[at])
        })
    };
    for (values, count) in states {
        let text: Vec<String> =
            pairs(test, facts.outcome, values).map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if holds(values) { paint.strong("*") } else { " ".to_string() };
        let _ = writeln!(out, "  {mark} {:<50} {count:>6}", text.join("  "));
    }
    for (name, raised) in facts.flags {
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
    pub(crate) fn wrap(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    fn observation(self, observation: Observation, width: usize) -> String {
        let text = format!("{:width$}", observation.word());
        match observation {
            Observation::Never => self.wrap("2", &text),
            Observation::Sometimes => self.wrap("33", &text),
            Observation::Always => self.wrap("36", &text),
        }
    }
}

/// What one model allows and another one forbids.
pub struct Difference<'a> {
    pub test: &'a str,
    pub model: &'a str,
    pub against: &'a str,
    pub allowed: u64,
    pub forbidden: u64,
    pub witness: Option<Witness<'a>>,
}

pub struct Witness<'a> {
    pub events: &'a [String],
    pub co: &'a [String],
    pub axiom: &'a str,
    pub cycle: &'a [String],
}

impl Difference<'_> {
    pub fn json(&self) -> String {
        let witness = self.witness.as_ref().map(|witness| {
            json!({"events": witness.events, "co": witness.co, "axiom": witness.axiom, "cycle": witness.cycle})
        });
        let Difference { test, model, against, allowed, forbidden, .. } = self;
        json!({
            "schema": 1,
            "command": "litmus",
            "test": test,
            "model": model,
            "against": against,
            "allowed": allowed,
            "forbidden": forbidden,
            "witness": witness,
        })
        .to_string()
    }

    pub fn text(&self) -> String {
        let Difference { test, model, against, allowed, forbidden, .. } = self;
        let mut out =
            format!("{test}: {forbidden} of {allowed} executions under {model} are forbidden by {against}\n");
        if let Some(witness) = &self.witness {
            for event in witness.events {
                let _ = writeln!(out, "  {event}");
            }
            for order in witness.co {
                let _ = writeln!(out, "  co {order}");
            }
            let _ = writeln!(out, "  {against} forbids it: {} ({})", witness.axiom, witness.cycle.join(" "));
        }
        out
    }
}
