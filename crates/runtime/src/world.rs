//! The state of the running execution, and who runs next.
//!
//! [`World`] lives in the Rust heap and is reset for every execution. The few words that every
//! instrumented access looks at are in [`HOT`].

use crate::fiber;
use crate::finding;
use crate::lend::Lender;
use crate::process;
use crate::repeat;
use crate::sync::SyncObject;
use crate::sys::{self, Global};
use porf_event::ThreadId;
use porf_sample::Engine;
use porf_sample::protocol::Shared;
use porf_sample::race::Detector;
use porf_sample::scheduler::systematic::{Op, Turn};
use porf_sample::scheduler::{Mixed, Scheduler, Share, Writing};
use std::sync::atomic::Ordering;

/// Nothing is tracked: the program has no second thread yet, or has none any more.
pub const IDLE: u32 = 0;
pub const RUNNING: u32 = 1;
/// Running, and a volatile access waits to be completed at the next callback.
pub const PENDING: u32 = 2;
/// Running, and the thread's plain accesses are not to be checked.
pub const IGNORING: u32 = 3;

#[repr(C)]
pub struct Hot {
    /// First: [`crate::interpose!`] reads it.
    pub state: u32,
    pub thread: ThreadId,
    /// The running thread's clock.
    pub now: u32,
    /// Plain accesses left before the thread gives way: it may wait for one.
    pub patience: u32,
    /// The end of the running thread's call stack, see [`crate::call`].
    pub calls: *mut usize,
    pub calls_limit: *mut usize,
}

pub static HOT: Global<Hot> = Global::new(Hot {
    state: IDLE,
    thread: ThreadId(0),
    now: 0,
    patience: PATIENCE,
    calls: std::ptr::null_mut(),
    calls_limit: std::ptr::null_mut(),
});

/// So many plain accesses in a row, and the thread may be waiting on a plain variable.
pub const PATIENCE: u32 = 20_000;

static WORLD: Global<*mut World> = Global::new(std::ptr::null_mut());

/// The world. Never hold the result across a switch to another fiber.
///
/// # Safety
/// After [`init`]; one kernel thread.
#[inline(always)]
pub unsafe fn world() -> &'static mut World {
    // SAFETY: set once by `init`; only the running fiber has a reference, and gives it up before it switches.
    unsafe { &mut **WORLD.get() }
}

#[inline(always)]
pub fn is_running() -> bool {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).state != IDLE }
}

/// The running thread's plain accesses are not to be checked.
pub fn is_ignoring() -> bool {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).state == IGNORING }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Runnable,
    Blocked,
    Finished,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Step {
    #[default]
    Other,
    /// A store that is neither a read-modify-write nor seq_cst.
    Store,
}

pub struct Fiber {
    pub context: usize,
    pub fs: usize,
    pub lender: usize,
    pub state: State,
    pub last_step: Step,
    /// What it waits for, in words for a report.
    pub waiting: &'static str,
    /// Virtual time at which a timed wait ends.
    pub deadline: Option<u64>,
    pub timed_out: bool,
    /// A signal came while it was blocked, and whether calls go on after its handler.
    pub interrupted: crate::signal::Interrupted,
    /// Any signal that it does not block ends its wait, not only one sent to it.
    pub pauses: bool,
    /// It waits for the kernel, see [`crate::ask`].
    pub asks: Option<crate::ask::Asks>,
    pub start: Option<crate::thread::Start>,
    pub argument: usize,
    pub result: usize,
    pub detached: bool,
    pub joined: bool,
    pub cancelled: bool,
    pub cancel_disabled: bool,
    pub specific: Vec<usize>,
    pub destructors: Vec<(usize, usize)>,
    pub cleanups: Vec<usize>,
    pub calls: Vec<usize>,
    pub calls_top: usize,
    pub stack: usize,
    pub stack_size: usize,
    pub pending_signals: Vec<i32>,
    /// The signals it blocks.
    pub mask: crate::signal::Mask,
    /// Depth of stretches whose plain accesses are not to be checked.
    pub ignoring: i32,
    /// The exception that ends the thread, see [`crate::unwind`].
    pub exit: crate::unwind::Exit,
    /// Its part in a team of OpenMP.
    pub member: crate::openmp::Member,
    /// The fiber of the program that it runs, see [`crate::coroutine`].
    pub coroutine: usize,
    /// The locks it holds, in the order in which it took them.
    pub held: Vec<crate::order::Held>,
    /// The steps at which it was created and has ended.
    pub life: (u64, u64),
    /// The calls by which it was created.
    pub created: Vec<usize>,
    /// Handlers that interrupt what it was doing.
    pub handlers: u32,
}

pub struct World {
    shared: *mut Shared,
    pub engine: Engine,
    pub detector: Detector,
    pub scheduler: Mixed,
    pub fibers: Vec<Fiber>,
    pub fiber_count: usize,
    pub runnable: Vec<ThreadId>,
    pub current: ThreadId,
    pub lenders: Vec<Lender>,
    /// More lenders than there are were needed.
    pub starved: bool,
    pub syncs: Vec<SyncObject>,
    pub sync_count: usize,
    pub free_syncs: Vec<u32>,
    pub recent: [crate::atomic::Recent; 256],
    pub maps: crate::maps::Maps,
    pub modules: crate::modules::Modules,
    pub channels: crate::channel::Channels,
    pub timers: crate::timer::Timers,
    pub openmp: crate::openmp::OpenMp,
    pub orders: crate::order::Orders,
    /// The next number for a lock.
    pub next_lock: u64,
    /// The execution changed what a signal does.
    pub actions_changed: bool,
    /// A thread of the execution changed the signals it blocks.
    pub mask_changed: bool,
    /// Bytes on which races are not reported; those up to the number were there from the beginning.
    pub benign: Vec<std::ops::Range<usize>>,
    pub benign_before: usize,
    /// Per descriptor whether it was open before the program began.
    pub inherited: Vec<bool>,
    /// The descriptor of what goes nowhere; -1 without `porf sample`.
    pub null: isize,
    pub steps: u64,
    pub max_steps: u64,
    /// One visible operation costs so much virtual time, in nanoseconds.
    pub tick: u64,
    /// Whether a clock was read since the last look at the limits.
    pub asked_time: bool,
    /// Steps, about, during which somebody slept or watched a clock, since the first thread was alone.
    pub awaited: u64,
    /// How often the tick was doubled, see [`EARLY`].
    pub haste: u32,
    /// The step at which to look at the limits again.
    pub next_look: u64,
    /// The step at which something last changed: a store, a lock, a thread, the clock read.
    pub last_change: u64,
    /// The step after which a thread that does not only ask last gave way.
    pub last_work: u64,
    /// Steps in a row by the current thread.
    pub run_length: u32,
    /// Virtual time, nanoseconds since the execution began.
    pub time: u64,
    pub next_deadline: u64,
    /// Look which locations are worth remembering when there are so many.
    pub next_sweep: usize,
    pub seed: u64,
    pub execution: u64,
    /// The fiber that runs between executions.
    pub controller: usize,
    pub volatile: crate::plain::Volatile,
    pub pending: crate::plain::Pending,
    /// Races whose earlier accesses are looked for in this execution.
    pub watches: Vec<finding::Watch>,
    /// The events of this execution are kept.
    pub tracing: bool,
    /// Every access is looked at: some are watched for, or all are traced.
    pub attentive: bool,
    /// The execution shows how long executions are.
    pub calibrates: bool,
    pub outcome: process::Outcome,
    pub forked_child: bool,
    /// The processes that the execution has forked.
    pub children: Vec<i32>,
    pub mode: repeat::Mode,
    /// The execution only collects the stack of a known race, or is one of a [`crate::minimise`].
    pub is_replay: bool,
    /// The execution is a try to minimise a finding.
    pub is_trial: bool,
    /// All choices are enumerated.
    pub systematic: bool,
    /// Consecutive stores do not stay together: somebody may have to run between them.
    pub apart: bool,
}

/// So many steps in which threads only look at things are a livelock: every load has by then returned
/// everything it may.
const QUIET_STEPS: u64 = 1_000_000;
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
    /// The memory shared with the command line; counters in it are atomic.
    #[inline]
    pub fn shared(&self) -> &Shared {
        // SAFETY: mapped for the life of the process. This side alone writes what is not atomic, through
        // `shared_mut`, which borrows the world for as long.
        unsafe { &*self.shared }
    }

    #[inline]
    pub fn shared_mut(&mut self) -> &mut Shared {
        // SAFETY: as above; the world is borrowed mutably, so that no other reference exists.
        unsafe { &mut *self.shared }
    }

    /// From now on what is found goes to other memory.
    pub fn separate(&mut self, shared: *mut Shared) {
        self.shared = shared;
    }

    pub fn replaying(&self) -> bool {
        self.is_replay
    }

    pub fn fiber(&mut self) -> &mut Fiber {
        &mut self.fibers[self.current.as_usize()]
    }

    /// Every thread of the execution, ended or not.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.fiber_count as u16).map(ThreadId)
    }

    /// Copies what the callbacks look at from the engine.
    #[inline]
    pub fn refresh(&self) {
        // SAFETY: one kernel thread.
        unsafe { (*HOT.get()).now = self.engine.now(self.current) };
    }

    /// Somebody made progress.
    #[inline]
    pub fn changed(&mut self) {
        self.last_change = self.steps;
    }

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
    if together || w.runnable.len() == 1 {
        return;
    }
    w.run_length += 1;
    if w.run_length > 1000 {
        w.run_length = 0;
        w.scheduler.yielded(current);
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
        if mask != w.fibers[old.as_usize()].mask {
            crate::signal::adopt(mask);
        }
        (*hot).calls = to.calls_top as *mut usize;
        (*hot).calls_limit = to.calls.as_ptr_range().end as *mut usize;
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
        fiber::set_fs_base(w.fibers[0].fs);
        fiber::porf_switch(&raw mut nowhere, w.controller);
    }
    unreachable!("the controller begins executions by restoring memory, not by returning")
}

/// Makes the world; the shared memory tells what to do.
pub fn init(shared: *mut Shared) {
    // SAFETY: called once, by the only thread.
    unsafe {
        let options = (*shared).options;
        let mut engine = Engine::new();
        engine.c11 = options.c11 != 0;
        engine.window = (options.window != 0).then_some(options.window as usize);
        let share = Share::from_number(options.scheduler);
        let world = Box::new(World {
            shared,
            engine,
            detector: Detector::default(),
            scheduler: Mixed::new(share, options.pct_depth),
            fibers: Vec::new(),
            fiber_count: 0,
            runnable: Vec::new(),
            current: ThreadId(0),
            lenders: Vec::new(),
            starved: false,
            syncs: Vec::new(),
            sync_count: 0,
            free_syncs: Vec::new(),
            recent: crate::atomic::NOTHING_RECENT,
            maps: crate::maps::Maps::default(),
            modules: crate::modules::Modules::default(),
            channels: crate::channel::Channels::default(),
            timers: crate::timer::Timers::default(),
            openmp: crate::openmp::OpenMp::default(),
            orders: crate::order::Orders::default(),
            next_lock: 0,
            actions_changed: false,
            mask_changed: false,
            benign: Vec::new(),
            benign_before: 0,
            inherited: repeat::inherited(),
            null: -1,
            steps: 0,
            max_steps: options.max_steps,
            tick: options.tick,
            asked_time: false,
            awaited: 0,
            haste: 0,
            next_look: 0,
            last_change: 0,
            last_work: 0,
            run_length: 0,
            time: 0,
            next_deadline: u64::MAX,
            next_sweep: crate::atomic::FIRST_SWEEP,
            seed: 0,
            execution: 0,
            controller: 0,
            volatile: crate::plain::Volatile::from_number(options.volatile),
            pending: crate::plain::Pending::default(),
            watches: Vec::new(),
            tracing: false,
            attentive: false,
            calibrates: false,
            outcome: process::Outcome::Running,
            forked_child: false,
            children: Vec::new(),
            mode: repeat::Mode::Standalone,
            is_replay: false,
            is_trial: false,
            systematic: false,
            apart: false,
        });
        *WORLD.get() = Box::into_raw(world);
    }
}

pub fn is_initialised() -> bool {
    // SAFETY: reads a pointer.
    unsafe { !(*WORLD.get()).is_null() }
}

/// Begins an execution: one running fiber, the main thread, where it is.
pub fn begin(seed: u64) {
    // SAFETY: between executions.
    let w = unsafe { world() };
    w.seed = seed;
    w.engine.reset();
    w.detector.reset();
    if w.calibrates {
        w.scheduler.begin_pct(seed);
    } else {
        w.scheduler.begin(seed);
    }
    w.free_syncs.clear();
    w.recent = crate::atomic::NOTHING_RECENT;
    w.benign.truncate(w.benign_before);
    w.modules.reset();
    w.channels.reset();
    w.timers.reset();
    w.openmp.reset();
    w.orders.reset();
    w.sync_count = 0;
    w.next_sweep = crate::atomic::FIRST_SWEEP;
    w.steps = 0;
    (w.asked_time, w.awaited, w.haste) = (false, 0, 0);
    w.next_look = w.max_steps.min(4096);
    w.run_length = 0;
    w.last_change = 0;
    w.last_work = 0;
    w.time = crate::time::before_threads();
    w.next_deadline = w.timers.next();
    w.starved = false;
    w.pending = crate::plain::Pending::default();
    w.outcome = process::Outcome::Running;
    w.systematic = w.scheduler.is_systematic();
    w.apart = w.scheduler.writing() == Writing::Follows;
    w.tracing = w.shared().options.trace != 0 && !w.is_replay;
    w.attentive = w.tracing || !w.watches.is_empty();
    if w.tracing {
        w.shared_mut().traced = 0;
    }
    w.lenders.iter_mut().for_each(|lender| (lender.used, lender.fresh) = (false, true));
    w.runnable.clear();
    w.fiber_count = 1;
    w.current = ThreadId(0);
    w.fibers[0].reset();
    w.runnable.push(ThreadId(0));
    w.shared().progress.seed.store(seed, Ordering::Relaxed);
    // SAFETY: one kernel thread.
    unsafe {
        (*HOT.get()).thread = ThreadId(0);
        (*HOT.get()).state = RUNNING;
    }
    w.refresh();
}

impl Fiber {
    pub fn new() -> Fiber {
        Fiber {
            context: 0,
            fs: 0,
            lender: usize::MAX,
            state: State::Runnable,
            last_step: Step::Other,
            waiting: "",
            deadline: None,
            timed_out: false,
            interrupted: crate::signal::Interrupted::No,
            pauses: false,
            asks: None,
            start: None,
            argument: 0,
            result: 0,
            detached: false,
            joined: false,
            cancelled: false,
            cancel_disabled: false,
            specific: Vec::new(),
            destructors: Vec::new(),
            cleanups: Vec::new(),
            calls: vec![0; crate::call::DEPTH],
            calls_top: 0,
            stack: 0,
            stack_size: 0,
            pending_signals: Vec::new(),
            mask: 0,
            ignoring: 0,
            exit: crate::unwind::Exit::default(),
            member: crate::openmp::Member::default(),
            coroutine: 0,
            held: Vec::new(),
            life: (0, u64::MAX),
            created: Vec::new(),
            handlers: 0,
        }
    }

    /// Whether it must end at the next cancellation point.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled && !self.cancel_disabled
    }

    /// A fiber about to begin, on the same stack and buffers.
    pub fn reset(&mut self) {
        self.state = State::Runnable;
        self.last_step = Step::Other;
        self.waiting = "";
        self.deadline = None;
        self.timed_out = false;
        self.interrupted = crate::signal::Interrupted::No;
        self.pauses = false;
        self.asks = None;
        self.result = 0;
        self.detached = false;
        self.joined = false;
        self.cancelled = false;
        self.cancel_disabled = false;
        self.specific.clear();
        self.destructors.clear();
        self.cleanups.clear();
        self.pending_signals.clear();
        self.ignoring = 0;
        self.member = crate::openmp::Member::default();
        self.coroutine = 0;
        self.held.clear();
        self.life = (0, u64::MAX);
        self.created.clear();
        self.handlers = 0;
        self.calls_top = self.calls.as_ptr() as usize;
    }
}

/// Ends the process when a limit of the sampler itself is reached.
pub fn give_up(message: &str) -> ! {
    sys::fail(message)
}
