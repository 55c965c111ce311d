//! Calls that compilers make for atomics of a size that the target may not have: `__atomic_load (size, …)`.
//!
//! Where size and orderings are constants, as compilers have them, the access is an event here, as if the compiler had
//! made an instruction of it. Any other call goes to `runtime/atomic.c`.

use super::function::Body;
use super::types::{Unsupported, Word};
use super::wide::WIDE;
use crate::llvm::Value;
use porf_event::{ReadMode, RmwKind, WriteMode};
use porf_ir::{CmpOp, Instr, Operand, RmwOp, Width};

impl<'m> Body<'_, 'm> {
    /// Makes the access that a call stands for; whether it is such a call.
    pub fn library_atomic(&mut self, i: Value<'m>, name: &str) -> Result<bool, Unsupported> {
        let orders = match name {
            "__atomic_load" | "__atomic_store" => 3..4,
            "__atomic_exchange" => 4..5,
            "__atomic_compare_exchange" => 4..6,
            _ => return Ok(false),
        };
        let mut arguments = Vec::new();
        for at in 0..orders.end {
            arguments.push(self.word(i.operand(at))?);
        }
        let Operand::Const(size @ (1 | 2 | 4 | 8 | 16)) = arguments[0] else { return Ok(false) };
        let mut modes = Vec::new();
        for order in &arguments[orders.start as usize..] {
            let Operand::Const(order) = *order else { return Ok(false) };
            modes.push((read_mode(order), write_mode(order)));
        }
        let (size, address) = (size as u8, arguments[1]);
        let (read, write) = modes[0];
        let dst = self.b.register("");
        match name {
            "__atomic_load" => {
                self.b.push(Instr::Load { dst, address, size, mode: read });
                self.put(arguments[2], dst.into(), size)?;
            }
            "__atomic_store" => {
                let value = self.take(arguments[2], size)?;
                self.b.push(Instr::Store { address, value, size, mode: write });
            }
            "__atomic_exchange" => {
                let (op, operand, kind) = (RmwOp::Exchange, self.take(arguments[2], size)?, RmwKind::Amo);
                self.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
                self.put(arguments[3], dst.into(), size)?;
            }
            _ => {
                let (expected, new) = (self.take(arguments[2], size)?, self.take(arguments[3], size)?);
                let (failure, kind) = (modes[1].0, RmwKind::Amo);
                let cas =
                    Instr::Cas { dst, address, expected, new, size, read, write, failure, weak: false, kind };
                self.b.push(cas);
                let same = self.b.register("");
                let (op, width) = (CmpOp::Eq, Width::W64);
                self.b.push(Instr::Cmp { dst: same, op, width, a: dst.into(), b: expected });
                let (differs, done) = (self.b.label(), self.b.label());
                self.b.branch(same, done, differs);
                self.b.bind(differs);
                self.put(arguments[2], dst.into(), size)?;
                self.b.bind(done);
                self.set(i, vec![same.into()]);
            }
        }
        Ok(true)
    }

    /// What an access writes, from where the caller has put it: there may be padding.
    fn take(&mut self, from: Operand, size: u8) -> Result<Operand, Unsupported> {
        let words = self.move_words(from, &words(size))?;
        match *words.as_slice() {
            [word] => Ok(word),
            [low, high] => Ok(self.number_of([low, high])),
            _ => Err(format!("an atomic access of {size} bytes")),
        }
    }

    /// Puts what an access has read where the caller wants it.
    fn put(&mut self, to: Operand, read: Operand, size: u8) -> Result<(), Unsupported> {
        let values = if size == WIDE { self.wide_value(read).to_vec() } else { vec![read] };
        self.store_words(to, &words(size), &values, WriteMode::Plain)
    }
}

fn words(size: u8) -> Vec<Word> {
    let word = |offset, bytes: u8| Word { offset, bits: 8 * bytes, float: None };
    if size == WIDE { vec![word(0, 8), word(8, 8)] } else { vec![word(0, size)] }
}

// The numbers of C11's orderings: relaxed, consume, acquire, release, acq_rel, seq_cst.
fn read_mode(order: u64) -> ReadMode {
    match order {
        0 | 3 => ReadMode::Relaxed,
        1 | 2 | 4 => ReadMode::Acquire,
        _ => ReadMode::SeqCst,
    }
}

fn write_mode(order: u64) -> WriteMode {
    match order {
        0..=2 => WriteMode::Relaxed,
        3 | 4 => WriteMode::Release,
        _ => WriteMode::SeqCst,
    }
}
