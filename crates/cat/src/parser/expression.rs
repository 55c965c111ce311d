//! Expressions.
//!
//! Binding strength, weakest first: `|`, `++`, `;`, `\`, `&`, then `*` between two sets, then `~` before and
//! `* + ? ^-1` after an expression. `r*` and `A * B` share a symbol: a star is a product when an expression can
//! start right after it.

use super::tokens::{MAX_DEPTH, expected};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::{Diagnostic, Span, lexer::Token};
use std::sync::Arc;

impl Parser {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Self::expr_inner)
    }

    pub(super) fn expr_inner(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let Token::Keyword(word) = *self.peek() else { return self.base_or_tuple() };
        if word == "begin" {
            return self.base_or_tuple();
        }
        self.advance();
        let kind = match word {
            "let" => {
                let recursive = self.eat_keyword("rec");
                let bindings = self.bindings()?;
                self.keyword("in")?;
                let body = Arc::new(self.expr()?);
                if recursive { ExprKind::Rec(bindings, body) } else { ExprKind::Let(bindings, body) }
            }
            "fun" => {
                let parameters = self.parameters()?;
                self.symbol("->")?;
                ExprKind::Fun(Arc::new(Function { parameters, body: self.expr()? }))
            }
            "try" => {
                let first = Arc::new(self.expr()?);
                self.keyword("with")?;
                ExprKind::Try(first, Arc::new(self.expr()?))
            }
            "if" => {
                let condition = Arc::new(self.condition()?);
                self.keyword("then")?;
                let then = Arc::new(self.expr()?);
                self.keyword("else")?;
                ExprKind::If(condition, then, Arc::new(self.expr()?))
            }
            "match" => self.match_expr()?,
            _ => {
                self.position -= 1;
                return Err(self.unexpected("an expression"));
            }
        };
        Ok(Expr { span, kind })
    }

    pub(super) fn match_expr(&mut self) -> Parsed<ExprKind> {
        let subject = Arc::new(self.expr()?);
        self.keyword("with")?;
        self.eat_symbol("||");
        let on_tags = matches!(self.peek(), Token::Tag(_))
            || (self.at_symbol("_") && self.look(1) == &Token::Symbol("->"));
        if !on_tags {
            return self.match_set(subject);
        }
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            if self.eat_symbol("_") {
                self.symbol("->")?;
                otherwise = Some(Arc::new(self.expr()?));
                break;
            }
            let tag = self.tag()?;
            self.symbol("->")?;
            arms.push((tag, self.expr()?));
            if !self.eat_symbol("||") {
                break;
            }
        }
        self.keyword("end")?;
        Ok(ExprKind::Match { subject, arms, otherwise })
    }

    pub(super) fn match_set(&mut self, subject: Arc<Expr>) -> Parsed<ExprKind> {
        let (mut empty, mut element) = (None, None);
        for last in [false, true] {
            let span = self.span();
            if self.eat_symbol("{") {
                self.symbol("}")?;
                self.symbol("->")?;
                if empty.replace(Arc::new(self.expr()?)).is_some() {
                    return Err(Diagnostic::new(&span, "a second arm for the empty set"));
                }
            } else {
                let first = self.pattern_name()?;
                let (before, first) =
                    if self.eat_symbol("|") { (Some(first), self.pattern_name()?) } else { (None, first) };
                self.symbol("++")?;
                let rest = self.pattern_name()?;
                self.symbol("->")?;
                let body = Arc::new(self.expr()?);
                if element.replace(SetArm { before, element: first, rest, body }).is_some() {
                    return Err(Diagnostic::new(&span, "a second arm for the non-empty set"));
                }
            }
            if !last {
                self.symbol("||")?;
            }
        }
        self.keyword("end")?;
        let (Some(empty), Some(element)) = (empty, element) else {
            return Err(self.unexpected("an arm for the empty and one for the non-empty set"));
        };
        Ok(ExprKind::MatchSet { subject, empty, element })
    }

    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let mut ahead = 0;
        while *self.look(ahead) == Token::Symbol("(") {
            ahead += 1;
        }
        if matches!(self.look(ahead), Token::Text(_) | Token::Keyword("not" | "variant")) {
            return Ok(Condition::Variant(self.variant()?));
        }
        let left = self.expr()?;
        Ok(match self.advance() {
            (Token::Symbol("="), _) => Condition::Equal(left, self.expr()?),
            (Token::Keyword("subset"), _) => Condition::Subset(left, self.expr()?),
            (Token::Keyword("in"), _) => Condition::In(left, self.expr()?),
            (token, span) => return Err(expected(&token, &span, "`=`, `subset` or `in`")),
        })
    }

    pub(super) fn variant(&mut self) -> Parsed<Variant> {
        self.nested(|parser| {
            // `||` binds weaker than `&&`.
            let mut left = parser.variant_and()?;
            while parser.eat_symbol("||") {
                left = Variant::Or(Box::new(left), Box::new(parser.variant_and()?));
            }
            Ok(left)
        })
    }

    pub(super) fn variant_and(&mut self) -> Parsed<Variant> {
        let mut left = self.variant_atom()?;
        while self.eat_symbol("&&") {
            left = Variant::And(Box::new(left), Box::new(self.variant_atom()?));
        }
        Ok(left)
    }

    pub(super) fn variant_atom(&mut self) -> Parsed<Variant> {
        self.nested(|parser| match parser.advance() {
            (Token::Keyword("not"), _) => Ok(Variant::Not(Box::new(parser.variant_atom()?))),
            (Token::Keyword("variant"), _) => parser.variant_atom(),
            (Token::Text(text), _) => Ok(Variant::Named(text)),
            (Token::Symbol("("), _) => {
                let inner = parser.variant()?;
                parser.symbol(")")?;
                Ok(inner)
            }
            (token, span) => Err(expected(&token, &span, "a variant in quotes")),
        })
    }

    pub(super) fn base_or_tuple(&mut self) -> Parsed<Expr> {
        let first = self.base()?;
        if !self.at_symbol(",") {
            return Ok(first);
        }
        let span = first.span.clone();
        let mut parts = vec![first];
        while self.eat_symbol(",") {
            parts.push(self.base()?);
        }
        Ok(Expr { span, kind: ExprKind::Tuple(parts) })
    }

    pub(super) fn base(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.flat("|", Self::sum, ExprKind::Union))
    }

    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let mut parts = vec![self.sequence()?];
        while self.eat_symbol("++") {
            parts.push(self.sequence()?);
        }
        let mut right = parts.pop().expect("at least one part");
        while let Some(left) = parts.pop() {
            right = binary(&span, Binary::Add, left, right);
        }
        Ok(right)
    }

    pub(super) fn sequence(&mut self) -> Parsed<Expr> {
        self.flat(";", Self::difference, ExprKind::Sequence)
    }

    pub(super) fn flat(
        &mut self,
        symbol: &'static str,
        part: fn(&mut Self) -> Parsed<Expr>,
        join: fn(Vec<Expr>) -> ExprKind,
    ) -> Parsed<Expr> {
        let span = self.span();
        let first = part(self)?;
        if !self.at_symbol(symbol) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat_symbol(symbol) {
            parts.push(part(self)?);
        }
        Ok(Expr { span, kind: join(parts) })
    }

    pub(super) fn difference(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let mut left = self.intersection()?;
        let mut length = 0;
        while self.eat_symbol("\\") {
            length += 1;
            if length > MAX_DEPTH {
                return Err(Diagnostic::new(&span, "this chain of differences is too long"));
            }
            left = binary(&span, Binary::Difference, left, self.intersection()?);
        }
        Ok(left)
    }

    pub(super) fn intersection(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let span = parser.span();
            let left = parser.product()?;
            if !parser.eat_symbol("&") {
                return Ok(left);
            }
            Ok(binary(&span, Binary::Intersection, left, parser.intersection()?))
        })
    }

    pub(super) fn product(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let left = self.prefix()?;
        if !self.at_product() {
            return Ok(left);
        }
        self.advance();
        Ok(binary(&span, Binary::Product, left, self.prefix()?))
    }

    /// Whether the star here stands between two expressions.
    pub(super) fn at_product(&self) -> bool {
        self.at_symbol("*")
            && match self.look(1) {
                Token::Name(_) | Token::Tag(_) => true,
                Token::Symbol(symbol) => matches!(*symbol, "(" | "{" | "[" | "_" | "0" | "~"),
                Token::Keyword(word) => *word == "begin",
                _ => false,
            }
    }

    pub(super) fn prefix(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let span = parser.span();
            if parser.eat_symbol("~") {
                let inner = Arc::new(parser.prefix()?);
                return Ok(Expr { span, kind: ExprKind::Unary(Unary::Complement, inner) });
            }
            parser.postfix()
        })
    }

    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let mut expr = self.application()?;
        let mut length = 0;
        loop {
            let op = match self.peek() {
                Token::Symbol("*") if !self.at_product() => Unary::Star,
                Token::Symbol("+") => Unary::Plus,
                Token::Symbol("?") => Unary::Optional,
                Token::Symbol("^") => {
                    self.advance();
                    if !self.at_symbol("-1") {
                        return Err(self.unexpected("`-1`"));
                    }
                    Unary::Inverse
                }
                _ => return Ok(expr),
            };
            self.advance();
            length += 1;
            if length > MAX_DEPTH {
                return Err(Diagnostic::new(&span, "this chain of operators is too long"));
            }
            expr = Expr { span: span.clone(), kind: ExprKind::Unary(op, Arc::new(expr)) };
        }
    }

    pub(super) fn application(&mut self) -> Parsed<Expr> {
        let span = self.span();
        if !matches!(self.peek(), Token::Name(_)) {
            return self.simple();
        }
        let name = self.name()?;
        let mut expr = Expr { span: span.clone(), kind: ExprKind::Var(name) };
        let mut length = 0;
        while self.at_argument() {
            length += 1;
            if length > MAX_DEPTH {
                return Err(Diagnostic::new(&span, "too many arguments"));
            }
            let argument = Arc::new(self.argument()?);
            expr = Expr { span: span.clone(), kind: ExprKind::Apply(Arc::new(expr), argument) };
        }
        Ok(expr)
    }

    pub(super) fn at_argument(&self) -> bool {
        match self.peek() {
            Token::Name(_) | Token::Tag(_) => true,
            Token::Symbol(symbol) => matches!(*symbol, "(" | "{" | "[" | "_" | "0"),
            Token::Keyword(word) => *word == "begin",
            _ => false,
        }
    }

    pub(super) fn argument(&mut self) -> Parsed<Expr> {
        if let Token::Name(name) = self.peek() {
            let kind = ExprKind::Var(name.clone());
            let (_, span) = self.advance();
            return Ok(Expr { span, kind });
        }
        self.simple()
    }

    pub(super) fn simple(&mut self) -> Parsed<Expr> {
        let (token, span) = self.advance();
        let kind = match token {
            Token::Symbol("0") => ExprKind::Zero,
            Token::Symbol("_") => ExprKind::Universe,
            Token::Tag(tag) => ExprKind::Tag(tag),
            Token::Symbol("{") => ExprKind::Set(self.arguments("}")?),
            Token::Symbol("[") => {
                let inner = Arc::new(self.expr()?);
                self.symbol("]")?;
                ExprKind::Unary(Unary::Identity, inner)
            }
            Token::Symbol("(") if self.eat_symbol(")") => ExprKind::Tuple(Vec::new()),
            Token::Symbol("(") => {
                let inner = self.expr()?;
                self.symbol(")")?;
                return Ok(inner);
            }
            Token::Keyword("begin") => {
                let inner = self.expr()?;
                self.keyword("end")?;
                return Ok(inner);
            }
            token => return Err(expected(&token, &span, "an expression")),
        };
        Ok(Expr { span, kind })
    }

    /// Expressions separated by commas, up to and with `close`.
    pub(super) fn arguments(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.eat_symbol(close) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.base()?);
            if !self.eat_symbol(",") {
                self.symbol(close)?;
                return Ok(arguments);
            }
        }
    }
}

fn binary(span: &Span, op: Binary, left: Expr, right: Expr) -> Expr {
    Expr { span: span.clone(), kind: ExprKind::Binary(op, Arc::new(left), Arc::new(right)) }
}
