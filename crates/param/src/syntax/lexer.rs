//! Tokens of the language. Comments `(* … *)` nest.

use super::Span;
use super::span::error_at;
use porf_verdict::{Diagnostic, Lines};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name with a lower-case first letter that is no keyword.
    Lower(String),
    Upper(String),
    Keyword(&'static str),
    Int(i64),
    Real(String),
    /// `#3`
    ProcConst(u32),
    Symbol(&'static str),
    End,
}

const KEYWORDS: &[&str] = &[
    "type",
    "var",
    "array",
    "const",
    "init",
    "unsafe",
    "invariant",
    "transition",
    "requires",
    "case",
    "forall",
    "exists",
    "forall_other",
    "exists_other",
    "predicate",
    "if",
    "then",
    "else",
    "not",
    "true",
    "false",
    "number_procs",
    "let",
    "in",
    "weak",
    "fence",
];

/// Longest first, so that the first match is the token.
const SYMBOLS: &[&str] = &[
    "<=>", ":=", "=>", "<=", ">=", "<>", "&&", "||", "=", "<", ">", "+", "-", "*", "|", ":", ";", ",", ".",
    "?", "_", "(", ")", "[", "]", "{", "}", "@",
];

pub fn lex(source: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let lines = Lines::new(source);
    let span = |start: usize, end: usize| {
        let (line, column) = lines.place(start);
        Span { start: start as u32, end: end as u32, line, column }
    };
    let mut tokens: Vec<(Token, Span)> = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if source[at..].starts_with("(*") {
            at = comment_end(source, at).ok_or_else(|| {
                error_at(span(start, start + 2), "this comment is never closed").help("close it with `*)`")
            })?;
            continue;
        }
        let after_operand = matches!(
            tokens.last(),
            Some((
                Token::Upper(_)
                    | Token::Lower(_)
                    | Token::Int(_)
                    | Token::Real(_)
                    | Token::ProcConst(_)
                    | Token::Symbol("]" | ")"),
                _
            ))
        );
        let negative =
            c == '-' && !after_operand && source[at + 1..].starts_with(|d: char| d.is_ascii_digit());
        let token = if c.is_ascii_alphabetic() {
            at += source[at..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(source.len() - at);
            let word = &source[start..at];
            match KEYWORDS.iter().find(|k| **k == word) {
                Some(keyword) => Token::Keyword(keyword),
                None if c.is_ascii_uppercase() => Token::Upper(word.to_owned()),
                None => Token::Lower(word.to_owned()),
            }
        } else if c.is_ascii_digit() || negative {
            at = digits_end(source, at + usize::from(negative));
            // `1.` is a real, as is `1.5`.
            if source[at..].starts_with('.') {
                at = digits_end(source, at + 1);
                Token::Real(source[start..at].to_owned())
            } else {
                Token::Int(number(&source[start..at], span(start, at))?)
            }
        } else if c == '#' {
            at = digits_end(source, at + 1);
            let value = source[start + 1..at].parse().map_err(|_| {
                error_at(span(start, at), "a process constant is `#` and a number").help("for instance `#1`")
            })?;
            Token::ProcConst(value)
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| source[at..].starts_with(**s)) {
            at += symbol.len();
            Token::Symbol(symbol)
        } else {
            return Err(error_at(span(at, at + c.len_utf8()), format!("unexpected character `{c}`")));
        };
        tokens.push((token, span(start, at)));
    }
    tokens.push((Token::End, span(source.len(), source.len())));
    Ok(tokens)
}

fn digits_end(source: &str, from: usize) -> usize {
    from + source[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(source.len() - from)
}

fn number(digits: &str, span: Span) -> Result<i64, Diagnostic> {
    let value: i64 = digits.parse().map_err(|_| error_at(span, "this number is too large"))?;
    if value.abs() > 1 << 40 {
        return Err(error_at(span, "this number is too large")
            .help("numbers up to 2^40 in absolute value are supported"));
    }
    Ok(value)
}

/// The byte behind a comment; `None` if it is never closed.
fn comment_end(source: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = start;
    while at < source.len() {
        let rest = &source[at..];
        if rest.starts_with("(*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*)") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

impl Token {
    /// How the token is named in "expected …, found …".
    pub fn describe(&self) -> String {
        match self {
            Token::Lower(word) | Token::Upper(word) => format!("`{word}`"),
            Token::Keyword(word) => format!("the keyword `{word}`"),
            Token::Int(value) => format!("`{value}`"),
            Token::Real(digits) => format!("`{digits}`"),
            Token::ProcConst(value) => format!("`#{value}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the file".to_owned(),
        }
    }
}
