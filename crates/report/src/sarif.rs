//! SARIF 2.1.0, which code hosting sites show beside the code.

use porf_verdict::{SourceLocation, ViolationKind};
use serde_json::{Value, json};

/// A log with one run, while its results are collected.
#[derive(Default)]
pub(crate) struct Log {
    rules: Vec<Value>,
    results: Vec<Value>,
    notifications: Vec<Value>,
}

impl Log {
    /// Adds an error; the caller may add to it.
    pub fn error(&mut self, rule: &str, message: &str, at: Option<&SourceLocation>) -> &mut Value {
        let index = match self.rules.iter().position(|known| known["id"] == rule) {
            Some(index) => index,
            None => {
                self.rules.push(describe(rule));
                self.rules.len() - 1
            }
        };
        let mut result = json!({
            "ruleId": rule,
            "ruleIndex": index,
            "level": "error",
            "message": { "text": message },
        });
        if let Some(at) = at {
            result["locations"] = json!([place(at, None)]);
        }
        self.results.push(result);
        self.results.last_mut().expect("it was pushed")
    }

    /// There is no answer: that is no result, and not the same as none.
    pub fn inconclusive(&mut self, message: &str) {
        self.notifications.push(json!({
            "level": "warning",
            "message": { "text": format!("inconclusive: {message}") },
            "descriptor": { "id": "inconclusive" },
        }));
    }

    /// The whole log.
    pub fn finish(self) -> Value {
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "porf",
                    "version": version,
                    "rules": self.rules,
                    "notifications": [{ "id": "inconclusive", "shortDescription": { "text": "A limit was reached before there was an answer." } }],
                } },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": self.notifications,
                }],
                "results": self.results,
            }],
        })
    }
}

/// A rule, with what it is about.
fn describe(rule: &str) -> Value {
    let text = match ViolationKind::ALL.into_iter().find(|kind| kind.word() == rule) {
        Some(kind) => kind.description(),
        None => "The condition of a litmus test fails.",
    };
    let name: String =
        rule.chars().take(1).flat_map(char::to_uppercase).chain(rule.chars().skip(1)).collect();
    json!({
        "id": rule,
        "name": name,
        "shortDescription": { "text": text },
        "fullDescription": { "text": text },
        "defaultConfiguration": { "level": "error" },
    })
}

/// A place, with what happens there.
pub(crate) fn place(at: &SourceLocation, message: Option<&str>) -> Value {
    let mut location = json!({ "artifactLocation": { "uri": uri(&at.file) } });
    if at.line > 0 {
        location["region"] = json!({ "startLine": at.line, "startColumn": at.column.max(1) });
    }
    let mut place = json!({ "physicalLocation": location });
    if let Some(message) = message {
        place["message"] = json!({ "text": message });
    }
    place
}

/// A path as a URI (RFC 3986): absolute ones with a scheme, every byte that a URI does not allow as `%XX`.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Places in the order in which they are passed, with the thread that passes each: a flow for each thread.
pub(crate) fn flow(steps: impl Iterator<Item = (String, Value)>) -> Value {
    let mut threads: Vec<(String, Vec<Value>)> = Vec::new();
    for (order, (thread, place)) in steps.enumerate() {
        let step = json!({ "location": place, "executionOrder": order + 1 });
        match threads.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, steps)) => steps.push(step),
            None => threads.push((thread, vec![step])),
        }
    }
    let flows: Value =
        threads.into_iter().map(|(id, steps)| json!({ "id": id, "locations": steps })).collect();
    json!([{ "threadFlows": flows }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/ä#1.c"), "file:///tmp/%C3%A4%231.c");
    }
}
