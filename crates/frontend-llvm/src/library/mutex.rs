//! Mutexes of pthreads and C11, and spin locks.
//!
//! A lock is the 4-byte cell at its address; a thread remembers which locks it holds, so that misuse
//! is told without events. Waiting ends the thread's part of an execution (`Block`); the engine comes
//! back with another write to read.

use super::asm::Asm;
use super::table::{Call, KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, HeldOp, Instr, Operand, Width, layout};

pub const EPERM: u64 = 1;
pub const EBUSY: u64 = 16;
pub const EDEADLK: u64 = 35;
pub const ETIMEDOUT: u64 = 110;
/// `thrd_busy`.
const C11_BUSY: u64 = 1;
/// `thrd_timedout`.
pub const C11_TIMED_OUT: u64 = 4;
/// Where glibc keeps the kind of a mutex.
const MUTEX_KIND: u64 = 16;
const NORMAL: u64 = 0;
const RECURSIVE: u64 = 1;
const ERROR_CHECKING: u64 = 2;

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_mutex_init"], KEEPS, |c| {
        // The attribute's first word is the kind.
        let kind = attribute(c, c.arg(1));
        c.routine(mutex_init, &[c.arg(0), kind])
    }),
    row(&["mtx_init"], KEEPS, |c| {
        let kind = c.body.bin(BinOp::And, Width::W64, c.arg(1), Operand::Const(1));
        c.routine(mutex_init, &[c.arg(0), kind])
    }),
    row(&["pthread_mutex_lock", "mtx_lock"], KEEPS, |c| c.same(mutex_lock)),
    // A spin lock is nothing but the cell.
    row(&["pthread_spin_init"], KEEPS, |c| c.routine(cell_init, &[c.arg(0)])),
    row(&["pthread_spin_lock"], KEEPS, |c| c.same(spin_lock)),
    row(&["pthread_spin_trylock"], KEEPS, |c| c.same(spin_trylock)),
    row(&["pthread_spin_unlock"], KEEPS, |c| c.same(spin_unlock)),
    row(&["pthread_mutex_trylock"], KEEPS, |c| c.same(|tr| mutex_trylock(tr, EBUSY, EBUSY))),
    row(&["mtx_trylock"], KEEPS, |c| c.same(|tr| mutex_trylock(tr, C11_BUSY, C11_BUSY))),
    // One that waits in vain times out; one that gets the lock later might have got it at once.
    row(&["pthread_mutex_timedlock", "pthread_mutex_clocklock"], KEEPS, |c| {
        c.same(|tr| mutex_trylock(tr, ETIMEDOUT, EDEADLK))
    }),
    row(&["mtx_timedlock"], KEEPS, |c| c.same(|tr| mutex_trylock(tr, C11_TIMED_OUT, C11_TIMED_OUT))),
    row(&["pthread_mutex_unlock", "mtx_unlock"], KEEPS, |c| c.same(mutex_unlock)),
    row(&["pthread_mutex_destroy", "mtx_destroy", "pthread_spin_destroy"], KEEPS, |c| c.same(mutex_destroy)),
    row(&["pthread_mutexattr_init"], USES, |c| set_attribute(c, Operand::Const(0))),
    row(&["pthread_mutexattr_settype"], USES, |c| set_attribute(c, c.arg(1))),
    row(&["pthread_mutexattr_destroy"], USES, zero),
];

/// `mutex_init(mutex, kind)`.
pub fn mutex_init(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("mutex_init", |_| {
        let mut a = Asm::new("mutex_init", &["mutex", "kind"]);
        let (mutex, kind) = (a.param(0), a.param(1));
        a.store(mutex, 0, 4, WriteMode::Plain);
        a.when(kind, |a| {
            let at = a.add(mutex, MUTEX_KIND);
            a.store(at, kind, 4, WriteMode::Plain);
        });
        a.give(0);
        a.finish()
    })
}

/// The cell of a spin lock or read-write lock.
pub fn cell_init(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("lock_init", |_| {
        let mut a = Asm::new("lock_init", &["lock"]);
        a.store(a.param(0), 0, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

fn spin_lock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("spin_lock", |_| {
        let mut a = Asm::new("spin_lock", &["lock"]);
        let lock = a.param(0);
        let held = a.held(HeldOp::Count, lock);
        a.when(held, waits_for_itself);
        a.b.push(Instr::Lock { address: lock });
        a.held(HeldOp::Acquire, lock);
        a.give(0);
        a.finish()
    })
}

fn spin_trylock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("spin_trylock", |_| {
        let mut a = Asm::new("spin_trylock", &["lock"]);
        let lock = a.param(0);
        let dst = a.reg();
        a.b.push(Instr::TryLock { dst, address: lock });
        a.when(dst.into(), |a| {
            a.held(HeldOp::Acquire, lock);
            a.give(0);
        });
        a.give(EBUSY);
        a.finish()
    })
}

fn spin_unlock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("spin_unlock", |_| {
        let mut a = Asm::new("spin_unlock", &["lock"]);
        let lock = a.param(0);
        release(&mut a, lock);
        a.b.push(Instr::Unlock { address: lock });
        a.give(0);
        a.finish()
    })
}

fn waits_for_itself(a: &mut Asm) {
    a.fail(FaultKind::Lock, "the thread locks a mutex that it holds already, and waits for itself");
}

pub fn mutex_lock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("mutex_lock", |_| {
        let mut a = Asm::new("mutex_lock", &["mutex"]);
        let mutex = a.param(0);
        when_held(&mut a, mutex, |a, kind| {
            let checks = a.cmp(CmpOp::Eq, kind, ERROR_CHECKING);
            a.when(checks, |a| a.give(EDEADLK));
            waits_for_itself(a);
        });
        a.b.push(Instr::Lock { address: mutex });
        a.held(HeldOp::Acquire, mutex);
        a.give(0);
        a.finish()
    })
}

/// For a thread that holds the mutex: takes it once more if it is recursive, else does `otherwise` with
/// its kind.
fn when_held(a: &mut Asm, mutex: Operand, otherwise: impl FnOnce(&mut Asm, Operand)) {
    let held = a.held(HeldOp::Count, mutex);
    a.when(held, |a| {
        let kind = kind_of(a, mutex);
        let recursive = a.cmp(CmpOp::Eq, kind, RECURSIVE);
        a.when(recursive, |a| {
            a.held(HeldOp::Acquire, mutex);
            a.give(0);
        });
        otherwise(a, kind);
    });
}

/// Gives up the lock that the thread holds; how often it held it.
pub fn release(a: &mut Asm, lock: Operand) -> Operand {
    let held = a.held(HeldOp::Release, lock);
    a.unless(held, not_held);
    held
}

fn not_held(a: &mut Asm) {
    a.fail(FaultKind::Lock, "unlock of a lock that the thread does not hold");
}

/// The program is wrong where the cell of a lock, barrier or semaphore says that it was destroyed.
pub fn unless_destroyed(a: &mut Asm, cell: Operand, what: &str) {
    let destroyed = a.cmp(CmpOp::Eq, cell, layout::DESTROYED);
    a.when(destroyed, |a| a.fail(FaultKind::Lock, &format!("use of a {what} that was destroyed")));
}

/// Waits for the lock, or says that it is taken.
pub fn wait_or(a: &mut Asm, busy: Option<u64>) {
    match busy {
        None => a.block(BlockReason::Lock),
        Some(busy) => a.give(busy),
    }
}

/// Takes one from, or adds one to, the 4-byte counter, which was `before`. If it has changed since, the
/// thread would try again: the execution in which it read the newer value at once is the same.
pub fn count(a: &mut Asm, counter: Operand, before: Operand, after: Operand) {
    let old = a.cas(counter, before, after);
    let other = a.cmp(CmpOp::Ne, old, before);
    a.when(other, |a| a.block(BlockReason::Assume));
}

/// Returns `busy` where another thread has the mutex; where this one has it, `own` if the mutex checks for
/// that.
fn mutex_trylock(tr: &mut Translator<'_>, busy: u64, own: u64) -> FunctionId {
    tr.routine(&format!("mutex_trylock {busy} {own}"), |_| {
        let mut a = Asm::new("mutex_trylock", &["mutex"]);
        let mutex = a.param(0);
        when_held(&mut a, mutex, |a, kind| {
            let checks = a.cmp(CmpOp::Eq, kind, ERROR_CHECKING);
            a.when(checks, |a| a.give(own));
            a.give(busy);
        });
        let dst = a.reg();
        a.b.push(Instr::TryLock { dst, address: mutex });
        a.when(dst.into(), |a| {
            a.held(HeldOp::Acquire, mutex);
            a.give(0);
        });
        a.give(busy);
        a.finish()
    })
}

pub fn mutex_unlock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("mutex_unlock", |_| {
        let mut a = Asm::new("mutex_unlock", &["mutex"]);
        let mutex = a.param(0);
        let held = a.held(HeldOp::Release, mutex);
        a.unless(held, |a| {
            let kind = kind_of(a, mutex);
            let normal = a.cmp(CmpOp::Eq, kind, NORMAL);
            a.when(normal, not_held);
            a.give(EPERM);
        });
        let last = a.cmp(CmpOp::Eq, held, 1);
        a.when(last, |a| a.b.push(Instr::Unlock { address: mutex }));
        a.give(0);
        a.finish()
    })
}

pub fn mutex_destroy(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("mutex_destroy", |_| {
        let mut a = Asm::new("mutex_destroy", &["mutex"]);
        let mutex = a.param(0);
        let held = a.held(HeldOp::Count, mutex);
        a.when(held, |a| a.fail(FaultKind::Lock, "destruction of a lock that the thread holds"));
        let now = a.load(mutex, 4, ReadMode::Plain);
        unless_destroyed(&mut a, now, "lock");
        a.when(now, |a| a.fail(FaultKind::Lock, "destruction of a lock that another thread holds"));
        a.store(mutex, layout::DESTROYED, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

fn kind_of(a: &mut Asm, mutex: Operand) -> Operand {
    // A normal one need not have it written.
    let (address, dst) = (a.add(mutex, MUTEX_KIND), a.reg());
    a.b.push_move(Instr::Load { dst, address, size: 4, mode: ReadMode::Plain });
    dst.into()
}

/// The first word of an attribute object, 0 where there is none.
fn attribute(c: &mut Call<'_, '_, '_>, pointer: Operand) -> Operand {
    let b = &mut c.body.b;
    let kind = b.register("");
    b.push(Instr::Move { dst: kind, src: Operand::Const(0) });
    let (some, none) = (b.label(), b.label());
    b.branch(pointer, some, none);
    b.bind(some);
    b.push(Instr::Load { dst: kind, address: pointer, size: 4, mode: ReadMode::Plain });
    b.bind(none);
    kind.into()
}

fn set_attribute(c: &mut Call<'_, '_, '_>, value: Operand) -> super::Lowered {
    c.push(Instr::Store { address: c.arg(0), value, size: 4, mode: WriteMode::Plain });
    zero(c)
}
