//! Text to syntax tree, by recursive descent: files and statements. Expressions have a file of their own.

mod expression;
mod tokens;

use crate::{
    Diagnostic, Span,
    ast::*,
    lexer::{Token, lex},
};
use std::sync::Arc;
use tokens::expected;

/// Parses one file. `file` is only used in messages.
pub fn parse(file: &str, source: &str) -> Result<File, Diagnostic> {
    let tokens = lex(&file.into(), source)?;
    let mut parser = Parser { tokens, position: 0, depth: 0 };
    parser.file()
}

/// Parses a lone expression.
pub fn parse_expression(file: &str, source: &str) -> Result<Expr, Diagnostic> {
    let tokens = lex(&file.into(), source)?;
    let mut parser = Parser { tokens, position: 0, depth: 0 };
    let expr = parser.expr()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

type Parsed<T> = Result<T, Diagnostic>;

struct Parser {
    tokens: Vec<(Token, Span)>,
    position: usize,
    depth: usize,
}

impl Parser {
    fn file(&mut self) -> Parsed<File> {
        let mut header = Vec::new();
        for _ in 0..2 {
            match self.peek() {
                Token::Name(name) => header.push(name.to_string()),
                Token::Text(text) => header.push(text.clone()),
                _ => break,
            }
            let text = matches!(self.peek(), Token::Text(_));
            self.advance();
            if text {
                break;
            }
        }
        let catdep = self.eat_keyword("catdep");
        let mut statements = Vec::new();
        while *self.peek() != Token::End {
            statements.push(self.statement()?);
        }
        Ok(File { header, catdep, statements })
    }

    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while self.at_statement() {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn at_statement(&self) -> bool {
        match self.peek() {
            Token::Keyword(word) => !matches!(*word, "end" | "else" | "then" | "and" | "in" | "do"),
            Token::Symbol(symbol) => *symbol == "~",
            _ => false,
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let span = parser.span();
            let kind = parser.statement_kind()?;
            Ok(Statement { span, kind })
        })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let Token::Keyword(word) = *self.peek() else {
            if self.at_symbol("~") {
                return Ok(StatementKind::Test(Require::Check, self.test()?));
            }
            return Err(self.unexpected("a statement"));
        };
        if matches!(word, "acyclic" | "irreflexive" | "empty") {
            return Ok(StatementKind::Test(Require::Check, self.test()?));
        }
        self.advance();
        Ok(match word {
            "let" => self.let_statement()?,
            "flag" => StatementKind::Test(Require::Flag, self.test()?),
            "undefined_unless" => StatementKind::Test(Require::UndefinedUnless, self.test()?),
            "assert" => StatementKind::Test(Require::Assert, self.test()?),
            "show" => self.show()?,
            "unshow" => StatementKind::Unshow(self.names()?),
            "include" => match self.advance() {
                (Token::Text(text), _) => StatementKind::Include(text),
                (token, span) => return Err(expected(&token, &span, "a file name in quotes")),
            },
            "procedure" => {
                let recursive = self.eat_keyword("rec");
                let name = self.name()?;
                let parameters = self.parameters()?;
                self.symbol("=")?;
                let body = self.statements()?.into();
                self.keyword("end")?;
                StatementKind::Procedure { name, parameters, body, recursive }
            }
            "call" => {
                let name = self.name()?;
                let argument = self.argument()?;
                StatementKind::Call { name, argument, label: self.label()? }
            }
            "enum" => {
                let name = self.name()?;
                self.symbol("=")?;
                self.eat_symbol("||");
                let mut tags = vec![self.tag()?];
                while self.eat_symbol("||") {
                    tags.push(self.tag()?);
                }
                StatementKind::Enum(name, tags)
            }
            "debug" => StatementKind::Debug(self.expr()?),
            "forall" => {
                let name = self.name()?;
                self.keyword("in")?;
                let set = self.expr()?;
                self.keyword("do")?;
                let body = self.statements()?;
                self.keyword("end")?;
                StatementKind::Forall { name, set, body }
            }
            "with" => {
                let name = self.name()?;
                self.keyword("from")?;
                StatementKind::With(name, self.expr()?)
            }
            "match" => self.match_statement()?,
            "if" => {
                let condition = self.variant()?;
                let then = self.statements()?;
                let otherwise = if self.eat_keyword("else") { self.statements()? } else { Vec::new() };
                self.keyword("end")?;
                StatementKind::If { condition, then, otherwise }
            }
            "instructions" | "default" => {
                let name = self.name()?;
                self.symbol("[")?;
                let annotations = self.arguments("]")?;
                StatementKind::Instructions { default: word == "default", name, annotations }
            }
            _ => {
                self.position -= 1;
                return Err(self.unexpected("a statement"));
            }
        })
    }

    fn let_statement(&mut self) -> Parsed<StatementKind> {
        let recursive = self.eat_keyword("rec");
        let bindings = self.bindings()?;
        let when = if recursive && self.eat_keyword("when") { Some(self.test()?) } else { None };
        self.eat_keyword("in");
        Ok(if recursive { StatementKind::Rec(bindings, when) } else { StatementKind::Let(bindings) })
    }

    fn show(&mut self) -> Parsed<StatementKind> {
        let first = self.base()?;
        if self.eat_keyword("as") {
            return Ok(StatementKind::ShowAs(first, self.name()?));
        }
        let ExprKind::Var(name) = first.kind else {
            return Err(Diagnostic::new(&first.span, "a shown expression needs a name: `show e as name`"));
        };
        let mut names = vec![name];
        while self.eat_symbol(",") {
            names.push(self.name()?);
        }
        Ok(StatementKind::Show(names))
    }

    fn match_statement(&mut self) -> Parsed<StatementKind> {
        let subject = self.expr()?;
        self.keyword("with")?;
        self.eat_symbol("||");
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            if self.eat_symbol("_") {
                self.symbol("->")?;
                otherwise = Some(self.statements()?);
                break;
            }
            let tag = self.tag()?;
            self.symbol("->")?;
            arms.push((tag, self.statements()?));
            if !self.eat_symbol("||") {
                break;
            }
        }
        self.keyword("end")?;
        Ok(StatementKind::Match { subject, arms, otherwise })
    }

    fn test(&mut self) -> Parsed<Test> {
        let span = self.span();
        let negated = self.eat_symbol("~");
        let property = match self.advance() {
            (Token::Keyword("acyclic"), _) => Property::Acyclic,
            (Token::Keyword("irreflexive"), _) => Property::Irreflexive,
            (Token::Keyword("empty"), _) => Property::Empty,
            (token, span) => return Err(expected(&token, &span, "`acyclic`, `irreflexive` or `empty`")),
        };
        let expr = self.expr()?;
        Ok(Test { span, negated, property, expr, name: self.label()? })
    }

    fn label(&mut self) -> Parsed<Option<Name>> {
        if self.eat_keyword("as") { self.name().map(Some) } else { Ok(None) }
    }

    fn bindings(&mut self) -> Parsed<Vec<Binding>> {
        let mut bindings = vec![self.binding()?];
        while self.eat_keyword("and") {
            bindings.push(self.binding()?);
        }
        Ok(bindings)
    }

    /// `x = e`, `x, y = e`, `(x, y) = e`, `f x = e` or `f (x, y) = e`.
    fn binding(&mut self) -> Parsed<Binding> {
        let span = self.span();
        if self.at_symbol("(") {
            let pattern = self.parameters()?;
            self.symbol("=")?;
            return Ok(Binding { span, pattern, expr: self.expr()? });
        }
        let first = self.pattern_name()?;
        let function = matches!(self.peek(), Token::Name(_)) || self.at_symbol("_") || self.at_symbol("(");
        if function && first.is_some() {
            let parameters = self.parameters()?;
            self.symbol("=")?;
            let body = self.expr()?;
            let kind = ExprKind::Fun(Arc::new(Function { parameters, body }));
            return Ok(Binding {
                span: span.clone(),
                pattern: Pattern::One(first),
                expr: Expr { span, kind },
            });
        }
        let mut names = vec![first];
        while self.eat_symbol(",") {
            names.push(self.pattern_name()?);
        }
        self.symbol("=")?;
        Ok(Binding { span, pattern: pattern(names), expr: self.expr()? })
    }

    fn parameters(&mut self) -> Parsed<Pattern> {
        if !self.eat_symbol("(") {
            return Ok(Pattern::One(self.pattern_name()?));
        }
        if self.eat_symbol(")") {
            return Ok(Pattern::Tuple(Vec::new()));
        }
        let mut names = vec![self.pattern_name()?];
        while self.eat_symbol(",") {
            names.push(self.pattern_name()?);
        }
        self.symbol(")")?;
        Ok(pattern(names))
    }

    fn pattern_name(&mut self) -> Parsed<Option<Name>> {
        match self.advance() {
            (Token::Name(name), _) => Ok(Some(name)),
            (Token::Symbol("_"), _) => Ok(None),
            (token, span) => Err(expected(&token, &span, "a name or `_`")),
        }
    }
}

fn pattern(mut names: Vec<Option<Name>>) -> Pattern {
    match names.len() {
        1 => Pattern::One(names.remove(0)),
        _ => Pattern::Tuple(names),
    }
}
