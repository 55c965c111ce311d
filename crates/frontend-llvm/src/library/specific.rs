//! Thread-specific data: keys of pthreads and C11.

use super::asm::Asm;
use super::table::{KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FunctionId, Instr, Operand, RmwOp};

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_key_create", "tss_create"], USES, |c| c.same(key_create)),
    row(&["pthread_getspecific", "tss_get"], KEEPS, |c| c.same(getspecific)),
    row(&["pthread_setspecific", "tss_set"], KEEPS, |c| c.same(setspecific)),
    row(&["pthread_key_delete", "tss_delete"], KEEPS, zero),
];

/// How many keys of thread-specific data there may be.
const KEYS: u64 = 64;

pub fn key_create(tr: &mut Translator<'_>) -> FunctionId {
    let counter = Operand::Const(tr.library_global("pthread keys", 4));
    let destructors = Operand::Const(tr.library_global("pthread key destructors", 8 * KEYS as usize));
    tr.routine("key_create", |_| {
        let mut a = Asm::new("key_create", &["key", "destructor"]);
        let (key, destructor) = (a.param(0), a.param(1));
        let number = a.fetch(RmwOp::Add, counter, 1, (ReadMode::Relaxed, WriteMode::Relaxed));
        let fits = a.cmp(CmpOp::Ult, number, KEYS);
        a.unless(fits, |a| a.give(11));
        a.when(destructor, |a| {
            let offset = a.bin(BinOp::Mul, number, 8);
            let at = a.bin(BinOp::Add, destructors, offset);
            a.store(at, destructor, 8, WriteMode::Plain);
        });
        a.store(key, number, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// Destroys the values of a thread that ends, again as long as destructors leave new ones, at most
/// `PTHREAD_DESTRUCTOR_ITERATIONS` times.
pub fn destroy_specific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    let destructors = Operand::Const(tr.library_global("pthread key destructors", 8 * KEYS as usize));
    tr.routine("destroy_specific", |_| {
        let mut a = Asm::new("destroy_specific", &[]);
        a.steps(
            0,
            1,
            |a, round| a.cmp(CmpOp::Ult, round, 4),
            |a, _| {
                a.steps(
                    0,
                    1,
                    |a, key| a.cmp(CmpOp::Ult, key, KEYS),
                    |a, key| {
                        let at = specific(a, values, key);
                        let value = a.load(at, 8, ReadMode::Plain);
                        a.when(value, |a| {
                            let offset = a.bin(BinOp::Mul, key, 8);
                            let cell = a.bin(BinOp::Add, destructors, offset);
                            let pointer = a.load(cell, 8, ReadMode::Plain);
                            a.when(pointer, |a| {
                                a.store(at, 0, 8, WriteMode::Plain);
                                a.b.push(Instr::CallPointer { pointer, args: [value].into(), dst: None });
                            });
                        });
                    },
                );
            },
        );
        a.give(0);
        a.finish()
    })
}

/// The address of this thread's value for a key.
fn specific(a: &mut Asm, values: u32, key: Operand) -> Operand {
    let dst = a.reg();
    a.b.push(Instr::ThreadLocalAddress { dst, index: values });
    let offset = a.bin(BinOp::Mul, key, 8);
    a.bin(BinOp::Add, dst.into(), offset)
}

pub fn getspecific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    tr.routine("getspecific", |_| {
        let mut a = Asm::new("getspecific", &["key"]);
        let key = a.param(0);
        let at = specific(&mut a, values, key);
        let value = a.load(at, 8, ReadMode::Plain);
        a.give(value);
        a.finish()
    })
}

pub fn setspecific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    tr.routine("setspecific", |_| {
        let mut a = Asm::new("setspecific", &["key", "value"]);
        let (key, value) = (a.param(0), a.param(1));
        let at = specific(&mut a, values, key);
        a.store(at, value, 8, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}
