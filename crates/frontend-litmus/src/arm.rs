//! ARM, version 7: 32-bit registers.
//!
//! Addresses are `[R1]`, `[R1,R2]`, `[R1,#4]` or, in old tests, a bare `R1`.
//!
//! Not supported: conditional execution other than branches, multiple and double loads and stores,
//! write-back.

use crate::Diagnostic;
use crate::asm::{Asm, Cond, InstructionSet};
use porf_event::{ArmDomain, ArmKind, FenceMode, ReadMode, WriteMode};
use porf_ir::{BinOp, Instr, Operand, Width};

pub(crate) struct Arm;

impl InstructionSet for Arm {
    fn register(&self, name: &str) -> Option<(String, u8)> {
        let bare = name.trim_start_matches('%').to_ascii_uppercase();
        let number = match bare.as_str() {
            "SP" => Some(13),
            "LR" => Some(14),
            "PC" => Some(15),
            _ => bare.strip_prefix('R').and_then(|digits| digits.parse::<u32>().ok()),
        };
        match number {
            Some(number) if number < 15 => Some((format!("R{number}"), 4)),
            Some(_) => None,
            None => name.starts_with('%').then(|| (name.to_string(), 4)),
        }
    }

    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
        match mnemonic {
            "nop" => {}
            "dmb" | "dsb" | "isb" => barrier(asm, mnemonic)?,
            "ldr" | "ldrb" | "ldrh" => {
                let dst = asm.register()?;
                asm.comma()?;
                let address = address(asm)?;
                asm.load(dst, address, size(mnemonic), ReadMode::Plain);
            }
            "str" | "strb" | "strh" => {
                let value = asm.register()?;
                asm.comma()?;
                let address = address(asm)?;
                asm.store(address, value, size(mnemonic), WriteMode::Plain);
            }
            "ldrex" | "ldaex" => {
                let dst = asm.register()?;
                asm.comma()?;
                let address = address(asm)?;
                let mode = if mnemonic == "ldrex" { ReadMode::Plain } else { ReadMode::Acquire };
                asm.thread.push(Instr::LoadExclusive { dst, address, size: 4, mode });
            }
            "strex" | "stlex" => {
                let status = asm.register()?;
                asm.comma()?;
                let value = asm.register()?;
                asm.comma()?;
                let address = address(asm)?;
                let mode = if mnemonic == "strex" { WriteMode::Plain } else { WriteMode::Release };
                asm.store_exclusive(status, address, value, 4, mode);
            }
            "mov" => {
                let dst = asm.register()?;
                asm.comma()?;
                let value = asm.register_or_immediate()?;
                asm.thread.mov(dst, truncated(value));
            }
            "cmp" => {
                let a = asm.register()?;
                asm.comma()?;
                let b = asm.register_or_immediate()?;
                asm.compare(0, Width::W32, a, truncated(b));
            }
            "b" => {
                let target = asm.label()?;
                asm.thread.code.jump(target);
            }
            "cbz" | "cbnz" => {
                let reg = asm.register()?;
                asm.comma()?;
                let target = asm.label()?;
                if mnemonic == "cbz" { asm.branch_unless(reg, target) } else { asm.branch_if(reg, target) }
            }
            _ => match mnemonic.strip_prefix('b').and_then(condition) {
                Some(cond) => {
                    let target = asm.label()?;
                    let cond = asm.cond(0, cond)?;
                    asm.branch_if(cond, target);
                }
                None => return arithmetic(asm, mnemonic),
            },
        }
        Ok(())
    }
}

/// `dmb`, `dsb`, `isb` with an optional domain and kind; AArch64 has the same ones.
pub(crate) fn barrier(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
    let here = asm.cursor.clone();
    let option = asm.cursor.word()?.unwrap_or("sy").to_ascii_lowercase();
    let (domain, kind) = match option.as_str() {
        "sy" => (ArmDomain::Full, ArmKind::All),
        "ld" => (ArmDomain::Full, ArmKind::Loads),
        "st" => (ArmDomain::Full, ArmKind::Stores),
        "ish" => (ArmDomain::InnerShareable, ArmKind::All),
        "ishld" => (ArmDomain::InnerShareable, ArmKind::Loads),
        "ishst" => (ArmDomain::InnerShareable, ArmKind::Stores),
        "osh" => (ArmDomain::OuterShareable, ArmKind::All),
        "oshld" => (ArmDomain::OuterShareable, ArmKind::Loads),
        "oshst" => (ArmDomain::OuterShareable, ArmKind::Stores),
        "nsh" => (ArmDomain::NonShareable, ArmKind::All),
        "nshld" => (ArmDomain::NonShareable, ArmKind::Loads),
        "nshst" => (ArmDomain::NonShareable, ArmKind::Stores),
        _ => return Err(here.error(format!("'{option}' is no option of a barrier"))),
    };
    asm.fence(match mnemonic {
        "dmb" => FenceMode::Dmb(domain, kind),
        "dsb" => FenceMode::Dsb(domain, kind),
        _ => FenceMode::Isb,
    });
    Ok(())
}

/// `eq`, `ne`, …; AArch64 has the same ones.
pub(crate) fn condition(name: &str) -> Option<Cond> {
    Some(match name {
        "eq" => Cond::Eq,
        "ne" => Cond::Ne,
        "lt" => Cond::Lt,
        "le" => Cond::Le,
        "gt" => Cond::Gt,
        "ge" => Cond::Ge,
        "lo" | "cc" => Cond::Lo,
        "ls" => Cond::Ls,
        "hi" => Cond::Hi,
        "hs" | "cs" => Cond::Hs,
        _ => return None,
    })
}

fn size(mnemonic: &str) -> u8 {
    match mnemonic.as_bytes().last() {
        Some(b'b') => 1,
        Some(b'h') => 2,
        _ => 4,
    }
}

fn address(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    if !asm.cursor.eat("[")? {
        return Ok(asm.register()?.into());
    }
    let base = asm.register()?;
    let offset = if asm.cursor.eat(",")? { asm.register_or_immediate()? } else { Operand::Const(0) };
    asm.cursor.expect("]")?;
    if asm.cursor.peek()? == b'!' {
        return Err(asm.cursor.error("write-back is not supported"));
    }
    Ok(asm.sum(base, offset))
}

fn arithmetic(asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
    let (base, flags) = match mnemonic {
        "adds" | "subs" | "ands" | "orrs" | "eors" => (&mnemonic[..3], true),
        _ => (mnemonic, false),
    };
    let op = match base {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::And,
        "orr" => BinOp::Or,
        "eor" => BinOp::Xor,
        "mul" => BinOp::Mul,
        "lsl" => BinOp::Shl,
        "lsr" => BinOp::LShr,
        _ => return Err(asm.unknown()),
    };
    let dst = asm.register()?;
    asm.comma()?;
    let a = asm.register()?;
    asm.comma()?;
    let b = asm.register_or_immediate()?;
    asm.bin(op, Width::W32, dst, a, b);
    if flags {
        asm.compare(0, Width::W32, dst, 0);
    }
    Ok(())
}

fn truncated(value: Operand) -> Operand {
    match value {
        Operand::Const(value) => Operand::Const(Width::W32.truncate(value)),
        register => register,
    }
}
