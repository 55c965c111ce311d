//! AArch64.
//!
//! `W1` is the low half of `X1`; writing it clears the high half. `LDAR` is an acquire read, `LDAPR`
//! the weaker acquire of RCpc. In an atomic operation `A` belongs to the read and `L` to the write. If
//! the old value is dropped (`STADD`, or a zero register as destination), no acquire or load barrier
//! orders the read. Addresses may be indexed by an immediate or a register, with extension and shift,
//! and written back.
//!
//! Not supported: indirect and linked branches, system instructions and registers, pairs of atomics,
//! vectors, memory tagging, faults.

use crate::Diagnostic;
use crate::arm;
use crate::asm::{Asm, Cond, InstructionSet};
use porf_event::{ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, Instr, Operand, Reg, RmwOp, Width};

pub(crate) struct AArch64;

impl InstructionSet for AArch64 {
    fn register(&self, name: &str) -> Option<(String, u8)> {
        let bare = name.trim_start_matches('%').to_ascii_uppercase();
        let (letter, rest) = bare.split_at_checked(1)?;
        let size = match letter {
            "X" => 8,
            "W" => 4,
            _ if bare == "SP" => return Some(("SP".to_string(), 8)),
            _ => return name.starts_with('%').then(|| (name.to_string(), 8)),
        };
        match rest.parse::<u32>() {
            Ok(number) if number < 31 => Some((format!("X{number}"), size)),
            _ if rest == "ZR" => Some(("XZR".to_string(), size)),
            _ => name.starts_with('%').then(|| (name.to_string(), 8)),
        }
    }

    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
        match mnemonic {
            "nop" => {}
            "dmb" | "dsb" | "isb" => arm::barrier(asm, mnemonic)?,
            "b" => {
                let target = asm.label()?;
                asm.thread.code.jump(target);
            }
            "cbz" | "cbnz" => {
                let reg = read(asm)?.value;
                asm.comma()?;
                let target = asm.label()?;
                if mnemonic == "cbz" { asm.branch_unless(reg, target) } else { asm.branch_if(reg, target) }
            }
            "tbz" | "tbnz" => {
                let reg = read(asm)?.value;
                asm.comma()?;
                let bit = asm.immediate()?;
                asm.comma()?;
                let target = asm.label()?;
                let cond = asm.thread.temp();
                asm.bin(BinOp::LShr, Width::W64, cond, reg, bit as u64 & 63);
                asm.bin(BinOp::And, Width::W64, cond, cond, 1);
                if mnemonic == "tbz" { asm.branch_unless(cond, target) } else { asm.branch_if(cond, target) }
            }
            _ if access(asm, mnemonic)? || atomic(asm, mnemonic)? => {}
            _ => {
                let branch = mnemonic.strip_prefix("b.").or(mnemonic.strip_prefix('b'));
                match branch.and_then(arm::condition) {
                    Some(cond) => {
                        let target = asm.label()?;
                        let cond = asm.cond(0, cond)?;
                        asm.branch_if(cond, target);
                    }
                    None => return compute(asm, mnemonic),
                }
            }
        }
        Ok(())
    }
}

/// A source operand and the size at which it was named.
struct Source {
    value: Operand,
    size: u8,
}

/// A register that is read; the zero register reads as 0, `W1` as the low half of `X1`.
fn read(asm: &mut Asm<'_, '_>) -> Result<Source, Diagnostic> {
    match asm.try_register()? {
        Some((name, size)) if name == "XZR" => Ok(Source { value: Operand::Const(0), size }),
        Some((name, size)) => Ok(Source { value: asm.thread.register(&name).into(), size }),
        None => Err(asm.cursor.expected("a register")),
    }
}

/// A register that is written, its size, and whether it is the zero register.
fn target(asm: &mut Asm<'_, '_>) -> Result<(Reg, u8, bool), Diagnostic> {
    match asm.try_register()? {
        Some((name, size)) if name == "XZR" => Ok((asm.thread.temp(), size, true)),
        Some((name, size)) => Ok((asm.thread.register(&name), size, false)),
        None => Err(asm.cursor.expected("a register")),
    }
}

/// The last operand of a computation: `#1`, `X1`, `W1,SXTW`, `X1,LSL #2`.
fn flexible(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    if asm.sees_immediate()? {
        return Ok(Operand::Const(asm.immediate()? as u64));
    }
    let value = read(asm)?.value;
    if asm.cursor.eat(",")? { extended(asm, value) } else { Ok(value) }
}

/// `SXTW`, `UXTW #2`, `LSL #2` applied to a value.
fn extended(asm: &mut Asm<'_, '_>, value: Operand) -> Result<Operand, Diagnostic> {
    let here = asm.cursor.clone();
    let extension = asm.cursor.expect_word("'SXTW', 'UXTW' or 'LSL'")?.to_ascii_lowercase();
    let mut result = value;
    let dst = asm.thread.temp();
    match extension.as_str() {
        "sxtw" => {
            asm.thread.push(Instr::SignExtend { dst, from: Width::W32, src: value });
            result = dst.into();
        }
        "uxtw" => {
            asm.bin(BinOp::Add, Width::W32, dst, value, 0);
            result = dst.into();
        }
        "lsl" | "sxtx" | "uxtx" => {}
        _ => return Err(here.error(format!("extension '{extension}' is not supported"))),
    }
    if asm.sees_immediate()? {
        let shift = asm.immediate()?;
        if shift != 0 {
            asm.bin(BinOp::Shl, Width::W64, dst, result, shift as u64 & 63);
            result = dst.into();
        }
    }
    Ok(result)
}

/// An address, and what its base register becomes afterwards if it is written back.
struct Address {
    value: Operand,
    write_back: Option<(Reg, Operand)>,
}

impl Address {
    fn done(self, asm: &mut Asm<'_, '_>) {
        if let Some((base, value)) = self.write_back {
            asm.thread.mov(base, value);
        }
    }
}

/// `[X1]`, `[X1,#4]`, `[X1,W2,SXTW]`, `[X1,#4]!`, `[X1],#4`.
fn address(asm: &mut Asm<'_, '_>) -> Result<Address, Diagnostic> {
    asm.cursor.expect("[")?;
    let base = read(asm)?.value;
    let offset = if asm.cursor.eat(",")? { flexible(asm)? } else { Operand::Const(0) };
    asm.cursor.expect("]")?;
    let value = asm.sum(base, offset);
    let base = match base {
        Operand::Reg(reg) => reg,
        Operand::Const(_) => return Err(asm.cursor.error("the zero register cannot be an address")),
    };
    if asm.cursor.eat("!")? {
        return Ok(Address { value, write_back: Some((base, value)) });
    }
    if asm.cursor.eat(",")? {
        let step = asm.immediate()?;
        // The old address is used after the base has a new value: keep it.
        let old = asm.thread.temp();
        asm.thread.mov(old, base);
        let next = asm.sum(old, step as u64);
        return Ok(Address { value: old.into(), write_back: Some((base, next)) });
    }
    Ok(Address { value, write_back: None })
}

/// Loads and stores, including exclusive ones. Returns false for any other instruction.
fn access(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<bool, Diagnostic> {
    let (base, narrow) = narrow(mnemonic);
    let (read_mode, exclusive) = match base {
        "ldr" | "ldur" => (ReadMode::Plain, false),
        "ldar" => (ReadMode::Acquire, false),
        "ldapr" | "ldapur" => (ReadMode::AcquirePc, false),
        "ldxr" => (ReadMode::Plain, true),
        "ldaxr" => (ReadMode::Acquire, true),
        _ => return signed_or_pair(asm, mnemonic).and_then(|done| Ok(done || store(asm, base, narrow)?)),
    };
    let (dst, size, _) = target(asm)?;
    asm.comma()?;
    let address = address(asm)?;
    let size = narrow.unwrap_or(size);
    if exclusive {
        asm.thread.push(Instr::LoadExclusive { dst, address: address.value, size, mode: read_mode });
    } else {
        asm.load(dst, address.value, size, read_mode);
    }
    address.done(asm);
    Ok(true)
}

fn store(asm: &mut Asm<'_, '_>, base: &str, narrow: Option<u8>) -> Result<bool, Diagnostic> {
    let (mode, exclusive) = match base {
        "str" | "stur" => (WriteMode::Plain, false),
        "stlr" | "stlur" => (WriteMode::Release, false),
        "stxr" => (WriteMode::Plain, true),
        "stlxr" => (WriteMode::Release, true),
        _ => return Ok(false),
    };
    let status = if exclusive {
        let (status, ..) = target(asm)?;
        asm.comma()?;
        Some(status)
    } else {
        None
    };
    let source = read(asm)?;
    asm.comma()?;
    let address = address(asm)?;
    let size = narrow.unwrap_or(source.size);
    match status {
        Some(status) => asm.store_exclusive(status, address.value, source.value, size, mode),
        None => asm.store(address.value, source.value, size, mode),
    }
    address.done(asm);
    Ok(true)
}

fn signed_or_pair(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<bool, Diagnostic> {
    match mnemonic {
        "ldrsw" | "ldrsh" | "ldrsb" => {
            let (dst, width, _) = target(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            let size = match mnemonic {
                "ldrsw" => 4,
                "ldrsh" => 2,
                _ => 1,
            };
            asm.load(dst, address.value, size, ReadMode::Plain);
            asm.thread.push(Instr::SignExtend { dst, from: Width::of_bytes(size), src: dst.into() });
            if width == 4 {
                asm.bin(BinOp::Add, Width::W32, dst, dst, 0);
            }
            address.done(asm);
        }
        "ldp" => {
            let (first, size, _) = target(asm)?;
            asm.comma()?;
            let (second, ..) = target(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            // The first destination may be the base.
            let next = asm.sum(address.value, u64::from(size));
            asm.load(first, address.value, size, ReadMode::Plain);
            asm.load(second, next, size, ReadMode::Plain);
            address.done(asm);
        }
        "stp" => {
            let first = read(asm)?;
            asm.comma()?;
            let second = read(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            let next = asm.sum(address.value, u64::from(first.size));
            asm.store(address.value, first.value, first.size, WriteMode::Plain);
            asm.store(next, second.value, first.size, WriteMode::Plain);
            address.done(asm);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `SWP`, `CAS`, `LDADD`, `STADD`, … with their suffixes. Returns false for any other instruction.
fn atomic(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<bool, Diagnostic> {
    let (base, narrow) = narrow(mnemonic);
    let Some((operation, acquire, release)) = split_atomic(base) else { return Ok(false) };
    let write = if release { WriteMode::Release } else { WriteMode::Plain };
    let kind_of = |dropped: bool| match (dropped, acquire) {
        (true, _) => (ReadMode::Plain, RmwKind::AmoNoReturn),
        (false, true) => (ReadMode::Acquire, RmwKind::Amo),
        (false, false) => (ReadMode::Plain, RmwKind::Amo),
    };
    if operation == "cas" {
        let here = asm.cursor.clone();
        let (dst, size, dropped) = target(asm)?;
        asm.comma()?;
        let new = read(asm)?.value;
        asm.comma()?;
        let address = plain_address(asm, &here)?;
        let size = narrow.unwrap_or(size);
        let expected = if dropped { Operand::Const(0) } else { dst.into() };
        let (read, kind) = kind_of(dropped);
        let (failure, weak) = (read, false);
        asm.thread.push(Instr::Cas { dst, address, expected, new, size, read, write, failure, weak, kind });
        return Ok(true);
    }
    let here = asm.cursor.clone();
    let operand = read(asm)?;
    asm.comma()?;
    let (dst, dropped) = if operation.starts_with("st") {
        (asm.thread.temp(), true)
    } else {
        let (dst, _, dropped) = target(asm)?;
        asm.comma()?;
        (dst, dropped)
    };
    let address = plain_address(asm, &here)?;
    let size = narrow.unwrap_or(operand.size);
    let op = match &operation[operation.len() - 3..] {
        "swp" => RmwOp::Exchange,
        "add" => RmwOp::Add,
        "clr" => RmwOp::AndNot,
        "eor" => RmwOp::Xor,
        "set" => RmwOp::Or,
        _ => match &operation[2..] {
            "smax" => RmwOp::SMax,
            "smin" => RmwOp::SMin,
            "umax" => RmwOp::UMax,
            _ => RmwOp::UMin,
        },
    };
    let (read, kind) = kind_of(dropped);
    asm.thread.push(Instr::Rmw { dst, op, address, operand: operand.value, size, read, write, kind });
    Ok(true)
}

/// Operation, whether acquire, whether release.
fn split_atomic(base: &str) -> Option<(&str, bool, bool)> {
    const OPERATIONS: [&str; 18] = [
        "swp", "cas", "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin", "stadd",
        "stclr", "steor", "stset", "stsmax", "stsmin", "stumax", "stumin",
    ];
    let operation = OPERATIONS.iter().find(|operation| base.starts_with(**operation))?;
    match &base[operation.len()..] {
        "" => Some((operation, false, false)),
        "a" if !operation.starts_with("st") => Some((operation, true, false)),
        "l" => Some((operation, false, true)),
        "al" if !operation.starts_with("st") => Some((operation, true, true)),
        _ => None,
    }
}

/// Splits off a `b` or `h` of a narrow access.
fn narrow(mnemonic: &str) -> (&str, Option<u8>) {
    match mnemonic.as_bytes().last() {
        Some(b'b') if mnemonic.len() > 3 => (&mnemonic[..mnemonic.len() - 1], Some(1)),
        Some(b'h') if mnemonic.len() > 3 => (&mnemonic[..mnemonic.len() - 1], Some(2)),
        _ => (mnemonic, None),
    }
}

fn plain_address(asm: &mut Asm<'_, '_>, here: &crate::source::Cursor<'_>) -> Result<Operand, Diagnostic> {
    let address = address(asm)?;
    if address.write_back.is_some() {
        return Err(here.error("an atomic operation has no write-back"));
    }
    Ok(address.value)
}

/// Moves, arithmetic, comparisons, selections.
fn compute(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
    match mnemonic {
        "mov" | "movz" => {
            let (dst, size, _) = target(asm)?;
            asm.comma()?;
            match flexible(asm)? {
                Operand::Const(value) => asm.thread.mov(dst, Width::of_bytes(size).truncate(value)),
                register if size == 8 => asm.thread.mov(dst, register),
                register => asm.bin(BinOp::Add, Width::W32, dst, register, 0),
            }
        }
        "cmp" | "tst" => {
            let a = read(asm)?;
            asm.comma()?;
            let b = flexible(asm)?;
            let width = Width::of_bytes(a.size);
            if mnemonic == "cmp" {
                asm.compare(0, width, a.value, b);
            } else {
                let both = asm.thread.temp();
                asm.bin(BinOp::And, width, both, a.value, b);
                asm.compare(0, width, both, 0);
            }
        }
        "csel" | "csinc" | "csinv" | "csneg" => {
            let (dst, size, _) = target(asm)?;
            asm.comma()?;
            let a = read(asm)?.value;
            asm.comma()?;
            let mut b = read(asm)?.value;
            asm.comma()?;
            let cond = condition(asm)?;
            let width = Width::of_bytes(size);
            let other = asm.thread.temp();
            match mnemonic {
                "csinc" => asm.bin(BinOp::Add, width, other, b, 1),
                "csinv" => asm.bin(BinOp::Xor, width, other, b, u64::MAX),
                "csneg" => asm.bin(BinOp::Sub, width, other, 0, b),
                _ => {}
            }
            if mnemonic != "csel" {
                b = other.into();
            }
            select(asm, dst, size, cond, a, b)?;
        }
        "cset" => {
            let (dst, size, _) = target(asm)?;
            asm.comma()?;
            let cond = condition(asm)?;
            select(asm, dst, size, cond, Operand::Const(1), Operand::Const(0))?;
        }
        "sxtw" => {
            let (dst, ..) = target(asm)?;
            asm.comma()?;
            let src = read(asm)?.value;
            asm.thread.push(Instr::SignExtend { dst, from: Width::W32, src });
        }
        "uxtw" => {
            let (dst, ..) = target(asm)?;
            asm.comma()?;
            let src = read(asm)?.value;
            asm.bin(BinOp::Add, Width::W32, dst, src, 0);
        }
        _ => return arithmetic(asm, mnemonic),
    }
    Ok(())
}

fn arithmetic(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
    let (op, flags) = match mnemonic {
        "add" => (BinOp::Add, false),
        "adds" => (BinOp::Add, true),
        "sub" => (BinOp::Sub, false),
        "subs" => (BinOp::Sub, true),
        "and" => (BinOp::And, false),
        "ands" => (BinOp::And, true),
        "orr" => (BinOp::Or, false),
        "eor" => (BinOp::Xor, false),
        "lsl" => (BinOp::Shl, false),
        "lsr" => (BinOp::LShr, false),
        "asr" => (BinOp::AShr, false),
        "mul" => (BinOp::Mul, false),
        _ => return Err(asm.unknown()),
    };
    let (dst, size, _) = target(asm)?;
    asm.comma()?;
    let a = read(asm)?.value;
    asm.comma()?;
    let b = flexible(asm)?;
    let width = Width::of_bytes(size);
    if mnemonic == "subs" {
        // The flags are those of a comparison of the operands, which `dst` may overwrite.
        asm.compare(0, width, a, b);
    }
    asm.bin(op, width, dst, a, b);
    if flags && mnemonic != "subs" {
        asm.compare(0, width, dst, 0);
    }
    Ok(())
}

fn condition(asm: &mut Asm<'_, '_>) -> Result<Cond, Diagnostic> {
    let here = asm.cursor.clone();
    let word = asm.cursor.expect_word("a condition")?;
    match arm::condition(&word.to_ascii_lowercase()) {
        Some(cond) => Ok(cond),
        None => Err(here.error(format!("'{word}' is not a condition"))),
    }
}

fn select(
    asm: &mut Asm<'_, '_>,
    dst: Reg,
    size: u8,
    cond: Cond,
    a: Operand,
    b: Operand,
) -> Result<(), Diagnostic> {
    let cond = asm.cond(0, cond)?.into();
    asm.thread.push(Instr::Select { dst, cond, a, b });
    if size == 4 {
        asm.bin(BinOp::Add, Width::W32, dst, dst, 0);
    }
    Ok(())
}
