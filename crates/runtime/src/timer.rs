//! Interval timers in virtual time: `setitimer`, `getitimer`, `alarm`.
//!
//! Before the first thread they are the kernel's; from then on they count virtual time, all three kinds alike,
//! and their signal goes to the thread that runs. So an execution with timers is a function of its seed.

use crate::interpose;
use crate::real;
use crate::signal;
use crate::sys;
use crate::world::{World, is_running, world};
use libc::{itimerval, timeval};

const KINDS: usize = 3;
const SIGNALS: [i32; KINDS] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Timer {
    at: u64,
    interval: u64,
}

pub struct Timers {
    now: [Timer; KINDS],
    /// As they were when the executions began.
    before: [Timer; KINDS],
}

impl Default for Timers {
    fn default() -> Timers {
        let none = [Timer { at: NEVER, interval: 0 }; KINDS];
        Timers { now: none, before: none }
    }
}

impl Timers {
    /// Takes over the kernel's timers.
    pub fn begin(&mut self) {
        for kind in 0..KINDS {
            let none = itimerval { it_interval: zero(), it_value: zero() };
            let mut left = none;
            // SAFETY: reads and writes locals.
            unsafe {
                let (new, old) = (&raw const none as usize, &raw mut left as usize);
                sys::syscall(libc::SYS_setitimer, [kind, new, old, 0, 0, 0]);
            }
            let interval = nanoseconds(left.it_interval);
            // The interval, where there is one: what is left of it depends on the time of day.
            let first = if interval > 0 { interval } else { nanoseconds(left.it_value) };
            let at =
                if nanoseconds(left.it_value) == 0 { NEVER } else { crate::time::before_threads() + first };
            self.before[kind] = Timer { at, interval };
        }
    }

    pub fn reset(&mut self) {
        self.now = self.before;
    }

    pub fn next(&self) -> u64 {
        self.now.iter().map(|timer| timer.at).min().unwrap_or(NEVER)
    }
}

fn zero() -> timeval {
    timeval { tv_sec: 0, tv_usec: 0 }
}

fn nanoseconds(time: timeval) -> u64 {
    time.tv_sec.max(0) as u64 * 1_000_000_000 + time.tv_usec.max(0) as u64 * 1000
}

fn time(nanoseconds: u64) -> timeval {
    timeval { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_usec: (nanoseconds / 1000 % 1_000_000) as i64 }
}

/// Raises the signals whose time has come.
pub fn expire(w: &mut World) {
    for (kind, signal) in SIGNALS.into_iter().enumerate() {
        let timer = &mut w.timers.now[kind];
        if timer.at > w.time {
            continue;
        }
        // What the handler could not keep up with is lost, as in the kernel.
        timer.at = if timer.interval == 0 { NEVER } else { w.time + timer.interval };
        signal::send_to_process(w, signal, true);
    }
}

fn value(w: &World, kind: usize) -> itimerval {
    let timer = w.timers.now[kind];
    let left = if timer.at == NEVER { 0 } else { timer.at.saturating_sub(w.time).max(1000) };
    itimerval { it_interval: time(timer.interval), it_value: time(left) }
}

unsafe extern "C" fn set(kind: i32, new: *const itimerval, old: *mut itimerval) -> i32 {
    if !is_running() {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe {
            real!(setitimer(k: i32 = kind, n: *const itimerval = new, o: *mut itimerval = old) -> i32)
        };
    }
    let Some(kind) = usize::try_from(kind).ok().filter(|kind| *kind < KINDS) else {
        sys::set_errno(libc::EINVAL);
        return -1;
    };
    // SAFETY: running; the caller's structures.
    unsafe {
        let w = world();
        if !old.is_null() {
            *old = value(w, kind);
        }
        let first = nanoseconds((*new).it_value);
        let at = if first == 0 { NEVER } else { w.time + first };
        w.timers.now[kind] = Timer { at, interval: nanoseconds((*new).it_interval) };
        w.update_deadline();
    }
    0
}

unsafe extern "C" fn get(kind: i32, out: *mut itimerval) -> i32 {
    if !is_running() || !(0..KINDS as i32).contains(&kind) {
        // SAFETY: the program's own call, passed on with its arguments.
        return unsafe { real!(getitimer(k: i32 = kind, o: *mut itimerval = out) -> i32) };
    }
    // SAFETY: running; the caller's structure.
    unsafe { *out = value(world(), kind as usize) };
    0
}

unsafe extern "C" fn alarm_after(seconds: u32) -> u32 {
    let new = itimerval { it_interval: zero(), it_value: timeval { tv_sec: i64::from(seconds), tv_usec: 0 } };
    let mut old = itimerval { it_interval: zero(), it_value: zero() };
    // SAFETY: locals.
    unsafe { set(libc::ITIMER_REAL, &new, &mut old) };
    let left = nanoseconds(old.it_value);
    left.div_ceil(1_000_000_000) as u32
}

interpose! { setitimer => set; getitimer => get; alarm => alarm_after; }
