//! The parser: programs, globals, threads, and the structured form of their code.

use super::lex::{Token, lex};
use super::words::{FENCES, WRITES, of};
use crate::{
    Function, FunctionBuilder, FunctionId, InitCell, Instr, Operand, Program, Reg, Span, ThreadEntry,
};
use porf_event::Value;
use porf_verdict::Diagnostic;
use std::collections::HashMap;

/// Reads a program. Errors have the place of the first thing that does not fit.
pub fn parse(text: &str) -> Result<Program, Diagnostic> {
    let tokens = lex(text)?;
    let mut parser =
        Parser { functions: function_names(&tokens)?, tokens, at: 0, program: Program::default() };
    parser.items()?;
    let program = parser.program;
    crate::validate(&program)
        .map_err(|malformed| Diagnostic::new(Span { line: 1, column: 1 }, malformed.0))?;
    Ok(program)
}

pub(super) type Parsed<T> = Result<T, Diagnostic>;

pub(super) struct Parser {
    pub(super) tokens: Vec<(Token, Span)>,
    pub(super) at: usize,
    pub(super) program: Program,
    pub(super) functions: HashMap<String, FunctionId>,
}

/// The function that is being read.
pub(super) struct Body {
    pub f: FunctionBuilder,
    pub registers: HashMap<String, Reg>,
}

/// A cell in memory.
pub(super) struct Place {
    pub address: Operand,
    pub size: u8,
}

/// Functions may be used before they are defined: their numbers, in order of appearance.
fn function_names(tokens: &[(Token, Span)]) -> Parsed<HashMap<String, FunctionId>> {
    let mut names = HashMap::new();
    let mut depth = 0;
    for (at, (token, span)) in tokens.iter().enumerate() {
        match token {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") => depth -= 1,
            Token::Word(word) if depth == 0 && matches!(word.as_str(), "fn" | "flat" | "thread") => {
                let (Some((Token::Word(name) | Token::Text(name), _)), Some((next, _))) =
                    (tokens.get(at + 1), tokens.get(at + 2))
                else {
                    continue;
                };
                if word == "thread" && *next != Token::Sign("{") {
                    continue;
                }
                let id = FunctionId(names.len() as u32);
                if names.insert(name.clone(), id).is_some() {
                    return Err(Diagnostic::new(*span, format!("{name} is defined twice")));
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

impl Parser {
    fn items(&mut self) -> Parsed<()> {
        loop {
            match self.next() {
                Token::End => return Ok(()),
                Token::Word(word) => match word.as_str() {
                    "program" => self.program.name = self.name()?,
                    "global" => self.globals()?,
                    "fn" => self.function()?,
                    "thread" => self.thread()?,
                    "flat" => {
                        let function = self.flat_function()?;
                        self.program.functions.push(function);
                    }
                    _ => return self.back_and_fail("expected program, global, fn or thread"),
                },
                Token::Sign(";") => {}
                _ => return self.back_and_fail("expected program, global, fn or thread"),
            }
        }
    }

    /// `x, y = 1, a[4], z: 8` or the flat `"x" at 0x100 size 4 init 0 4 1`.
    fn globals(&mut self) -> Parsed<()> {
        loop {
            let name = self.name()?;
            if self.program.global(&name).is_some() || self.functions.contains_key(&name) {
                return self.back_and_fail(&format!("{name} is defined twice"));
            }
            if self.eat_word("at") {
                let address = self.number()?;
                self.expect_word("size")?;
                let size = self.number()?;
                let mut init = Vec::new();
                while self.eat_word("init") {
                    let (offset, size, value) = (self.number()?, self.number()? as u8, self.number()?);
                    init.push(InitCell { offset, size, value });
                }
                self.program.globals.push(crate::Global { name, address, size, init });
                return Ok(());
            }
            let length = if self.eat("[") {
                let length = self.number()?;
                self.expect("]")?;
                length
            } else {
                1
            };
            let size = if self.eat(":") { self.number()? as u8 } else { 4 };
            if !matches!(size, 1 | 2 | 4 | 8) {
                return self.back_and_fail("a variable has 1, 2, 4 or 8 bytes");
            }
            let mut init = Vec::new();
            if self.eat("=") {
                let value = self.number()?;
                for at in 0..length {
                    init.push(InitCell { offset: at * u64::from(size), size, value });
                }
            }
            if size != 4 && init.is_empty() {
                // Keeps the size for those who look.
                init =
                    (0..length).map(|at| InitCell { offset: at * u64::from(size), size, value: 0 }).collect();
            }
            self.program.add_global(&name, u64::from(size) * length, init);
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn function(&mut self) -> Parsed<()> {
        let name = self.name()?;
        let mut body = Body { f: FunctionBuilder::new(&name), registers: HashMap::new() };
        self.expect("(")?;
        while !self.eat(")") {
            let parameter = self.name()?;
            let reg = body.f.parameter(&parameter);
            body.registers.insert(parameter, reg);
            self.eat(",");
        }
        self.block(&mut body)?;
        self.program.functions.push(body.f.finish());
        Ok(())
    }

    fn thread(&mut self) -> Parsed<()> {
        let name = self.name()?;
        if self.eat_word("runs") || self.eat("=") {
            let function = self.known_function()?;
            let mut registers = Vec::new();
            self.expect("(")?;
            while !self.eat(")") {
                registers.push(self.number()?);
                self.eat(",");
            }
            self.program.threads.push(ThreadEntry { name, function, registers });
            return Ok(());
        }
        let mut body = Body { f: FunctionBuilder::new(&name), registers: HashMap::new() };
        self.block(&mut body)?;
        let function = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(body.f.finish());
        self.program.threads.push(ThreadEntry { name, function, registers: Vec::new() });
        Ok(())
    }

    fn block(&mut self, body: &mut Body) -> Parsed<()> {
        self.expect("{")?;
        while !self.eat("}") {
            if !self.eat(";") {
                self.statement(body)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Parsed<()> {
        body.f.at(self.span());
        if let Token::Word(word) = self.peek().clone() {
            match word.as_str() {
                "if" => return self.if_statement(body),
                "while" => return self.while_statement(body),
                "fence" => {
                    self.next();
                    let mode = self.word_of(FENCES, "a fence")?;
                    body.f.push(Instr::Fence { mode });
                    return Ok(());
                }
                "assume" => {
                    self.next();
                    let cond = self.expression(body)?;
                    body.f.push(Instr::Assume { cond });
                    return Ok(());
                }
                "assert" => {
                    self.next();
                    let cond = self.expression(body)?;
                    let message = if self.eat(",") { self.text()? } else { "assertion fails".into() };
                    body.f.push(Instr::Assert { cond, message: message.into() });
                    return Ok(());
                }
                "lock" | "unlock" => {
                    self.next();
                    let address = self.place(body)?.address;
                    body.f.push(if word == "lock" {
                        Instr::Lock { address }
                    } else {
                        Instr::Unlock { address }
                    });
                    return Ok(());
                }
                "join" => {
                    self.next();
                    let thread = self.expression(body)?;
                    body.f.push(Instr::Join { thread });
                    return Ok(());
                }
                "return" => {
                    self.next();
                    let nothing = matches!(self.peek(), Token::Sign("}" | ";"));
                    let value = if nothing { None } else { Some(self.expression(body)?) };
                    body.f.push(Instr::Return { value });
                    return Ok(());
                }
                _ => {}
            }
            let register = self.program.global(&word).is_none() && !self.functions.contains_key(&word);
            if register && self.peek_at(1) == &Token::Sign("=") {
                self.next();
                self.next();
                let src = self.expression(body)?;
                let dst = register_named(body, &word);
                body.f.push(Instr::Move { dst, src });
                return Ok(());
            }
        }
        // A store, or an expression for its effect.
        let start = self.at;
        if let Ok(place) = self.place(body)
            && self.eat(".")
            && let Token::Word(word) = self.peek().clone()
            && let Some(mode) = of(WRITES, &word)
            && self.peek_at(1) == &Token::Sign("=")
        {
            self.next();
            self.next();
            let value = self.expression(body)?;
            body.f.push(Instr::Store { address: place.address, value, size: place.size, mode });
            return Ok(());
        }
        self.at = start;
        self.expression(body).map(|_| ())
    }

    fn if_statement(&mut self, body: &mut Body) -> Parsed<()> {
        self.expect_word("if")?;
        let cond = self.expression(body)?;
        let (then, otherwise, end) = (body.f.label(), body.f.label(), body.f.label());
        body.f.branch(cond, then, otherwise);
        body.f.bind(then);
        self.block(body)?;
        body.f.jump(end);
        body.f.bind(otherwise);
        if self.eat_word("else") {
            if self.peek() == &Token::Word("if".into()) {
                self.if_statement(body)?;
            } else {
                self.block(body)?;
            }
        }
        body.f.bind(end);
        Ok(())
    }

    /// With a loop head, so that a loop without effect waits.
    fn while_statement(&mut self, body: &mut Body) -> Parsed<()> {
        self.expect_word("while")?;
        let names = self.assigned_in_loop();
        let (effects, memory) = (body.f.register(""), body.f.register(""));
        let mut variables = Vec::new();
        for name in names {
            let reg = register_named(body, &name);
            variables.push((reg, body.f.register("")));
        }
        body.f.push(Instr::Move { dst: effects, src: Value::MAX.into() });
        let (head, inside, end) = (body.f.label(), body.f.label(), body.f.label());
        body.f.bind(head);
        body.f.push(Instr::LoopHead { effects, memory, variables: variables.into() });
        let cond = self.expression(body)?;
        body.f.branch(cond, inside, end);
        body.f.bind(inside);
        self.block(body)?;
        body.f.jump(head);
        body.f.bind(end);
        Ok(())
    }

    /// Registers that the coming condition and block assign.
    fn assigned_in_loop(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut depth = 0;
        for at in self.at..self.tokens.len() {
            match &self.tokens[at].0 {
                Token::Sign("{") => depth += 1,
                Token::Sign("}") => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Token::Word(name)
                    if self.tokens[at + 1].0 == Token::Sign("=")
                        && self.tokens[at - 1].0 != Token::Sign(".")
                        && !names.contains(name) =>
                {
                    names.push(name.clone());
                }
                _ => {}
            }
        }
        names
    }

    pub(super) fn known_function(&mut self) -> Parsed<FunctionId> {
        let name = self.name()?;
        match self.functions.get(&name) {
            Some(&id) => Ok(id),
            None => self.back_and_fail(&format!("there is no function {name}")),
        }
    }

    pub(super) fn word_of<T: Copy>(&mut self, words: &[(&str, T)], what: &str) -> Parsed<T> {
        let word = self.name()?;
        match of(words, &word) {
            Some(value) => Ok(value),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.back_and_fail(&format!("{word} is not {what}: {}", known.join(", ")))
            }
        }
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(other) if *other == sign);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(other) if other == word);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { self.fail(&format!("expected {sign}")) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.fail(&format!("expected {word}")) }
    }

    /// A word, or any text in quotes.
    pub(super) fn name(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Token::Word(name) | Token::Text(name) => {
                self.next();
                Ok(name)
            }
            _ => self.fail("expected a name"),
        }
    }

    pub(super) fn text(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.next();
                Ok(text)
            }
            _ => self.fail("expected a text in quotes"),
        }
    }

    pub(super) fn number(&mut self) -> Parsed<Value> {
        match *self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => self.fail("expected a number"),
        }
    }

    pub(super) fn fail<T>(&self, message: &str) -> Parsed<T> {
        Err(Diagnostic::new(self.span(), message))
    }

    /// An error about the token before.
    pub(super) fn back_and_fail<T>(&mut self, message: &str) -> Parsed<T> {
        self.at = self.at.saturating_sub(1);
        self.fail(message)
    }

    fn flat_function(&mut self) -> Parsed<Function> {
        super::flat::function(self)
    }
}

pub(super) fn register_named(body: &mut Body, name: &str) -> Reg {
    if let Some(&reg) = body.registers.get(name) {
        return reg;
    }
    let reg = body.f.register(name);
    body.registers.insert(name.to_string(), reg);
    reg
}
