//! Mutexes of pthreads and C11, and spin locks.
//!
//! A lock is the 4-byte cell at its address; a thread remembers which locks it holds, so that misuse
//! is told without events. Waiting ends the thread's part of an execution (`Block`); the engine comes
//! back with another write to read.

use super::asm::Asm;
use super::table::{Call, KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, HeldOp, Instr, Operand, Width};

pub const EBUSY: u64 = 16;
const EDEADLK: u64 = 35;
/// `thrd_busy`.
const C11_BUSY: u64 = 1;
/// Where glibc keeps the kind of a mutex: 0 normal, 1 recursive, 2 error-checking.
const MUTEX_KIND: u64 = 16;

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
    row(&["pthread_spin_init"], KEEPS, |c| c.routine(mutex_init, &[c.arg(0), Operand::Const(0)])),
    row(&["pthread_mutex_lock", "mtx_lock", "pthread_spin_lock"], KEEPS, |c| c.same(mutex_lock)),
    row(
        &[
            "pthread_mutex_trylock",
            "pthread_mutex_timedlock",
            "pthread_mutex_clocklock",
            "pthread_spin_trylock",
        ],
        KEEPS,
        |c| c.routine(|tr| mutex_trylock(tr, EBUSY), &[c.arg(0)]),
    ),
    row(&["mtx_trylock", "mtx_timedlock"], KEEPS, |c| {
        c.routine(|tr| mutex_trylock(tr, C11_BUSY), &[c.arg(0)])
    }),
    row(&["pthread_mutex_unlock", "mtx_unlock", "pthread_spin_unlock"], KEEPS, |c| c.same(mutex_unlock)),
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

pub fn mutex_lock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("mutex_lock", |_| {
        let mut a = Asm::new("mutex_lock", &["mutex"]);
        let mutex = a.param(0);
        when_held(&mut a, mutex, |a, kind| {
            let checks = a.cmp(CmpOp::Eq, kind, 2);
            a.when(checks, |a| a.give(EDEADLK));
            a.fail(FaultKind::Lock, "the thread locks a mutex that it holds already, and waits for itself");
        });
        a.b.push(Instr::Lock { address: mutex });
        a.held(HeldOp::Acquire, mutex);
        a.give(0);
        a.finish()
    })
}

/// Of a thread that holds the mutex: takes it once more if it is recursive, else does `otherwise` with
/// its kind.
fn when_held(a: &mut Asm, mutex: Operand, otherwise: impl FnOnce(&mut Asm, Operand)) {
    let held = a.held(HeldOp::Count, mutex);
    a.when(held, |a| {
        let at = a.add(mutex, MUTEX_KIND);
        let kind = a.load(at, 4, ReadMode::Plain);
        let recursive = a.cmp(CmpOp::Eq, kind, 1);
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
    a.unless(held, |a| a.fail(FaultKind::Lock, "unlock of a lock that the thread does not hold"));
    held
}

/// Waits for the lock, or says that it is taken.
pub fn wait_or(a: &mut Asm, waits: bool, busy: u64) {
    if waits { a.block(BlockReason::Lock) } else { a.give(busy) }
}

/// Takes one from, or adds one to, the 4-byte counter, which was `before`. If it has changed since, the
/// thread would try again: the execution in which it read the newer value at once is the same.
pub fn count(a: &mut Asm, counter: Operand, before: Operand, after: Operand) {
    let old = a.cas(counter, before, after);
    let other = a.cmp(CmpOp::Ne, old, before);
    a.when(other, |a| a.block(BlockReason::Assume));
}

/// Returns `busy` where the mutex is taken.
pub fn mutex_trylock(tr: &mut Translator<'_>, busy: u64) -> FunctionId {
    let name = if busy == EBUSY { "mutex_trylock" } else { "mtx_trylock" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["mutex"]);
        let mutex = a.param(0);
        when_held(&mut a, mutex, |a, _| a.give(busy));
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
        let held = release(&mut a, mutex);
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
        a.give(0);
        a.finish()
    })
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
