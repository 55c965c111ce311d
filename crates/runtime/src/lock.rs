//! Mutexes, reader-writer locks and spin locks, with their timed variants, and C11's `mtx_*`.

use crate::call::caller;
use crate::finding;
use crate::interpose;
use crate::order;
use crate::real;
use crate::sync::{self, Robust, object, wait_on};
use crate::time::deadline_of;
use crate::world::{Step, is_running, visible_as, world};
use libc::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, timespec};
use porf_event::ThreadId;
use porf_sample::protocol::FindingKind;
use porf_sample::scheduler::systematic::Op;

const RECURSIVE: i32 = 1;
const ERRORCHECK: i32 = 2;
/// What glibc makes the kind of a destroyed mutex; whoever initialises it again overwrites it.
const DESTROYED: i32 = -1;
/// The bit of a robust mutex in the kind that glibc keeps.
const ROBUST: i32 = 16;

/// The beginning of glibc's pthread_mutex_t.
#[repr(C)]
struct NativeMutex {
    lock: i32,
    count: u32,
    owner: i32,
    users: u32,
    kind: i32,
}

fn mutex(address: usize) -> (usize, i32) {
    // SAFETY: a pthread_mutex_t of the program.
    let native = unsafe { &mut *(address as *mut NativeMutex) };
    if native.kind == DESTROYED {
        native.kind = 0;
        // SAFETY: called while running.
        finding::event(unsafe { world() }, FindingKind::Lock, caller(), "use of a destroyed mutex");
    }
    let index = object(address, |object| {
        if native.lock != 0 {
            // Locked by the main thread before there was another.
            object.owner = Some(ThreadId(0));
            object.count = native.count.max(1);
        }
        if native.kind & ROBUST != 0 {
            object.robust = Robust::Usable;
        }
    });
    sync::used(address);
    (index, native.kind & 3)
}

/// An operation on a lock; one that ends at some time concerns whoever makes time go on.
fn within(address: usize, deadline: Option<u64>, only_try: bool) -> Op {
    if deadline.is_some() { Op::Any } else { Op::Lock { address, waits: !only_try } }
}

/// Locks; `deadline` bounds the wait.
pub fn lock(address: usize, deadline: Option<u64>) -> i32 {
    let pc = caller();
    visible_as(Step::Other, within(address, deadline, false));
    let (index, kind) = mutex(address);
    let mut waits = deadline.is_none();
    loop {
        // SAFETY: called while running; reacquired after every wait.
        let w = unsafe { world() };
        let me = w.me();
        if std::mem::take(&mut waits) && w.syncs[index].owner != me {
            order::wanted(w, index, false, pc);
        }
        let object = &mut w.syncs[index];
        if object.robust == Robust::Lost {
            return libc::ENOTRECOVERABLE;
        }
        if object.owner.is_none() {
            return take(index);
        }
        if object.owner == me && kind == RECURSIVE {
            object.count += 1;
            return 0;
        }
        if object.owner == me && kind == ERRORCHECK {
            return EDEADLK;
        }
        if deadline.is_none() {
            sync::awaits(Some(index));
        }
        if !wait_on(index, "for a mutex", deadline) {
            return ETIMEDOUT;
        }
    }
}

fn try_lock(address: usize) -> i32 {
    visible_as(Step::Other, Op::Lock { address, waits: false });
    let (index, kind) = mutex(address);
    // SAFETY: called while running.
    let w = unsafe { world() };
    let me = w.me();
    let object = &mut w.syncs[index];
    if object.owner == me && kind == RECURSIVE {
        object.count += 1;
        return 0;
    }
    if object.robust == Robust::Lost {
        return libc::ENOTRECOVERABLE;
    }
    if object.owner.is_some() {
        return EBUSY;
    }
    take(index)
}

/// The mutex is free and now the running thread's.
fn take(index: usize) -> i32 {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let me = w.me();
    w.fiber().awaits = None;
    let object = &mut w.syncs[index];
    object.owner = me;
    object.count = 1;
    let abandoned = object.robust == Robust::Abandoned;
    order::taken(w, index, false);
    w.acquire_from(index);
    if abandoned { libc::EOWNERDEAD } else { 0 }
}

pub fn unlock(address: usize) -> i32 {
    visible_as(Step::Other, Op::Lock { address, waits: false });
    unlock_now(address)
}

/// Unlocks without a scheduling point.
pub fn unlock_now(address: usize) -> i32 {
    let (index, kind) = mutex(address);
    // SAFETY: called while running.
    let w = unsafe { world() };
    let me = w.me();
    let object = &mut w.syncs[index];
    if object.owner != me {
        if kind == ERRORCHECK || kind == RECURSIVE {
            return EPERM;
        }
        let message = "unlock of a mutex that the thread does not hold";
        finding::event(w, FindingKind::Lock, caller(), message);
        return 0;
    }
    let object = &mut w.syncs[index];
    object.count -= 1;
    if object.count == 0 {
        object.owner = None;
        if object.robust == Robust::Abandoned {
            object.robust = Robust::Lost;
        }
        order::released(w, index);
        w.release_to(index);
        w.wake_all(index);
    }
    0
}

unsafe extern "C" fn mutex_consistent(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_mutex_consistent(m: usize = address) -> i32) };
    }
    let (index, _) = mutex(address);
    // SAFETY: running.
    let w = unsafe { world() };
    let me = w.me();
    let object = &mut w.syncs[index];
    if object.robust != Robust::Abandoned || object.owner != me {
        return libc::EINVAL;
    }
    object.robust = Robust::Usable;
    0
}

unsafe extern "C" fn mutex_init(address: usize, attr: usize) -> i32 {
    sync::initialise(address);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_mutex_init(m: usize = address, a: usize = attr) -> i32) }
}

/// Misuse before there are threads: libc's own functions do as they please then.
fn misused_alone(message: &str) {
    let pc = caller();
    if crate::world::is_initialised() {
        // SAFETY: initialised.
        let w = unsafe { world() };
        w.has_first_fiber();
        finding::event(w, FindingKind::Lock, pc, message);
    }
}

unsafe extern "C" fn mutex_destroy(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: a pthread_mutex_t of the program.
        if unsafe { (*(address as *const NativeMutex)).lock } != 0 {
            misused_alone("destruction of a locked mutex");
        }
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_mutex_destroy(m: usize = address) -> i32) };
    }
    let (index, _) = mutex(address);
    // SAFETY: running.
    let w = unsafe { world() };
    if w.syncs[index].owner.is_some() {
        finding::event(w, FindingKind::Lock, caller(), "destruction of a locked mutex");
        return EBUSY;
    }
    destroy_mutex(address);
    0
}

fn destroy_mutex(address: usize) {
    sync::destroy_unused(address);
    // SAFETY: a pthread_mutex_t of the program.
    unsafe { (*(address as *mut NativeMutex)).kind = DESTROYED };
}

unsafe extern "C" fn mutex_lock(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: a pthread_mutex_t of the program.
        if unsafe { (*(address as *const NativeMutex)).kind } == DESTROYED {
            misused_alone("use of a destroyed mutex");
        }
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_mutex_lock(m: usize = address) -> i32) };
    }
    lock(address, None)
}

unsafe extern "C" fn mutex_trylock(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_mutex_trylock(m: usize = address) -> i32) };
    }
    try_lock(address)
}

unsafe extern "C" fn mutex_unlock(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: a pthread_mutex_t of the program.
        let native = unsafe { &*(address as *const NativeMutex) };
        if native.lock == 0 && native.kind == 0 {
            misused_alone("unlock of a mutex that the thread does not hold");
        }
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_mutex_unlock(m: usize = address) -> i32) };
    }
    unlock(address)
}

unsafe extern "C" fn mutex_timedlock(address: usize, until: *const timespec) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { mutex_clocklock(address, libc::CLOCK_REALTIME, until) }
}

unsafe extern "C" fn mutex_clocklock(address: usize, clock: i32, until: *const timespec) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            real!(pthread_mutex_clocklock(m: usize = address, c: i32 = clock, t: *const timespec = until) -> i32)
        };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    lock(address, Some(unsafe { deadline_of(clock, until) }))
}

// ---- reader-writer locks ----

fn rwlock(address: usize) -> usize {
    let index = object(address, |object| {
        // SAFETY: the beginning of glibc's pthread_rwlock_t: readers · 8 + phase bits; the writer at 24.
        let (readers, writer) = unsafe { (*(address as *const u32), *((address + 24) as *const i32)) };
        object.owner = (writer != 0).then_some(ThreadId(0));
        object.readers = if writer != 0 { 0 } else { readers >> 3 };
    });
    sync::used(address);
    index
}

pub fn read_lock(address: usize, deadline: Option<u64>, only_try: bool) -> i32 {
    let pc = caller();
    visible_as(Step::Other, within(address, deadline, only_try));
    let index = rwlock(address);
    if deadline.is_none() && !only_try {
        // SAFETY: called while running.
        order::wanted(unsafe { world() }, index, true, pc);
    }
    loop {
        // SAFETY: called while running.
        let w = unsafe { world() };
        let me = w.me();
        let object = &mut w.syncs[index];
        if object.owner.is_none() {
            object.readers += 1;
            order::taken(w, index, true);
            w.acquire_from(index);
            return 0;
        }
        if only_try {
            return EBUSY;
        }
        if object.owner == me {
            return EDEADLK;
        }
        if !wait_on(index, "to read-lock", deadline) {
            return ETIMEDOUT;
        }
    }
}

pub fn write_lock(address: usize, deadline: Option<u64>, only_try: bool) -> i32 {
    let pc = caller();
    visible_as(Step::Other, within(address, deadline, only_try));
    let index = rwlock(address);
    if deadline.is_none() && !only_try {
        // SAFETY: called while running.
        order::wanted(unsafe { world() }, index, false, pc);
    }
    loop {
        // SAFETY: called while running.
        let w = unsafe { world() };
        let me = w.me();
        let object = &mut w.syncs[index];
        if object.owner.is_none() && object.readers == 0 {
            object.owner = me;
            order::taken(w, index, false);
            w.acquire_from(index);
            w.acquire_from_readers(index);
            return 0;
        }
        if only_try {
            return EBUSY;
        }
        if object.owner == me {
            return EDEADLK;
        }
        if !wait_on(index, "to write-lock", deadline) {
            return ETIMEDOUT;
        }
    }
}

fn rw_unlock(address: usize) -> i32 {
    visible_as(Step::Other, Op::Lock { address, waits: false });
    let index = rwlock(address);
    // SAFETY: called while running.
    let w = unsafe { world() };
    let me = w.me();
    let object = &mut w.syncs[index];
    if object.owner == me {
        object.owner = None;
        order::released(w, index);
        w.release_to(index);
    } else if object.readers > 0 {
        object.readers -= 1;
        order::released(w, index);
        w.release_to_writers(index);
    } else {
        let message = "unlock of a reader-writer lock that nobody holds";
        finding::event(w, FindingKind::Lock, caller(), message);
        return 0;
    }
    // SAFETY: as above.
    unsafe { world() }.wake_all(index);
    0
}

unsafe extern "C" fn rwlock_init(address: usize, attr: usize) -> i32 {
    sync::initialise(address);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_rwlock_init(m: usize = address, a: usize = attr) -> i32) }
}

unsafe extern "C" fn rwlock_destroy(address: usize) -> i32 {
    sync::destroy_unused(address);
    0
}

macro_rules! when_running {
    ($inner:ident($($arg:ident: $ty:ty),*) = $real:ident else $body:expr) => {
        unsafe extern "C" fn $inner($($arg: $ty),*) -> i32 {
            if !is_running() {
                // SAFETY: the program's own call, passed on with its arguments.
                return unsafe { real!($real($($arg: $ty = $arg),*) -> i32) };
            }
            $body
        }
    };
}

when_running!(rdlock(l: usize) = pthread_rwlock_rdlock else read_lock(l, None, false));
when_running!(tryrdlock(l: usize) = pthread_rwlock_tryrdlock else read_lock(l, None, true));
when_running!(wrlock(l: usize) = pthread_rwlock_wrlock else write_lock(l, None, false));
when_running!(trywrlock(l: usize) = pthread_rwlock_trywrlock else write_lock(l, None, true));
when_running!(rwunlock(l: usize) = pthread_rwlock_unlock else rw_unlock(l));
when_running!(timedrdlock(l: usize, t: *const timespec) = pthread_rwlock_timedrdlock
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    else read_lock(l, Some(unsafe { deadline_of(libc::CLOCK_REALTIME, t) }), false));
when_running!(timedwrlock(l: usize, t: *const timespec) = pthread_rwlock_timedwrlock
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    else write_lock(l, Some(unsafe { deadline_of(libc::CLOCK_REALTIME, t) }), false));
when_running!(clockrdlock(l: usize, c: i32, t: *const timespec) = pthread_rwlock_clockrdlock
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    else read_lock(l, Some(unsafe { deadline_of(c, t) }), false));
when_running!(clockwrlock(l: usize, c: i32, t: *const timespec) = pthread_rwlock_clockwrlock
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    else write_lock(l, Some(unsafe { deadline_of(c, t) }), false));

// ---- spin locks ----

fn spin(address: usize) -> usize {
    let index = object(address, |object| {
        // SAFETY: a pthread_spinlock_t: 1 is unlocked in glibc on x86.
        if unsafe { *(address as *const i32) } != 1 {
            object.owner = Some(ThreadId(0));
        }
    });
    sync::used(address);
    index
}

fn spin_acquire(address: usize, only_try: bool) -> i32 {
    let pc = caller();
    visible_as(Step::Other, within(address, None, only_try));
    let index = spin(address);
    if !only_try {
        // SAFETY: called while running.
        order::wanted(unsafe { world() }, index, false, pc);
    }
    loop {
        // SAFETY: called while running.
        let w = unsafe { world() };
        let me = w.me();
        let object = &mut w.syncs[index];
        if object.owner.is_none() {
            object.owner = me;
            order::taken(w, index, false);
            w.acquire_from(index);
            return 0;
        }
        if only_try {
            return EBUSY;
        }
        wait_on(index, "for a spin lock", None);
    }
}

fn spin_release(address: usize) -> i32 {
    visible_as(Step::Other, Op::Lock { address, waits: false });
    let index = spin(address);
    // SAFETY: called while running.
    let w = unsafe { world() };
    w.syncs[index].owner = None;
    order::released(w, index);
    w.release_to(index);
    w.wake_all(index);
    0
}

unsafe extern "C" fn spin_init(address: usize, shared: i32) -> i32 {
    sync::initialise(address);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_spin_init(l: usize = address, s: i32 = shared) -> i32) }
}

when_running!(spin_destroy(l: usize) = pthread_spin_destroy else { sync::destroy(l); 0 });
when_running!(spin_lock(l: usize) = pthread_spin_lock else spin_acquire(l, false));
when_running!(spin_trylock(l: usize) = pthread_spin_trylock else spin_acquire(l, true));
when_running!(spin_unlock(l: usize) = pthread_spin_unlock else spin_release(l));

// ---- C11 ----

const THRD_BUSY: i32 = 1;
const THRD_ERROR: i32 = 2;
const THRD_TIMEDOUT: i32 = 4;

pub fn c11(error: i32) -> i32 {
    match error {
        0 => 0,
        EBUSY => THRD_BUSY,
        ETIMEDOUT => THRD_TIMEDOUT,
        libc::ENOMEM => 3,
        _ => THRD_ERROR,
    }
}

unsafe extern "C" fn c11_mutex_init(address: usize, kind: i32) -> i32 {
    const MTX_RECURSIVE: i32 = 1;
    // SAFETY: an mtx_t is a pthread_mutex_t in glibc.
    unsafe {
        std::ptr::write_bytes(address as *mut u8, 0, size_of::<libc::pthread_mutex_t>());
        (*(address as *mut NativeMutex)).kind = if kind & MTX_RECURSIVE != 0 { RECURSIVE } else { 0 };
    }
    sync::initialise(address);
    0
}

unsafe extern "C" fn c11_lock(address: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { mutex_lock(address) })
}

unsafe extern "C" fn c11_trylock(address: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { mutex_trylock(address) })
}

unsafe extern "C" fn c11_unlock(address: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { mutex_unlock(address) })
}

unsafe extern "C" fn c11_timedlock(address: usize, until: *const timespec) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { mutex_timedlock(address, until) })
}

unsafe extern "C" fn c11_destroy(address: usize) {
    destroy_mutex(address);
}

interpose! {
    pthread_mutex_init => mutex_init; pthread_mutex_consistent => mutex_consistent; pthread_mutex_destroy => mutex_destroy;
    pthread_mutex_lock => mutex_lock; pthread_mutex_trylock => mutex_trylock; pthread_mutex_unlock => mutex_unlock;
    pthread_mutex_timedlock => mutex_timedlock; pthread_mutex_clocklock => mutex_clocklock;
    pthread_rwlock_init => rwlock_init; pthread_rwlock_destroy => rwlock_destroy;
    pthread_rwlock_rdlock => rdlock; pthread_rwlock_tryrdlock => tryrdlock; pthread_rwlock_timedrdlock => timedrdlock;
    pthread_rwlock_clockrdlock => clockrdlock; pthread_rwlock_wrlock => wrlock; pthread_rwlock_trywrlock => trywrlock;
    pthread_rwlock_timedwrlock => timedwrlock; pthread_rwlock_clockwrlock => clockwrlock; pthread_rwlock_unlock => rwunlock;
    pthread_spin_init => spin_init; pthread_spin_destroy => spin_destroy; pthread_spin_lock => spin_lock;
    pthread_spin_trylock => spin_trylock; pthread_spin_unlock => spin_unlock;
    mtx_init => c11_mutex_init; mtx_lock => c11_lock; mtx_trylock => c11_trylock; mtx_unlock => c11_unlock;
    mtx_timedlock => c11_timedlock; mtx_destroy => c11_destroy;
}
