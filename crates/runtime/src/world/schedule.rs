//! Who runs next: before every visible operation, and when a thread waits or ends.

use super::{HOT, IGNORING, PATIENCE, RUNNING, State, Step, World, world};
use crate::fiber;
use crate::finding;
use crate::process;
use crate::settled;
use crate::sync::SyncObject;
use porf_event::ThreadId;
use porf_sample::scheduler::Scheduler;
use porf_sample::scheduler::systematic::{Op, Turn};
use std::sync::atomic::Ordering;

/// So many steps in which threads only look at things are a livelock: every load has by then returned
/// everything it may.
const QUIET_STEPS: u64 = 1_000_000;
/// After so many steps in a row a thread gives way.
const LONG: u32 = 1000;
/// So many steps are between two looks at the limits.
const LOOK: u64 = 4096;
/// After so many steps while somebody waits for time to pass, and from then on every [`LATE`] steps, time goes twice as
/// fast: programs that run for seconds come to an end. Where nobody waits, a test that only asks how long something
/// took finds that it did not take long.
const EARLY: u64 = 1 << 17;
const LATE: u64 = 1 << 14;
/// How often time is doubled at most: with 100 ns for a step to 0.1 ms, so that who gives others seconds to do
/// something still lets them take ten thousands of steps.
const MOST_HASTE: u64 = 10;

impl World {
    pub fn wake(&mut self, thread: ThreadId) {
        self.changed();
        let fiber = &mut self.fibers[thread.as_usize()];
        if fiber.state == State::Blocked {
            fiber.state = State::Runnable;
            self.runnable.push(thread);
        }
    }

    fn remove_runnable(&mut self, thread: ThreadId) {
        if let Some(place) = self.runnable.iter().position(|&r| r == thread) {
            self.runnable.swap_remove(place);
        }
    }

    pub fn update_deadline(&mut self) {
        self.next_deadline = self.fibers[..self.fiber_count]
            .iter()
            .filter(|fiber| fiber.state == State::Blocked)
            .filter_map(|fiber| fiber.deadline)
            .min()
            .unwrap_or(u64::MAX)
            .min(self.timers.next());
    }

    /// Who goes next where all choices are enumerated.
    fn next_in_turn(&mut self) -> ThreadId {
        self.scheduler.script.at(self.engine.now(self.current));
        for &thread in &self.runnable {
            let Some(address) = self.scheduler.systematic.wants(thread) else { continue };
            let is_others = |lock: &SyncObject| {
                lock.address == address && lock.owner.is_some_and(|owner| owner != thread)
            };
            let is_hindered = self.syncs[..self.sync_count].iter().any(is_others);
            self.scheduler.systematic.hinder(thread, is_hindered);
        }
        match self.scheduler.turn(&self.runnable, self.current) {
            Turn::Go(index) => self.runnable[index],
            Turn::Repeats => process::finish(process::Outcome::Repeats),
        }
    }

    /// The running thread has written to an atomic object.
    #[inline(always)]
    pub fn has_written(&mut self, address: usize, size: usize) {
        if self.systematic {
            self.scheduler.systematic.has_written(self.current, address, size);
        }
    }

    /// The running thread has read an atomic object, where all choices are enumerated.
    #[cold]
    pub fn has_read(&mut self, address: usize) {
        let store = self.engine.last_read;
        if !self.scheduler.systematic.has_read(self.current, address, store) {
            process::finish(process::Outcome::Repeats);
        }
    }

    /// Wakes every fiber whose deadline has come, and raises the signals of the timers.
    pub fn expire(&mut self) {
        crate::timer::expire(self);
        for thread in self.threads() {
            let fiber = &mut self.fibers[thread.as_usize()];
            if fiber.state == State::Blocked && fiber.deadline.is_some_and(|deadline| deadline <= self.time) {
                fiber.timed_out = true;
                fiber.deadline = None;
                self.wake(thread);
            }
        }
        self.update_deadline();
    }
}

/// Before a visible operation of which nothing more is known: another thread may go first.
#[inline]
pub fn visible(step: Step) {
    visible_as(step, Op::Any);
}

/// Before a visible operation: another thread may go first.
#[inline]
pub fn visible_as(step: Step, op: Op) {
    // A volatile access must be complete before another thread can run.
    crate::atomic::tracked();
    // SAFETY: called while running.
    let w = unsafe { world() };
    w.steps += 1;
    w.time += w.tick << w.haste;
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).patience = PATIENCE };
    if w.steps >= w.next_look {
        look_around(w);
    }
    if w.time >= w.next_deadline {
        w.expire();
    }
    if crate::signal::are_waiting() {
        crate::signal::interrupt();
    }
    // SAFETY: as above; a handler may have run in between.
    let w = unsafe { world() };
    let current = w.current;
    if w.systematic {
        return take_turn(w, op);
    }
    let fiber = &mut w.fibers[current.as_usize()];
    // Consecutive stores stay together (the paper, §3): nothing is lost, and loads have more to choose from.
    let together = step == Step::Store && fiber.last_step == Step::Store && !w.apart;
    fiber.last_step = step;
    w.run_length += 1;
    let is_long = w.run_length > LONG;
    // Nor for ever: others may wait to end a thread that does nothing but store.
    if (together && !is_long) || w.runnable.len() == 1 {
        return;
    }
    if is_long {
        w.run_length = 0;
        w.scheduler.yielded(current);
    }
    if w.scheduler.goes_on() {
        return;
    }
    w.scheduler.script.at(w.engine.now(current));
    let next = w.runnable[w.scheduler.next_thread(&w.runnable, current)];
    if next != current {
        w.run_length = 0;
        switch_to(next);
    }
}

/// The same where all choices are enumerated.
#[cold]
fn take_turn(w: &mut World, op: Op) {
    let current = w.current;
    w.scheduler.systematic.announce(current, op);
    let next = w.next_in_turn();
    if next != current {
        switch_to(next);
    }
}

/// Every few thousand steps, and at the step limit.
#[cold]
fn look_around(w: &mut World) {
    w.next_look = (w.steps + LOOK).min(w.max_steps);
    if w.asked_time || w.next_deadline != u64::MAX {
        w.asked_time = false;
        w.awaited += LOOK;
        if !crate::ask::has_peers() {
            w.haste = (w.awaited.saturating_sub(EARLY) / LATE).min(MOST_HASTE) as u32;
        }
    } else {
        w.haste = 0;
    }
    w.shared().progress.heartbeat.fetch_add(1, Ordering::Relaxed);
    settled::forget_if_due(w);
    if w.steps - w.last_change > LOOK && w.next_deadline != u64::MAX {
        // Threads only look at things while another sleeps: its time has come.
        w.time = w.time.max(w.next_deadline);
        w.changed();
    }
    if w.steps - w.last_change > QUIET_STEPS && process::is_sampling() {
        finding::livelock(w);
        process::finish(process::Outcome::Livelock);
    }
    if w.steps >= w.max_steps {
        process::finish(process::Outcome::CutOff);
    }
}

/// The running thread cannot go on until another wakes it, or until the deadline. Returns false if the
/// deadline came first.
pub fn block(waiting: &'static str, deadline: Option<u64>) -> bool {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let current = w.current;
    let fiber = w.fiber();
    fiber.state = State::Blocked;
    fiber.waiting = waiting;
    fiber.deadline = deadline;
    fiber.timed_out = false;
    fiber.interrupted = crate::signal::Interrupted::No;
    fiber.last_step = Step::Other;
    w.remove_runnable(current);
    if deadline.is_some() {
        w.update_deadline();
    }
    run_other();
    // SAFETY: as above; reacquired after the switch.
    let fiber = unsafe { world() }.fiber();
    fiber.deadline = None;
    !fiber.timed_out
}

/// Gives way to another thread if there is one.
pub fn give_way() {
    give_way_as(Op::Any);
}

/// The same, where `op` is what the thread does by that.
pub fn give_way_as(op: Op) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let current = w.current;
    w.scheduler.yielded(current);
    visible_as(Step::Other, op);
}

/// Leaves the running thread, which is blocked or finished.
pub fn run_other() {
    // SAFETY: called while running.
    let w = unsafe { world() };
    while w.runnable.is_empty() {
        w.update_deadline();
        if w.next_deadline == u64::MAX {
            finding::deadlock(w);
            process::finish(process::Outcome::Deadlock);
        }
        w.time = w.time.max(w.next_deadline);
        w.expire();
    }
    let current = w.current;
    w.scheduler.script.at(w.engine.now(current));
    let next = if w.systematic {
        w.next_in_turn()
    } else {
        w.runnable[w.scheduler.next_thread(&w.runnable, current)]
    };
    w.run_length = 0;
    if next != current {
        switch_to(next);
    }
}

fn switch_to(next: ThreadId) {
    // SAFETY: both fibers have valid stacks; `world` is reacquired by whoever continues.
    unsafe {
        let w = world();
        let hot = HOT.get();
        let old = w.current;
        w.current = next;
        let from = &mut w.fibers[old.as_usize()];
        from.calls_top = (*hot).calls as usize;
        if from.asks.is_none() {
            w.last_work = w.steps;
        }
        let to = &w.fibers[next.as_usize()];
        let (context, fs, mask) = (to.context, to.fs, to.mask);
        (*hot).thread = next;
        (*hot).state = if to.ignoring > 0 { IGNORING } else { RUNNING };
        (*hot).orders = to.unsynchronised == 0;
        if mask != w.fibers[old.as_usize()].mask {
            crate::signal::adopt(mask);
        }
        (*hot).calls = to.calls_top as *mut usize;
        let end = to.calls.as_ptr_range().end as usize;
        (*hot).calls_limit = crate::coroutine::calls_end(to.coroutine, end) as *mut usize;
        w.refresh();
        let save: *mut usize = &raw mut w.fibers[old.as_usize()].context;
        // What the thread was called from, when it goes on.
        let pc = crate::call::caller();
        fiber::set_fs_base(fs);
        fiber::porf_switch(save, context);
        *crate::call::CALLER.get() = pc;
    }
    if crate::signal::are_waiting() {
        // SAFETY: running, as another thread.
        if unsafe { world() }.fiber().interrupted == crate::signal::Interrupted::No {
            crate::signal::interrupt();
        } else {
            crate::signal::deliver();
        }
    }
}

/// Leaves the program for the controller, for good.
pub fn switch_to_controller() -> ! {
    let mut nowhere = 0;
    // SAFETY: the controller's context was saved when it last switched to the program.
    unsafe {
        let w = world();
        w.undo_swaps();
        fiber::set_fs_base(w.fibers[0].fs);
        fiber::porf_switch(&raw mut nowhere, w.controller);
    }
    unreachable!("the controller begins executions by restoring memory, not by returning")
}
