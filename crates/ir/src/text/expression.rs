//! Expressions, and the accesses among them.

use super::lex::Token;
use super::parse::{Body, Parsed, Parser, Place};
use super::words::{BINS, BOTH, READS, RMWS, of};
use crate::{BinOp, CmpOp, Instr, Operand, Width};
use porf_event::{ReadMode, RmwKind, Value};

impl Parser {
    pub(super) fn expression(&mut self, body: &mut Body) -> Parsed<Operand> {
        self.binary(body, 0)
    }

    pub(super) fn binary(&mut self, body: &mut Body, level: usize) -> Parsed<Operand> {
        const LEVELS: [&[&str]; 7] = [
            &["||"],
            &["&&"],
            &["==", "!=", "<", "<=", ">", ">="],
            &["|", "^", "&"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(signs) = LEVELS.get(level) else { return self.unary(body) };
        let mut a = self.binary(body, level + 1)?;
        while let Token::Sign(sign) = *self.peek() {
            // A new line begins a new statement.
            let same_line = self.tokens[self.at - 1].1.line == self.span().line;
            if !signs.contains(&sign) || !same_line {
                break;
            }
            self.next();
            let b = self.binary(body, level + 1)?;
            a = binary_instr(body, sign, a, b);
        }
        Ok(a)
    }

    pub(super) fn unary(&mut self, body: &mut Body) -> Parsed<Operand> {
        if self.eat("!") {
            let a = self.unary(body)?;
            return Ok(compare(body, CmpOp::Eq, a, 0.into()));
        }
        if self.eat("-") {
            let a = self.unary(body)?;
            return Ok(binary_instr(body, "-", 0.into(), a));
        }
        if self.eat("&") {
            return Ok(self.place(body)?.address);
        }
        if self.eat("(") {
            let inner = self.expression(body)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.peek() == &Token::Sign("*") {
            let place = self.place(body)?;
            return self.access(body, place);
        }
        if let Token::Number(number) = *self.peek() {
            self.next();
            return Ok(number.into());
        }
        let Token::Word(word) = self.peek().clone() else {
            return self.fail("expected an expression");
        };
        if self.program.global(&word).is_some() {
            let place = self.place(body)?;
            return self.access(body, place);
        }
        let span = self.span();
        self.next();
        match word.as_str() {
            "spawn" => {
                let function = self.known_function()?;
                let args = self.arguments(body)?;
                let dst = body.f.register("");
                body.f.at(span);
                body.f.push(Instr::Create { dst, function, arg: args.first().copied().unwrap_or(0.into()) });
                Ok(dst.into())
            }
            "nondet" => {
                self.expect("(")?;
                let options = self.number()? as u32;
                self.expect(")")?;
                let dst = body.f.register("");
                body.f.push(Instr::Nondet { dst, options });
                Ok(dst.into())
            }
            "trylock" => {
                let address = self.place(body)?.address;
                let dst = body.f.register("");
                body.f.push(Instr::TryLock { dst, address });
                Ok(dst.into())
            }
            _ if self.functions.contains_key(&word) => {
                let function = self.functions[&word];
                let args = self.arguments(body)?;
                let dst = body.f.register("");
                body.f.at(span);
                body.f.push(Instr::Call { function, args: args.into(), dst: Some(dst) });
                Ok(dst.into())
            }
            _ => match body.registers.get(&word) {
                Some(&reg) => Ok(reg.into()),
                None => {
                    self.at -= 1;
                    self.fail(&format!("{word} has no value yet"))
                }
            },
        }
    }

    pub(super) fn arguments(&mut self, body: &mut Body) -> Parsed<Vec<Operand>> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.expression(body)?);
            self.eat(",");
        }
        Ok(args)
    }

    /// `x`, `a[i]` or `*p`.
    pub(super) fn place(&mut self, body: &mut Body) -> Parsed<Place> {
        if self.eat("*") {
            let address = match self.peek().clone() {
                Token::Word(word) if body.registers.contains_key(&word) => {
                    self.next();
                    body.registers[&word].into()
                }
                _ => {
                    self.expect("(")?;
                    let address = self.expression(body)?;
                    self.expect(")")?;
                    address
                }
            };
            return Ok(Place { address, size: 4 });
        }
        let name = self.name()?;
        let Some(global) = self.program.global(&name) else {
            return self.back_and_fail(&format!("{name} is no variable in memory"));
        };
        let (address, size) = (global.address, global.init.first().map_or(4, |cell| cell.size));
        if !self.eat("[") {
            return Ok(Place { address: address.into(), size });
        }
        let index = self.expression(body)?;
        self.expect("]")?;
        let address = match index {
            Operand::Const(index) => Operand::Const(address + index * u64::from(size)),
            index => {
                let offset = binary_instr(body, "*", index, Value::from(size).into());
                binary_instr(body, "+", offset, address.into())
            }
        };
        Ok(Place { address, size })
    }

    /// `.acq`, `.fetch_add(1, rlx)`, `.cas(0, 1, acqrel, rlx)`.
    pub(super) fn access(&mut self, body: &mut Body, place: Place) -> Parsed<Operand> {
        let span = self.span();
        self.expect(".")?;
        let word = self.name()?;
        let Place { address, size } = place;
        if let Some(mode) = of(READS, &word) {
            let dst = body.f.register("");
            body.f.push(Instr::Load { dst, address, size, mode });
            return Ok(dst.into());
        }
        if let Some(op) = of(RMWS, &word) {
            self.expect("(")?;
            let operand = self.expression(body)?;
            self.expect(",")?;
            let (read, write) = self.both()?;
            self.expect(")")?;
            let dst = body.f.register("");
            body.f.at(span);
            let kind = RmwKind::Amo;
            body.f.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
            return Ok(dst.into());
        }
        if word == "cas" || word == "cas_weak" {
            self.expect("(")?;
            let expected = self.expression(body)?;
            self.expect(",")?;
            let new = self.expression(body)?;
            self.expect(",")?;
            let (read, write) = self.both()?;
            let failure = if self.eat(",") {
                self.word_of(READS, "an ordering")?
            } else if read == ReadMode::Plain {
                ReadMode::Relaxed
            } else {
                read
            };
            self.expect(")")?;
            let dst = body.f.register("");
            body.f.at(span);
            let (weak, kind) = (word == "cas_weak", RmwKind::Amo);
            body.f.push(Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind });
            return Ok(dst.into());
        }
        self.back_and_fail(&format!("{word} is no access: na, rlx, acq, sc, fetch_add(…), cas(…), …"))
    }

    pub(super) fn both(&mut self) -> Parsed<(ReadMode, porf_event::WriteMode)> {
        let word = self.name()?;
        match BOTH.iter().find(|(known, ..)| *known == word) {
            Some((_, read, write)) => Ok((*read, *write)),
            None => self.back_and_fail("expected an ordering: rlx, acq, rel, acqrel or sc"),
        }
    }
}

fn compare(body: &mut Body, op: CmpOp, a: Operand, b: Operand) -> Operand {
    let dst = body.f.register("");
    body.f.push(Instr::Cmp { dst, op, width: Width::W64, a, b });
    dst.into()
}

fn binary_instr(body: &mut Body, sign: &str, a: Operand, b: Operand) -> Operand {
    match sign {
        "==" => compare(body, CmpOp::Eq, a, b),
        "!=" => compare(body, CmpOp::Ne, a, b),
        "<" => compare(body, CmpOp::Ult, a, b),
        "<=" => compare(body, CmpOp::Ule, a, b),
        ">" => compare(body, CmpOp::Ult, b, a),
        ">=" => compare(body, CmpOp::Ule, b, a),
        // Both sides are evaluated: there is no short cut.
        "&&" | "||" => {
            let (a, b) = (compare(body, CmpOp::Ne, a, 0.into()), compare(body, CmpOp::Ne, b, 0.into()));
            binary_instr(body, if sign == "&&" { "&" } else { "|" }, a, b)
        }
        _ => {
            let op = BINS.iter().find(|(_, known, _)| *known == sign).map_or(BinOp::Add, |(_, _, op)| *op);
            let dst = body.f.register("");
            body.f.push(Instr::Bin { dst, op, width: Width::W64, a, b });
            dst.into()
        }
    }
}
