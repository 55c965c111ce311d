//! The text of a test, places in it, and a cursor that reads it.

use porf_ir::Span;
use porf_verdict::{Diagnostic, Lines, SourceLocation};

/// A file's text, and its lines.
pub(crate) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
    lines: Lines<&'a str>,
}

/// Which comments are skipped as blanks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// `(* … *)`, nested: everywhere but in C code, where `(*p)` is an expression.
    Caml,
    /// `//` and `/* … */`.
    C,
    /// All three: assembly code.
    Both,
}

/// Reads the text from left to right. Offsets are in bytes. All syntax is ASCII; other characters occur
/// only in comments and strings.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub source: &'a Source<'a>,
    pub at: usize,
    pub end: usize,
    pub comments: Comments,
    /// The depth of the recursive descent. It is bounded, so that no input overflows the stack.
    depth: u32,
}

const MAX_DEPTH: u32 = 200;

impl<'a> Source<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Source<'a> {
        Source { file, text, lines: Lines::new(text) }
    }

    pub fn span(&self, at: usize) -> Span {
        let (line, column) = self.lines.place(at);
        Span { line, column }
    }

    pub fn error(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        self.error_at(self.span(at), message)
    }

    pub fn error_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let Span { line, column } = span;
        Diagnostic::new(SourceLocation { file: self.file.to_string(), line, column }, message)
    }
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a Source<'a>, at: usize, comments: Comments) -> Cursor<'a> {
        Cursor { source, at, end: source.text.len(), comments, depth: 0 }
    }

    /// One level deeper; pairs with [`Cursor::leave`].
    pub fn enter(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.error("nested too deeply")) } else { Ok(()) }
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn rest(&self) -> &'a str {
        &self.source.text[self.at..self.end]
    }

    /// The byte at the cursor, 0 at the end.
    pub fn byte(&self) -> u8 {
        self.byte_at(0)
    }

    pub fn byte_at(&self, ahead: usize) -> u8 {
        self.rest().as_bytes().get(ahead).copied().unwrap_or(0)
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.end
    }

    pub fn span(&self) -> Span {
        self.source.span(self.at)
    }

    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.at, message)
    }

    /// What stands here, for an error message.
    pub fn found(&self) -> String {
        let rest = &self.source.text[self.at..];
        let word = rest.len() - rest.trim_start_matches(is_word).len();
        match rest.chars().next() {
            None => "the end of the file".to_string(),
            Some('\n') => "the end of the line".to_string(),
            Some(_) if word > 0 => format!("'{}'", &rest[..word]),
            Some(first) => format!("'{first}'"),
        }
    }

    pub fn expected(&self, what: &str) -> Diagnostic {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    /// Skips blanks, line ends and comments.
    pub fn skip(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let bytes = rest.as_bytes();
            match bytes.first() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0c) => self.at += 1,
                Some(b'(') if self.comments != Comments::C && bytes.get(1) == Some(&b'*') => {
                    self.skip_caml_comment()?;
                }
                Some(b'/') if self.comments != Comments::Caml && bytes.get(1) == Some(&b'/') => {
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                Some(b'/') if self.comments != Comments::Caml && bytes.get(1) == Some(&b'*') => {
                    match rest[2..].find("*/") {
                        Some(length) => self.at += length + 4,
                        None => return Err(self.error("this comment is not closed")),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_caml_comment(&mut self) -> Result<(), Diagnostic> {
        let bytes = &self.source.text.as_bytes()[..self.end];
        let mut depth = 0;
        let mut at = self.at;
        loop {
            match (bytes.get(at), bytes.get(at + 1)) {
                (Some(b'('), Some(b'*')) => (depth, at) = (depth + 1, at + 2),
                (Some(b'*'), Some(b')')) => (depth, at) = (depth - 1, at + 2),
                (Some(_), _) => at += 1,
                (None, _) => return Err(self.error("this comment is not closed")),
            }
            if depth == 0 {
                self.at = at;
                return Ok(());
            }
        }
    }

    /// The next byte after blanks.
    pub fn peek(&mut self) -> Result<u8, Diagnostic> {
        self.skip()?;
        Ok(self.byte())
    }

    /// Takes `text` if it comes next. A word matches only as a whole word.
    pub fn eat(&mut self, text: &str) -> Result<bool, Diagnostic> {
        self.skip()?;
        let Some(after) = self.rest().strip_prefix(text) else { return Ok(false) };
        if text.starts_with(is_word) && after.starts_with(is_word) {
            return Ok(false);
        }
        self.at += text.len();
        Ok(true)
    }

    pub fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if self.eat(text)? { Ok(()) } else { Err(self.expected(&format!("'{text}'"))) }
    }

    /// A word of letters, digits, `_` and what `also` allows, that does not begin with a digit.
    pub fn word_with(&mut self, also: impl Fn(char) -> bool) -> Result<Option<&'a str>, Diagnostic> {
        self.skip()?;
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let length = rest.len() - rest.trim_start_matches(|c| is_word(c) || also(c)).len();
        self.at += length;
        Ok((length > 0).then(|| &rest[..length]))
    }

    pub fn word(&mut self) -> Result<Option<&'a str>, Diagnostic> {
        self.word_with(|_| false)
    }

    pub fn expect_word(&mut self, what: &str) -> Result<&'a str, Diagnostic> {
        match self.word()? {
            Some(word) => Ok(word),
            None => Err(self.expected(what)),
        }
    }

    /// A number, decimal or hexadecimal, with an optional sign.
    pub fn number(&mut self) -> Result<Option<i64>, Diagnostic> {
        self.skip()?;
        let start = self.at;
        let rest = self.rest();
        let negative = rest.starts_with('-');
        let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let sign = rest.len() - digits.len();
        let length = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
        let text = &digits[..length];
        let magnitude = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
            None => text.parse::<u64>(),
        };
        self.at += sign + length;
        match magnitude {
            Ok(value) if negative => Ok(Some((value as i64).wrapping_neg())),
            Ok(value) => Ok(Some(value as i64)),
            Err(_) => Err(self.source.error(start, format!("'{text}' is not a number of at most 64 bits"))),
        }
    }

    /// Whether this whole word comes next; the cursor does not move.
    pub fn sees(&mut self, word: &str) -> Result<bool, Diagnostic> {
        let before = self.at;
        let found = self.eat(word)?;
        if found {
            self.at = before;
        }
        Ok(found)
    }
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
