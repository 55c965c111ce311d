//! Text to syntax tree, by recursive descent.
//!
//! Binding strength, weakest first: `|`, `++`, `;`, `\`, `&`, then `*` between two sets, then `~` before and
//! `* + ? ^-1` after an expression. `r*` and `A * B` share a symbol: a star is a product when an expression can
//! start right after it.

use std::sync::Arc;

use crate::{
    Diagnostic, Span,
    ast::*,
    lexer::{Token, lex},
};

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

/// Nesting beyond this is refused, so that no input can exhaust the stack.
const MAX_DEPTH: usize = 100;

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

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Self::expr_inner)
    }

    fn expr_inner(&mut self) -> Parsed<Expr> {
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

    fn match_expr(&mut self) -> Parsed<ExprKind> {
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

    fn match_set(&mut self, subject: Arc<Expr>) -> Parsed<ExprKind> {
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

    fn condition(&mut self) -> Parsed<Condition> {
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

    fn variant(&mut self) -> Parsed<Variant> {
        self.nested(|parser| {
            // `||` binds weaker than `&&`.
            let mut left = parser.variant_and()?;
            while parser.eat_symbol("||") {
                left = Variant::Or(Box::new(left), Box::new(parser.variant_and()?));
            }
            Ok(left)
        })
    }

    fn variant_and(&mut self) -> Parsed<Variant> {
        let mut left = self.variant_atom()?;
        while self.eat_symbol("&&") {
            left = Variant::And(Box::new(left), Box::new(self.variant_atom()?));
        }
        Ok(left)
    }

    fn variant_atom(&mut self) -> Parsed<Variant> {
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

    fn base_or_tuple(&mut self) -> Parsed<Expr> {
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

    fn base(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.flat("|", Self::sum, ExprKind::Union))
    }

    fn sum(&mut self) -> Parsed<Expr> {
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

    fn sequence(&mut self) -> Parsed<Expr> {
        self.flat(";", Self::difference, ExprKind::Sequence)
    }

    fn flat(
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

    fn difference(&mut self) -> Parsed<Expr> {
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

    fn intersection(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let span = parser.span();
            let left = parser.product()?;
            if !parser.eat_symbol("&") {
                return Ok(left);
            }
            Ok(binary(&span, Binary::Intersection, left, parser.intersection()?))
        })
    }

    fn product(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let left = self.prefix()?;
        if !self.at_product() {
            return Ok(left);
        }
        self.advance();
        Ok(binary(&span, Binary::Product, left, self.prefix()?))
    }

    /// Whether the star here stands between two expressions.
    fn at_product(&self) -> bool {
        self.at_symbol("*")
            && match self.look(1) {
                Token::Name(_) | Token::Tag(_) => true,
                Token::Symbol(symbol) => matches!(*symbol, "(" | "{" | "[" | "_" | "0" | "~"),
                Token::Keyword(word) => *word == "begin",
                _ => false,
            }
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let span = parser.span();
            if parser.eat_symbol("~") {
                let inner = Arc::new(parser.prefix()?);
                return Ok(Expr { span, kind: ExprKind::Unary(Unary::Complement, inner) });
            }
            parser.postfix()
        })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
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

    fn application(&mut self) -> Parsed<Expr> {
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

    fn at_argument(&self) -> bool {
        match self.peek() {
            Token::Name(_) | Token::Tag(_) => true,
            Token::Symbol(symbol) => matches!(*symbol, "(" | "{" | "[" | "_" | "0"),
            Token::Keyword(word) => *word == "begin",
            _ => false,
        }
    }

    fn argument(&mut self) -> Parsed<Expr> {
        if let Token::Name(name) = self.peek() {
            let kind = ExprKind::Var(name.clone());
            let (_, span) = self.advance();
            return Ok(Expr { span, kind });
        }
        self.simple()
    }

    fn simple(&mut self) -> Parsed<Expr> {
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
    fn arguments(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
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

    fn names(&mut self) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.eat_symbol(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn name(&mut self) -> Parsed<Name> {
        match self.advance() {
            (Token::Name(name), _) => Ok(name),
            (token, span) => Err(expected(&token, &span, "a name")),
        }
    }

    fn tag(&mut self) -> Parsed<Name> {
        match self.advance() {
            (Token::Tag(tag), _) => Ok(tag),
            (token, span) => Err(expected(&token, &span, "a tag such as `'acquire`")),
        }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        // A level of brackets passes several of these guards: the limit is on guards.
        self.depth += 1;
        if self.depth > 6 * MAX_DEPTH {
            return Err(Diagnostic::new(&self.span(), "expressions are nested too deeply"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn peek(&self) -> &Token {
        self.look(0)
    }

    fn look(&self, ahead: usize) -> &Token {
        &self.tokens[(self.position + ahead).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.position.min(self.tokens.len() - 1)].1.clone()
    }

    fn advance(&mut self) -> (Token, Span) {
        let at = self.position.min(self.tokens.len() - 1);
        self.position += 1;
        self.tokens[at].clone()
    }

    fn at_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(other) if *other == symbol)
    }

    fn eat_symbol(&mut self, symbol: &str) -> bool {
        let there = self.at_symbol(symbol);
        self.position += usize::from(there);
        there
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Keyword(other) if *other == word);
        self.position += usize::from(there);
        there
    }

    fn symbol(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn keyword(&mut self, word: &'static str) -> Parsed<()> {
        if self.eat_keyword(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        expected(self.peek(), &self.span(), wanted)
    }
}

fn expected(found: &Token, span: &Span, wanted: &str) -> Diagnostic {
    Diagnostic::new(span, format!("expected {wanted}, found {}", found.describe()))
}

fn pattern(mut names: Vec<Option<Name>>) -> Pattern {
    match names.len() {
        1 => Pattern::One(names.remove(0)),
        _ => Pattern::Tuple(names),
    }
}

fn binary(span: &Span, op: Binary, left: Expr, right: Expr) -> Expr {
    Expr { span: span.clone(), kind: ExprKind::Binary(op, Arc::new(left), Arc::new(right)) }
}
