//! The Linux kernel's primitives, as `lkmm.h` spells them: the same events that
//! `porf-frontend-litmus` makes of them. Functions that begin with `__LKMM_` are those of the header of
//! the same name that Dartagnan has.
//!
//! An operation without suffix stands between two full barriers, a conditional one only if it succeeds:
//! that is a free choice, followed by an assumption that confirms it.

use super::constant;
use super::table::{Call, KEEPS, Lowered, Row, nothing, row, zero};
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
/// By their numbers in Dartagnan's header; the first ones are orderings of accesses.
const DARTAGNAN_FENCES: [Option<FenceMode>; 13] = [
    None,
    None,
    None,
    Some(FenceMode::Mb),
    Some(FenceMode::Wmb),
    Some(FenceMode::Rmb),
    Some(FenceMode::RcuLock),
    Some(FenceMode::RcuUnlock),
    Some(FenceMode::SyncRcu),
    Some(FenceMode::BeforeAtomic),
    Some(FenceMode::AfterAtomic),
    Some(FenceMode::AfterSpinlock),
    Some(FenceMode::Barrier),
];
const DARTAGNAN_OPERATIONS: [RmwOp; 4] = [RmwOp::Add, RmwOp::Sub, RmwOp::And, RmwOp::Or];
const RELAXED: u64 = 0;
const ACQUIRE: u64 = 1;
const RELEASE: u64 = 2;
const FULL: u64 = 3;
const NOTHING: u64 = 0;
const OLD: u64 = 1;
const NEW: u64 = 2;

/// Slots for control dependencies that a choice makes; those of the litmus front end never meet these.
const SLOT: u32 = 0;

pub const FUNCTIONS: &[Row] = &[
    row(&["__porf_fence"], KEEPS, |c| {
        let mode = *FENCES.get(number(c, 0)? as usize).ok_or_else(|| not_by_macro(c))?;
        c.push(Instr::Fence { mode });
        nothing(c)
    }),
    row(&["__porf_update"], KEEPS, |c| {
        let (size, op) = (number(c, 2)? as u8, number(c, 3)? as usize);
        let (order, gives) = (number(c, 4)?, number(c, 5)?);
        let op = *OPERATIONS.get(op).ok_or_else(|| not_by_macro(c))?;
        Ok(vec![update(c.body, c.arg(0), c.arg(1), size, op, order, gives)])
    }),
    row(&["__porf_cmpxchg"], KEEPS, |c| {
        let (size, order) = (number(c, 3)? as u8, number(c, 4)?);
        let expected = truncated(c.body, c.arg(1), size);
        Ok(vec![compare_exchange(c.body, c.arg(0), expected, c.arg(2), size, order)])
    }),
    row(&["__porf_add_unless"], KEEPS, |c| {
        let size = number(c, 3)? as u8;
        let unless = truncated(c.body, c.arg(2), size);
        Ok(vec![add_unless(c.body, c.arg(0), c.arg(1), unless, size)])
    }),
    row(&["__porf_srcu_lock"], KEEPS, |c| {
        let dst = c.body.b.register("index");
        c.push(Instr::Load { dst, address: c.arg(0), size: 4, mode: ReadMode::SrcuLock });
        Ok(vec![dst.into()])
    }),
    row(&["__porf_srcu_unlock"], KEEPS, |c| {
        let (address, value) = (c.arg(0), c.arg(1));
        c.push(Instr::Store { address, value, size: 4, mode: WriteMode::SrcuUnlock });
        nothing(c)
    }),
    row(&["__porf_srcu_sync"], KEEPS, |c| {
        c.push(Instr::FenceAt { mode: FenceMode::SyncSrcu, address: c.arg(0) });
        nothing(c)
    }),
    row(&["__porf_spin_lock", "__LKMM_SPIN_LOCK"], KEEPS, |c| {
        c.push(Instr::Lock { address: c.arg(0) });
        zero(c)
    }),
    row(&["__porf_spin_unlock", "__LKMM_SPIN_UNLOCK"], KEEPS, |c| {
        c.push(Instr::Unlock { address: c.arg(0) });
        zero(c)
    }),
    row(&["__porf_spin_trylock"], KEEPS, |c| {
        let dst = c.body.b.register("taken");
        c.push(Instr::TryLock { dst, address: c.arg(0) });
        Ok(vec![dst.into()])
    }),
    row(&["__porf_spin_is_locked"], KEEPS, |c| {
        let dst = c.body.b.register("locked");
        c.push(Instr::IsLocked { dst, address: c.arg(0) });
        Ok(vec![dst.into()])
    }),
    row(&["__LKMM_fence"], KEEPS, |c| {
        let mode = DARTAGNAN_FENCES.get(number(c, 0)? as usize).copied().flatten();
        c.push(Instr::Fence { mode: mode.ok_or_else(|| not_by_macro(c))? });
        nothing(c)
    }),
    row(&["__LKMM_load"], KEEPS, |c| {
        let (size, order) = (number(c, 1)? as u8, number(c, 2)?);
        let (dst, mode) = (c.body.b.register("value"), halves(order).0);
        c.push(Instr::Load { dst, address: c.arg(0), size, mode });
        Ok(vec![dst.into()])
    }),
    row(&["__LKMM_store"], KEEPS, |c| {
        let (size, order) = (number(c, 1)? as u8, number(c, 3)?);
        c.push(Instr::Store { address: c.arg(0), value: c.arg(2), size, mode: halves(order).1 });
        nothing(c)
    }),
    row(&["__LKMM_xchg"], KEEPS, |c| {
        let (size, order) = (number(c, 1)? as u8, number(c, 3)?);
        Ok(vec![update(c.body, c.arg(0), c.arg(2), size, RmwOp::Exchange, order, OLD)])
    }),
    row(&["__LKMM_cmpxchg"], KEEPS, |c| {
        let (size, order) = (number(c, 1)? as u8, number(c, 4)?);
        let expected = truncated(c.body, c.arg(2), size);
        Ok(vec![compare_exchange(c.body, c.arg(0), expected, c.arg(3), size, order)])
    }),
    row(&["__LKMM_atomic_op"], KEEPS, |c| dartagnan_update(c, RELAXED, 3, NOTHING)),
    row(&["__LKMM_atomic_op_return"], KEEPS, |c| dartagnan_update(c, number(c, 3)?, 4, NEW)),
    row(&["__LKMM_atomic_fetch_op"], KEEPS, |c| dartagnan_update(c, number(c, 3)?, 4, OLD)),
];

/// An update with its size and operand in the second and third argument, and its operation in another one.
fn dartagnan_update(c: &mut Call<'_, '_, '_>, order: u64, op: usize, gives: u64) -> Lowered {
    let (size, op) = (number(c, 1)? as u8, number(c, op)? as usize);
    let op = *DARTAGNAN_OPERATIONS.get(op).ok_or_else(|| not_by_macro(c))?;
    Ok(vec![update(c.body, c.arg(0), c.arg(2), size, op, order, gives)])
}

/// An argument that the macros of `lkmm.h` make a constant.
fn number(c: &Call<'_, '_, '_>, index: usize) -> Result<u64, Unsupported> {
    constant(c.arg(index)).map(|number| number & 0xffff_ffff).ok_or_else(|| not_by_macro(c))
}

fn not_by_macro(c: &Call<'_, '_, '_>) -> Unsupported {
    format!("{} other than by the macros of lkmm.h", c.name)
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
