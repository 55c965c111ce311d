//! Read-write locks of pthreads: readers count up from 0, a writer is all ones.

use super::asm::Asm;
use super::mutex::{EBUSY, count, mutex_destroy, mutex_init, release, wait_or};
use super::table::{KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{CmpOp, FaultKind, FunctionId, HeldOp, Operand, RmwOp};

const WRITER: u64 = 0xffff_ffff;

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_rwlock_init"], KEEPS, |c| c.routine(mutex_init, &[c.arg(0), Operand::Const(0)])),
    row(&["pthread_rwlock_rdlock"], KEEPS, |c| c.same(|tr| rwlock_read(tr, true))),
    row(
        &["pthread_rwlock_tryrdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock"],
        KEEPS,
        |c| c.routine(|tr| rwlock_read(tr, false), &[c.arg(0)]),
    ),
    row(&["pthread_rwlock_wrlock"], KEEPS, |c| c.same(|tr| rwlock_write(tr, true))),
    row(
        &["pthread_rwlock_trywrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"],
        KEEPS,
        |c| c.routine(|tr| rwlock_write(tr, false), &[c.arg(0)]),
    ),
    row(&["pthread_rwlock_unlock"], KEEPS, |c| c.same(rwlock_unlock)),
    row(&["pthread_rwlock_destroy"], KEEPS, |c| c.same(mutex_destroy)),
    row(&["pthread_rwlockattr_init", "pthread_rwlockattr_destroy"], USES, zero),
];

/// Readers count up from 0, a writer is all ones. `waits`: else `EBUSY`.
pub fn rwlock_read(tr: &mut Translator<'_>, waits: bool) -> FunctionId {
    let name = if waits { "rwlock_rdlock" } else { "rwlock_tryrdlock" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["lock"]);
        let lock = a.param(0);
        let readers = a.load(lock, 4, ReadMode::Relaxed);
        let taken = a.cmp(CmpOp::Eq, readers, WRITER);
        a.when(taken, |a| wait_or(a, waits, EBUSY));
        let more = a.add(readers, 1);
        count(&mut a, lock, readers, more);
        a.held(HeldOp::Acquire, lock);
        a.give(0);
        a.finish()
    })
}

pub fn rwlock_write(tr: &mut Translator<'_>, waits: bool) -> FunctionId {
    let name = if waits { "rwlock_wrlock" } else { "rwlock_trywrlock" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["lock"]);
        let lock = a.param(0);
        if waits {
            let held = a.held(HeldOp::Count, lock);
            a.when(held, |a| {
                a.fail(
                    FaultKind::Lock,
                    "the thread locks for writing what it holds already, and waits for itself",
                )
            });
        }
        let old = a.cas(lock, Operand::Const(0), WRITER);
        a.when(old, |a| wait_or(a, waits, EBUSY));
        a.held(HeldOp::Acquire, lock);
        a.give(0);
        a.finish()
    })
}

pub fn rwlock_unlock(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("rwlock_unlock", |_| {
        let mut a = Asm::new("rwlock_unlock", &["lock"]);
        let lock = a.param(0);
        release(&mut a, lock);
        let now = a.load(lock, 4, ReadMode::Relaxed);
        let writer = a.cmp(CmpOp::Eq, now, WRITER);
        a.when(writer, |a| {
            a.store(lock, 0, 4, WriteMode::Release);
            a.give(0);
        });
        a.fetch(RmwOp::Sub, lock, 1, (ReadMode::Relaxed, WriteMode::Release));
        a.give(0);
        a.finish()
    })
}
