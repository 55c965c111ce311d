//! Condition variables, barriers, semaphores and one-time initialisation, with C11's `cnd_*`.

use crate::interpose;
use crate::lock::{self, c11};
use crate::real;
use crate::signal::Interrupted;
use crate::sync::{self, object, wait_on};
use crate::time::{deadline_of, wait_alone};
use crate::world::{Step, is_running, visible, world};
use libc::{EAGAIN, EINVAL, ETIMEDOUT, timespec};
use porf_sample::scheduler::Scheduler;

// ---- condition variables ----

fn wait(condition: usize, mutex: usize, deadline: Option<u64>) -> i32 {
    visible(Step::Other);
    crate::thread::test_cancel();
    let index = object(condition, |_| {});
    sync::used(condition);
    let error = lock::unlock_now(mutex);
    if error != 0 {
        return error;
    }
    sync::awaits(Some(object(mutex, |_| {})));
    let woken = wait_on(index, "for a condition", deadline);
    // A wake-up may have been meant for this thread while a signal's handler ran: it wakes for no reason then, as
    // POSIX allows, rather than to miss it.
    // SAFETY: running.
    let woken = woken || unsafe { world() }.fiber().interrupted != Interrupted::No;
    let error = lock::lock(mutex, None);
    sync::awaits(None);
    crate::thread::test_cancel();
    if error != 0 {
        return error;
    }
    if woken { 0 } else { ETIMEDOUT }
}

fn signal(condition: usize, all: bool) -> i32 {
    visible(Step::Other);
    let index = object(condition, |_| {});
    // SAFETY: called while running.
    let w = unsafe { world() };
    if w.syncs[index].waiters.is_empty() {
        // Nobody learns by this that the condition variable is of no use any more.
        sync::used(condition);
    } else {
        sync::used_to_wake(condition);
    }
    // SAFETY: as above.
    let w = unsafe { world() };
    if all {
        w.wake_all(index);
    } else if !w.syncs[index].waiters.is_empty() {
        let chosen = w.scheduler.choose(w.syncs[index].waiters.len());
        let waiter = w.syncs[index].waiters.swap_remove(chosen);
        w.wake(waiter);
    }
    0
}

/// glibc keeps the clock chosen by pthread_condattr_setclock in bit 1 of the word at 32.
unsafe fn clock_of(condition: usize) -> i32 {
    // SAFETY: a pthread_cond_t of the program.
    let flags = unsafe { *((condition + 36) as *const u32) };
    if flags & 2 != 0 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

unsafe extern "C" fn cond_init(condition: usize, attr: usize) -> i32 {
    sync::initialise(condition);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_cond_init(c: usize = condition, a: usize = attr) -> i32) }
}

unsafe extern "C" fn cond_destroy(condition: usize) -> i32 {
    sync::destroy(condition);
    0
}

unsafe extern "C" fn cond_wait(condition: usize, mutex: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_cond_wait(c: usize = condition, m: usize = mutex) -> i32) };
    }
    wait(condition, mutex, None)
}

unsafe extern "C" fn cond_timedwait(condition: usize, mutex: usize, until: *const timespec) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            if wait_alone(clock_of(condition), until) {
                return ETIMEDOUT;
            }
            real!(pthread_cond_timedwait(c: usize = condition, m: usize = mutex, t: *const timespec = until) -> i32)
        };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    wait(condition, mutex, Some(unsafe { deadline_of(clock_of(condition), until) }))
}

unsafe extern "C" fn cond_clockwait(
    condition: usize,
    mutex: usize,
    clock: i32,
    until: *const timespec,
) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            if wait_alone(clock, until) {
                return ETIMEDOUT;
            }
            real!(pthread_cond_clockwait(c: usize = condition, m: usize = mutex, k: i32 = clock, t: *const timespec = until) -> i32)
        };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    wait(condition, mutex, Some(unsafe { deadline_of(clock, until) }))
}

unsafe extern "C" fn cond_signal(condition: usize) -> i32 {
    if is_running() {
        return signal(condition, false);
    }
    // A handler of the only thread may wake it.
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_cond_signal(c: usize = condition) -> i32) }
}

unsafe extern "C" fn cond_broadcast(condition: usize) -> i32 {
    if is_running() {
        return signal(condition, true);
    }
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_cond_broadcast(c: usize = condition) -> i32) }
}

unsafe extern "C" fn c11_cond_init(condition: usize) -> i32 {
    // SAFETY: a cnd_t is a pthread_cond_t in glibc.
    unsafe { std::ptr::write_bytes(condition as *mut u8, 0, size_of::<libc::pthread_cond_t>()) };
    sync::initialise(condition);
    0
}

unsafe extern "C" fn c11_cond_destroy(condition: usize) {
    sync::destroy(condition);
}

unsafe extern "C" fn c11_wait(condition: usize, mutex: usize) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { cond_wait(condition, mutex) })
}

unsafe extern "C" fn c11_timedwait(condition: usize, mutex: usize, until: *const timespec) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    c11(unsafe { cond_timedwait(condition, mutex, until) })
}

// ---- barriers ----

unsafe extern "C" fn barrier_init(barrier: usize, attr: usize, count: u32) -> i32 {
    sync::initialise(barrier);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(pthread_barrier_init(b: usize = barrier, a: usize = attr, n: u32 = count) -> i32) }
}

unsafe extern "C" fn barrier_destroy(barrier: usize) -> i32 {
    sync::destroy(barrier);
    0
}

unsafe extern "C" fn barrier_wait(barrier: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(pthread_barrier_wait(b: usize = barrier) -> i32) };
    }
    visible(Step::Other);
    let index = object(barrier, |object| {
        // SAFETY: glibc's barrier keeps its count in the third word.
        object.count = unsafe { *((barrier + 8) as *const u32) };
    });
    sync::used(barrier);
    // SAFETY: running.
    let w = unsafe { world() };
    w.release_to(index);
    let object = &mut w.syncs[index];
    object.readers += 1;
    let last = object.readers >= object.count;
    if last {
        object.readers = 0;
        object.round += 1;
        object.readers_view = std::mem::take(&mut object.view);
        w.wake_all(index);
    } else {
        let round = object.round;
        // SAFETY: running; reacquired after the wait.
        while unsafe { world() }.syncs[index].round == round {
            wait_on(index, "at a barrier", None);
        }
    }
    // SAFETY: running.
    let w = unsafe { world() };
    let view = &w.syncs[index].readers_view;
    w.engine.acquire(w.current, view);
    w.refresh();
    if last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
}

// ---- semaphores ----

fn semaphore(address: usize) -> usize {
    let index = object(address, |object| {
        // SAFETY: glibc's sem_t keeps its value in the first word.
        object.count = unsafe { *(address as *const u32) };
    });
    sync::used(address);
    index
}

fn sem_take(address: usize, deadline: Option<u64>, only_try: bool) -> i32 {
    visible(Step::Other);
    let index = semaphore(address);
    loop {
        // SAFETY: running.
        let w = unsafe { world() };
        if w.syncs[index].count > 0 {
            w.syncs[index].count -= 1;
            w.acquire_from(index);
            return 0;
        }
        if only_try {
            crate::sys::set_errno(EAGAIN);
            return -1;
        }
        if !wait_on(index, "for a semaphore", deadline) {
            crate::sys::set_errno(ETIMEDOUT);
            return -1;
        }
        crate::thread::test_cancel();
        // SAFETY: as above, after the wait.
        if unsafe { world() }.fiber().interrupted == Interrupted::Returns {
            crate::sys::set_errno(libc::EINTR);
            return -1;
        }
    }
}

unsafe extern "C" fn semaphore_init(address: usize, shared: i32, value: u32) -> i32 {
    sync::initialise(address);
    // SAFETY: the program's own call, passed on with its arguments.
    unsafe { real!(sem_init(s: usize = address, p: i32 = shared, v: u32 = value) -> i32) }
}

unsafe extern "C" fn semaphore_destroy(address: usize) -> i32 {
    sync::destroy(address);
    0
}

unsafe extern "C" fn semaphore_wait(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(sem_wait(s: usize = address) -> i32) };
    }
    sem_take(address, None, false)
}

unsafe extern "C" fn semaphore_trywait(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(sem_trywait(s: usize = address) -> i32) };
    }
    sem_take(address, None, true)
}

unsafe extern "C" fn semaphore_timedwait(address: usize, until: *const timespec) -> i32 {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { semaphore_clockwait(address, libc::CLOCK_REALTIME, until) }
}

unsafe extern "C" fn semaphore_clockwait(address: usize, clock: i32, until: *const timespec) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            if real!(sem_trywait(s: usize = address) -> i32) == 0 {
                return 0;
            }
            if wait_alone(clock, until) {
                crate::sys::set_errno(ETIMEDOUT);
                return -1;
            }
            real!(sem_clockwait(s: usize = address, c: i32 = clock, t: *const timespec = until) -> i32)
        };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    sem_take(address, Some(unsafe { deadline_of(clock, until) }), false)
}

unsafe extern "C" fn semaphore_post(address: usize) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(sem_post(s: usize = address) -> i32) };
    }
    visible(Step::Other);
    let index = semaphore(address);
    // SAFETY: running.
    let w = unsafe { world() };
    w.release_to(index);
    w.syncs[index].count += 1;
    w.wake_all(index);
    0
}

unsafe extern "C" fn semaphore_value(address: usize, out: *mut i32) -> i32 {
    if out.is_null() {
        crate::sys::set_errno(EINVAL);
        return -1;
    }
    // SAFETY: `out` is the caller's.
    unsafe {
        *out = if is_running() {
            world().syncs[semaphore(address)].count as i32
        } else {
            *(address as *const i32)
        };
    }
    0
}

// ---- once ----

/// glibc's value of a finished pthread_once_t.
const DONE: i32 = 2;

unsafe extern "C" fn once(control: *mut i32, routine: extern "C" fn()) -> i32 {
    if !is_running() {
        // SAFETY: the only thread.
        unsafe {
            if *control != DONE {
                routine();
                *control = DONE;
            }
        }
        return 0;
    }
    visible(Step::Other);
    let index = object(control as usize, |_| {});
    loop {
        // SAFETY: running.
        let w = unsafe { world() };
        // SAFETY: the caller's.
        if unsafe { *control } == DONE {
            w.acquire_from(index);
            return 0;
        }
        if w.syncs[index].owner.is_none() {
            w.syncs[index].owner = w.me();
            routine();
            // SAFETY: as above, after the call.
            unsafe {
                let w = world();
                *control = DONE;
                w.syncs[index].owner = None;
                w.release_to(index);
                w.wake_all(index);
            }
            return 0;
        }
        wait_on(index, "for one-time initialisation", None);
    }
}

unsafe extern "C" fn c11_once(control: *mut i32, routine: extern "C" fn()) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { once(control, routine) };
}

interpose! {
    pthread_cond_init => cond_init; pthread_cond_destroy => cond_destroy; pthread_cond_wait => cond_wait;
    pthread_cond_timedwait => cond_timedwait; pthread_cond_clockwait => cond_clockwait;
    pthread_cond_signal => cond_signal; pthread_cond_broadcast => cond_broadcast;
    cnd_init => c11_cond_init; cnd_destroy => c11_cond_destroy; cnd_wait => c11_wait; cnd_timedwait => c11_timedwait;
    cnd_signal => cond_signal; cnd_broadcast => cond_broadcast;
    pthread_barrier_init => barrier_init; pthread_barrier_destroy => barrier_destroy; pthread_barrier_wait => barrier_wait;
    sem_init => semaphore_init; sem_destroy => semaphore_destroy; sem_wait => semaphore_wait; sem_trywait => semaphore_trywait;
    sem_timedwait => semaphore_timedwait; sem_clockwait => semaphore_clockwait; sem_post => semaphore_post;
    sem_getvalue => semaphore_value;
    pthread_once => once; call_once => c11_once;
}
