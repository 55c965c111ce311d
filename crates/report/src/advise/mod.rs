//! The advice of `porf advise`: text, JSON, a patch.

mod patch;

pub use patch::{Patch, patch};

use crate::verify::hints;
use porf::{Advice, Advised, Answer, Model, Origin};
use porf_ir::{MemoryOrder, Operation};
use serde_json::{Value, json};
use std::fmt::Write;

/// For people: every place whose ordering can be weaker, then what was tried.
pub fn text(advice: &Advice) -> String {
    let mut out = String::new();
    let weaker: Vec<&Advised> =
        advice.places.iter().filter(|advised| advised.order != advised.place.order).collect();
    let under = names(&advice.models).join(", ");
    match (weaker.len(), advice.places.len()) {
        (_, 0) => {
            let _ = writeln!(out, "safe under {under}; there is no ordering to weaken");
        }
        (0, all) => {
            let _ = writeln!(out, "safe under {under}; none of the {all} orderings can be weaker");
        }
        (some, all) => {
            let _ = writeln!(out, "safe under {under}, also with {some} of {all} orderings weaker:\n");
        }
    }
    let places: Vec<String> = weaker.iter().map(|advised| advised.place.location.to_string()).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let kinds = weaker.iter().map(|advised| advised.place.operation.word().len()).max().unwrap_or(0);
    for (advised, place) in weaker.iter().zip(places) {
        let to = match (advised.place.operation, advised.order) {
            (Operation::Fence, MemoryOrder::Relaxed) => "no fence",
            (_, order) => order.name(),
        };
        let _ = writeln!(
            out,
            "  {place:width$}  {:kinds$}  {} -> {to}",
            advised.place.operation.word(),
            advised.place.order
        );
    }
    if !weaker.is_empty() {
        out.push('\n');
    }
    for advised in advice.places.iter().filter(|advised| !advised.reached) {
        let _ = writeln!(out, "note: no execution comes to {}; its ordering stays", advised.place.location);
    }
    if advice.undecided > 0 {
        let _ = writeln!(
            out,
            "note: {} of {} programs were not decided within the budget; those orderings stay",
            advice.undecided, advice.tried
        );
    }
    let _ = writeln!(
        out,
        "{} programs tried, {} executions. The advice holds for this program: another user of the same \
         code may need more.",
        advice.tried, advice.executions
    );
    out
}

/// The object that `advise --format json` prints for a safe program.
pub fn json(origin: &Origin, advice: &Advice) -> Value {
    let places: Value = advice
        .places
        .iter()
        .map(|Advised { place, order, reached }| {
            let mut object = hints::suggestion(&porf::Suggestion { place: place.clone(), order: *order });
            object["reached"] = json!(reached);
            object
        })
        .collect();
    json!({
        "schema": 1,
        "command": "advise",
        "file": origin.files.first(),
        "files": origin.files,
        "models": names(&advice.models),
        "verdict": "safe",
        "places": places,
        "tried": advice.tried,
        "undecided": advice.undecided,
        "executions": advice.executions,
    })
}

/// The object for a program that is not safe: the answer with the orderings that repair it.
pub fn repair_json(answer: &Answer) -> Value {
    let mut object = crate::verify::json(answer);
    object["command"] = json!("advise");
    object
}

fn names(models: &[Model]) -> Vec<&'static str> {
    models.iter().map(|model| model.name()).collect()
}
