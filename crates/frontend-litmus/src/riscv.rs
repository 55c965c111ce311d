//! RISC-V, 64 bits.
//!
//! `x0` reads as 0. Both halves of an atomic operation keep `.aq` and `.rl`: the acquire of a store half
//! and the release of a load half are modes of their own. `lw` and the word operations sign-extend.
//!
//! Not supported: indirect jumps, compressed and floating-point instructions.

use crate::Diagnostic;
use crate::asm::{Asm, InstructionSet};
use porf_event::{FenceMode, ReadMode, RmwKind, RwSet, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, Reg, RmwOp, Width};

pub(crate) struct RiscV;

const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

impl InstructionSet for RiscV {
    fn register(&self, name: &str) -> Option<(String, u8)> {
        let bare = name.trim_start_matches('%');
        let number = match bare.strip_prefix('x').and_then(|digits| digits.parse::<usize>().ok()) {
            Some(number) => Some(number),
            None if bare == "fp" => Some(8),
            None => NAMES.iter().position(|known| *known == bare),
        };
        match number {
            Some(number) if number < 32 => Some((format!("x{number}"), 8)),
            _ => name.starts_with('%').then(|| (name.to_string(), 8)),
        }
    }

    fn instruction(&self, asm: &mut Asm<'_, '_>, mnemonic: &str) -> Result<(), Diagnostic> {
        let (base, order) = Order::split(mnemonic);
        if let Some((size, signed)) = load(base) {
            let dst = target(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            asm.load(dst, address, size, order.read());
            extend(asm, dst, size, signed);
            return Ok(());
        }
        if let Some(size) = store(base) {
            let value = source(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            asm.store(address, value, size, order.write());
            return Ok(());
        }
        if base.starts_with("amo") || base.starts_with("lr.") || base.starts_with("sc.") {
            return atomic(asm, base, order);
        }
        if order != Order::None {
            return Err(asm.unknown());
        }
        if let Some((op, swapped)) = branch(base) {
            let a = source(asm)?;
            asm.comma()?;
            let b = if base.ends_with('z') { Operand::Const(0) } else { source_then_comma(asm)? };
            let target = asm.label()?;
            let (a, b) = if swapped { (b, a) } else { (a, b) };
            let cond = asm.thread.temp();
            asm.thread.push(Instr::Cmp { dst: cond, op, width: Width::W64, a, b });
            asm.branch_if(cond, target);
            return Ok(());
        }
        match base {
            "nop" => {}
            "fence" => fence(asm)?,
            "fence.tso" => asm.fence(FenceMode::RiscvTso),
            "fence.i" => asm.fence(FenceMode::RiscvI),
            "j" => {
                let target = asm.label()?;
                asm.thread.code.jump(target);
            }
            "li" | "lui" => {
                let dst = target(asm)?;
                asm.comma()?;
                let value = asm.immediate()?;
                asm.thread.mov(dst, if base == "li" { value as u64 } else { (value << 12) as u64 });
            }
            "mv" => {
                let dst = target(asm)?;
                asm.comma()?;
                let src = source(asm)?;
                asm.thread.mov(dst, src);
            }
            _ => return arithmetic(asm, base),
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    None,
    Acquire,
    Release,
    Both,
}

impl Order {
    fn split(mnemonic: &str) -> (&str, Order) {
        for (suffix, order) in [
            (".aq.rl", Order::Both),
            (".aqrl", Order::Both),
            (".rl.aq", Order::Both),
            (".aq", Order::Acquire),
            (".rl", Order::Release),
        ] {
            if let Some(base) = mnemonic.strip_suffix(suffix) {
                return (base, order);
            }
        }
        (mnemonic, Order::None)
    }

    fn read(self) -> ReadMode {
        match self {
            Order::None => ReadMode::Plain,
            Order::Acquire => ReadMode::Acquire,
            Order::Release => ReadMode::RiscvRelease,
            Order::Both => ReadMode::SeqCst,
        }
    }

    fn write(self) -> WriteMode {
        match self {
            Order::None => WriteMode::Plain,
            Order::Acquire => WriteMode::RiscvAcquire,
            Order::Release => WriteMode::Release,
            Order::Both => WriteMode::SeqCst,
        }
    }
}

fn load(base: &str) -> Option<(u8, bool)> {
    Some(match base {
        "lb" => (1, true),
        "lbu" => (1, false),
        "lh" => (2, true),
        "lhu" => (2, false),
        "lw" => (4, true),
        "lwu" => (4, false),
        "ld" => (8, true),
        _ => return None,
    })
}

fn store(base: &str) -> Option<u8> {
    Some(match base {
        "sb" => 1,
        "sh" => 2,
        "sw" => 4,
        "sd" => 8,
        _ => return None,
    })
}

fn branch(base: &str) -> Option<(CmpOp, bool)> {
    Some(match base {
        "beq" | "beqz" => (CmpOp::Eq, false),
        "bne" | "bnez" => (CmpOp::Ne, false),
        "blt" | "bltz" => (CmpOp::Slt, false),
        "bge" | "bgez" => (CmpOp::Sle, true),
        "bgt" | "bgtz" => (CmpOp::Slt, true),
        "ble" | "blez" => (CmpOp::Sle, false),
        "bltu" => (CmpOp::Ult, false),
        "bgeu" => (CmpOp::Ule, true),
        _ => return None,
    })
}

fn atomic(asm: &mut Asm<'_, '_>, base: &str, order: Order) -> Result<(), Diagnostic> {
    let Some((operation, width)) = base.split_once('.') else { return Err(asm.unknown()) };
    let size = match width {
        "w" => 4,
        "d" => 8,
        _ => return Err(asm.unknown()),
    };
    let op = match operation {
        "lr" | "sc" | "amoswap" => RmwOp::Exchange,
        "amoadd" => RmwOp::Add,
        "amoand" => RmwOp::And,
        "amoor" => RmwOp::Or,
        "amoxor" => RmwOp::Xor,
        "amomax" => RmwOp::SMax,
        "amomin" => RmwOp::SMin,
        "amomaxu" => RmwOp::UMax,
        "amominu" => RmwOp::UMin,
        _ => return Err(asm.unknown()),
    };
    let dst = target(asm)?;
    asm.comma()?;
    match operation {
        "lr" => {
            let address = address(asm)?;
            asm.thread.push(Instr::LoadExclusive { dst, address, size, mode: order.read() });
            extend(asm, dst, size, true);
        }
        "sc" => {
            let value = source(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            asm.store_exclusive(dst, address, value, size, order.write());
        }
        _ => {
            let operand = source(asm)?;
            asm.comma()?;
            let address = address(asm)?;
            let (read, write, kind) = (order.read(), order.write(), RmwKind::Amo);
            asm.thread.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
            extend(asm, dst, size, true);
        }
    }
    Ok(())
}

fn arithmetic(asm: &mut Asm<'_, '_>, base: &str) -> Result<(), Diagnostic> {
    let (base, word) = match base {
        "addw" | "subw" | "sllw" | "srlw" | "sraw" | "addiw" | "slliw" | "srliw" | "sraiw" => {
            (&base[..base.len() - 1], true)
        }
        _ => (base, false),
    };
    let (op, immediate) = match base {
        "add" => (BinOp::Add, false),
        "sub" => (BinOp::Sub, false),
        "and" => (BinOp::And, false),
        "or" => (BinOp::Or, false),
        "xor" => (BinOp::Xor, false),
        "sll" => (BinOp::Shl, false),
        "srl" => (BinOp::LShr, false),
        "sra" => (BinOp::AShr, false),
        "mul" => (BinOp::Mul, false),
        "addi" => (BinOp::Add, true),
        "andi" => (BinOp::And, true),
        "ori" => (BinOp::Or, true),
        "xori" => (BinOp::Xor, true),
        "slli" => (BinOp::Shl, true),
        "srli" => (BinOp::LShr, true),
        "srai" => (BinOp::AShr, true),
        "slt" | "sltu" | "slti" | "sltiu" => {
            let dst = target(asm)?;
            asm.comma()?;
            let a = source_then_comma(asm)?;
            let b = if base.contains('i') { Operand::Const(asm.immediate()? as u64) } else { source(asm)? };
            let op = if base.ends_with('u') { CmpOp::Ult } else { CmpOp::Slt };
            asm.thread.push(Instr::Cmp { dst, op, width: Width::W64, a, b });
            return Ok(());
        }
        _ => return Err(asm.unknown()),
    };
    let dst = target(asm)?;
    asm.comma()?;
    let a = source_then_comma(asm)?;
    let b = if immediate { Operand::Const(asm.immediate()? as u64) } else { source(asm)? };
    asm.bin(op, if word { Width::W32 } else { Width::W64 }, dst, a, b);
    extend(asm, dst, if word { 4 } else { 8 }, true);
    Ok(())
}

/// `rw,w`; no operands mean both sides `rw`.
fn fence(asm: &mut Asm<'_, '_>) -> Result<(), Diagnostic> {
    asm.cursor.skip()?;
    let (before, after) = if asm.cursor.at_end() {
        (RwSet::Rw, RwSet::Rw)
    } else {
        let before = accesses(asm)?;
        asm.comma()?;
        (before, accesses(asm)?)
    };
    asm.fence(FenceMode::Riscv { before, after });
    Ok(())
}

/// Device input and output (`i`, `o`) play no role in the models.
fn accesses(asm: &mut Asm<'_, '_>) -> Result<RwSet, Diagnostic> {
    let here = asm.cursor.clone();
    let word = asm.cursor.expect_word("'r', 'w' or 'rw'")?;
    let known = word.bytes().all(|byte| matches!(byte, b'i' | b'o' | b'r' | b'w'));
    match (known, word.contains('r'), word.contains('w')) {
        (true, true, true) => Ok(RwSet::Rw),
        (true, true, false) => Ok(RwSet::R),
        (true, false, true) => Ok(RwSet::W),
        _ => Err(here.error(format!("'{word}' is not a set of accesses: expected 'r', 'w' or 'rw'"))),
    }
}

/// `8(x1)` or `(x1)`.
fn address(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    let offset = if asm.sees_immediate()? { asm.immediate()? } else { 0 };
    asm.cursor.expect("(")?;
    let base = source(asm)?;
    asm.cursor.expect(")")?;
    Ok(asm.sum(base, offset as u64))
}

fn source(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    match asm.try_register()? {
        Some((name, _)) if name == "x0" => Ok(Operand::Const(0)),
        Some((name, _)) => Ok(asm.thread.register(&name).into()),
        None => Err(asm.cursor.expected("a register")),
    }
}

fn source_then_comma(asm: &mut Asm<'_, '_>) -> Result<Operand, Diagnostic> {
    let operand = source(asm)?;
    asm.comma()?;
    Ok(operand)
}

/// What is written to `x0` is lost.
fn target(asm: &mut Asm<'_, '_>) -> Result<Reg, Diagnostic> {
    match asm.try_register()? {
        Some((name, _)) if name == "x0" => Ok(asm.thread.temp()),
        Some((name, _)) => Ok(asm.thread.register(&name)),
        None => Err(asm.cursor.expected("a register")),
    }
}

fn extend(asm: &mut Asm<'_, '_>, reg: Reg, size: u8, signed: bool) {
    if signed && size < 8 {
        asm.thread.push(Instr::SignExtend { dst: reg, from: Width::of_bytes(size), src: reg.into() });
    }
}
