//! Words and signs, with their places.

use crate::Span;
use porf_verdict::Diagnostic;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Word(String),
    Number(u64),
    Text(String),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 31] = [
    "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".", "=",
    "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "!", "#",
];

pub fn lex(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with("//") {
                break;
            }
            let span = Span {
                line: number as u32 + 1,
                column: (line.chars().count() - rest.chars().count()) as u32 + 1,
            };
            let (token, length) = token(rest).map_err(|message| Diagnostic::new(span, message))?;
            tokens.push((token, span));
            rest = &rest[length..];
        }
    }
    let last = tokens.last().map_or(Span { line: 1, column: 1 }, |(_, span): &(Token, Span)| *span);
    tokens.push((Token::End, last));
    Ok(tokens)
}

fn token(rest: &str) -> Result<(Token, usize), String> {
    let first = rest.chars().next().unwrap_or(' ');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if first.is_ascii_digit() {
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let digits = &rest[..end];
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        return Ok((Token::Number(number.map_err(|_| format!("{digits} is no number"))?), end));
    }
    if first.is_alphabetic() || first == '_' {
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..end].to_string()), end));
    }
    if first == '"' {
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok((Token::Text(text), at + 1)),
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, c)) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        return Err("this text has no end".into());
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => Err(format!("{first:?} means nothing here")),
    }
}
