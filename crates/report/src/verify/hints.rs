//! Which line to change, in words.

use porf::{Answer, Place, Repair, Side, Suggestion};
use serde_json::{Value, json};

/// As many ways to repair a program are told to people.
const TOLD: usize = 4;

/// What to do about a violation, for people.
pub(super) fn help(answer: &Answer) -> Option<String> {
    let model = answer.model;
    Some(match answer.repair.as_ref()? {
        Repair::Other => "the orderings are not the cause: something goes wrong even if every atomic \
                          access and fence is sequentially consistent"
            .to_string(),
        Repair::Orderings(sets) if sets.iter().all(|set| set.len() == 1) => {
            let alone: Vec<&Suggestion> = sets.iter().flatten().collect();
            match alone.as_slice() {
                [] => return None,
                [one] => format!("{one} makes the program safe under {model}"),
                all => {
                    let told = list(&all[..all.len().min(TOLD)]);
                    format!("each of these alone makes the program safe under {model}:\n{told}")
                }
            }
        }
        Repair::Orderings(sets) => {
            let sets: Vec<String> = sets.iter().map(|set| list(&set.iter().collect::<Vec<_>>())).collect();
            format!("together these make the program safe under {model}:\n{}", sets.join("\nor these:\n"))
        }
    })
}

fn list(suggestions: &[&Suggestion]) -> String {
    suggestions.iter().map(|one| format!("  {one}")).collect::<Vec<_>>().join("\n")
}

/// The same for programs: the sets of suggestions, or an empty list if orderings do not help.
pub(super) fn json(repair: &Repair) -> Value {
    match repair {
        Repair::Other => json!([]),
        Repair::Orderings(sets) => {
            sets.iter().map(|set| set.iter().map(suggestion).collect::<Value>()).collect()
        }
    }
}

/// A suggestion as an object.
pub(crate) fn suggestion(suggestion: &Suggestion) -> Value {
    let Suggestion { place: Place { location, operation, order, gap, .. }, order: to } = suggestion;
    let mut object = json!({
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "operation": operation.word(),
        "from": order.name(),
        "to": to.name(),
    });
    if let Some((side, beside)) = gap {
        let side = if *side == Side::Before { "before" } else { "after" };
        object["insert"] = json!(side);
        object["beside"] = json!(beside.word());
        object["from"] = Value::Null;
    }
    object
}
