//! `<string.h>` and the copying of shared memory.

use super::asm::Asm;
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FunctionId, Instr, Operand, Width};

/// `memmove` for lengths that are not known: words of 8 bytes, then bytes.
pub fn move_bytes(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("memmove", |_| {
        let mut a = Asm::new("memmove", &["to", "from", "length"]);
        let (to, from, length) = (a.param(0), a.param(1), a.param(2));
        let done = a.b.label();
        a.b.try_copy(to, from, length, done);
        // Upwards if the target begins before the source, else downwards.
        let up = a.cmp(CmpOp::Ule, to, from);
        a.when(up, |a| {
            let at = a.reg();
            a.b.push(Instr::Move { dst: at, src: Operand::Const(0) });
            for size in [8u8, 1] {
                let (head, body, end) = (a.b.label(), a.b.label(), a.b.label());
                a.b.bind(head);
                let next = a.add(at.into(), size.into());
                let fits = a.cmp(CmpOp::Ule, next, length);
                a.b.branch(fits, body, end);
                a.b.bind(body);
                let source = a.bin(BinOp::Add, from, at);
                let target = a.bin(BinOp::Add, to, at);
                let value = a.load(source, size, ReadMode::Plain);
                a.store(target, value, size, WriteMode::Plain);
                a.b.push(Instr::Move { dst: at, src: next });
                a.b.jump(head);
                a.b.bind(end);
            }
            a.give(to);
        });
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: length });
        for size in [1u8, 8] {
            let (head, body, end) = (a.b.label(), a.b.label(), a.b.label());
            a.b.bind(head);
            // Single bytes down to a multiple of 8, then words.
            let go = if size == 1 { a.bin(BinOp::And, at.into(), 7) } else { at.into() };
            a.b.branch(go, body, end);
            a.b.bind(body);
            let next = a.bin(BinOp::Sub, at.into(), u64::from(size));
            let source = a.bin(BinOp::Add, from, next);
            let target = a.bin(BinOp::Add, to, next);
            let value = a.load(source, size, ReadMode::Plain);
            a.store(target, value, size, WriteMode::Plain);
            a.b.push(Instr::Move { dst: at, src: next });
            a.b.jump(head);
            a.b.bind(end);
        }
        a.b.bind(done);
        a.give(to);
        a.finish()
    })
}

/// `memset` for lengths that are not known.
pub fn set_bytes(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("memset", |_| {
        let mut a = Asm::new("memset", &["to", "byte", "length"]);
        let (to, byte, length) = (a.param(0), a.param(1), a.param(2));
        let done = a.b.label();
        a.b.try_fill(to, byte, length, done);
        let byte = a.bin(BinOp::And, byte, 0xff);
        let word = a.bin(BinOp::Mul, byte, 0x0101_0101_0101_0101u64);
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: Operand::Const(0) });
        for size in [8u8, 1] {
            let (head, body, end) = (a.b.label(), a.b.label(), a.b.label());
            a.b.bind(head);
            let next = a.add(at.into(), size.into());
            let fits = a.cmp(CmpOp::Ule, next, length);
            a.b.branch(fits, body, end);
            a.b.bind(body);
            let target = a.bin(BinOp::Add, to, at);
            a.store(target, if size == 8 { word } else { byte }, size, WriteMode::Plain);
            a.b.push(Instr::Move { dst: at, src: next });
            a.b.jump(head);
            a.b.bind(end);
        }
        a.b.bind(done);
        a.give(to);
        a.finish()
    })
}

pub fn strlen(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strlen", |_| {
        let mut a = Asm::new("strlen", &["text"]);
        let text = a.param(0);
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: text });
        let (head, more, end) = (a.b.label(), a.b.label(), a.b.label());
        a.b.bind(head);
        let byte = a.load(at.into(), 1, ReadMode::Plain);
        a.b.branch(byte, more, end);
        a.b.bind(more);
        let next = a.add(at.into(), 1);
        a.b.push(Instr::Move { dst: at, src: next });
        a.b.jump(head);
        a.b.bind(end);
        let length = a.bin(BinOp::Sub, at.into(), text);
        a.give(length);
        a.finish()
    })
}

/// `strcmp`, `strncmp` and `memcmp`: bytes up to a limit, and (for strings) up to a zero.
pub fn compare(tr: &mut Translator<'_>, strings: bool) -> FunctionId {
    let name = if strings { "strncmp" } else { "memcmp" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["a", "b", "limit"]);
        let (x, y, limit) = (a.param(0), a.param(1), a.param(2));
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: Operand::Const(0) });
        let (head, end) = (a.b.label(), a.b.label());
        a.b.bind(head);
        let over = a.cmp(CmpOp::Ule, limit, at);
        a.when(over, |a| a.give(0));
        let (p, q) = (a.bin(BinOp::Add, x, at), a.bin(BinOp::Add, y, at));
        let (p, q) = (a.load(p, 1, ReadMode::Plain), a.load(q, 1, ReadMode::Plain));
        let differ = a.cmp(CmpOp::Ne, p, q);
        a.when(differ, |a| {
            let dst = a.reg();
            a.b.push(Instr::Bin { dst, op: BinOp::Sub, width: Width::W32, a: p, b: q });
            a.give(dst);
        });
        if strings {
            a.unless(p, |a| a.give(0));
        }
        let next = a.add(at.into(), 1);
        a.b.push(Instr::Move { dst: at, src: next });
        a.b.jump(head);
        a.b.bind(end);
        a.finish()
    })
}

/// `strcpy`, `strncpy` without the padding, `strcat` with `to` moved to its end.
pub fn strcpy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strncpy", |_| {
        let mut a = Asm::new("strncpy", &["to", "from", "limit"]);
        let (to, from, limit) = (a.param(0), a.param(1), a.param(2));
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: Operand::Const(0) });
        let head = a.b.label();
        a.b.bind(head);
        let over = a.cmp(CmpOp::Ule, limit, at);
        a.when(over, |a| a.give(to));
        let (source, target) = (a.bin(BinOp::Add, from, at), a.bin(BinOp::Add, to, at));
        let byte = a.load(source, 1, ReadMode::Plain);
        a.store(target, byte, 1, WriteMode::Plain);
        a.unless(byte, |a| a.give(to));
        let next = a.add(at.into(), 1);
        a.b.push(Instr::Move { dst: at, src: next });
        a.b.jump(head);
        a.finish()
    })
}

pub fn strchr(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strchr", |_| {
        let mut a = Asm::new("strchr", &["text", "byte"]);
        let (text, byte) = (a.param(0), a.param(1));
        let byte = a.bin(BinOp::And, byte, 0xff);
        let at = a.reg();
        a.b.push(Instr::Move { dst: at, src: text });
        let head = a.b.label();
        a.b.bind(head);
        let found = a.load(at.into(), 1, ReadMode::Plain);
        let same = a.cmp(CmpOp::Eq, found, byte);
        a.when(same, |a| a.give(at));
        a.unless(found, |a| a.give(0));
        let next = a.add(at.into(), 1);
        a.b.push(Instr::Move { dst: at, src: next });
        a.b.jump(head);
        a.finish()
    })
}
