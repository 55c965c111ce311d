//! What is wrong with an input: the message with the place in the source, or JSON.

use crate::paint::{Paint, Snippet, extent};
use miette::{LabeledSpan, NamedSource};
use porf_verdict::Diagnostic;
use serde_json::{Value, json};

/// For people. `source` is the text that the diagnostic is about; without it, or without a place, the
/// message takes one line.
pub fn text(diagnostic: &Diagnostic, source: Option<&str>, paint: Paint) -> String {
    let Diagnostic { location, length, message, help } = diagnostic;
    let place = source.and_then(|source| Some((source, extent(source, location, *length)?)));
    let shown = place.map(|(source, (start, length))| {
        let snippet = Snippet {
            message: message.clone(),
            help: help.clone(),
            labels: vec![LabeledSpan::new(None, start, length)],
            source: Some(NamedSource::new(&location.file, source.to_string())),
        };
        snippet.render(paint, None)
    });
    shown.filter(|text| !text.is_empty()).unwrap_or_else(|| format!("{diagnostic}\n"))
}

/// An object; line and column are there if the place is known.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let mut object = json!({"message": diagnostic.message, "help": diagnostic.help});
    if diagnostic.location.line > 0 {
        object["line"] = diagnostic.location.line.into();
        object["column"] = diagnostic.location.column.into();
    }
    object
}

/// What a verb prints if it has no answer: one object.
pub fn failure(command: &str, file: Option<&str>, wrong: &Diagnostic) -> Value {
    json!({"schema": 1, "command": command, "file": file, "error": json(wrong)})
}
