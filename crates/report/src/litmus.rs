//! The answers of `porf litmus`: a line, a page or a table for people, JSON for programs.

use crate::page::{Page, View};
use crate::sarif::Log;
use crate::verify::json as witness;
use crate::verify::text::columns;
use crate::{Paint, diagnostic, explain};
use porf::{TestAnswer, TestDifference, TestExecution, TestExecutions};
use porf_frontend_litmus::{LitmusTest, Observation, Outcome, Quantifier, format_value};
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
    let witness = difference.witness.as_ref().map(|(trace, one, two)| {
        let mut object = witness::trace(trace, Some(one));
        object["why"] = explain::json(two);
        object
    });
    json!({
        "schema": 2,
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
pub fn difference_text(
    test: &str,
    model: &str,
    against: &str,
    difference: &TestDifference,
    paint: Paint,
    width: usize,
) -> String {
    let TestDifference { allowed, forbidden, witness } = difference;
    let mut out =
        format!("{test}: {forbidden} of {allowed} executions under {model} are forbidden by {against}\n");
    if let Some((trace, _, why)) = witness {
        out.push('\n');
        columns(&mut out, trace, &[], paint, width);
        out.push('\n');
        out.push_str(&paint.shown(&explain::text(why, trace)));
    }
    out
}

/// The same for a browser: the page of one test.
pub fn difference_html(test: &LitmusTest, model: &str, against: &str, difference: &TestDifference) -> String {
    let TestDifference { allowed, forbidden, witness } = difference;
    let view = witness.as_ref().map(|(trace, one, two)| {
        let mut view = View::of(trace, &[], &[one, two]);
        view.notes.push(format!("{model} allows it, {against} does not."));
        view
    });
    let page = Page {
        verb: "litmus --against",
        verdict: "",
        title: format!("{}: {model} against {against}", test.name),
        notes: vec![format!("{forbidden} of {allowed} executions under {model} are forbidden by {against}.")],
        help: None,
        facts: vec![("model", model.to_string()), ("against", against.to_string())],
        views: view.into_iter().collect(),
    };
    page.html(&|_| Some(test.text.clone()))
}

/// A test under each model, every execution of it: a page.
pub fn html(test: &LitmusTest, models: &[(&str, &TestAnswer, &TestExecutions)]) -> String {
    let mut views = Vec::new();
    for (model, _, executions) in models {
        let mut list: Vec<&TestExecution> = executions.list.iter().collect();
        // What the condition is about comes first, and of that what no interleaving does.
        list.sort_by_key(|execution| (!execution.holds, execution.trace.interleaves));
        for execution in list {
            let TestExecution { trace, why, state, holds } = execution;
            let mut view = View::of(trace, &[], &[why]);
            let state: Vec<String> = state.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let allowed = why.is_allowed();
            view.tone = if allowed { "allowed" } else { "forbidden" };
            view.group = format!("{model}: {}", view.tone);
            view.name = format!("{}{}", state.join("  "), if *holds { "  *" } else { "" });
            let holds = if *holds { "the condition's proposition holds" } else { "it does not hold" };
            view.notes = vec![format!("{model}: {}", state.join(", ")), holds.to_string()];
            views.push(view);
        }
    }
    let facts = models.iter().map(|(model, answer, _)| {
        let Outcome { positive, negative, observation, .. } = &answer.outcome;
        (*model, format!("{} ({positive} of {})", observation.word(), positive + negative))
    });
    let facts = facts.collect();
    let fails = models.iter().any(|(_, answer, _)| !answer.outcome.ok);
    let page = Page {
        verb: "litmus",
        verdict: match test.condition.quantifier {
            Quantifier::Exists => "",
            _ if fails => "violated",
            _ => "safe",
        },
        title: format!("{} ({})", test.name, test.arch),
        notes: vec![test.condition.to_string()],
        help: None,
        facts,
        views,
    };
    page.html(&|_| Some(test.text.clone()))
}

/// Why a model allows what a test asks about, or forbids it: for people.
pub fn explanation(model: &str, executions: &TestExecutions, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    let Some(execution) = interesting(executions) else {
        let cut = if executions.cut { " among those that were looked at" } else { "" };
        let _ = writeln!(
            out,
            "no candidate execution ends so{cut}: no write gives the values that are asked for"
        );
        return out;
    };
    let allowed = execution.why.is_allowed();
    if allowed {
        let _ = writeln!(out, "\nhow it happens under {model}:\n");
    } else {
        let by: Vec<String> =
            executions.forbidden.iter().map(|(axiom, count)| format!("{axiom} {count}")).collect();
        let all: u64 = executions.forbidden.iter().map(|(_, count)| count).sum();
        let plural = if all == 1 { "" } else { "s" };
        let _ = writeln!(
            out,
            "\n{all} candidate execution{plural} would end so, forbidden by: {}",
            by.join(", ")
        );
        let _ = writeln!(out, "the one that comes closest to being allowed:\n");
    }
    columns(&mut out, &execution.trace, &[], paint, width);
    out.push('\n');
    out.push_str(&paint.shown(&explain::text(&execution.why, &execution.trace)));
    out
}

/// The same for programs: the execution, and why.
pub fn explanation_json(executions: &TestExecutions) -> Json {
    let Some(execution) = interesting(executions) else { return Json::Null };
    let forbidden: serde_json::Map<String, Json> =
        executions.forbidden.iter().map(|(axiom, count)| (axiom.clone(), json!(count))).collect();
    json!({
        "execution": witness::trace(&execution.trace, Some(&execution.why)),
        "why": explain::json(&execution.why),
        "forbidden": forbidden,
        "cut": executions.cut,
    })
}

/// The execution that the condition is about: one that is allowed, or else the first that is forbidden. One that no
/// interleaving does tells more.
fn interesting(executions: &TestExecutions) -> Option<&TestExecution> {
    let all = executions.list.iter().filter(|execution| execution.holds);
    all.min_by_key(|execution| (!execution.why.is_allowed(), execution.trace.interleaves))
}
