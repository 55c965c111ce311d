//! Virtual time: every visible operation takes a little, waiting jumps ahead.
//!
//! Under `porf sample` the clocks start at fixed points, so that an execution does not depend on when it
//! runs. A sleep or a timed wait ends when virtual time has reached its end: at once if nobody else can run.

use crate::entry;
use crate::real;
use crate::sys;
use crate::world::{block, give_way, is_running, world};
use libc::{clockid_t, timespec, timeval};

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

fn now(clock: clockid_t) -> u64 {
    let elapsed = if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        // A loop that only watches the clock must see it move.
        w.time += 10 * w.tick;
        w.changed();
        give_way();
        // SAFETY: as above.
        unsafe { world() }.time
    } else {
        0
    };
    start(clock) + elapsed
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
        let now = now(clock);
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
        let now = now(libc::CLOCK_REALTIME);
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

fn sleep_until(deadline: u64) {
    crate::atomic::tracked();
    block("sleeping", Some(deadline));
    crate::thread::test_cancel();
}

unsafe extern "C" fn nano_sleep(time: *const timespec, left: *mut timespec) -> i32 {
    if !is_running() {
        return unsafe { real!(nanosleep(t: *const timespec = time, l: *mut timespec = left) -> i32) };
    }
    sleep_until(unsafe { deadline_after(time) });
    0
}

unsafe extern "C" fn clock_sleep(
    clock: clockid_t,
    flags: i32,
    time: *const timespec,
    left: *mut timespec,
) -> i32 {
    if !is_running() {
        return unsafe {
            real!(clock_nanosleep(c: clockid_t = clock, f: i32 = flags, t: *const timespec = time, l: *mut timespec = left) -> i32)
        };
    }
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    sleep_until(unsafe { if absolute { deadline_of(clock, time) } else { deadline_after(time) } });
    0
}

unsafe extern "C" fn micro_sleep(microseconds: u32) -> i32 {
    let (tv_sec, tv_nsec) = (i64::from(microseconds / 1_000_000), i64::from(microseconds % 1_000_000) * 1000);
    unsafe { nano_sleep(&timespec { tv_sec, tv_nsec }, std::ptr::null_mut()) }
}

unsafe extern "C" fn second_sleep(seconds: u32) -> u32 {
    unsafe { nano_sleep(&timespec { tv_sec: i64::from(seconds), tv_nsec: 0 }, std::ptr::null_mut()) };
    0
}

entry! {
    clock_gettime => gettime; gettimeofday => getday; time => seconds;
    nanosleep => nano_sleep; clock_nanosleep => clock_sleep; usleep => micro_sleep; sleep => second_sleep;
    thrd_sleep => nano_sleep;
}
