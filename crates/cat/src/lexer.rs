//! Words of the cat language, each with its place.

use std::sync::Arc;

use crate::span::Span;
use porf_verdict::Diagnostic;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(Arc<str>),
    Keyword(&'static str),
    Tag(Arc<str>),
    Text(String),
    Symbol(&'static str),
    End,
}

impl Token {
    /// How an error message names the token.
    pub fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Keyword(word) => format!("keyword `{word}`"),
            Token::Tag(tag) => format!("tag `'{tag}`"),
            Token::Text(text) => format!("string \"{text}\""),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the file".into(),
        }
    }
}

const KEYWORDS: &[&str] = &[
    "let",
    "rec",
    "and",
    "when",
    "acyclic",
    "irreflexive",
    "show",
    "unshow",
    "empty",
    "subset",
    "as",
    "fun",
    "in",
    "undefined_unless",
    "flag",
    "assert",
    "include",
    "variant",
    "begin",
    "end",
    "procedure",
    "call",
    "enum",
    "debug",
    "match",
    "with",
    "forall",
    "from",
    "do",
    "try",
    "if",
    "then",
    "else",
    "catdep",
    "instructions",
    "default",
    "not",
];

/// Longest first, so that the first hit is the longest.
const SYMBOLS: &[&str] = &[
    "||", "&&", "++", "->", "-1", "(", ")", "{", "}", "[", "]", "_", "0", "|", "&", "*", "~", "+", "^", "\\",
    "?", "=", ";", ",",
];

pub fn lex(file: &Arc<str>, source: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut lexer = Lexer { file, rest: source, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank()?;
        let span = lexer.span();
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push((token, span));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    file: &'a Arc<str>,
    rest: &'a str,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn span(&self) -> Span {
        Span { file: self.file.clone(), line: self.line, column: self.column }
    }

    fn take(&mut self, bytes: usize) -> &str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.take(blank);
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else if self.rest.starts_with("(*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Comments nest.
    fn skip_comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.span();
        let mut depth = 0;
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with("(*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*)") {
                depth -= 1;
                self.take(2);
                if depth == 0 {
                    return Ok(());
                }
            } else {
                self.take(c.len_utf8());
            }
        }
        Err(Diagnostic::new(&start, "this comment is not closed"))
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        if first == '"' {
            let Some(end) = self.rest[1..].find('"') else {
                return Err(Diagnostic::new(&self.span(), "this string is not closed"));
            };
            let text = self.take(end + 2);
            return Ok(Token::Text(text[1..=end].to_owned()));
        }
        if first == '\'' {
            let length = name_length(&self.rest[1..]);
            if length > 0 {
                return Ok(Token::Tag(self.take(length + 1)[1..].into()));
            }
        }
        let length = name_length(self.rest);
        if length > 0 {
            let word = self.take(length);
            let keyword = KEYWORDS.iter().find(|keyword| **keyword == word);
            return Ok(keyword.map_or_else(|| Token::Name(word.into()), |keyword| Token::Keyword(keyword)));
        }
        match SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) {
            Some(symbol) => {
                self.take(symbol.len());
                Ok(Token::Symbol(symbol))
            }
            None => Err(Diagnostic::new(&self.span(), format!("unexpected character `{first}`"))),
        }
    }
}

/// A name is `_? letter (letter | digit | _ . -)* '?`; the length of the one that `text` starts with, or 0.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'_'));
    if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    let mut end = start;
    while bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b)) {
        end += 1;
    }
    if bytes.get(end) == Some(&b'\'') {
        end += 1;
    }
    end
}
