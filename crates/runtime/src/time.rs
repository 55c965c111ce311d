//! Virtual time: every visible operation takes a little, waiting jumps ahead.
//!
//! Under `porf sample` the clocks start at fixed points, so that an execution does not depend on when it
//! runs. A sleep or a timed wait ends when virtual time has reached its end: at once if nobody else can run.

use crate::call::{CALLER, caller};
use crate::interpose;
use crate::library::touch;
use crate::real;
use crate::signal::Interrupted;
use crate::sys::{self, Global};
use crate::world::{block, give_way, is_running, world};
use libc::{clockid_t, timespec, timeval};
use porf_sample::race::Kind;

const NANOS: u64 = 1_000_000_000;
/// 2024-01-01.
const REALTIME_START: u64 = 1_704_067_200 * NANOS;
const MONOTONIC_START: u64 = 1_000 * NANOS;

fn start(clock: clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => REALTIME_START,
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => MONOTONIC_START,
    }
}

fn nanoseconds(time: timespec) -> u64 {
    (time.tv_sec.max(0) as u64).saturating_mul(NANOS).saturating_add(time.tv_nsec.max(0) as u64)
}

/// Virtual time of an absolute time.
pub unsafe fn deadline_of(clock: clockid_t, time: *const timespec) -> u64 {
    // SAFETY: the caller's timespec.
    nanoseconds(unsafe { *time }).saturating_sub(start(clock))
}

/// Virtual time after a duration.
pub unsafe fn deadline_after(time: *const timespec) -> u64 {
    // SAFETY: the caller's timespec; running.
    unsafe { world().time.saturating_add(nanoseconds(*time)) }
}

/// Virtual time applies from the beginning when sampling, so that `srand(time(0))` is reproducible.
fn is_virtual() -> bool {
    crate::process::is_sampling()
}

/// Virtual time before the first thread; rolled back with the program, so executions go on from there.
static BEFORE: Global<u64> = Global::new(0);

/// Virtual time when the first thread was created.
pub fn before_threads() -> u64 {
    // SAFETY: one kernel thread.
    unsafe { *BEFORE.get() }
}

/// A clock read takes so many ticks: a loop that only watches the clock must see it move.
const READING: u64 = 10;

fn now(clock: clockid_t) -> u64 {
    // SAFETY: initialised, or nobody is sampling; reacquired after giving way.
    unsafe {
        if !is_running() {
            *BEFORE.get() += READING * world().tick;
            return start(clock) + *BEFORE.get();
        }
        let w = world();
        w.asked_time = true;
        w.time += READING * w.tick;
        w.changed();
        give_way();
        start(clock) + world().time
    }
}

unsafe extern "C" fn gettime(clock: clockid_t, out: *mut timespec) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe {
        if !is_virtual() {
            return sys_result(sys::syscall(
                libc::SYS_clock_gettime,
                [clock as usize, out as usize, 0, 0, 0, 0],
            )) as i32;
        }
        let pc = caller();
        let now = now(clock);
        *CALLER.get() = pc;
        touch(out as usize, size_of::<timespec>(), Kind::Write);
        *out = timespec { tv_sec: (now / NANOS) as i64, tv_nsec: (now % NANOS) as i64 };
    }
    0
}

unsafe extern "C" fn getday(out: *mut timeval, zone: usize) -> i32 {
    // SAFETY: the caller's pointer.
    unsafe {
        if !is_virtual() {
            return sys_result(sys::syscall(libc::SYS_gettimeofday, [out as usize, zone, 0, 0, 0, 0])) as i32;
        }
        let pc = caller();
        let now = now(libc::CLOCK_REALTIME);
        *CALLER.get() = pc;
        touch(out as usize, size_of::<timeval>(), Kind::Write);
        *out = timeval { tv_sec: (now / NANOS) as i64, tv_usec: (now % NANOS / 1000) as i64 };
    }
    0
}

unsafe extern "C" fn seconds(out: *mut i64) -> i64 {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a local; the caller's pointer.
    unsafe {
        gettime(libc::CLOCK_REALTIME, &mut time);
        if !out.is_null() {
            touch(out as usize, 8, Kind::Write);
            *out = time.tv_sec;
        }
    }
    time.tv_sec
}

fn sys_result(result: isize) -> isize {
    if result < 0 {
        sys::set_errno(-result as i32);
        return -1;
    }
    result
}

/// Sleeps; the time left if a signal came first.
fn sleep_until(deadline: u64) -> Option<u64> {
    block("sleeping", Some(deadline));
    crate::thread::test_cancel();
    // SAFETY: running.
    let w = unsafe { world() };
    (w.fiber().interrupted != Interrupted::No).then(|| deadline.saturating_sub(w.time))
}

/// Before the first thread, a wait until a time: it comes, as nobody can end the wait earlier. False without virtual
/// time.
pub unsafe fn wait_alone(clock: clockid_t, until: *const timespec) -> bool {
    if is_virtual() {
        // SAFETY: the caller's timespec.
        sleep_alone(unsafe { deadline_of(clock, until) }.saturating_sub(before_threads()));
    }
    is_virtual()
}

/// Before the first thread a wait of so many milliseconds for something else ended without it.
pub fn waited_alone(milliseconds: i32) {
    sleep_alone(milliseconds.max(0) as u64 * 1_000_000);
}

/// Before the first thread: nobody else can do anything meanwhile, so time just passes.
fn sleep_alone(time: u64) {
    // SAFETY: one kernel thread.
    unsafe { *BEFORE.get() += time };
}

unsafe extern "C" fn nano_sleep(time: *const timespec, left: *mut timespec) -> i32 {
    if !is_running() {
        if !is_virtual() {
            // SAFETY: the program's own call, passed on with its arguments.
            return unsafe { real!(nanosleep(t: *const timespec = time, l: *mut timespec = left) -> i32) };
        }
        // SAFETY: the caller's pointer, which the C function requires to be valid.
        sleep_alone(nanoseconds(unsafe { *time }));
        return 0;
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    let Some(rest) = sleep_until(unsafe { deadline_after(time) }) else { return 0 };
    if !left.is_null() {
        // SAFETY: the caller's.
        unsafe { *left = timespec { tv_sec: (rest / NANOS) as i64, tv_nsec: (rest % NANOS) as i64 } };
    }
    sys::set_errno(libc::EINTR);
    -1
}

unsafe extern "C" fn clock_sleep(
    clock: clockid_t,
    flags: i32,
    time: *const timespec,
    left: *mut timespec,
) -> i32 {
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    if !is_running() {
        if !is_virtual() {
            // SAFETY: the program's own call, passed on with its arguments.
            return unsafe {
                real!(clock_nanosleep(c: clockid_t = clock, f: i32 = flags, t: *const timespec = time, l: *mut timespec = left) -> i32)
            };
        }
        // SAFETY: the caller's pointer, which the C function requires to be valid.
        let end = unsafe { if absolute { deadline_of(clock, time) } else { nanoseconds(*time) } };
        sleep_alone(if absolute { end.saturating_sub(before_threads()) } else { end });
        return 0;
    }
    if !absolute {
        // SAFETY: the contract of this function is that of the one it calls.
        return if unsafe { nano_sleep(time, left) } == 0 { 0 } else { libc::EINTR };
    }
    // SAFETY: the caller's pointer, which the C function requires to be valid.
    if sleep_until(unsafe { deadline_of(clock, time) }).is_some() { libc::EINTR } else { 0 }
}

/// Processor time in microseconds.
unsafe extern "C" fn processor_time() -> i64 {
    if !is_virtual() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(clock() -> i64) };
    }
    (now(libc::CLOCK_PROCESS_CPUTIME_ID) / 1000) as i64
}

unsafe extern "C" fn micro_sleep(microseconds: u32) -> i32 {
    let (tv_sec, tv_nsec) = (i64::from(microseconds / 1_000_000), i64::from(microseconds % 1_000_000) * 1000);
    // SAFETY: a local, and no pointer for what is left.
    unsafe { nano_sleep(&timespec { tv_sec, tv_nsec }, std::ptr::null_mut()) }
}

unsafe extern "C" fn second_sleep(seconds: u32) -> u32 {
    let mut left = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a local.
    let ended = unsafe { nano_sleep(&timespec { tv_sec: i64::from(seconds), tv_nsec: 0 }, &mut left) } == 0;
    if ended { 0 } else { left.tv_sec as u32 + u32::from(left.tv_nsec > 0) }
}

interpose! {
    clock_gettime => gettime; gettimeofday => getday; time => seconds;
    nanosleep => nano_sleep; clock_nanosleep => clock_sleep; usleep => micro_sleep; sleep => second_sleep;
    thrd_sleep => nano_sleep; clock => processor_time;
}
