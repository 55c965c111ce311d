//! Places in the text of a system.

use porf_verdict::{Diagnostic, SourceLocation};

/// A range of bytes of the source text, and the line and column at which it begins.
///
/// Two spans always compare equal: a syntax tree is the same tree wherever it was written, which is what
/// the print–parse round trip compares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}
impl Eq for Span {}

impl Span {
    /// From the start of this one to the end of another.
    pub fn to(self, end: Span) -> Span {
        Span { end: end.end, ..self }
    }
}

/// An error in the input: never a panic, never a guess. The caller knows the file.
pub(crate) fn error_at(span: Span, message: impl Into<String>) -> Diagnostic {
    let location = SourceLocation { file: String::new(), line: span.line, column: span.column };
    Diagnostic::new(location, message).spanning(span.end.saturating_sub(span.start))
}
