//! pthreads, C11 threads and semaphores, built from atomics, the lock instruction and waiting.
//!
//! A lock is the 4-byte cell at its address; a thread remembers which locks it holds, so that misuse
//! is told without events. Waiting ends the thread's part of an execution (`Block`); the engine comes
//! back with another write to read. Condition variables are in [`condition`](super::condition).

use super::asm::Asm;
use crate::translate::Translator;
use porf_event::{BlockReason, ReadMode, ThreadId, WriteMode};
use porf_ir::{BinOp, CmpOp, FaultKind, FunctionId, HeldOp, Instr, Operand, RmwOp, layout};

const EBUSY: u64 = 16;
const EDEADLK: u64 = 35;
/// Where glibc keeps the kind of a mutex: 0 normal, 1 recursive, 2 error-checking.
const MUTEX_KIND: u64 = 16;
const WRITER: u64 = 0xffff_ffff;

pub fn create(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("pthread_create", |_| {
        let mut a = Asm::new("pthread_create", &["thread", "start", "argument"]);
        let dst = a.reg();
        let (thread, function, arg) = (a.param(0), a.param(1), a.param(2));
        a.b.push(Instr::CreatePointer { dst, function, arg });
        a.store(thread, dst, 8, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// Joins, and stores the thread's result in `size` bytes where that is wanted.
pub fn join(tr: &mut Translator<'_>, size: u8) -> FunctionId {
    let name = if size == 8 { "pthread_join" } else { "thrd_join" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["thread", "result"]);
        let (thread, result) = (a.param(0), a.param(1));
        a.b.push(Instr::Join { thread });
        a.when(result, |a| {
            let offset = a.bin(BinOp::Mul, thread, 8);
            let cell = a.add(offset, layout::result_cell(ThreadId(0)));
            let value = a.load(cell, 8, ReadMode::Plain);
            a.store(result, value, size, WriteMode::Plain);
        });
        a.give(0);
        a.finish()
    })
}

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
fn release(a: &mut Asm, lock: Operand) -> Operand {
    let held = a.held(HeldOp::Release, lock);
    a.unless(held, |a| a.fail(FaultKind::Lock, "unlock of a lock that the thread does not hold"));
    held
}

/// Waits for the lock, or says that it is taken.
fn wait_or(a: &mut Asm, waits: bool, busy: u64) {
    if waits { a.block(BlockReason::Lock) } else { a.give(busy) }
}

/// Takes one from, or adds one to, the 4-byte counter, which was `before`. If it has changed since, the
/// thread would try again: the execution in which it read the newer value at once is the same.
fn count(a: &mut Asm, counter: Operand, before: Operand, after: Operand) {
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

/// The number of threads at the address, how many came so far 4 bytes behind it.
pub fn barrier_init(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("barrier_init", |_| {
        let mut a = Asm::new("barrier_init", &["barrier", "count"]);
        let (barrier, count) = (a.param(0), a.param(1));
        a.store(barrier, count, 4, WriteMode::Plain);
        let arrived = a.add(barrier, 4);
        a.store(arrived, 0, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

pub fn barrier_wait(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("barrier_wait", |_| {
        let mut a = Asm::new("barrier_wait", &["barrier"]);
        let barrier = a.param(0);
        let count = a.load(barrier, 4, ReadMode::Plain);
        let arrived = a.add(barrier, 4);
        let before = a.fetch(RmwOp::Add, arrived, 1, (ReadMode::Acquire, WriteMode::Release));
        let now = a.add(before, 1);
        let rest = a.bin(BinOp::URem, now, count);
        // The last one gets PTHREAD_BARRIER_SERIAL_THREAD.
        a.unless(rest, |a| a.give(0xffff_ffff));
        let round = a.bin(BinOp::UDiv, before, count);
        let seen = a.load(arrived, 4, ReadMode::Acquire);
        let seen = a.bin(BinOp::UDiv, seen, count);
        let same = a.cmp(CmpOp::Eq, seen, round);
        a.when(same, |a| a.block(BlockReason::Spin));
        a.give(0);
        a.finish()
    })
}

/// 0 not yet, 1 under way, 2 done.
pub fn once(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("once", |_| {
        let mut a = Asm::new("once", &["control", "routine"]);
        let (control, pointer) = (a.param(0), a.param(1));
        let old = a.cas(control, Operand::Const(0), 1);
        a.unless(old, |a| {
            a.b.push(Instr::CallPointer { pointer, args: [].into(), dst: None });
            a.store(control, 2, 4, WriteMode::Release);
            a.give(0);
        });
        let done = a.cmp(CmpOp::Eq, old, 2);
        a.when(done, |a| a.give(0));
        let now = a.load(control, 4, ReadMode::Acquire);
        let done = a.cmp(CmpOp::Eq, now, 2);
        a.unless(done, |a| a.block(BlockReason::Spin));
        a.give(0);
        a.finish()
    })
}

pub fn semaphore_wait(tr: &mut Translator<'_>, waits: bool) -> FunctionId {
    let name = if waits { "sem_wait" } else { "sem_trywait" };
    tr.routine(name, |_| {
        let mut a = Asm::new(name, &["semaphore"]);
        let semaphore = a.param(0);
        let before = a.load(semaphore, 4, ReadMode::Relaxed);
        a.unless(before, |a| wait_or(a, waits, 0xffff_ffff));
        let less = a.bin(BinOp::Sub, before, 1);
        count(&mut a, semaphore, before, less);
        a.give(0);
        a.finish()
    })
}

pub fn semaphore_post(tr: &mut Translator<'_>) -> FunctionId {
    tr.routine("sem_post", |_| {
        let mut a = Asm::new("sem_post", &["semaphore"]);
        let semaphore = a.param(0);
        a.fetch(RmwOp::Add, semaphore, 1, (ReadMode::Acquire, WriteMode::Release));
        a.give(0);
        a.finish()
    })
}

/// How many keys of thread-specific data there may be.
const KEYS: u64 = 64;

pub fn key_create(tr: &mut Translator<'_>) -> FunctionId {
    let counter = Operand::Const(tr.library_global("pthread keys", 4));
    let destructors = Operand::Const(tr.library_global("pthread key destructors", 8 * KEYS as usize));
    tr.routine("key_create", |_| {
        let mut a = Asm::new("key_create", &["key", "destructor"]);
        let (key, destructor) = (a.param(0), a.param(1));
        let number = a.fetch(RmwOp::Add, counter, 1, (ReadMode::Relaxed, WriteMode::Relaxed));
        let fits = a.cmp(CmpOp::Ult, number, KEYS);
        a.unless(fits, |a| a.give(11));
        a.when(destructor, |a| {
            let offset = a.bin(BinOp::Mul, number, 8);
            let at = a.bin(BinOp::Add, destructors, offset);
            a.store(at, destructor, 8, WriteMode::Plain);
        });
        a.store(key, number, 4, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}

/// Destroys the values of a thread that ends, again as long as destructors leave new ones, at most
/// `PTHREAD_DESTRUCTOR_ITERATIONS` times.
pub fn destroy_specific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    let destructors = Operand::Const(tr.library_global("pthread key destructors", 8 * KEYS as usize));
    tr.routine("destroy_specific", |_| {
        let mut a = Asm::new("destroy_specific", &[]);
        a.steps(
            0,
            1,
            |a, round| a.cmp(CmpOp::Ult, round, 4),
            |a, _| {
                a.steps(
                    0,
                    1,
                    |a, key| a.cmp(CmpOp::Ult, key, KEYS),
                    |a, key| {
                        let at = specific(a, values, key);
                        let value = a.load(at, 8, ReadMode::Plain);
                        a.when(value, |a| {
                            let offset = a.bin(BinOp::Mul, key, 8);
                            let cell = a.bin(BinOp::Add, destructors, offset);
                            let pointer = a.load(cell, 8, ReadMode::Plain);
                            a.when(pointer, |a| {
                                a.store(at, 0, 8, WriteMode::Plain);
                                a.b.push(Instr::CallPointer { pointer, args: [value].into(), dst: None });
                            });
                        });
                    },
                );
            },
        );
        a.give(0);
        a.finish()
    })
}

/// The address of this thread's value for a key.
fn specific(a: &mut Asm, values: u32, key: Operand) -> Operand {
    let dst = a.reg();
    a.b.push(Instr::ThreadLocalAddress { dst, index: values });
    let offset = a.bin(BinOp::Mul, key, 8);
    a.bin(BinOp::Add, dst.into(), offset)
}

pub fn getspecific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    tr.routine("getspecific", |_| {
        let mut a = Asm::new("getspecific", &["key"]);
        let key = a.param(0);
        let at = specific(&mut a, values, key);
        let value = a.load(at, 8, ReadMode::Plain);
        a.give(value);
        a.finish()
    })
}

pub fn setspecific(tr: &mut Translator<'_>) -> FunctionId {
    let values = tr.library_local("pthread keys", 8 * KEYS as usize);
    tr.routine("setspecific", |_| {
        let mut a = Asm::new("setspecific", &["key", "value"]);
        let (key, value) = (a.param(0), a.param(1));
        let at = specific(&mut a, values, key);
        a.store(at, value, 8, WriteMode::Plain);
        a.give(0);
        a.finish()
    })
}
