//! The Linux kernel's primitives, as `lkmm.h` spells them: the same events that
//! `porf-frontend-litmus` makes of them.
//!
//! An operation without suffix stands between two full barriers, a conditional one only if it succeeds:
//! that is a free choice, followed by an assumption that confirms it.

use crate::translate::Body;
use crate::translate::types::Unsupported;
use porf_event::{FenceMode, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, Instr, Operand, Reg, RmwOp, Width};

/// By their numbers in `lkmm.h`.
const FENCES: [FenceMode; 11] = [
    FenceMode::Mb,
    FenceMode::Rmb,
    FenceMode::Wmb,
    FenceMode::Barrier,
    FenceMode::BeforeAtomic,
    FenceMode::AfterAtomic,
    FenceMode::AfterSpinlock,
    FenceMode::AfterUnlockLock,
    FenceMode::RcuLock,
    FenceMode::RcuUnlock,
    FenceMode::SyncRcu,
];
const OPERATIONS: [RmwOp; 7] =
    [RmwOp::Exchange, RmwOp::Add, RmwOp::Sub, RmwOp::And, RmwOp::AndNot, RmwOp::Or, RmwOp::Xor];
const ACQUIRE: u64 = 1;
const RELEASE: u64 = 2;
const FULL: u64 = 3;
const NOTHING: u64 = 0;
const NEW: u64 = 2;

/// Slots for control dependencies that a choice makes; those of the litmus front end never meet these.
const SLOT: u32 = 0;

pub fn call(
    body: &mut Body<'_, '_>,
    name: &str,
    args: &[Operand],
) -> Option<Result<Vec<Operand>, Unsupported>> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Operand::Const(0));
    let number = |index: usize| match arg(index) {
        Operand::Const(number) => Some(number & 0xffff_ffff),
        Operand::Reg(_) => None,
    };
    let made = match name {
        "__porf_fence" => number(0).and_then(|kind| {
            body.b.push(Instr::Fence { mode: *FENCES.get(kind as usize)? });
            Some(Vec::new())
        }),
        "__porf_update" => {
            number(2).zip(number(3)).zip(number(4)).zip(number(5)).and_then(|(((size, op), order), gives)| {
                let op = *OPERATIONS.get(op as usize)?;
                Some(vec![update(body, arg(0), arg(1), size as u8, op, order, gives)])
            })
        }
        "__porf_cmpxchg" => number(3).zip(number(4)).map(|(size, order)| {
            let expected = truncated(body, arg(1), size as u8);
            vec![compare_exchange(body, arg(0), expected, arg(2), size as u8, order)]
        }),
        "__porf_add_unless" => number(3).map(|size| {
            let unless = truncated(body, arg(2), size as u8);
            vec![add_unless(body, arg(0), arg(1), unless, size as u8)]
        }),
        "__porf_spin_lock" => {
            body.b.push(Instr::Lock { address: arg(0) });
            Some(Vec::new())
        }
        "__porf_spin_unlock" => {
            body.b.push(Instr::Unlock { address: arg(0) });
            Some(Vec::new())
        }
        "__porf_spin_trylock" => {
            let dst = body.b.register("taken");
            body.b.push(Instr::TryLock { dst, address: arg(0) });
            Some(vec![dst.into()])
        }
        "__porf_spin_is_locked" => {
            let dst = body.b.register("locked");
            body.b.push(Instr::IsLocked { dst, address: arg(0) });
            Some(vec![dst.into()])
        }
        _ => return None,
    };
    Some(made.ok_or_else(|| format!("{name} other than by the macros of lkmm.h")))
}

fn update(
    body: &mut Body<'_, '_>,
    address: Operand,
    operand: Operand,
    size: u8,
    op: RmwOp,
    order: u64,
    gives: u64,
) -> Operand {
    let dst = body.b.register("old");
    let kind = if gives == NOTHING { RmwKind::AmoNoReturn } else { RmwKind::Amo };
    let (read, write) = halves(order);
    barrier_if(body, order);
    body.b.push(Instr::Rmw { dst, op, address, operand, size, read, write, kind });
    barrier_if(body, order);
    if gives != NEW {
        return dst.into();
    }
    let old = dst.into();
    match op {
        RmwOp::Add => body.bin(BinOp::Add, Width::W64, old, operand),
        RmwOp::Sub => body.bin(BinOp::Sub, Width::W64, old, operand),
        RmwOp::And => body.bin(BinOp::And, Width::W64, old, operand),
        RmwOp::Or => body.bin(BinOp::Or, Width::W64, old, operand),
        RmwOp::Xor => body.bin(BinOp::Xor, Width::W64, old, operand),
        RmwOp::AndNot => {
            let mask = body.bin(BinOp::Xor, Width::W64, operand, Operand::Const(u64::MAX));
            body.bin(BinOp::And, Width::W64, old, mask)
        }
        _ => operand,
    }
}

fn compare_exchange(
    body: &mut Body<'_, '_>,
    address: Operand,
    expected: Operand,
    new: Operand,
    size: u8,
    order: u64,
) -> Operand {
    let dst = body.b.register("old");
    let (read, write) = halves(order);
    let kind = RmwKind::Amo;
    let cas = |new, read, write| Instr::Cas {
        dst,
        address,
        expected,
        new,
        size,
        read,
        write,
        failure: ReadMode::Relaxed,
        weak: false,
        kind,
    };
    if order != FULL {
        body.b.push(cas(new, read, write));
        return dst.into();
    }
    fork(
        body,
        |body| {
            barrier_if(body, order);
            body.b.push(cas(new, read, write));
            assume(body, CmpOp::Eq, dst, expected);
            barrier_if(body, order);
        },
        |body| {
            // A failure is an update too for smp_mb__before_atomic() and smp_mb__after_atomic().
            body.b.push(cas(Operand::Const(0), ReadMode::Relaxed, WriteMode::Relaxed));
            assume(body, CmpOp::Ne, dst, expected);
        },
    );
    dst.into()
}

/// Adds unless the value is `unless`; gives whether it did.
fn add_unless(
    body: &mut Body<'_, '_>,
    address: Operand,
    operand: Operand,
    unless: Operand,
    size: u8,
) -> Operand {
    let dst = body.b.register("old");
    let (read, write, kind) = (ReadMode::Relaxed, WriteMode::Relaxed, RmwKind::Amo);
    fork(
        body,
        |body| {
            barrier_if(body, FULL);
            body.b.push(Instr::AddUnless { dst, address, operand, unless, size, read, write, kind });
            assume(body, CmpOp::Ne, dst, unless);
            barrier_if(body, FULL);
        },
        |body| {
            body.b.push(Instr::Load { dst, address, size, mode: ReadMode::Relaxed });
            assume(body, CmpOp::Eq, dst, unless);
        },
    );
    let added = body.b.register("added");
    body.b.push(Instr::Cmp { dst: added, op: CmpOp::Ne, width: Width::W64, a: dst.into(), b: unless });
    added.into()
}

/// One of the two, freely.
fn fork<'t, 'm>(
    body: &mut Body<'t, 'm>,
    then: impl FnOnce(&mut Body<'t, 'm>),
    otherwise: impl FnOnce(&mut Body<'t, 'm>),
) {
    let chosen = body.b.register("succeeds");
    body.b.push(Instr::Nondet { dst: chosen, options: 2 });
    let (first, second, end) = (body.b.label(), body.b.label(), body.b.label());
    body.b.branch(chosen, first, second);
    body.b.bind(first);
    then(body);
    body.b.jump(end);
    body.b.bind(second);
    otherwise(body);
    body.b.bind(end);
}

/// Says what a choice meant: no branch of the program.
fn assume(body: &mut Body<'_, '_>, op: CmpOp, a: Reg, b: Operand) {
    let cond = body.b.register("");
    body.b.push(Instr::Cmp { dst: cond, op, width: Width::W64, a: a.into(), b });
    body.b.push(Instr::CtrlMark { slot: SLOT });
    body.b.push(Instr::Assume { cond: cond.into() });
    body.b.push(Instr::CtrlRestore { slot: SLOT });
}

fn barrier_if(body: &mut Body<'_, '_>, order: u64) {
    if order == FULL {
        body.b.push(Instr::Fence { mode: FenceMode::Mb });
    }
}

/// The low bits, as a value read from memory has them.
fn truncated(body: &mut Body<'_, '_>, value: Operand, size: u8) -> Operand {
    let width = Width::of_bytes(size);
    match value {
        Operand::Const(number) => Operand::Const(width.truncate(number)),
        value if size == 8 => value,
        value => body.bin(BinOp::And, Width::W64, value, Operand::Const(width.truncate(u64::MAX))),
    }
}

fn halves(order: u64) -> (ReadMode, WriteMode) {
    match order {
        ACQUIRE => (ReadMode::Acquire, WriteMode::Relaxed),
        RELEASE => (ReadMode::Relaxed, WriteMode::Release),
        _ => (ReadMode::Relaxed, WriteMode::Relaxed),
    }
}
