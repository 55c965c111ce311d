//! `<string.h>` and the copying of shared memory.

use super::asm::Asm;
use super::table::{KEEPS, RETURNS, Row, USES, row};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FunctionId, Instr, Operand, Width};

const NO_LIMIT: Operand = Operand::Const(u64::MAX);

pub const FUNCTIONS: &[Row] = &[
    row(&["memcpy", "memmove", "__memcpy_chk"], RETURNS, |c| {
        c.body.copy(c.arg(0), c.arg(1), c.arg(2), &[], 8)?;
        Ok(vec![c.arg(0)])
    }),
    row(&["memset", "__memset_chk"], RETURNS, |c| {
        c.body.fill(c.arg(0), c.arg(1), c.arg(2), &[], 8)?;
        Ok(vec![c.arg(0)])
    }),
    row(&["strlen"], USES, |c| c.same(strlen)),
    row(&["strnlen"], USES, |c| c.same(strnlen)),
    row(&["strcmp"], USES, |c| c.routine(|tr| compare(tr, true), &[c.arg(0), c.arg(1), NO_LIMIT])),
    row(&["strncmp"], USES, |c| c.same(|tr| compare(tr, true))),
    row(&["memcmp"], USES, |c| c.same(|tr| compare(tr, false))),
    row(&["bcmp"], KEEPS, |c| c.same(|tr| compare(tr, false))),
    row(&["strcpy"], RETURNS, |c| c.routine(strcpy, &[c.arg(0), c.arg(1), NO_LIMIT])),
    row(&["strcat"], RETURNS, |c| {
        let length = c.routine(strlen, &[c.arg(0)])?[0];
        let end = c.body.bin(BinOp::Add, Width::W64, c.arg(0), length);
        c.routine(strcpy, &[end, c.arg(1), NO_LIMIT])?;
        Ok(vec![c.arg(0)])
    }),
    row(&["strchr"], RETURNS, |c| c.same(strchr)),
];

/// `memmove` for lengths that are not known: words of 8 bytes, then bytes.
pub fn move_bytes(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("memmove", |_| {
        let mut a = Asm::new("memmove", &["to", "from", "length"]);
        let (to, from, length) = (a.param(0), a.param(1), a.param(2));
        let done = a.b.label();
        a.b.try_copy(to, from, length, done);
        let copy = |a: &mut Asm, at: Operand, size: u8| {
            let (source, target) = (a.bin(BinOp::Add, from, at), a.bin(BinOp::Add, to, at));
            let dst = a.reg();
            a.b.push_move(Instr::Load { dst, address: source, size, mode: ReadMode::Plain });
            a.store(target, dst, size, WriteMode::Plain);
        };
        // Upwards if the target begins before the source, else downwards.
        let up = a.cmp(CmpOp::Ule, to, from);
        a.when(up, |a| {
            let words = a.steps(0, 8, |a, at| fits(a, at, 8, length), |a, at| copy(a, at, 8));
            a.steps(words, 1, |a, at| fits(a, at, 1, length), |a, at| copy(a, at, 1));
            a.give(to);
        });
        // Single bytes down to a multiple of 8, then words.
        let below = |a: &mut Asm, at: Operand, size: u8| {
            let at = a.bin(BinOp::Sub, at, u64::from(size));
            copy(a, at, size);
        };
        let down = |size: u64| size.wrapping_neg();
        let bytes = a.steps(length, down(1), |a, at| a.bin(BinOp::And, at, 7), |a, at| below(a, at, 1));
        a.steps(bytes, down(8), |_, at| at, |a, at| below(a, at, 8));
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
        let fill = |a: &mut Asm, at: Operand, value: Operand, size: u8| {
            let target = a.bin(BinOp::Add, to, at);
            a.store(target, value, size, WriteMode::Plain);
        };
        let words = a.steps(0, 8, |a, at| fits(a, at, 8, length), |a, at| fill(a, at, word, 8));
        a.steps(words, 1, |a, at| fits(a, at, 1, length), |a, at| fill(a, at, byte, 1));
        a.b.bind(done);
        a.give(to);
        a.finish()
    })
}

pub fn strlen(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strlen", |_| {
        let mut a = Asm::new("strlen", &["text"]);
        let text = a.param(0);
        let end = a.steps(text, 1, |a, at| a.load(at, 1, ReadMode::Plain), |_, _| {});
        let length = a.bin(BinOp::Sub, end, text);
        a.give(length);
        a.finish()
    })
}

pub fn strnlen(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strnlen", |_| {
        let mut a = Asm::new("strnlen", &["text", "limit"]);
        let (text, limit) = (a.param(0), a.param(1));
        let length = a.steps(
            0,
            1,
            |a, at| a.cmp(CmpOp::Ult, at, limit),
            |a, at| {
                let address = a.bin(BinOp::Add, text, at);
                let byte = a.load(address, 1, ReadMode::Plain);
                a.unless(byte, |a| a.give(at));
            },
        );
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
        a.steps(
            0,
            1,
            |a, at| a.cmp(CmpOp::Ult, at, limit),
            |a, at| {
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
            },
        );
        a.give(0);
        a.finish()
    })
}

/// `strcpy`, `strncpy` without the padding, `strcat` with `to` moved to its end.
pub fn strcpy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strncpy", |_| {
        let mut a = Asm::new("strncpy", &["to", "from", "limit"]);
        let (to, from, limit) = (a.param(0), a.param(1), a.param(2));
        a.steps(
            0,
            1,
            |a, at| a.cmp(CmpOp::Ult, at, limit),
            |a, at| {
                let (source, target) = (a.bin(BinOp::Add, from, at), a.bin(BinOp::Add, to, at));
                let byte = a.load(source, 1, ReadMode::Plain);
                a.store(target, byte, 1, WriteMode::Plain);
                a.unless(byte, |a| a.give(to));
            },
        );
        a.give(to);
        a.finish()
    })
}

pub fn strchr(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("strchr", |_| {
        let mut a = Asm::new("strchr", &["text", "byte"]);
        let (text, byte) = (a.param(0), a.param(1));
        let byte = a.bin(BinOp::And, byte, 0xff);
        a.steps(
            text,
            1,
            |a, at| {
                let found = a.load(at, 1, ReadMode::Plain);
                let same = a.cmp(CmpOp::Eq, found, byte);
                a.when(same, |a| a.give(at));
                found
            },
            |_, _| {},
        );
        a.give(0);
        a.finish()
    })
}

/// Whether `size` bytes from `at` on are within `length`.
fn fits(a: &mut Asm, at: Operand, size: u64, length: Operand) -> Operand {
    let end = a.add(at, size);
    a.cmp(CmpOp::Ule, end, length)
}
