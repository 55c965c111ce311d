//! What is wrong with a model, and where.

use std::{fmt, sync::Arc};

/// A place in a source file. Lines and columns count from one; columns count characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Span {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The user's model is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn new(span: &Span, message: impl Into<String>) -> Self {
        Self {
            file: span.file.to_string(),
            line: span.line,
            column: span.column,
            message: message.into(),
            help: None,
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
