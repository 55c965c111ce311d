//! What `porf replay` shows of an execution: a line for each step, or JSON.

use crate::Paint;
use crate::page::{Page, View};
use crate::verify::Witness;
use porf::Replayed;
use porf::trace::StackFrame;
use serde_json::{Value, json};
use std::fmt::Write;

/// A line for each event, for what goes wrong, and for the violation.
pub fn text(witness: &Witness, replayed: &Replayed, paint: Paint) -> String {
    let mut out = String::new();
    for (event, place) in events(witness).zip(&replayed.places) {
        let id = event["id"].as_str().unwrap_or_default();
        let place =
            place.as_ref().map_or(String::new(), |frame| format!("{} {}", frame.location, frame.function));
        let from = event["rf"].as_str().map_or(String::new(), |rf| format!(" ← {rf}"));
        let _ = writeln!(out, "{id:8} {place:40} {}{from}", event["text"].as_str().unwrap_or_default());
    }
    for (thread, place, message) in &replayed.faults {
        let place = place.as_ref().map_or(String::new(), |frame: &StackFrame| frame.location.to_string());
        let _ = writeln!(out, "{thread:8} {place:40} {message}");
    }
    let message = witness.json["violation"]["message"].as_str().unwrap_or_default();
    let _ = writeln!(out, "violation: {message}");
    paint.shown(&out)
}

/// One object: the events, what goes wrong, and the violation.
pub fn json(witness: &Witness, replayed: &Replayed) -> Value {
    let fault = |(thread, _, message): &(porf_event::ThreadId, Option<StackFrame>, String)| json!({ "thread": thread.to_string(), "message": message });
    json!({
        "schema": 1,
        "command": "replay",
        "verdict": "violated",
        "model": witness.model.name(),
        "events": events(witness).collect::<Vec<_>>(),
        "faults": replayed.faults.iter().map(fault).collect::<Vec<_>>(),
        "violation": witness.json["violation"],
    })
}

/// A page; `read` gives the text of a source file.
pub fn html(witness: &Witness, replayed: &Replayed, read: &dyn Fn(&str) -> Option<String>) -> String {
    let why = porf::explain(&replayed.trace, witness.model);
    let mut view = View::of(&replayed.trace, &[], why.as_ref().as_slice());
    for (thread, place, message) in &replayed.faults {
        view.add_stack(&format!("{thread}: {message}"), place.as_slice());
    }
    let violation = &witness.json["violation"];
    let page = Page {
        verb: "replay",
        verdict: "violated",
        title: format!(
            "{}: {}",
            witness.origin.files.join(" "),
            violation["kind"].as_str().unwrap_or_default()
        ),
        notes: vec![violation["message"].as_str().unwrap_or_default().to_string()],
        help: None,
        facts: vec![("model", witness.model.name().to_string())],
        views: vec![view],
    };
    page.html(read)
}

fn events(witness: &Witness) -> impl Iterator<Item = &Value> {
    witness.json["execution"]["events"].as_array().into_iter().flatten()
}
