//! SARIF 2.1.0, which code hosting sites show beside the code.

use porf_verdict::SourceLocation;
use serde_json::{Value, json};

/// A log with one run, while its results are collected.
#[derive(Default)]
pub(crate) struct Log {
    rules: Vec<Value>,
    results: Vec<Value>,
}

impl Log {
    /// Adds an error; the caller may add to it.
    pub fn error(&mut self, rule: &str, message: &str, at: Option<&SourceLocation>) -> &mut Value {
        if !self.rules.iter().any(|known| known["id"] == rule) {
            self.rules.push(json!({ "id": rule }));
        }
        let mut result = json!({ "ruleId": rule, "level": "error", "message": { "text": message } });
        if let Some(at) = at {
            result["locations"] = json!([place(at, None)]);
        }
        self.results.push(result);
        self.results.last_mut().expect("it was pushed")
    }

    /// The whole log.
    pub fn finish(self) -> Value {
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "porf", "version": version, "rules": self.rules } },
                "results": self.results,
            }],
        })
    }
}

/// A place, with what happens there.
pub(crate) fn place(at: &SourceLocation, message: Option<&str>) -> Value {
    let mut location = json!({ "artifactLocation": { "uri": at.file } });
    if at.line > 0 {
        location["region"] = json!({ "startLine": at.line, "startColumn": at.column.max(1) });
    }
    let mut place = json!({ "physicalLocation": location });
    if let Some(message) = message {
        place["message"] = json!({ "text": message });
    }
    place
}

/// Places in the order in which they are passed.
pub(crate) fn flow(steps: impl Iterator<Item = Value>) -> Value {
    let steps: Vec<Value> = steps.map(|place| json!({ "location": place })).collect();
    json!([{ "threadFlows": [{ "locations": steps }] }])
}
