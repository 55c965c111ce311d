//! PPC.
//!
//! Registers hold 64 bits; `lwz` zero-extends. Addresses are `0(r1)`, `0,r1` or, for the indexed
//! forms, two registers, of which a first `r0` means 0. Comparisons set a condition register that
//! branches read; `stwcx.` sets `cr0` by its success.
//!
//! Not supported: update forms (`lwzu`), rotations, calls, multiple loads and stores.

use crate::Diagnostic;
use crate::asm::{Asm, Cond, InstructionSet};
use porf_event::{FenceMode, ReadMode, WriteMode};
use porf_ir::{BinOp, Instr, Operand, Reg, Width};

pub(crate) struct Ppc;

impl InstructionSet for Ppc {
    fn register(&self, name: &str) -> Option<(String, u8)> {
        let bare = name.trim_start_matches('%');
        let number = bare.strip_prefix('r').and_then(|digits| digits.parse::<u32>().ok());
        match number {
            Some(number) if number < 32 => Some((format!("r{number}"), 8)),
            _ => name.starts_with('%').then(|| (name.to_string(), 8)),
        }
    }

    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
        if let Some(fence) = fence(mnemonic) {
            asm.fence(fence);
            return Ok(());
        }
        if let Some((size, store, indexed)) = access(mnemonic) {
            let reg = asm.register()?;
            asm.comma()?;
            let address = if indexed { sum_of_registers(asm)? } else { displaced(asm)? };
            if store {
                asm.store(address, reg, size, WriteMode::Plain);
            } else {
                asm.load(reg, address, size, ReadMode::Plain);
            }
            return Ok(());
        }
        if let Some(cond) = branch(mnemonic) {
            let field = condition_register(asm)?;
            let target = asm.label()?;
            let cond = asm.cond(field, cond)?;
            asm.branch_if(cond, target);
            return Ok(());
        }
        match mnemonic {
            "nop" => {}
            "b" => {
                let target = asm.label()?;
                asm.thread.code.jump(target);
            }
            "li" | "lis" => {
                let dst = asm.register()?;
                asm.comma()?;
                let value = asm.immediate()?;
                asm.thread.mov(dst, if mnemonic == "li" { value as u64 } else { (value << 16) as u64 });
            }
            "mr" => {
                let dst = asm.register()?;
                asm.comma()?;
                let src = asm.register()?;
                asm.thread.mov(dst, src);
            }
            "cmpw" | "cmpd" | "cmpwi" | "cmpdi" | "cmplw" | "cmplwi" => {
                let field = condition_register(asm)?;
                let a = asm.register()?;
                asm.comma()?;
                let b = asm.register_or_immediate()?;
                asm.compare(field, Width::W64, a, b);
            }
            "lwarx" | "ldarx" => {
                let dst = asm.register()?;
                asm.comma()?;
                let address = sum_of_registers(asm)?;
                let size = if mnemonic == "lwarx" { 4 } else { 8 };
                asm.thread.push(Instr::LoadExclusive { dst, address, size, mode: ReadMode::Plain });
            }
            "stwcx." | "stdcx." => {
                let value = asm.register()?;
                asm.comma()?;
                let address = sum_of_registers(asm)?;
                let size = if mnemonic == "stwcx." { 4 } else { 8 };
                let status = asm.thread.temp();
                asm.store_exclusive(status, address, value, size, WriteMode::Plain);
                asm.compare(0, Width::W64, status, 0);
            }
            _ => return arithmetic(asm, mnemonic),
        }
        Ok(())
    }
}

fn fence(mnemonic: &str) -> Option<FenceMode> {
    Some(match mnemonic {
        "sync" | "hwsync" => FenceMode::Sync,
        "lwsync" => FenceMode::Lwsync,
        "isync" => FenceMode::Isync,
        "eieio" => FenceMode::Eieio,
        _ => return None,
    })
}

/// Size, whether a store, whether indexed.
fn access(mnemonic: &str) -> Option<(u8, bool, bool)> {
    Some(match mnemonic {
        "lbz" => (1, false, false),
        "lhz" => (2, false, false),
        "lwz" => (4, false, false),
        "ld" => (8, false, false),
        "lbzx" => (1, false, true),
        "lhzx" => (2, false, true),
        "lwzx" => (4, false, true),
        "ldx" => (8, false, true),
        "stb" => (1, true, false),
        "sth" => (2, true, false),
        "stw" => (4, true, false),
        "std" => (8, true, false),
        "stbx" => (1, true, true),
        "sthx" => (2, true, true),
        "stwx" => (4, true, true),
        "stdx" => (8, true, true),
        _ => return None,
    })
}

fn branch(mnemonic: &str) -> Option<Cond> {
    Some(match mnemonic {
        "beq" => Cond::Eq,
        "bne" => Cond::Ne,
        "blt" => Cond::Lt,
        "ble" => Cond::Le,
        "bgt" => Cond::Gt,
        "bge" => Cond::Ge,
        _ => return None,
    })
}

/// An optional `cr1,`.
fn condition_register(asm: &mut Asm<'_, '_>) -> Result<usize, Diagnostic> {
    asm.cursor.skip()?;
    let rest = asm.cursor.rest();
    let field = rest.strip_prefix("cr").and_then(|rest| rest.bytes().next());
    match field {
        Some(digit @ b'0'..=b'7') => {
            asm.cursor.at += 3;
            asm.comma()?;
            Ok(usize::from(digit - b'0'))
        }
        _ => Ok(0),
    }
}

/// `8(r1)` or `8,r1`.
fn displaced(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    let offset = asm.immediate()?;
    let parenthesis = asm.cursor.eat("(")?;
    if !parenthesis {
        asm.comma()?;
    }
    let base = asm.register()?;
    if parenthesis {
        asm.cursor.expect(")")?;
    }
    Ok(asm.sum(base, offset as u64))
}

/// `r1,r2`, where a first `r0` means 0.
fn sum_of_registers(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    let zero = asm.cursor.sees("r0")?;
    let a = asm.register()?;
    asm.comma()?;
    let b = asm.register()?;
    Ok(if zero { b.into() } else { asm.sum(a, b) })
}

/// `op rD,rA,rB`, `op rD,rA,imm`; a dot at the end compares the result with 0.
fn arithmetic(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
    let (base, dot) = match mnemonic.strip_suffix('.') {
        Some(base) => (base, true),
        None => (mnemonic, false),
    };
    let (op, immediate) = match base {
        "add" => (BinOp::Add, false),
        "sub" | "subf" => (BinOp::Sub, false),
        "and" => (BinOp::And, false),
        "or" => (BinOp::Or, false),
        "xor" => (BinOp::Xor, false),
        "mullw" => (BinOp::Mul, false),
        "divw" => (BinOp::SDiv, false),
        "addi" => (BinOp::Add, true),
        "andi" => (BinOp::And, true),
        "ori" => (BinOp::Or, true),
        "xori" => (BinOp::Xor, true),
        "mulli" => (BinOp::Mul, true),
        _ => return Err(asm.unknown()),
    };
    let dst = asm.register()?;
    asm.comma()?;
    let zero = base == "addi" && asm.cursor.sees("r0")?;
    let a: Reg = asm.register()?;
    asm.comma()?;
    let a = if zero { Operand::Const(0) } else { a.into() };
    let b = if immediate { Operand::Const(asm.immediate()? as u64) } else { asm.register()?.into() };
    let (a, b) = if base == "subf" { (b, a) } else { (a, b) };
    let width = if matches!(base, "mullw" | "divw") { Width::W32 } else { Width::W64 };
    asm.bin(op, width, dst, a, b);
    if dot || base == "andi" {
        asm.compare(0, Width::W64, dst, 0);
    }
    Ok(())
}
