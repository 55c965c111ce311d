//! Recursive descent over the tokens; the first error ends it.
//!
//! Precedence, loosest first: the body of a quantifier (which swallows everything to its right),
//! `=>` and `<=>` (to the right), `||`, `&&`, `if … then … else …`, `not`.

use super::ast::*;
use super::lexer::{Token, lex};
use super::span::error_at;
use super::{Diagnostic, Span};

/// Nesting beyond which a formula is refused rather than risking the stack.
const MAX_DEPTH: usize = 200;

/// Reads a system; the first mistake otherwise.
pub fn parse(source: &str) -> Result<Program, Diagnostic> {
    let tokens = lex(source)?;
    Parser { tokens, at: 0, depth: 0 }.program()
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Diagnostic>;

impl Parser {
    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program::default();
        loop {
            let span = self.span();
            match self.peek().clone() {
                Token::End => break,
                Token::Keyword("number_procs") => {
                    self.advance();
                    let Token::Int(n @ 1..=64) = *self.peek() else {
                        return Err(self.expected("a number of processes between 1 and 64"));
                    };
                    self.advance();
                    program.number_procs = Some((n as u32, span));
                }
                Token::Keyword("type") => program.types.push(self.type_decl()?),
                Token::Keyword("const" | "var" | "array" | "weak") => {
                    program.symbols.push(self.symbol_decl()?)
                }
                Token::Keyword("init") => {
                    self.advance();
                    program.items.push(Item::Init(self.state_set(span)?));
                }
                Token::Keyword("unsafe") => {
                    self.advance();
                    program.items.push(Item::Unsafe(self.state_set(span)?));
                }
                Token::Keyword("invariant") => {
                    self.advance();
                    program.items.push(Item::Invariant(self.state_set(span)?));
                }
                // No keyword: older systems may use the word as a name.
                Token::Lower(word) if word == "assume" => {
                    self.advance();
                    program.items.push(Item::Assume(self.state_set(span)?));
                }
                Token::Keyword("predicate") => {
                    self.advance();
                    program.items.push(Item::Predicate(self.state_set(span)?));
                }
                Token::Keyword("transition") => program.items.push(Item::Transition(self.transition()?)),
                _ => {
                    return Err(self.expected("a declaration").help(
                        "a file holds type, const, var, array, weak, init, unsafe, invariant, assume, \
                         predicate and transition declarations",
                    ));
                }
            }
        }
        Ok(program)
    }

    fn type_decl(&mut self) -> Parsed<TypeDecl> {
        self.advance();
        let name = self.lower("the name of a type, in lower case")?;
        let mut constructors = Vec::new();
        if self.eat("=") {
            self.eat("|");
            constructors.push(self.upper("a constructor, in upper case")?);
            while self.eat("|") {
                constructors.push(self.upper("a constructor, in upper case")?);
            }
        }
        Ok(TypeDecl { name, constructors })
    }

    fn symbol_decl(&mut self) -> Parsed<SymbolDecl> {
        let weak = self.eat_keyword("weak");
        let kind = match self.peek() {
            Token::Keyword("const") if !weak => SymbolKind::Const,
            Token::Keyword("var") => SymbolKind::Var,
            Token::Keyword("array") => SymbolKind::Array,
            _ => return Err(self.expected("`var` or `array`")),
        };
        self.advance();
        let name = self.upper("a name in upper case")?;
        let mut dims = Vec::new();
        if kind == SymbolKind::Array || (kind == SymbolKind::Const && *self.peek() == Token::Symbol("[")) {
            self.expect("[")?;
            dims.push(self.lower("the type of an index, `proc`")?);
            while self.eat(",") {
                dims.push(self.lower("the type of an index, `proc`")?);
            }
            self.expect("]")?;
        }
        self.expect(":")?;
        let ty = self.lower("the name of a type")?;
        Ok(SymbolDecl { kind, weak, name, dims, ty })
    }

    fn state_set(&mut self, start: Span) -> Parsed<StateSet> {
        let name = match self.peek() {
            Token::Lower(_) | Token::Upper(_) => Some(self.name()?),
            _ => None,
        };
        let mut params = Vec::new();
        if self.eat("(") {
            while !self.eat(")") {
                params.push(self.lower("a process variable or `)`")?);
                self.eat(",");
            }
        }
        self.expect("{")?;
        let body = self.expr()?;
        let span = start.to(self.span());
        self.expect("}")?;
        Ok(StateSet { name, params, body, span })
    }

    fn transition(&mut self) -> Parsed<Transition> {
        self.advance();
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        let mut acting = None;
        while !self.eat(")") {
            if self.eat("[") {
                if acting.is_some() {
                    return Err(self.expected("at most one acting process in brackets"));
                }
                acting = Some(params.len());
                params.push(self.lower("the acting process")?);
                self.expect("]")?;
            } else {
                params.push(self.lower("a process variable or `)`")?);
            }
            self.eat(",");
        }
        let guard = if self.eat_keyword("requires") {
            self.expect("{")?;
            let guard = self.expr()?;
            self.expect("}")?;
            Some(guard)
        } else {
            None
        };
        self.expect("{")?;
        let mut updates = Vec::new();
        while !self.eat("}") {
            if let Token::Keyword("let") = self.peek() {
                return Err(error_at(self.span(), "`let` is not supported")
                    .help("write the term out where it is used"));
            }
            updates.push(self.update()?);
            if !self.eat(";") && *self.peek() != Token::Symbol("}") {
                return Err(self.expected("`;` or `}`"));
            }
        }
        Ok(Transition { name, params, acting, guard, updates })
    }

    fn update(&mut self) -> Parsed<Update> {
        let target = self.upper("the variable or array that is updated")?;
        let indices = self.indices()?;
        self.expect(":=")?;
        let value = if self.eat("?") || self.eat(".") {
            UpdateValue::Any
        } else if self.eat_keyword("case") {
            let mut switches = Vec::new();
            while self.eat("|") {
                let guard = if self.eat("_") { None } else { Some(self.expr()?) };
                self.expect(":")?;
                switches.push(Switch { guard, value: self.term()? });
            }
            if switches.is_empty() {
                return Err(self.expected("`|` and a case"));
            }
            UpdateValue::Case(switches)
        } else {
            UpdateValue::Term(self.term()?)
        };
        let span = target.span.to(self.previous_span());
        Ok(Update { target, indices, value, span })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error_at(self.span(), "this formula is nested too deeply"));
        }
        let left = self.disjunction()?;
        let result = if self.eat("=>") {
            let right = self.expr()?;
            binary(left, right, ExprKind::Implies)
        } else if self.eat("<=>") {
            let right = self.expr()?;
            binary(left, right, ExprKind::Iff)
        } else {
            left
        };
        self.depth -= 1;
        Ok(result)
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        while self.eat("||") {
            let right = self.conjunction()?;
            left = binary(left, right, ExprKind::Or);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while self.eat("&&") {
            let right = self.unary()?;
            left = binary(left, right, ExprKind::And);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Keyword("not") => {
                self.advance();
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(error_at(self.span(), "this formula is nested too deeply"));
                }
                let inner = self.unary()?;
                self.depth -= 1;
                ExprKind::Not(Box::new(inner))
            }
            Token::Keyword("if") => {
                self.advance();
                let condition = self.expr()?;
                self.expect_keyword("then")?;
                let then = self.expr()?;
                self.expect_keyword("else")?;
                ExprKind::If(Box::new(condition), Box::new(then), Box::new(self.unary()?))
            }
            Token::Keyword(word @ ("forall" | "exists" | "forall_other" | "exists_other")) => {
                self.advance();
                let quantifier = match word {
                    "forall" => Quantifier::Forall,
                    "exists" => Quantifier::Exists,
                    "forall_other" => Quantifier::ForallOther,
                    _ => Quantifier::ExistsOther,
                };
                let var = self.lower("a process variable")?;
                let mut distinct = Vec::new();
                while self.eat("<>") {
                    distinct.push(self.proc_ref()?);
                }
                self.expect(".")?;
                ExprKind::Quantified { quantifier, var, distinct, body: Box::new(self.expr()?) }
            }
            Token::Keyword("true") => {
                self.advance();
                ExprKind::True
            }
            Token::Keyword("false") => {
                self.advance();
                ExprKind::False
            }
            Token::Keyword("fence") => {
                self.advance();
                self.expect("(")?;
                self.expect(")")?;
                ExprKind::Fence
            }
            Token::Symbol("(") => {
                self.advance();
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Lower(_) if self.tokens[self.at + 1].0 == Token::Symbol("(") => {
                let name = self.name()?;
                self.advance();
                let mut args = Vec::new();
                while !self.eat(")") {
                    args.push(self.proc_ref()?);
                    self.eat(",");
                }
                ExprKind::Call(name, args)
            }
            _ => {
                let left = self.term()?;
                let comparison = match self.peek() {
                    Token::Symbol("=") => Comparison::Eq,
                    Token::Symbol("<>") => Comparison::Neq,
                    Token::Symbol("<") => Comparison::Lt,
                    Token::Symbol("<=") => Comparison::Le,
                    Token::Symbol(">") => Comparison::Gt,
                    Token::Symbol(">=") => Comparison::Ge,
                    _ => return Err(self.expected("a comparison: `=`, `<>`, `<`, `<=`, `>` or `>=`")),
                };
                self.advance();
                ExprKind::Compare(left, comparison, self.term()?)
            }
        };
        Ok(Expr { kind, span: start.to(self.previous_span()) })
    }

    fn term(&mut self) -> Parsed<Term> {
        let mut left = self.factor()?;
        loop {
            let kind: fn(Box<Term>, Box<Term>) -> TermKind = if self.eat("+") {
                TermKind::Add
            } else if self.eat("-") {
                TermKind::Sub
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            let span = left.span.to(right.span);
            left = Term { kind: kind(Box::new(left), Box::new(right)), span };
        }
    }

    fn factor(&mut self) -> Parsed<Term> {
        let left = self.atom()?;
        if self.eat("*") {
            let right = self.atom()?;
            let span = left.span.to(right.span);
            return Ok(Term { kind: TermKind::Mul(Box::new(left), Box::new(right)), span });
        }
        Ok(left)
    }

    fn atom(&mut self) -> Parsed<Term> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Int(value) => {
                self.advance();
                TermKind::Int(value)
            }
            Token::Real(digits) => {
                self.advance();
                TermKind::Real(digits)
            }
            Token::Upper(_) => {
                let name = self.name()?;
                TermKind::Access { by: None, name, indices: self.indices()? }
            }
            Token::Lower(_) | Token::ProcConst(_) => {
                let process = self.proc_ref()?;
                if self.eat("@") {
                    let name = self.upper("the weak variable or array that is read")?;
                    TermKind::Access { by: Some(process), name, indices: self.indices()? }
                } else {
                    TermKind::Proc(process)
                }
            }
            _ => return Err(self.expected("a term: a process, a variable, an array cell or a number")),
        };
        Ok(Term { kind, span: start.to(self.previous_span()) })
    }

    fn indices(&mut self) -> Parsed<Vec<ProcRef>> {
        let mut indices = Vec::new();
        if self.eat("[") {
            indices.push(self.proc_ref()?);
            while self.eat(",") {
                indices.push(self.proc_ref()?);
            }
            self.expect("]")?;
        }
        Ok(indices)
    }

    fn proc_ref(&mut self) -> Parsed<ProcRef> {
        match *self.peek() {
            Token::ProcConst(value) => {
                let span = self.span();
                self.advance();
                Ok(ProcRef::Const(value, span))
            }
            _ => Ok(ProcRef::Var(self.lower("a process variable")?)),
        }
    }

    fn name(&mut self) -> Parsed<Ident> {
        match self.peek().clone() {
            Token::Lower(name) | Token::Upper(name) => {
                let span = self.span();
                self.advance();
                Ok(Ident { name, span })
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn lower(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            Token::Lower(_) => self.name(),
            _ => Err(self.expected(what)),
        }
    }

    fn upper(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            Token::Upper(_) => self.name(),
            _ => Err(self.expected(what)),
        }
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    fn expect_keyword(&mut self, word: &str) -> Parsed<()> {
        if self.eat_keyword(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Keyword(k) if *k == word);
        if found {
            self.advance();
        }
        found
    }

    fn expected(&self, what: &str) -> Diagnostic {
        error_at(self.span(), format!("expected {what}, found {}", self.peek().describe()))
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }
}

fn binary(left: Expr, right: Expr, kind: fn(Box<Expr>, Box<Expr>) -> ExprKind) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: kind(Box::new(left), Box::new(right)), span }
}
