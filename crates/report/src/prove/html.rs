//! A proof or a run as a page: the run step by step, one column per process, with the buffers and the state after each
//! step; the invariant of a proof.

use super::sarif::location;
use super::{Proof, Run, text, warning, words};
use crate::page::{Page, View};
use porf_param::Memory;
use porf_verdict::Verdict;
use serde_json::json;

/// A page that holds the answer of a proof.
pub fn proof_html(proof: &Proof<'_>) -> String {
    let Proof { subject, answer, .. } = proof;
    let (title, message) = match &answer.verdict {
        Verdict::Safe(coverage) => {
            let what = text::covered(subject, &answer.warnings, coverage);
            (format!("{} is safe under {}", subject.file, answer.memory.word()), what)
        }
        Verdict::Violated(violation) => {
            (format!("{} is unsafe under {}", subject.file, answer.memory.word()), violation.message.clone())
        }
        Verdict::Inconclusive(limit) => (format!("{}: no answer", subject.file), limit.to_string()),
    };
    let mut notes = vec![message];
    notes.extend(answer.warnings.iter().map(|other| format!("Warning: {}", warning(subject, other).1)));
    let run = answer.trace.as_ref().map(|found| view(proof, &Run::new(subject, answer.memory, found)));
    let invariant = (!answer.invariant.is_empty()).then(|| {
        let mut view = View { name: "invariant".to_string(), ..View::default() };
        view.file(subject.file);
        // What holds always and what never does, each in a column.
        let laws = answer.laws.iter().map(|law| law.words(subject.system));
        let cubes = answer.invariant.iter().map(|cube| words::cube(subject.system, cube));
        if !answer.laws.is_empty() {
            view.threads.push(("∀".to_string(), "always".to_string()));
        }
        let last = view.threads.len();
        view.threads.push(("∄".to_string(), "never reached".to_string()));
        let rows = laws.map(|law| (0, law)).chain(cubes.map(|cube| (last, cube)));
        view.events = (rows.enumerate())
            .map(|(at, (column, text))| json!({ "id": format!("{}", at + 1), "thread": column, "text": text, "kind": "step" }))
            .collect();
        view
    });
    let statistics = &answer.statistics;
    let page = Page {
        verb: "prove",
        verdict: answer.verdict.word(),
        title,
        notes,
        help: None,
        facts: vec![
            ("model", answer.memory.word().to_string()),
            ("nodes", statistics.nodes.to_string()),
            ("states explored", answer.explored.to_string()),
            ("time", format!("{:.3} s", proof.seconds)),
        ],
        views: run.into_iter().chain(invariant).collect(),
    };
    page.html(&|_| Some(subject.source.to_string()))
}

/// The run that reaches an unsafe state.
fn view(proof: &Proof<'_>, run: &Run<'_>) -> View {
    let Run { instance, trace, property, .. } = run;
    let subject = &proof.subject;
    let mut view = View { name: "run".to_string(), tone: "violated", ..View::default() };
    view.file(subject.file);
    view.threads =
        (1..=trace.processes).map(|process| (format!("#{process}"), format!("process {process}"))).collect();
    let mut before = words::state(instance, &trace.initial);
    view.notes.push(format!("start: {}", before.join(", ")));
    let last = trace.steps.len();
    for (at, (step, (_, after))) in words::steps(instance, trace).iter().zip(&trace.steps).enumerate() {
        let after = words::state(instance, after);
        let kind = if step.transition.is_some() { "step" } else { "commit" };
        let mut text = step.transition.clone().unwrap_or_else(|| "commit".to_string());
        if let [_, others @ ..] = step.processes.as_slice()
            && !others.is_empty()
        {
            let others: Vec<String> = others.iter().map(|process| format!("#{}", process + 1)).collect();
            text = format!("{text} with {}", others.join(" "));
        }
        if !step.effects.is_empty() {
            text = format!("{text}: {}", step.effects.join(", "));
        }
        let changed: Vec<&String> = after.iter().filter(|cell| !before.contains(cell)).collect();
        let changed: Vec<String> = changed.into_iter().cloned().collect();
        let mut detail: Vec<(&str, String)> = Vec::new();
        if !step.reads.is_empty() {
            detail.push(("reads", step.reads.join("\n")));
        }
        detail.push(("changes", changed.join("\n")));
        if instance.memory != Memory::Ra {
            let empty = step.buffers.is_empty();
            let pending = if empty { "all empty".to_string() } else { step.buffers.join("\n") };
            detail.push(("buffers", pending));
        }
        detail.push(("state after", after.join("\n")));
        let mut row = json!({
            "id": format!("{}", at + 1),
            "thread": step.processes.first(),
            "text": text,
            "kind": kind,
            "detail": detail,
        });
        if at + 1 == last {
            row["marked"] = json!(true);
        }
        let transition = step
            .transition
            .as_ref()
            .and_then(|name| subject.system.transitions.iter().find(|known| known.name == *name));
        if let Some(transition) = transition {
            view.place(&mut row, &location(subject, transition.span), false);
        }
        view.events.push(row);
        before = after;
    }
    let set = &instance.system.unsafes[*property];
    view.notes.push(format!("unsafe (line {})", set.span.line));
    view
}
