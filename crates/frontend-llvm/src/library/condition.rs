//! Condition variables of pthreads, C11 and C++.
//!
//! The first 8 bytes are two sets of threads: who waits (low half) and who of them has been woken (high
//! half). The highest bit tells that the variable was destroyed. A signal wakes one of those that wait,
//! whichever it likes, or, where there are several, all of them: POSIX allows more wake-ups than asked for, and
//! what relies on fewer is wrong. A signal that nobody waits for is lost. A thread takes itself out of both sets
//! when it has the mutex again, so that this has its place in the order of critical sections.
//!
//! A waiter may wake by itself, as POSIX and C++ allow, where the wait is in no loop: there nobody looks again
//! whether the thread was meant. In a loop that does, such a wake-up changes nothing but the number of executions.
//!
//! Limits: threads 0 to 30 may wait. A wait in a loop that does not look again does not wake by itself. A wait with
//! a timeout that ends by itself says that it is late.

use super::asm::Asm;
use super::mutex::{C11_TIMED_OUT, ETIMEDOUT, mutex_lock, mutex_unlock};
use super::system;
use super::table::{Call, KEEPS, Lowered, Row, USES, row, zero};
use crate::translate::{Translator, is_in_loop};
use porf_event::{BlockReason, ReadMode, RmwKind, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, Instr, Operand, Reg, RmwOp};

/// Each thread has one bit of either half.
const HALF: u64 = 32;
/// The most threads.
const THREADS: u64 = HALF - 1;
const DESTROYED: u64 = 1 << 63;

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_cond_init", "cnd_init"], KEEPS, |c| c.routine(init, &[c.arg(0)])),
    row(&["pthread_cond_signal", "cnd_signal"], KEEPS, |c| c.same(signal)),
    row(&["pthread_cond_broadcast", "cnd_broadcast"], KEEPS, |c| c.same(broadcast)),
    row(&["pthread_cond_wait", "cnd_wait"], KEEPS, |c| {
        let spurious = wakes_by_itself(c);
        c.same(|tr| wait(tr, 0, spurious))
    }),
    row(&["pthread_cond_timedwait"], KEEPS, |c| timed(c, ETIMEDOUT, 2)),
    row(&["pthread_cond_clockwait"], KEEPS, |c| timed(c, ETIMEDOUT, 3)),
    row(&["cnd_timedwait"], KEEPS, |c| timed(c, C11_TIMED_OUT, 2)),
    row(&["pthread_cond_destroy", "cnd_destroy"], KEEPS, |c| c.same(destroy)),
    row(&["pthread_condattr_init", "pthread_condattr_destroy", "pthread_condattr_setclock"], USES, zero),
];

/// A wait with a deadline, which argument `at` points to. Where it ends by itself, it is that late.
fn timed(c: &mut Call<'_, '_, '_>, timeout: u64, at: usize) -> Lowered {
    let ended = c.routine(|tr| wait(tr, timeout, false), &[c.arg(0), c.arg(1)])?;
    system::pass_until(c, ended[0], c.arg(at));
    Ok(ended)
}

/// Whether a wait is where it may end for no reason.
pub fn wakes_by_itself(c: &Call<'_, '_, '_>) -> bool {
    c.body.site.is_some_and(|site| !is_in_loop(site))
}

/// Nobody may wait any more.
pub fn destroy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("cond_destroy", |_| {
        let mut a = Asm::new("cond_destroy", &["condition"]);
        let condition = a.param(0);
        let before = update(&mut a, RmwOp::Or, condition, Operand::Const(DESTROYED));
        unless_destroyed(&mut a, before);
        let waiting = asleep(&mut a, before);
        a.when(waiting, |a| {
            a.fail(FaultKind::Lock, "destruction of a condition variable that threads wait for")
        });
        a.give(0);
        a.finish()
    })
}

fn unless_destroyed(a: &mut Asm, before: Operand) {
    let destroyed = a.bin(BinOp::And, before, DESTROYED);
    a.when(destroyed, |a| a.fail(FaultKind::Lock, "use of a condition variable that was destroyed"));
}

/// Who waits and is not woken yet.
fn asleep(a: &mut Asm, before: Operand) -> Operand {
    let all = a.bin(BinOp::And, before, 0xffff_ffff);
    let woken = a.bin(BinOp::LShr, before, HALF);
    let woken = a.bin(BinOp::And, woken, (DESTROYED >> HALF) - 1);
    a.bin(BinOp::Xor, all, woken)
}

pub fn init(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("cond_init", |_| {
        let mut a = Asm::new("cond_init", &["condition"]);
        a.store(a.param(0), 0, 8, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

pub fn signal(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("cond_signal", |_| {
        let mut a = Asm::new("cond_signal", &["condition"]);
        let condition = a.param(0);
        let (before, waiting) = waiting(&mut a, condition);
        let chosen = a.reg();
        a.b.push(Instr::Move { dst: chosen, src: waiting });
        let others = without_first(&mut a, waiting);
        a.when(others, |a| {
            let all = choose(a);
            a.unless(all, |a| choose_one(a, chosen.into()));
        });
        wake(&mut a, condition, before, chosen.into());
        a.finish()
    })
}

pub fn broadcast(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("cond_broadcast", |_| {
        let mut a = Asm::new("cond_broadcast", &["condition"]);
        let condition = a.param(0);
        let (before, waiting) = waiting(&mut a, condition);
        wake(&mut a, condition, before, waiting);
        a.finish()
    })
}

/// `timeout` is what a wait that may end at a deadline returns then, 0 if there is none. A `spurious` one may end
/// for no reason.
pub fn wait(tr: &mut Translator<'_>, timeout: u64, spurious: bool) -> FunctionId {
    let (lock, unlock) = (mutex_lock(tr), mutex_unlock(tr));
    let name = format!("cond_wait {timeout} {spurious}");
    tr.routine(&name, |_| {
        let mut a = Asm::new("cond_wait", &["condition", "mutex"]);
        let (condition, mutex) = (a.param(0), a.param(1));
        let this = a.reg();
        a.b.push(Instr::ThreadSelf { dst: this });
        let fits = a.cmp(CmpOp::Ult, this.into(), THREADS);
        a.unless(fits, |a| {
            a.fail(
                FaultKind::Unsupported,
                "only the first 31 threads of a program may wait for a condition variable",
            )
        });
        let waits = a.bin(BinOp::Shl, Operand::Const(1), this);
        let woken = a.bin(BinOp::Shl, waits, HALF);
        let both = a.bin(BinOp::Or, waits, woken);
        let before = update(&mut a, RmwOp::Or, condition, waits);
        unless_destroyed(&mut a, before);
        a.call(unlock, &[mutex]);
        if timeout != 0 || spurious {
            let ends = choose(&mut a);
            a.when(ends, |a| {
                a.call(lock, &[mutex]);
                let before = leave(a, condition, both);
                let signalled = a.bin(BinOp::And, before, woken);
                a.when(signalled, |a| a.give(0));
                a.give(timeout);
            });
        }
        let now = a.reg();
        a.b.push_move(Instr::Load { dst: now, address: condition, size: 8, mode: ReadMode::Acquire });
        let signalled = a.bin(BinOp::And, now.into(), woken);
        // A wait that may end by itself is no deadlock.
        let reason = if timeout == 0 { BlockReason::Spin } else { BlockReason::Assume };
        a.unless(signalled, |a| a.block(reason));
        a.call(lock, &[mutex]);
        leave(&mut a, condition, both);
        a.give(0);
        a.finish()
    })
}

/// What is there, and who waits and is not woken yet; returns where that is nobody.
fn waiting(a: &mut Asm, condition: Operand) -> (Operand, Operand) {
    let before = a.load(condition, 8, ReadMode::Relaxed);
    unless_destroyed(a, before);
    let waiting = asleep(a, before);
    a.unless(waiting, |a| a.give(0));
    (before, waiting)
}

/// Wakes `chosen`, of those that waited as `before` says. If that has changed since, the execution in which
/// the newer state was read at once is the same.
fn wake(a: &mut Asm, condition: Operand, before: Operand, chosen: Operand) {
    let woken = a.bin(BinOp::Shl, chosen, HALF);
    let new = a.bin(BinOp::Or, before, woken);
    let old = a.reg();
    a.b.push(Instr::Cas {
        dst: old,
        address: condition,
        expected: before,
        new,
        size: 8,
        read: ReadMode::Relaxed,
        write: WriteMode::Release,
        failure: ReadMode::Relaxed,
        weak: false,
        kind: RmwKind::Amo,
    });
    let other = a.cmp(CmpOp::Ne, old.into(), before);
    a.when(other, |a| a.block(BlockReason::Assume));
    a.give(0);
}

/// Leaves one bit of a register, any of them.
fn choose_one(a: &mut Asm, set: Operand) {
    let Operand::Reg(dst) = set else { unreachable!("a register") };
    let (head, body, take, end) = (a.b.label(), a.b.label(), a.b.label(), a.b.label());
    a.b.bind(head);
    let others = without_first(a, set);
    a.b.branch(others, body, end);
    a.b.bind(body);
    let passes = choose(a);
    let next = a.b.label();
    a.b.branch(passes, next, take);
    a.b.bind(next);
    a.b.push(Instr::Move { dst, src: others });
    a.b.jump(head);
    a.b.bind(take);
    let first = a.bin(BinOp::Xor, set, others);
    a.b.push(Instr::Move { dst, src: first });
    a.b.bind(end);
}

fn without_first(a: &mut Asm, set: Operand) -> Operand {
    let less = a.bin(BinOp::Sub, set, 1);
    a.bin(BinOp::And, set, less)
}

fn choose(a: &mut Asm) -> Operand {
    let dst = a.reg();
    a.b.push(Instr::Nondet { dst, options: 2 });
    dst.into()
}

/// Changes both sets; what they were.
fn update(a: &mut Asm, op: RmwOp, address: Operand, operand: Operand) -> Operand {
    let dst = a.reg();
    a.b.push(changed(dst, op, address, operand));
    dst.into()
}

/// Takes bits of a thread away that was woken. Whoever woke it may have destroyed and freed the variable since.
fn leave(a: &mut Asm, address: Operand, bits: Operand) -> Operand {
    let dst = a.reg();
    a.b.push_move(changed(dst, RmwOp::AndNot, address, bits));
    dst.into()
}

fn changed(dst: Reg, op: RmwOp, address: Operand, operand: Operand) -> Instr {
    let (read, write) = (ReadMode::Relaxed, WriteMode::Relaxed);
    Instr::Rmw { dst, op, address, operand, size: 8, read, write, kind: RmwKind::Amo }
}
