//! Which line to change, in words.

use porf::{Answer, Place, Repair, Suggestion};
use serde_json::{Value, json};

/// As many ways to repair a program are told to people.
const TOLD: usize = 4;

/// What to do about a violation, for people.
pub(super) fn help(answer: &Answer) -> Option<String> {
    let model = answer.model;
    Some(match answer.repair.as_ref()? {
        Repair::Other => "the orderings are not the cause: something goes wrong even if every atomic \
                          access and fence is memory_order_seq_cst"
            .to_string(),
        Repair::Orderings(sets) => match sets.as_slice() {
            [] => return None,
            [set] => match set.as_slice() {
                [one] => format!("{one} makes the program safe under {model}"),
                all => format!("together these make the program safe under {model}:\n{}", list(all)),
            },
            sets => {
                let firsts: Vec<Suggestion> = sets.iter().filter_map(|set| set.first()).cloned().collect();
                let told = list(&firsts[..firsts.len().min(TOLD)]);
                format!("each of these alone makes the program safe under {model}:\n{told}")
            }
        },
    })
}

fn list(suggestions: &[Suggestion]) -> String {
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
    let Suggestion { place: Place { location, operation, order, .. }, order: to } = suggestion;
    json!({
        "file": location.file,
        "line": location.line,
        "column": location.column,
        "operation": operation.word(),
        "from": order.name(),
        "to": to.name(),
    })
}
