//! X86 and X86_64.
//!
//! X86 is written in Intel's order, `MOV EAX,[x]`, with 32-bit registers and accesses; X86_64 in
//! AT&T's, `movq (x),%rax`, with sizes. `XCHG` with memory and instructions with a `LOCK` prefix are
//! read-modify-writes; without the prefix they are a load and a store.
//!
//! Not supported: `CMPXCHG` without `LOCK`, non-temporal accesses, cache flushes, vector registers.

use crate::Diagnostic;
use crate::asm::{Asm, Cond, InstructionSet};
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, Instr, Operand, Reg, RmwOp, Width};

pub(crate) struct X86 {
    /// X86_64: 64-bit registers, operands in AT&T's order.
    pub long: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Immediate(i64),
    Register(Reg, u8),
    Memory(Operand),
}

/// 64-bit, 32-bit, 16-bit and 8-bit names.
const REGISTERS: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
];

impl InstructionSet for X86 {
    fn register(&self, name: &str) -> Option<(String, u8)> {
        let bare = name.trim_start_matches('%').to_ascii_lowercase();
        for names in &REGISTERS {
            if let Some(at) = names.iter().position(|known| *known == bare) {
                return match (self.long, at) {
                    (true, _) => Some((names[0].to_string(), 8 >> at)),
                    (false, 1) => Some((names[1].to_ascii_uppercase(), 4)),
                    (false, _) => None,
                };
            }
        }
        // A symbolic register.
        (!self.long && name.starts_with('%')).then(|| (name.to_string(), 4))
    }

    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
        match mnemonic {
            "lock" => {
                asm.cursor.skip()?;
                match asm.cursor.word()? {
                    Some(word) => self.operation(asm, &word.to_ascii_lowercase(), true),
                    None => Err(asm.cursor.expected("an instruction after 'lock'")),
                }
            }
            _ => self.operation(asm, mnemonic, false),
        }
    }
}

impl X86 {
    fn operation(&self, asm: &mut Asm<'_, '_>, mnemonic: &str, locked: bool) -> Result<(), Diagnostic> {
        match mnemonic {
            "mfence" => asm.fence(FenceMode::Mfence),
            "sfence" => asm.fence(FenceMode::Sfence),
            "lfence" => asm.fence(FenceMode::Lfence),
            "nop" => {}
            "jmp" => {
                let target = asm.label()?;
                asm.thread.code.jump(target);
            }
            _ if condition(mnemonic).is_some() => {
                let cond = condition(mnemonic).unwrap_or(Cond::Eq);
                let target = asm.label()?;
                let cond = asm.cond(0, cond)?;
                asm.branch_if(cond, target);
            }
            _ => {
                let Some((base, suffix)) = split(mnemonic) else { return Err(asm.unknown()) };
                return self.sized(asm, base, suffix, locked);
            }
        }
        Ok(())
    }

    fn sized(
        &self,
        asm: &mut Asm<'_, '_>,
        base: &str,
        suffix: Option<u8>,
        locked: bool,
    ) -> Result<(), Diagnostic> {
        let start = asm.cursor.clone();
        let first = self.place(asm)?;
        if matches!(base, "inc" | "dec") {
            let op = if base == "inc" { RmwOp::Add } else { RmwOp::Sub };
            let size = self.size(suffix, &[first]);
            return self.modify(asm, op, first, Operand::Const(1), size, locked);
        }
        asm.comma()?;
        let second = self.place(asm)?;
        let (dst, src) = if self.long { (second, first) } else { (first, second) };
        let size = self.size(suffix, &[dst, src]);
        if matches!((dst, src), (Place::Memory(_), Place::Memory(_))) {
            return Err(start.error("two memory operands"));
        }
        if locked && matches!(base, "mov" | "cmp") {
            return Err(start.error(format!("'{base}' takes no lock prefix")));
        }
        match base {
            "mov" => match (dst, src) {
                (Place::Register(reg, _), Place::Memory(address)) if size >= 4 => {
                    asm.load(reg, address, size, ReadMode::Plain);
                }
                _ => {
                    let value = self.read(asm, src, size);
                    self.write(asm, dst, size, value, &start)?;
                }
            },
            "cmp" => {
                let a = self.read(asm, dst, size);
                let b = self.read(asm, src, size);
                asm.compare(0, Width::of_bytes(size), a, b);
            }
            "xchg" => self.exchange(asm, dst, src, size, &start)?,
            "cmpxchg" => {
                let (Place::Memory(address), Place::Register(..), true) = (dst, src, locked) else {
                    return Err(start.error("'cmpxchg' is supported only on memory and with a lock prefix"));
                };
                let name = if self.long { "rax" } else { "EAX" };
                let accumulator = Place::Register(asm.thread.register(name), size);
                let expected = self.read(asm, accumulator, size);
                let new = self.read(asm, src, size);
                let old = asm.thread.temp();
                asm.thread.push(Instr::Cas {
                    dst: old,
                    address,
                    expected,
                    new,
                    size,
                    read: ReadMode::Plain,
                    write: WriteMode::Plain,
                    failure: ReadMode::Plain,
                    weak: false,
                    kind: RmwKind::Amo,
                });
                asm.compare(0, Width::of_bytes(size), expected, old);
                self.write(asm, accumulator, size, old.into(), &start)?;
            }
            _ => {
                let op = match base {
                    "add" => RmwOp::Add,
                    "sub" => RmwOp::Sub,
                    "and" => RmwOp::And,
                    "or" => RmwOp::Or,
                    _ => RmwOp::Xor,
                };
                let operand = self.read(asm, src, size);
                self.modify(asm, op, dst, operand, size, locked)?;
            }
        }
        Ok(())
    }

    /// `dst := dst op operand`, and the flags.
    fn modify(
        &self,
        asm: &mut Asm<'_, '_>,
        op: RmwOp,
        dst: Place,
        operand: Operand,
        size: u8,
        locked: bool,
    ) -> Result<(), Diagnostic> {
        let bin = match op {
            RmwOp::Add => BinOp::Add,
            RmwOp::Sub => BinOp::Sub,
            RmwOp::And => BinOp::And,
            RmwOp::Or => BinOp::Or,
            _ => BinOp::Xor,
        };
        let here = asm.cursor.clone();
        let old = match (dst, locked) {
            (Place::Memory(address), true) => {
                let old = asm.thread.temp();
                asm.thread.push(Instr::Rmw {
                    dst: old,
                    op,
                    address,
                    operand,
                    size,
                    read: ReadMode::Plain,
                    write: WriteMode::Plain,
                    kind: RmwKind::Amo,
                });
                old.into()
            }
            (_, true) => return Err(here.error("a lock prefix needs a memory operand")),
            (_, false) => self.read(asm, dst, size),
        };
        let result = asm.thread.temp();
        asm.bin(bin, Width::of_bytes(size), result, old, operand);
        if !locked {
            self.write(asm, dst, size, result.into(), &here)?;
        }
        asm.compare(0, Width::of_bytes(size), result, 0);
        Ok(())
    }

    fn exchange(
        &self,
        asm: &mut Asm<'_, '_>,
        a: Place,
        b: Place,
        size: u8,
        start: &crate::source::Cursor<'_>,
    ) -> Result<(), Diagnostic> {
        let (address, register) = match (a, b) {
            (Place::Memory(address), register) | (register, Place::Memory(address)) => (address, register),
            _ => {
                let (x, y) = (self.read(asm, a, size), self.read(asm, b, size));
                let copy = asm.thread.temp();
                asm.thread.mov(copy, x);
                self.write(asm, a, size, y, start)?;
                return self.write(asm, b, size, copy.into(), start);
            }
        };
        let operand = self.read(asm, register, size);
        let old = asm.thread.temp();
        asm.thread.push(Instr::Rmw {
            dst: old,
            op: RmwOp::Exchange,
            address,
            operand,
            size,
            read: ReadMode::Plain,
            write: WriteMode::Plain,
            kind: RmwKind::Amo,
        });
        self.write(asm, register, size, old.into(), start)
    }

    fn place(&self, asm: &mut Asm<'_, '_>) -> Result<Place, Diagnostic> {
        if let Some((name, size)) = asm.try_register()? {
            return Ok(Place::Register(asm.thread.register(&name), size));
        }
        let mut offset = 0;
        if asm.sees_immediate()? {
            let value = asm.immediate()?;
            if asm.cursor.peek()? != b'(' {
                return Ok(Place::Immediate(value));
            }
            offset = value;
        }
        let close = if asm.cursor.eat("(")? {
            ")"
        } else if asm.cursor.eat("[")? {
            "]"
        } else {
            return Err(asm.cursor.expected("an operand"));
        };
        let base: Operand = if let Some((name, _)) = asm.try_register()? {
            asm.thread.register(&name).into()
        } else if let Some(name) = asm.cursor.word()? {
            let variable = asm.memory.variable(name);
            Operand::Const(asm.memory.variables[variable].address)
        } else {
            return Err(asm.cursor.expected("a variable or a register"));
        };
        asm.cursor.expect(close)?;
        Ok(Place::Memory(asm.sum(base, offset as u64)))
    }

    fn size(&self, suffix: Option<u8>, places: &[Place]) -> u8 {
        let register = places.iter().find_map(|place| match place {
            Place::Register(_, size) => Some(*size),
            _ => None,
        });
        suffix.or(register).unwrap_or(4)
    }

    fn read(&self, asm: &mut Asm<'_, '_>, place: Place, size: u8) -> Operand {
        match place {
            Place::Immediate(value) => Operand::Const(Width::of_bytes(size).truncate(value as u64)),
            Place::Register(reg, full) if full <= size && size >= 4 => reg.into(),
            Place::Register(reg, _) => {
                let dst = asm.thread.temp();
                asm.bin(BinOp::Add, Width::of_bytes(size), dst, reg, 0);
                dst.into()
            }
            Place::Memory(address) => {
                let dst = asm.thread.temp();
                asm.load(dst, address, size, ReadMode::Plain);
                dst.into()
            }
        }
    }

    fn write(
        &self,
        asm: &mut Asm<'_, '_>,
        place: Place,
        size: u8,
        value: Operand,
        start: &crate::source::Cursor<'_>,
    ) -> Result<(), Diagnostic> {
        match place {
            Place::Immediate(_) => return Err(start.error("a number cannot be written to")),
            Place::Memory(address) => asm.store(address, value, size, WriteMode::Plain),
            Place::Register(reg, _) if size >= 4 => asm.thread.mov(reg, value),
            Place::Register(reg, _) => {
                // Bytes and half-words leave the rest of the register as it is.
                let keep = !((1u64 << (8 * size)) - 1);
                let rest = asm.thread.temp();
                asm.bin(BinOp::And, Width::W64, rest, reg, keep);
                asm.bin(BinOp::Or, Width::W64, reg, rest, value);
            }
        }
        Ok(())
    }
}

fn condition(mnemonic: &str) -> Option<Cond> {
    Some(match mnemonic {
        "je" | "jz" => Cond::Eq,
        "jne" | "jnz" => Cond::Ne,
        "jl" | "jlt" | "js" => Cond::Lt,
        "jle" => Cond::Le,
        "jg" | "jgt" => Cond::Gt,
        "jge" | "jns" => Cond::Ge,
        "jb" => Cond::Lo,
        "jbe" => Cond::Ls,
        "ja" => Cond::Hi,
        "jae" => Cond::Hs,
        _ => return None,
    })
}

/// The operation and the size that its last letter gives.
fn split(mnemonic: &str) -> Option<(&str, Option<u8>)> {
    const BASES: [&str; 11] =
        ["mov", "cmp", "xchg", "cmpxchg", "add", "sub", "and", "or", "xor", "inc", "dec"];
    if BASES.contains(&mnemonic) {
        return Some((mnemonic, None));
    }
    let base = &mnemonic[..mnemonic.len().checked_sub(1)?];
    let size = match mnemonic.as_bytes().last()? {
        b'b' => 1,
        b'w' => 2,
        b'l' => 4,
        b'q' => 8,
        _ => return None,
    };
    BASES.contains(&base).then_some((base, Some(size)))
}
