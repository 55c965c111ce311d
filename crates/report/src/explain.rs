//! Why a model allows an execution or forbids it, in words and as JSON.

use porf::trace::Trace;
use porf::{Axiom, Unseen, Why, WhyEdge};
use porf_event::EventId;
use serde_json::{Value, json};
use std::fmt::Write;

/// For people.
pub(crate) fn text(why: &Why, trace: &Trace) -> String {
    let mut out = String::new();
    let broken = why.axioms.iter().filter_map(|axiom| Some((axiom, axiom.broken.as_ref()?)));
    for (axiom, steps) in broken {
        let _ = writeln!(out, "{} forbids it: {}{}", why.model, axiom.name, law(axiom));
        for step in steps {
            describe(&mut out, step, 1);
        }
    }
    if !why.is_allowed() {
        return out;
    }
    let names: Vec<&str> = why.axioms.iter().map(|axiom| axiom.name.as_str()).collect();
    let _ = writeln!(out, "{} allows it: it keeps every axiom ({})", why.model, names.join(", "));
    if trace.interleaves {
        out.push_str("the order above is an interleaving: each read returns what was written last\n");
        return out;
    }
    if !why.weak.is_empty() {
        let _ = writeln!(out, "no interleaving of the threads does this: {}", cycle(&why.weak));
    }
    for Unseen { read, write } in &why.unseen {
        let _ = writeln!(out, "{}", unseen(trace, *read, *write));
    }
    out
}

/// What a thread has not seen, in a sentence.
pub(crate) fn unseen(trace: &Trace, read: EventId, write: EventId) -> String {
    let words = |id| trace.event(id).map_or(String::new(), |event| event.describe());
    format!("at {read} ({}) {} has not seen {write} ({})", words(read), read.thread, words(write))
}

/// A cycle in one line, by what an execution is given with and fr.
pub(crate) fn cycle(steps: &[WhyEdge]) -> String {
    let mut flat = Vec::new();
    steps.iter().for_each(|step| flatten(step, &mut flat));
    let Some(first) = flat.first() else { return String::new() };
    let mut out = first.from.to_string();
    for step in &flat {
        let _ = write!(out, " →{} {}", step.name, step.to);
    }
    out
}

/// Down to po, rf, co and fr.
fn flatten<'s>(step: &'s WhyEdge, flat: &mut Vec<&'s WhyEdge>) {
    match is_leaf(step) {
        true if step.from == step.to => {}
        true => flat.push(step),
        false => step.parts.iter().for_each(|part| flatten(part, flat)),
    }
}

/// That fr is rf backwards and then co needs no saying.
fn is_leaf(step: &WhyEdge) -> bool {
    let name = step.name.strip_suffix(['e', 'i']).unwrap_or(&step.name);
    step.parts.is_empty() || matches!(name, "fr" | "rf" | "co")
}

fn law(axiom: &Axiom) -> String {
    if axiom.text.is_empty() { String::new() } else { format!(" ({})", axiom.text) }
}

/// An edge, and below it what it is made of. Names for the same edge share a line.
fn describe(out: &mut String, step: &WhyEdge, depth: usize) {
    let WhyEdge { from, to, .. } = step;
    // A path of no edges.
    if from == to && step.parts.is_empty() {
        return;
    }
    let (mut step, mut names) = (step, step.name.clone());
    while let ([part], false) = (step.parts.as_slice(), is_leaf(step)) {
        names = format!("{names} = {}", part.name);
        step = part;
    }
    let _ = writeln!(out, "{:indent$}{from} → {to}  {names}", "", indent = 2 * depth);
    if !is_leaf(step) {
        step.parts.iter().for_each(|part| describe(out, part, depth + 1));
    }
}

/// For programs.
pub(crate) fn json(why: &Why) -> Value {
    let axioms: Value = why
        .axioms
        .iter()
        .map(|axiom| {
            let broken = axiom.broken.as_ref().map(|steps| steps.iter().map(step_json).collect::<Value>());
            json!({ "name": axiom.name, "text": axiom.text, "broken": broken })
        })
        .collect();
    let unseen: Value = why
        .unseen
        .iter()
        .map(|Unseen { read, write }| json!({ "read": read.to_string(), "write": write.to_string() }))
        .collect();
    json!({
        "model": why.model,
        "allowed": why.is_allowed(),
        "axioms": axioms,
        "weak": why.weak.iter().map(step_json).collect::<Value>(),
        "unseen": unseen,
    })
}

/// The same for the page, with sentences; `with` is a change of the program.
pub(crate) fn json_with(why: &Why, trace: &Trace, with: &str) -> Value {
    let mut object = json(why);
    object["said"] = why.unseen.iter().map(|one| unseen(trace, one.read, one.write)).collect();
    object["with"] = json!(with);
    object
}

fn step_json(step: &WhyEdge) -> Value {
    let mut object = json!({ "from": step.from.to_string(), "to": step.to.to_string(), "name": step.name });
    if !step.parts.is_empty() {
        object["parts"] = step.parts.iter().map(step_json).collect();
    }
    object
}

/// Pairs of events.
pub(crate) fn pairs(pairs: &[(EventId, EventId)]) -> Value {
    pairs.iter().map(|(from, to)| json!([from.to_string(), to.to_string()])).collect()
}
