//! Turns statements and expressions into instructions, in one pass over the text.

use super::expr::{self, Expr, Kind, Operator};
use crate::Diagnostic;
use crate::source::Cursor;
use crate::thread::{Thread, ThreadBuilder};
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, Reg, Width};

/// The size of every cell.
pub(super) const CELL: u8 = 8;

pub(super) struct Lower<'p, 'a> {
    pub cursor: &'p mut Cursor<'a>,
    pub thread: ThreadBuilder,
    slots: u32,
    /// The first registers are the parameters: pointers to variables.
    parameters: u32,
}

impl<'p, 'a> Lower<'p, 'a> {
    pub fn new(cursor: &'p mut Cursor<'a>, thread: ThreadBuilder) -> Lower<'p, 'a> {
        let parameters = thread.count();
        Lower { cursor, thread, slots: 0, parameters }
    }

    pub fn finish(self) -> Thread {
        self.thread.finish()
    }

    /// `{ statement … }`
    pub fn block(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect("{")?;
        while !self.cursor.eat("}")? {
            if self.cursor.at_end() {
                return Err(self.cursor.error("a block has no end '}'"));
            }
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Diagnostic> {
        self.cursor.enter()?;
        self.cursor.skip()?;
        self.thread.code.at(self.cursor.span());
        if self.cursor.byte() == b'{' {
            self.block()?;
        } else if self.cursor.eat("if")? {
            self.if_statement()?;
        } else if self.cursor.eat("while")? {
            self.while_statement()?;
        } else if self.cursor.eat("do")? {
            self.do_statement()?;
        } else if self.cursor.eat("for")? {
            self.for_statement()?;
        } else if self.cursor.eat(";")? {
        } else if self.cursor.sees("return")? || self.cursor.sees("goto")? || self.cursor.sees("switch")? {
            return Err(self.cursor.error(format!("{} is not supported", self.cursor.found())));
        } else {
            self.simple_statement()?;
            self.cursor.expect(";")?;
        }
        self.cursor.leave();
        Ok(())
    }

    /// A declaration, an assignment or an expression, without its `;`.
    fn simple_statement(&mut self) -> Result<(), Diagnostic> {
        if expr::is_type(self.cursor)? {
            return self.declaration();
        }
        let target = expr::expression(self.cursor)?;
        self.cursor.skip()?;
        if self.cursor.byte() != b'=' || self.cursor.byte_at(1) == b'=' {
            if matches!(self.cursor.byte(), b'+' | b'-') {
                return Err(self.cursor.error("'++', '--', '+=' and '-=' are not supported"));
            }
            self.evaluate(&target, None)?;
            return Ok(());
        }
        self.cursor.at += 1;
        let value = expr::expression(self.cursor)?;
        match target.kind {
            Kind::Name(name) => {
                let reg = self.thread.register(name);
                self.assign(reg, &value)
            }
            Kind::Deref(pointer) => {
                let address = self.evaluate(&pointer, None)?;
                let value = self.evaluate(&value, None)?;
                self.store(address, value, WriteMode::Plain);
                Ok(())
            }
            _ => Err(self.error(&target, "this expression cannot be assigned to")),
        }
    }

    /// `int r0;`, `int r0 = 1, *r1;`
    fn declaration(&mut self) -> Result<(), Diagnostic> {
        expr::skip_type(self.cursor)?;
        // `(void)e;` comes as an expression; `void` alone declares nothing.
        loop {
            while self.cursor.eat("*")? {}
            let name = self.cursor.expect_word("the name of a register")?;
            let reg = self.thread.register(name);
            if self.cursor.eat("=")? {
                let value = expr::expression(self.cursor)?;
                self.assign(reg, &value)?;
            }
            if !self.cursor.eat(",")? {
                return Ok(());
            }
        }
    }

    fn assign(&mut self, reg: Reg, value: &Expr<'a>) -> Result<(), Diagnostic> {
        let result = self.evaluate(value, Some(reg))?;
        if result != Operand::Reg(reg) {
            self.thread.mov(reg, result);
        }
        Ok(())
    }

    fn condition(&mut self) -> Result<Operand, Diagnostic> {
        self.cursor.expect("(")?;
        let cond = expr::expression(self.cursor)?;
        self.cursor.expect(")")?;
        self.evaluate(&cond, None)
    }

    fn if_statement(&mut self) -> Result<(), Diagnostic> {
        let cond = self.condition()?;
        let slot = self.mark();
        let (then, otherwise, end) =
            (self.thread.code.label(), self.thread.code.label(), self.thread.code.label());
        self.thread.code.branch(cond, then, otherwise);
        self.thread.code.bind(then);
        self.statement()?;
        if self.cursor.eat("else")? {
            self.thread.code.jump(end);
            self.thread.code.bind(otherwise);
            self.statement()?;
        } else {
            self.thread.code.bind(otherwise);
        }
        self.thread.code.bind(end);
        self.restore(slot);
        Ok(())
    }

    fn while_statement(&mut self) -> Result<(), Diagnostic> {
        let (head, body, end) =
            (self.thread.code.label(), self.thread.code.label(), self.thread.code.label());
        let slot = self.mark();
        self.thread.code.bind(head);
        let cond = self.condition()?;
        self.thread.code.branch(cond, body, end);
        self.thread.code.bind(body);
        self.statement()?;
        self.thread.code.jump(head);
        self.thread.code.bind(end);
        self.restore(slot);
        Ok(())
    }

    fn do_statement(&mut self) -> Result<(), Diagnostic> {
        let (head, end) = (self.thread.code.label(), self.thread.code.label());
        let slot = self.mark();
        self.thread.code.bind(head);
        self.statement()?;
        self.cursor.expect("while")?;
        let cond = self.condition()?;
        self.cursor.expect(";")?;
        self.thread.code.branch(cond, head, end);
        self.thread.code.bind(end);
        self.restore(slot);
        Ok(())
    }

    fn for_statement(&mut self) -> Result<(), Diagnostic> {
        let (head, body, end) =
            (self.thread.code.label(), self.thread.code.label(), self.thread.code.label());
        self.cursor.expect("(")?;
        if !self.cursor.eat(";")? {
            self.simple_statement()?;
            self.cursor.expect(";")?;
        }
        let slot = self.mark();
        self.thread.code.bind(head);
        if !self.cursor.eat(";")? {
            let cond = expr::expression(self.cursor)?;
            let cond = self.evaluate(&cond, None)?;
            self.thread.code.branch(cond, body, end);
            self.cursor.expect(";")?;
        }
        self.thread.code.bind(body);
        // The step comes before the body in the text and after it in the code. Its end is found by
        // counting parentheses, and it is read when the body is done.
        let step = self.cursor.at;
        let mut depth = 1;
        while depth > 0 {
            match self.cursor.peek()? {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'{' | b'}' | b';' | 0 => return Err(self.cursor.expected("')'")),
                _ => {}
            }
            self.cursor.at += self.cursor.rest().chars().next().map_or(0, char::len_utf8);
        }
        self.statement()?;
        let after = std::mem::replace(&mut self.cursor.at, step);
        if self.cursor.peek()? != b')' {
            self.simple_statement()?;
        }
        self.cursor.expect(")")?;
        self.cursor.at = after;
        self.thread.code.jump(head);
        self.thread.code.bind(end);
        self.restore(slot);
        Ok(())
    }

    pub fn is_parameter(&self, name: &str) -> bool {
        self.thread.find(name).is_some_and(|reg| reg.0 < self.parameters)
    }

    /// Remembers the control dependencies; [`Lower::restore`] returns to them.
    pub fn mark(&mut self) -> u32 {
        let slot = self.slots;
        self.slots += 1;
        self.thread.push(Instr::CtrlMark { slot });
        slot
    }

    pub fn restore(&mut self, slot: u32) {
        self.thread.push(Instr::CtrlRestore { slot });
    }

    /// The value of an expression, in `dst` where that saves a move.
    pub fn evaluate(&mut self, expr: &Expr<'a>, dst: Option<Reg>) -> Result<Operand, Diagnostic> {
        match &expr.kind {
            Kind::Int(value) => Ok(Operand::Const(*value as u64)),
            Kind::Name(name) if name.starts_with("memory_order") => {
                Err(self.error(expr, format!("'{name}' is not expected here")))
            }
            Kind::Name(name) => Ok(self.thread.register(name).into()),
            Kind::AddressOf(name) => Err(self
                .error(expr, format!("the address of '{name}' is not supported"))
                .help("variables are passed as parameters, which are pointers")),
            Kind::Deref(pointer) => {
                let address = self.evaluate(pointer, None)?;
                Ok(self.load(address, ReadMode::Plain, dst))
            }
            Kind::Not(inner) => {
                let value = self.evaluate(inner, None)?;
                Ok(self.compare(CmpOp::Eq, value, Operand::Const(0), dst))
            }
            Kind::Binary(operator, left, right) => {
                let logical = matches!(operator, Operator::LogicalAnd | Operator::LogicalOr);
                if logical && (left.touches_memory() || right.touches_memory()) {
                    return Err(self.error(expr, "'&&' and '||' of memory accesses are not supported"));
                }
                let a = self.evaluate(left, None)?;
                let b = self.evaluate(right, None)?;
                Ok(self.binary(*operator, a, b, dst))
            }
            Kind::Call(name, args) => self.primitive(expr, name, args, dst),
        }
    }

    fn binary(&mut self, operator: Operator, a: Operand, b: Operand, dst: Option<Reg>) -> Operand {
        match operator {
            Operator::Arithmetic(op) => self.arithmetic(op, a, b, dst),
            Operator::Compare(op) => self.compare(op, a, b, dst),
            Operator::Swapped(op) => self.compare(op, b, a, dst),
            Operator::LogicalAnd | Operator::LogicalOr => {
                let a = self.compare(CmpOp::Ne, a, Operand::Const(0), None);
                let b = self.compare(CmpOp::Ne, b, Operand::Const(0), None);
                let op = if operator == Operator::LogicalAnd { BinOp::And } else { BinOp::Or };
                self.arithmetic(op, a, b, dst)
            }
        }
    }

    pub fn arithmetic(&mut self, op: BinOp, a: Operand, b: Operand, dst: Option<Reg>) -> Operand {
        let dst = dst.unwrap_or_else(|| self.thread.temp());
        self.thread.push(Instr::Bin { dst, op, width: Width::W64, a, b });
        dst.into()
    }

    pub fn compare(&mut self, op: CmpOp, a: Operand, b: Operand, dst: Option<Reg>) -> Operand {
        let dst = dst.unwrap_or_else(|| self.thread.temp());
        self.thread.push(Instr::Cmp { dst, op, width: Width::W64, a, b });
        dst.into()
    }

    pub fn load(&mut self, address: Operand, mode: ReadMode, dst: Option<Reg>) -> Operand {
        let dst = dst.unwrap_or_else(|| self.thread.temp());
        self.thread.push(Instr::Load { dst, address, size: CELL, mode });
        dst.into()
    }

    pub fn store(&mut self, address: Operand, value: Operand, mode: WriteMode) {
        self.thread.push(Instr::Store { address, value, size: CELL, mode });
    }

    pub fn error(&self, expr: &Expr<'a>, message: impl Into<String>) -> Diagnostic {
        self.cursor.source.error(expr.at, message)
    }
}
