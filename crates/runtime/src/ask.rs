//! Waiting for what only the kernel knows: whether a descriptor is ready, whether a child has ended.
//!
//! A thread that waits asks, lets others run, and asks again. When every thread that can run only asks, and has
//! asked since the last other step, nothing will change but by time or from outside. Virtual time then jumps to the
//! next deadline. If the program has somebody outside to talk to, it really waits as long, so that they can act.

use crate::signal::{self, Interrupted};
use crate::sys::{self, Global};
use crate::world::{Step, World, give_way, visible, world};
use std::sync::atomic::Ordering;

/// What a thread that asks waits for.
#[derive(Clone, Copy)]
pub struct Asks {
    /// The step of its last question.
    since: u64,
    deadline: Option<u64>,
}

/// The program listens, has connected, or has children: somebody outside may act. Rolled back with it.
static HAS_PEERS: Global<bool> = Global::new(false);

pub fn expect_peers() {
    // SAFETY: one kernel thread.
    unsafe { *HAS_PEERS.get() = true };
}

pub fn has_peers() -> bool {
    // SAFETY: one kernel thread.
    unsafe { *HAS_PEERS.get() }
}

/// Asks until the answer is not 0, virtual time has passed the deadline (then 0), or a signal's handler ran (then
/// -1 and EINTR; not where the call goes on after a handler that wants so). `ask` gets the milliseconds for which it
/// may really wait; -1 is without an end.
pub fn until(deadline: Option<u64>, goes_on: bool, mut ask: impl FnMut(i32) -> i32) -> i32 {
    visible(Step::Other);
    // SAFETY: running; reacquired after every switch.
    unsafe {
        world().fiber().interrupted = Interrupted::No;
        loop {
            let mut answer = ask(0);
            let w = world();
            if answer != 0 || deadline.is_some_and(|deadline| w.time >= deadline) {
                return answer;
            }
            let since = w.steps;
            w.fiber().asks = Some(Asks { since, deadline });
            if w.all_ask() {
                answer = wait(w, &mut ask);
            }
            if answer == 0 {
                give_way();
            }
            if signal::are_waiting() {
                signal::deliver();
            }
            let fiber = world().fiber();
            fiber.asks = None;
            if answer > 0 {
                return answer;
            }
            let interrupted = std::mem::take(&mut fiber.interrupted);
            crate::thread::test_cancel();
            if interrupted == Interrupted::Returns || (interrupted == Interrupted::Restarts && !goes_on) {
                sys::set_errno(libc::EINTR);
                return -1;
            }
            if answer < 0 {
                return answer;
            }
        }
    }
}

/// Nobody in the program can do anything: time passes.
fn wait(w: &mut World, ask: &mut impl FnMut(i32) -> i32) -> i32 {
    /// Several threads that ask wait in turn, each so long.
    const TURN: i32 = 5;
    let alone = w.runnable.len() == 1;
    let end = w.earliest();
    if end == u64::MAX {
        return ask(if alone { -1 } else { TURN });
    }
    if has_peers() {
        let left = (end.saturating_sub(w.time) / 1_000_000).clamp(1, 100) as i32;
        let before = real_time();
        let answer = ask(if alone { left } else { left.min(TURN) });
        w.time += real_time() - before;
        w.shared().progress.heartbeat.fetch_add(1, Ordering::Relaxed);
        if answer != 0 {
            return answer;
        }
    } else {
        w.time = w.time.max(end);
    }
    w.expire();
    0
}

fn real_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let clock = libc::CLOCK_MONOTONIC as usize;
    // SAFETY: fills in a local.
    unsafe { sys::syscall(libc::SYS_clock_gettime, [clock, &raw mut time as usize, 0, 0, 0, 0]) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl World {
    /// Whether every thread that can run asks, and has asked since another last did anything.
    fn all_ask(&self) -> bool {
        let last = self.last_change.max(self.last_work);
        let asks = |thread: &porf_event::ThreadId| self.fibers[thread.as_usize()].asks;
        self.runnable.iter().all(|thread| asks(thread).is_some_and(|asks| asks.since >= last))
    }

    /// The next time at which something happens by itself.
    fn earliest(&self) -> u64 {
        let asked = self.runnable.iter().filter_map(|thread| self.fibers[thread.as_usize()].asks?.deadline);
        asked.min().unwrap_or(u64::MAX).min(self.next_deadline)
    }
}
