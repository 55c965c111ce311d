//! `syscall(SYS_futex, …)`, on which Rust's and C++'s runtimes build their own locks, `SYS_membarrier`, and the
//! calls that number threads; other system calls pass through.
//!
//! The kernel has a full barrier between queueing a waiter and reading the word, and one before it looks for
//! waiters to wake: a waker that finds nobody has its earlier stores seen by whoever waits later. Both are
//! sequentially consistent fences here, and the word is read as a relaxed load reads it.

use crate::atomic::locate;
use crate::real;
use crate::signal::Interrupted;
use crate::sync::{object, wait_on};
use crate::sys;
use crate::time::{deadline_after, deadline_of};
use crate::world::{Step, is_running, visible, world};
use libc::timespec;
use porf_sample::Order;

const WAIT: usize = 0;
const WAKE: usize = 1;
const REQUEUE: usize = 3;
const CMP_REQUEUE: usize = 4;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
const CLOCK_REALTIME_FLAG: usize = 256;

/// The commands of membarrier that are barriers: global, global and private expedited, with core
/// serialisation, with restart of restartable sequences.
const BARRIERS: [usize; 5] = [1, 2, 8, 32, 128];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    if number == libc::SYS_futex && is_running() {
        // SAFETY: the program's own futex call.
        let result = unsafe { futex(a, b, c as u32, d, e) };
        if let Ok(value) = result {
            return value;
        }
    }
    if number == libc::SYS_membarrier && BARRIERS.contains(&a) && is_running() {
        crate::atomic::tracked();
        visible(Step::Other);
        // SAFETY: running.
        let w = unsafe { world() };
        w.engine.fence_all(w.current);
        w.refresh();
        return 0;
    }
    if number == libc::SYS_sched_yield && is_running() {
        crate::world::give_way();
        return 0;
    }
    if number == libc::SYS_gettid && is_running() {
        return crate::identity::number().into();
    }
    let signalled = match number {
        libc::SYS_tkill => Some((a, b)),
        libc::SYS_tgkill => Some((b, c)),
        _ => None,
    };
    if let Some((thread, signal)) = signalled
        && is_running()
        && let Some(index) = crate::identity::numbered(thread as i32)
    {
        visible(Step::Other);
        return match crate::signal::send_to(index, signal as i32) {
            0 => 0,
            wrong => {
                sys::set_errno(wrong);
                -1
            }
        };
    }
    // SAFETY: the program's own system call.
    unsafe {
        real!(syscall(n: i64 = number, a: usize = a, b: usize = b, c: usize = c, d: usize = d, e: usize = e, f: usize = f) -> i64)
    }
}

fn error(error: i32) -> Result<i64, ()> {
    sys::set_errno(error);
    Ok(-1)
}

/// Err: not one of ours.
unsafe fn futex(
    address: usize,
    operation: usize,
    value: u32,
    timeout: usize,
    other: usize,
) -> Result<i64, ()> {
    let command = operation & 0x7f;
    if !matches!(command, WAIT | WAKE | REQUEUE | CMP_REQUEUE | WAIT_BITSET | WAKE_BITSET) {
        return Err(());
    }
    crate::atomic::tracked();
    visible(Step::Other);
    let index = object(address, |_| {});
    // SAFETY: running.
    let w = unsafe { world() };
    w.engine.fence(w.current, Order::SeqCst);
    w.refresh();
    match command {
        WAIT | WAIT_BITSET => {
            // SAFETY: running; the kernel would read it too.
            let location = unsafe { locate(address, 4) };
            let found = w.engine.load(w.current, location, Order::Relaxed, &mut w.scheduler);
            w.refresh();
            if found != u128::from(value) {
                return error(libc::EAGAIN);
            }
            let deadline = (timeout != 0).then(|| {
                let time = timeout as *const timespec;
                let clock = if operation & CLOCK_REALTIME_FLAG != 0 {
                    libc::CLOCK_REALTIME
                } else {
                    libc::CLOCK_MONOTONIC
                };
                // SAFETY: the caller's timespec.
                unsafe { if command == WAIT { deadline_after(time) } else { deadline_of(clock, time) } }
            });
            if !wait_on(index, "on a futex", deadline) {
                return error(libc::ETIMEDOUT);
            }
            // SAFETY: running.
            let interrupted = unsafe { world() }.fiber().interrupted != Interrupted::No;
            if interrupted { error(libc::EINTR) } else { Ok(0) }
        }
        WAKE | WAKE_BITSET => Ok(i64::from(wake(index, value))),
        _ => {
            let woken = wake(index, value);
            let target = object(other, |_| {});
            // SAFETY: running.
            let w = unsafe { world() };
            let moved = std::mem::take(&mut w.syncs[index].waiters);
            let count = moved.len() as i64;
            w.syncs[target].waiters.extend(moved);
            Ok(i64::from(woken) + count)
        }
    }
}

fn wake(index: usize, most: u32) -> u32 {
    // SAFETY: running.
    let w = unsafe { world() };
    let mut woken = 0;
    while woken < most && !w.syncs[index].waiters.is_empty() {
        use porf_sample::scheduler::Scheduler;
        let chosen = w.scheduler.choose(w.syncs[index].waiters.len());
        let waiter = w.syncs[index].waiters.swap_remove(chosen);
        w.wake(waiter);
        woken += 1;
    }
    woken
}
