//! Read-write locks of pthreads: readers count up from 0, a writer is all ones.

use super::asm::Asm;
use super::mutex::{
    EBUSY, EDEADLK, ETIMEDOUT, cell_init, count, mutex_destroy, release, unless_destroyed, wait_or,
};
use super::table::{KEEPS, Row, USES, row, zero};
use crate::translate::Translator;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{CmpOp, FaultKind, FunctionId, HeldOp, Operand, RmwOp};

const WRITER: u64 = 0xffff_ffff;

pub const FUNCTIONS: &[Row] = &[
    row(&["pthread_rwlock_init"], KEEPS, |c| c.routine(cell_init, &[c.arg(0)])),
    row(&["pthread_rwlock_rdlock"], KEEPS, |c| c.same(|tr| rwlock_read(tr, None))),
    row(&["pthread_rwlock_tryrdlock"], KEEPS, |c| c.same(|tr| rwlock_read(tr, Some(EBUSY)))),
    row(&["pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock"], KEEPS, |c| {
        c.same(|tr| rwlock_read(tr, Some(ETIMEDOUT)))
    }),
    row(&["pthread_rwlock_wrlock"], KEEPS, |c| c.same(|tr| rwlock_write(tr, None))),
    row(&["pthread_rwlock_trywrlock"], KEEPS, |c| c.same(|tr| rwlock_write(tr, Some(EBUSY)))),
    row(&["pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"], KEEPS, |c| {
        c.same(|tr| rwlock_write(tr, Some(ETIMEDOUT)))
    }),
    row(&["pthread_rwlock_unlock"], KEEPS, |c| c.same(rwlock_unlock)),
    row(&["pthread_rwlock_destroy"], KEEPS, |c| c.same(mutex_destroy)),
    row(&["pthread_rwlockattr_init", "pthread_rwlockattr_destroy"], USES, zero),
];

/// `busy`: what to return where the lock is taken, rather than to wait.
fn rwlock_read(tr: &mut Translator<'_>, busy: Option<u64>) -> FunctionId {
    tr.routine(&format!("rwlock_rdlock {busy:?}"), |_| {
        let mut a = Asm::new("rwlock_rdlock", &["lock"]);
        let lock = a.param(0);
        let readers = a.load(lock, 4, ReadMode::Relaxed);
        unless_destroyed(&mut a, readers, "lock");
        let taken = a.cmp(CmpOp::Eq, readers, WRITER);
        a.when(taken, |a| {
            if busy != Some(EBUSY) {
                // Its own writer waits for itself, and may be told so.
                let held = a.held(HeldOp::Count, lock);
                a.when(held, |a| a.give(EDEADLK));
            }
            wait_or(a, busy);
        });
        let more = a.add(readers, 1);
        count(&mut a, lock, readers, more);
        a.held(HeldOp::Acquire, lock);
        a.give(0);
        a.finish()
    })
}

fn rwlock_write(tr: &mut Translator<'_>, busy: Option<u64>) -> FunctionId {
    tr.routine(&format!("rwlock_wrlock {busy:?}"), |_| {
        let mut a = Asm::new("rwlock_wrlock", &["lock"]);
        let lock = a.param(0);
        if busy.is_none() {
            let held = a.held(HeldOp::Count, lock);
            a.when(held, |a| {
                a.fail(
                    FaultKind::Lock,
                    "the thread locks for writing what it holds already, and waits for itself",
                )
            });
        }
        let old = a.cas(lock, Operand::Const(0), WRITER);
        a.when(old, |a| {
            unless_destroyed(a, old, "lock");
            wait_or(a, busy);
        });
        a.held(HeldOp::Acquire, lock);
        a.give(0);
        a.finish()
    })
}

fn rwlock_unlock(tr: &mut Translator<'_>) -> FunctionId {
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
