//! One way to paint: colours, and messages that point into the source text.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use porf_verdict::{Lines, SourceLocation};
use std::fmt;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    /// Off: plain text.
    pub color: bool,
    /// Arrows, lines and dots by the characters of ASCII.
    pub ascii: bool,
}

impl Paint {
    pub(crate) fn wrap(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Text as the terminal can show it.
    pub(crate) fn shown(self, text: &str) -> String {
        if !self.ascii {
            return text.to_string();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '→' => out.push_str("->"),
                '←' => out.push_str("<-"),
                '►' => out.push('>'),
                '…' => out.push_str("..."),
                '×' => out.push('x'),
                '∀' => out.push_str("all"),
                c if c.is_ascii() => out.push(c),
                _ => out.push('?'),
            }
        }
        out
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }
}

/// A message with places of one source file marked.
#[derive(Debug)]
pub(crate) struct Snippet {
    pub message: String,
    pub help: Option<String>,
    pub labels: Vec<LabeledSpan>,
    /// `None` if it cannot be read.
    pub source: Option<NamedSource<String>>,
}

impl Snippet {
    /// The lines around the labels; nothing if they do not fit the source.
    pub fn render(&self, paint: Paint, width: Option<usize>) -> String {
        let theme = match (paint.ascii, paint.color) {
            (true, _) => GraphicalTheme::none(),
            (false, true) => GraphicalTheme::unicode(),
            (false, false) => GraphicalTheme::unicode_nocolor(),
        };
        let mut handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        if let Some(width) = width {
            handler = handler.with_width(width);
        }
        let mut text = String::new();
        match handler.render_report(&mut text, self) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Snippet {}

impl miette::Diagnostic for Snippet {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Where a place begins and how long it is, in bytes. Without a length it ends with the word, or is one
/// character; without a column it is the whole line.
pub(crate) fn extent(text: &str, at: &SourceLocation, length: u32) -> Option<(usize, usize)> {
    let lines = Lines::new(text);
    let line = lines.line(at.line)?;
    let begin = lines.offset(at.line, 1)?;
    if at.column == 0 {
        let blanks = line.len() - line.trim_start().len();
        return Some((begin + blanks, line.trim().len()));
    }
    let start = lines.offset(at.line, at.column)?;
    if length > 0 {
        return Some((start, (length as usize).min(text.len() - start)));
    }
    let rest = &line[start - begin..];
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let one = rest.chars().next().map_or(0, char::len_utf8);
    Some((start, word.max(one)))
}
