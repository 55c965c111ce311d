//! Places in the text of a model.

use porf_verdict::SourceLocation;
use std::{fmt, sync::Arc};

/// A place in a source file. Lines and columns count from one; columns count characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file as messages name it.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl From<&Span> for SourceLocation {
    fn from(span: &Span) -> SourceLocation {
        SourceLocation { file: span.file.to_string(), line: span.line, column: span.column }
    }
}
