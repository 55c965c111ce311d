//! What is wrong with an input, where, and what to do about it: one type for every front end.
//!
//! Lines and columns count from 1. Columns count characters, not bytes: [`Lines`] is the one place that
//! counts.

use crate::SourceLocation;
use std::fmt;

/// The input is wrong or not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where. The file is empty if the text has no name, the line 0 if no place in it is to blame.
    pub location: SourceLocation,
    /// How many bytes from there on are meant; 0: the word that begins there.
    pub length: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Something is wrong at a place.
    pub fn new(at: impl Into<SourceLocation>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { location: at.into(), length: 0, message: message.into(), help: None }
    }

    /// Something is wrong with a whole file.
    pub fn about(file: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(SourceLocation { file: file.into(), line: 0, column: 0 }, message)
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Says how many bytes are meant.
    pub fn spanning(mut self, length: u32) -> Diagnostic {
        self.length = length;
        self
    }

    /// Names the file, where the front end was given a text alone.
    pub fn in_file(mut self, file: &str) -> Diagnostic {
        self.location.file = file.to_string();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.location.to_string();
        let place = place.trim_start_matches(':');
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A text with its line starts: offsets in bytes become lines and columns, and back.
#[derive(Clone, Debug)]
pub struct Lines<T> {
    text: T,
    starts: Vec<u32>,
}

impl<T: AsRef<str>> Lines<T> {
    /// Finds the lines. Cost: O(text) once; a place is then O(log lines + length of the line).
    pub fn new(text: T) -> Lines<T> {
        let ends = text.as_ref().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        Lines { text, starts }
    }

    /// Line and column of a byte. Inside a character, those of the character.
    pub fn place(&self, offset: usize) -> (u32, u32) {
        let text = self.text.as_ref();
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start as usize <= offset);
        let before = &text.as_bytes()[self.starts[line - 1] as usize..offset];
        // Every byte but the continuation of a character begins one.
        let begun = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32;
        let inside = !text.is_char_boundary(offset);
        (line as u32, begun + u32::from(!inside))
    }

    /// A line without its end.
    pub fn line(&self, line: u32) -> Option<&str> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)? as usize;
        self.text.as_ref()[start..].lines().next().or(Some(""))
    }

    /// The byte at which a column begins; the end of the line for a column behind it.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let content = self.line(line)?;
        let start = self.starts[line as usize - 1] as usize;
        let within = content.char_indices().nth((column as usize).checked_sub(1)?);
        Some(start + within.map_or(content.len(), |(at, _)| at))
    }

    /// The column of a compiler that counts bytes, from 1 as well.
    pub fn column_of_byte(&self, line: u32, byte: u32) -> u32 {
        match (self.line(line), byte.checked_sub(1)) {
            (Some(content), Some(before)) => {
                let before = &content.as_bytes()[..content.len().min(before as usize)];
                before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32 + 1
            }
            _ => byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("ab\näöx\n\nz");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(3), (2, 1));
        assert_eq!(lines.place(5), (2, 2));
        assert_eq!(lines.place(6), (2, 2), "inside ö");
        assert_eq!(lines.place(7), (2, 3));
        assert_eq!(lines.place(8), (2, 4), "the end of the line");
        assert_eq!(lines.place(9), (3, 1));
        assert_eq!(lines.place(10), (4, 1));
        assert_eq!(lines.place(99), (4, 2));
    }

    #[test]
    fn places_and_offsets_are_inverse() {
        let text = "ab\näöx\n\nz";
        let lines = Lines::new(text);
        for (offset, _) in text.char_indices() {
            let (line, column) = lines.place(offset);
            assert_eq!(lines.offset(line, column), Some(offset));
        }
        assert_eq!(lines.offset(2, 9), Some(8));
        assert_eq!(lines.offset(9, 1), None);
    }

    #[test]
    fn byte_columns_become_character_columns() {
        let lines = Lines::new("int ä = x;");
        assert_eq!(lines.column_of_byte(1, 10), 9);
        assert_eq!(lines.column_of_byte(1, 0), 0, "unknown stays unknown");
        assert_eq!(lines.column_of_byte(7, 10), 10, "a line that is not there");
    }

    #[test]
    fn a_diagnostic_reads_as_one_line() {
        let at = SourceLocation { file: "a.cub".into(), line: 3, column: 7 };
        let diagnostic = Diagnostic::new(at, "no such type").help("declare it");
        assert_eq!(diagnostic.to_string(), "a.cub:3:7: no such type (declare it)");
        assert_eq!(diagnostic.clone().in_file("").to_string(), "3:7: no such type (declare it)");
        assert_eq!(Diagnostic::about("", "no file").to_string(), "no file");
    }
}
