//! The tokens that are left, names among them, and how deep expressions may nest.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::{Diagnostic, Span, lexer::Token};

/// Nesting beyond this is refused, so that no input can exhaust the stack.
pub(super) const MAX_DEPTH: usize = 100;

impl Parser {
    pub(super) fn names(&mut self) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.eat_symbol(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    pub(super) fn name(&mut self) -> Parsed<Name> {
        match self.advance() {
            (Token::Name(name), _) => Ok(name),
            (token, span) => Err(expected(&token, &span, "a name")),
        }
    }

    pub(super) fn tag(&mut self) -> Parsed<Name> {
        match self.advance() {
            (Token::Tag(tag), _) => Ok(tag),
            (token, span) => Err(expected(&token, &span, "a tag such as `'acquire`")),
        }
    }

    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        // A level of brackets passes several of these guards: the limit is on guards.
        self.depth += 1;
        if self.depth > 6 * MAX_DEPTH {
            return Err(Diagnostic::new(&self.span(), "expressions are nested too deeply"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(super) fn peek(&self) -> &Token {
        self.look(0)
    }

    pub(super) fn look(&self, ahead: usize) -> &Token {
        &self.tokens[(self.position + ahead).min(self.tokens.len() - 1)].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.position.min(self.tokens.len() - 1)].1.clone()
    }

    pub(super) fn advance(&mut self) -> (Token, Span) {
        let at = self.position.min(self.tokens.len() - 1);
        self.position += 1;
        self.tokens[at].clone()
    }

    pub(super) fn at_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(other) if *other == symbol)
    }

    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        let there = self.at_symbol(symbol);
        self.position += usize::from(there);
        there
    }

    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Keyword(other) if *other == word);
        self.position += usize::from(there);
        there
    }

    pub(super) fn symbol(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub(super) fn keyword(&mut self, word: &'static str) -> Parsed<()> {
        if self.eat_keyword(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Diagnostic {
        expected(self.peek(), &self.span(), wanted)
    }
}

pub(super) fn expected(found: &Token, span: &Span, wanted: &str) -> Diagnostic {
    Diagnostic::new(span, format!("expected {wanted}, found {}", found.describe()))
}
