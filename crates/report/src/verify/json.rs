//! For programs: see docs/report-format.md.

use super::hints;
use crate::explain;
use porf::trace::{StackFrame, Trace, TraceEvent};
use porf::{Answer, Difference, Estimate, Found, Model, Origin, Shown, Why};
use porf_event::EventId;
use porf_verdict::{Coverage, SourceLocation, TriedInput, Verdict, Violation, ViolationKind};
use serde_json::{Value, json};

/// The object that `verify --format json` prints.
pub fn json(answer: &Answer) -> Value {
    let checked: Vec<&str> = ViolationKind::ALL
        .into_iter()
        .filter(|kind| *kind != ViolationKind::Unsafe)
        .filter(|kind| answer.checks.has(*kind))
        .map(ViolationKind::word)
        .collect();
    let mut object = json!({
        "schema": 1,
        "command": "verify",
        "file": answer.origin.files.first(),
        "files": answer.origin.files,
        "model": answer.model.name(),
        "equivalence": answer.equivalence.to_string(),
        "checked": checked,
        "verdict": answer.verdict.word(),
        "executions": answer.executions,
        "blocked": answer.blocked,
        "warnings": answer.warnings,
        "events": answer.events,
        "reduced": reduced(answer),
        "seconds": { "frontend": answer.seconds.frontend, "explore": answer.seconds.explore, "cpu": answer.seconds.cpu },
        "peak_bytes": answer.peak_bytes,
    });
    match &answer.verdict {
        Verdict::Safe(Coverage::Bounded { unroll, loops, clocks, inputs, locked, mixed, stubs }) => {
            let loops: Value = loops.iter().map(location_json).collect();
            let clocks: Value = clocks.iter().map(location_json).collect();
            let tried =
                |input: &TriedInput| json!({ "place": location_json(&input.place), "values": input.values });
            let inputs: Value = inputs.iter().map(tried).collect();
            let locked = locked.as_ref().map(location_json);
            object["coverage"] = json!({
                "kind": "bounded",
                "unroll": unroll,
                "loops": loops,
                "clocks": clocks,
                "inputs": inputs,
                "locked": locked,
                "mixed": mixed,
                "stubs": stubs,
            });
        }
        Verdict::Safe(_) => object["coverage"] = json!({ "kind": "exhaustive" }),
        Verdict::Inconclusive(limit) => object["limit"] = json!(limit.to_string()),
        Verdict::Violated(_) => {
            object["violation"] = answer.found.first().map_or(Value::Null, found_json);
            if answer.all {
                object["violations"] = answer.found.iter().map(found_json).collect();
            }
            if let Some(limit) = &answer.unfinished {
                object["limit"] = json!(limit.to_string());
            }
            if let Some(repair) = &answer.repair {
                object["repair"] = hints::json(repair);
            }
        }
    }
    object
}

fn found_json(found: &Found) -> Value {
    let mut object = violation_json(&found.violation);
    if let Some(shown) = &found.shown {
        object["stack"] = stack(&shown.stack);
        object["related"] = related(shown);
        object["witness"] = trace(&shown.trace, shown.why.as_ref());
        if let Some(why) = &shown.why {
            object["why"] = explain::json(why);
        }
    }
    object
}

/// How often each reduction was made, by its name.
fn reduced(answer: &Answer) -> Value {
    let made = answer.reduced.iter().map(|(reduction, times)| (reduction.name().to_string(), json!(times)));
    Value::Object(made.collect())
}

/// The object that `verify --against --format json` prints.
pub fn difference_json(origin: &Origin, model: Model, against: Model, difference: &Difference) -> Value {
    let first = difference.why.as_ref().map(|(first, _)| first);
    json!({
        "schema": 1,
        "command": "verify",
        "file": origin.files.first(),
        "model": model.name(),
        "against": against.name(),
        "executions": difference.allowed,
        "forbidden": difference.forbidden,
        "witness": difference.witness.as_ref().map(|witness| trace(witness, first)),
        "why": difference.why.as_ref().map(|(_, second)| explain::json(second)),
        "limit": difference.limit.as_ref().map(|limit| limit.to_string()),
    })
}

/// The object that `verify --estimate --format json` prints.
pub fn estimate_json(estimate: &Estimate) -> Value {
    json!({
        "schema": 1,
        "command": "verify",
        "estimate": estimate.executions,
        "standard_error": estimate.standard_error,
        "interval": [estimate.interval.0, estimate.interval.1],
        "blocked": estimate.blocked,
    })
}

pub(super) fn violation_json(violation: &Violation) -> Value {
    json!({
        "kind": violation.kind.word(),
        "message": violation.message,
        "location": violation.location.as_ref().map(location_json),
    })
}

fn location_json(location: &SourceLocation) -> Value {
    json!({ "file": location.file, "line": location.line, "column": location.column })
}

fn related(shown: &Shown) -> Value {
    let one = |related: &porf::Related| json!({ "message": related.message, "stack": stack(&related.stack) });
    shown.related.iter().map(one).collect()
}

fn stack(frames: &[StackFrame]) -> Value {
    let frames = frames.iter().filter(|frame| frame.location.line > 0);
    frames
        .map(|frame| {
            let location = &frame.location;
            json!({ "function": frame.function, "file": location.file, "line": location.line, "column": location.column })
        })
        .collect()
}

/// An execution: its threads, its events, co, and happens-before if it is known.
pub(crate) fn trace(trace: &Trace, why: Option<&Why>) -> Value {
    let threads: Value = trace
        .threads
        .iter()
        .map(|thread| json!({ "id": thread.id.to_string(), "runs": thread.name }))
        .collect();
    let mut object = json!({
        "threads": threads,
        "events": trace.events.iter().map(event).collect::<Value>(),
        "interleaves": trace.interleaves,
    });
    if let Some(co) = &trace.co {
        let names = |order: &Vec<EventId>| order.iter().map(EventId::to_string).collect::<Vec<_>>();
        object["co"] = co.iter().map(names).collect();
    }
    if let Some(why) = why {
        object["hb"] = why.hb.as_deref().map_or(Value::Null, explain::pairs);
        object["sw"] = why.sw.as_deref().map_or(Value::Null, explain::pairs);
    }
    object
}

fn event(event: &TraceEvent) -> Value {
    let mut object = json!({
        "id": event.id.to_string(),
        "label": event.label.to_string(),
        "text": event.describe(),
        "answer": event.answer,
    });
    if let Some(rf) = event.rf {
        object["rf"] = json!(rf.to_string());
    }
    if let Some(frame) = event.source() {
        object["file"] = json!(frame.location.file);
        object["line"] = json!(frame.location.line);
    }
    object
}
