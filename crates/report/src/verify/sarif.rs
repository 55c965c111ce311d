//! SARIF 2.1.0, which code hosting sites show beside the code.

use porf::trace::StackFrame;
use porf::{Answer, Found, source};
use serde_json::{Value, json};

/// A SARIF 2.1.0 log with one run.
pub fn sarif(answer: &Answer) -> Value {
    let mut results = Vec::new();
    let mut rules: Vec<Value> = Vec::new();
    for Found { violation, shown } in &answer.found {
        let rule = violation.kind.word();
        if !rules.iter().any(|known| known["id"] == rule) {
            rules.push(json!({ "id": rule }));
        }
        let mut result = json!({
            "ruleId": rule,
            "level": "error",
            "message": { "text": format!("{} (model {})", violation.message, answer.model) },
        });
        if let Some(shown) = shown {
            result["locations"] = shown.source().map(|frame| place(frame, None)).into_iter().collect();
            result["relatedLocations"] = shown
                .related
                .iter()
                .filter_map(|related| {
                    source(&related.stack).map(|frame| place(frame, Some(&related.message)))
                })
                .collect();
            let steps: Value = shown
                .trace
                .events
                .iter()
                .filter_map(|event| {
                    let frame = event.source()?;
                    let text = format!("{} {}", event.id, event.describe());
                    Some(json!({ "location": place(frame, Some(&text)) }))
                })
                .collect();
            result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
        results.push(result);
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "porf", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

fn place(frame: &StackFrame, message: Option<&str>) -> Value {
    let mut place = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": frame.location.file },
            "region": { "startLine": frame.location.line, "startColumn": frame.location.column.max(1) },
        },
    });
    if let Some(message) = message {
        place["message"] = json!({ "text": message });
    }
    place
}
