//! The flat form: what the printer gives, one instruction after another.

use super::lex::Token;
use super::parse::{Parsed, Parser};
use super::words::{BINS, CMPS, FENCES, KINDS, READS, RMWS, WRITES, of};
use crate::{Function, Instr, Operand, Reg, Target, Width};
use porf_verdict::Diagnostic;
use std::collections::HashMap;

/// `flat "name" params 1 registers 3 ("a", "b", "") { … }`, after the first word.
pub(super) fn function(p: &mut Parser) -> Parsed<Function> {
    let mut function = Function { name: p.name()?, ..Function::default() };
    p.expect_word("params")?;
    function.params = p.number()? as u32;
    p.expect_word("registers")?;
    function.registers = p.number()? as u32;
    p.expect("(")?;
    while !p.eat(")") {
        function.register_names.push(p.text()?);
        p.eat(",");
    }
    p.expect("{")?;
    let mut labels: HashMap<String, Target> = HashMap::new();
    let mut wanted = Vec::new();
    while !p.eat("}") {
        if let (Token::Word(label), Token::Sign(":")) = (p.peek().clone(), p.peek_at(1)) {
            p.next();
            p.next();
            labels.insert(label, function.code.len() as Target);
            continue;
        }
        let span = p.span();
        let instr = instr(p, &mut |label, span| {
            wanted.push((label, span));
            wanted.len() as Target - 1
        })?;
        function.code.push(instr);
        function.spans.push(span);
    }
    let find = |at: &mut Target| {
        let (label, span) = &wanted[*at as usize];
        match labels.get(label) {
            Some(target) => {
                *at = *target;
                Ok(())
            }
            None => Err(Diagnostic::new(*span, format!("there is no label {label}"))),
        }
    };
    for instr in &mut function.code {
        match instr {
            Instr::Jump { target } => find(target)?,
            Instr::Branch { then, otherwise, .. } => {
                find(then)?;
                find(otherwise)?;
            }
            _ => {}
        }
    }
    Ok(function)
}

type Labels<'l> = &'l mut dyn FnMut(String, crate::Span) -> Target;

fn instr(p: &mut Parser, label: Labels<'_>) -> Parsed<Instr> {
    if p.peek() == &Token::Sign("%") {
        let dst = register(p)?;
        p.expect("=")?;
        return assignment(p, dst);
    }
    let word = p.name()?;
    Ok(match word.as_str() {
        "store" => {
            let size = suffix(p)?;
            let address = operand(p)?;
            let value = comma_operand(p)?;
            p.expect(",")?;
            Instr::Store { address, value, size, mode: p.word_of(WRITES, "an ordering of stores")? }
        }
        "fence" => Instr::Fence { mode: p.word_of(FENCES, "a fence")? },
        "goto" => Instr::Jump { target: target(p, label)? },
        "if" => {
            let cond = operand(p)?;
            p.expect_word("goto")?;
            let then = target(p, label)?;
            p.expect_word("else")?;
            Instr::Branch { cond, then, otherwise: target(p, label)? }
        }
        "call" => call(p, None)?,
        "return" => {
            let value = matches!(p.peek(), Token::Sign("%") | Token::Number(_));
            Instr::Return { value: if value { Some(operand(p)?) } else { None } }
        }
        "assume" => Instr::Assume { cond: operand(p)? },
        "assert" => {
            let cond = operand(p)?;
            p.expect(",")?;
            Instr::Assert { cond, message: p.text()?.into() }
        }
        "join" => Instr::Join { thread: operand(p)? },
        "lock" => Instr::Lock { address: operand(p)? },
        "unlock" => Instr::Unlock { address: operand(p)? },
        "block" => Instr::Block { reason: porf_event::BlockReason::Assume },
        "loop" => {
            let (effects, memory) = (register(p)?, register(p)?);
            let mut variables = Vec::new();
            p.expect("(")?;
            while !p.eat(")") {
                variables.push((register(p)?, register(p)?));
                p.eat(",");
            }
            Instr::LoopHead { effects, memory, variables: variables.into() }
        }
        _ => return p.back_and_fail(&format!("{word} is no instruction")),
    })
}

fn assignment(p: &mut Parser, dst: Reg) -> Parsed<Instr> {
    let word = p.name()?;
    if let Some((_, _, op)) = BINS.iter().find(|(known, ..)| *known == word) {
        let width = Width(suffix(p)?);
        return Ok(Instr::Bin { dst, op: *op, width, a: operand(p)?, b: comma_operand(p)? });
    }
    if let Some(op) = of(CMPS, &word) {
        let width = Width(suffix(p)?);
        return Ok(Instr::Cmp { dst, op, width, a: operand(p)?, b: comma_operand(p)? });
    }
    if let Some(op) = of(RMWS, &word) {
        let size = suffix(p)?;
        let (address, operand) = (operand(p)?, comma_operand(p)?);
        p.expect(",")?;
        let read = p.word_of(READS, "an ordering of loads")?;
        p.expect(",")?;
        let write = p.word_of(WRITES, "an ordering of stores")?;
        p.expect(",")?;
        let kind = p.word_of(KINDS, "a kind")?;
        return Ok(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
    }
    Ok(match word.as_str() {
        "move" => Instr::Move { dst, src: operand(p)? },
        "sext" => Instr::SignExtend { dst, from: Width(suffix(p)?), src: operand(p)? },
        "select" => Instr::Select { dst, cond: operand(p)?, a: comma_operand(p)?, b: comma_operand(p)? },
        "load" => {
            let size = suffix(p)?;
            let address = operand(p)?;
            p.expect(",")?;
            Instr::Load { dst, address, size, mode: p.word_of(READS, "an ordering of loads")? }
        }
        "cas" | "cas_weak" => {
            let size = suffix(p)?;
            let (address, expected, new) = (operand(p)?, comma_operand(p)?, comma_operand(p)?);
            p.expect(",")?;
            let read = p.word_of(READS, "an ordering of loads")?;
            p.expect(",")?;
            let write = p.word_of(WRITES, "an ordering of stores")?;
            p.expect(",")?;
            let failure = p.word_of(READS, "an ordering of loads")?;
            p.expect(",")?;
            let kind = p.word_of(KINDS, "a kind")?;
            let weak = word == "cas_weak";
            Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind }
        }
        "call" => call(p, Some(dst))?,
        "nondet" => Instr::Nondet { dst, options: p.number()? as u32 },
        "create" => {
            let function = p.known_function()?;
            Instr::Create { dst, function, arg: comma_operand(p)? }
        }
        "trylock" => Instr::TryLock { dst, address: operand(p)? },
        "islocked" => Instr::IsLocked { dst, address: operand(p)? },
        _ => return p.back_and_fail(&format!("{word} is no operation")),
    })
}

fn call(p: &mut Parser, dst: Option<Reg>) -> Parsed<Instr> {
    let function = p.known_function()?;
    let mut args = Vec::new();
    p.expect("(")?;
    while !p.eat(")") {
        args.push(operand(p)?);
        p.eat(",");
    }
    Ok(Instr::Call { function, args: args.into(), dst })
}

fn target(p: &mut Parser, label: Labels<'_>) -> Parsed<Target> {
    let span = p.span();
    Ok(label(p.name()?, span))
}

fn register(p: &mut Parser) -> Parsed<Reg> {
    p.expect("%")?;
    Ok(Reg(p.number()? as u32))
}

fn operand(p: &mut Parser) -> Parsed<Operand> {
    if p.peek() == &Token::Sign("%") { register(p).map(Operand::Reg) } else { p.number().map(Operand::Const) }
}

fn comma_operand(p: &mut Parser) -> Parsed<Operand> {
    p.expect(",")?;
    operand(p)
}

/// `.32`
fn suffix(p: &mut Parser) -> Parsed<u8> {
    p.expect(".")?;
    Ok(p.number()? as u8)
}
