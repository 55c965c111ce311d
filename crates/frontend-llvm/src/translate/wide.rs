//! Atomics of 16 bytes, which no single event stands for.
//!
//! They are atomic sections ([`crate::library::verifier`]): their accesses are single ones of 8 bytes, and nothing
//! comes between them. Programs may so access the halves by themselves too, as those with tagged pointers do.
//!
//! Limit: a section orders as a lock does, and so more than the access asks for. The program remembers that
//! ([`porf_ir::layout::Image::locked`]), and the verdict says it.

use super::function::Body;
use super::instruction::register;
use super::memory::{read_mode, write_mode};
use super::types::Unsupported;
use crate::library;
use crate::llvm::Value;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, WideOp, Width};

impl<'m> Body<'_, 'm> {
    pub fn wide_load(&mut self, address: Operand, mode: ReadMode) -> Result<[Operand; 2], Unsupported> {
        self.section(true)?;
        let halves = self.load_halves(address, mode);
        self.section(false)?;
        Ok(halves)
    }

    pub fn wide_store(
        &mut self,
        address: Operand,
        new: [Operand; 2],
        mode: WriteMode,
    ) -> Result<(), Unsupported> {
        self.section(true)?;
        self.store_halves(address, new, mode);
        self.section(false)
    }

    /// What was there, and whether it was the expected.
    pub fn wide_compare(
        &mut self,
        address: Operand,
        expected: [Operand; 2],
        new: [Operand; 2],
        (read, write): (ReadMode, WriteMode),
    ) -> Result<([Operand; 2], Operand), Unsupported> {
        self.section(true)?;
        let old = self.load_halves(address, read);
        let mut same = [Operand::Const(0); 2];
        for half in 0..2 {
            let dst = self.b.register("");
            let (a, b) = (old[half], expected[half]);
            self.b.push(Instr::Cmp { dst, op: CmpOp::Eq, width: Width::W64, a, b });
            same[half] = dst.into();
        }
        let same = self.bin(BinOp::And, Width::W64, same[0], same[1]);
        let (equal, done) = (self.b.label(), self.b.label());
        self.b.branch(same, equal, done);
        self.b.bind(equal);
        self.store_halves(address, new, write);
        self.b.bind(done);
        self.section(false)?;
        Ok((old, same))
    }

    /// A read-modify-write of 16 bytes.
    pub fn wide_rmw(&mut self, i: Value<'m>) -> Result<(), Unsupported> {
        let op = match i.rmw_operation() {
            0 => None,
            1 => Some(WideOp::Add),
            2 => Some(WideOp::Sub),
            3 => Some(WideOp::And),
            5 => Some(WideOp::Or),
            6 => Some(WideOp::Xor),
            _ => return Err(format!("instruction {}", i.print())),
        };
        let address = self.word(i.operand(0))?;
        let operand = pair(self.words(i.operand(1))?)?;
        self.section(true)?;
        let old = self.load_halves(address, read_mode(i.ordering()));
        let new = match op {
            None => operand,
            Some(op) => {
                let row = self.fresh(i);
                let operands = Box::new([old[0], old[1], operand[0], operand[1]]);
                self.b.push(Instr::Wide { dst: register(row[0]), op, operands });
                [row[0], row[1]]
            }
        };
        self.store_halves(address, new, write_mode(i.ordering()));
        self.section(false)?;
        self.set(i, old.to_vec());
        Ok(())
    }

    fn section(&mut self, begins: bool) -> Result<(), Unsupported> {
        let name = if begins { "__VERIFIER_atomic_begin" } else { "__VERIFIER_atomic_end" };
        if begins && !self.is_library_atomic() {
            self.note_lock();
        }
        library::call(self, name, &[], false).map(|_| ())
    }

    fn load_halves(&mut self, address: Operand, mode: ReadMode) -> [Operand; 2] {
        [0, 8].map(|offset| {
            let address = self.add(address, offset);
            let dst = self.b.register("");
            self.b.push(Instr::Load { dst, address, size: 8, mode });
            dst.into()
        })
    }

    fn store_halves(&mut self, address: Operand, new: [Operand; 2], mode: WriteMode) {
        for (offset, value) in [0, 8].into_iter().zip(new) {
            let address = self.add(address, offset);
            self.b.push(Instr::Store { address, value, size: 8, mode });
        }
    }
}

/// The words of a value of 16 bytes.
pub fn pair(words: Vec<Operand>) -> Result<[Operand; 2], Unsupported> {
    words.try_into().map_err(|_| "an atomic access of more than 16 bytes".to_string())
}
