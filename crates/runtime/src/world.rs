//! The state of the running execution.
//!
//! [`World`] lives in the Rust heap and is reset for every execution. The few words that every
//! instrumented access looks at are in [`HOT`]; who runs next is decided in [`schedule`].

mod fiber;
mod hot;
mod schedule;

pub use fiber::{Fiber, State, Step};
pub use hot::{HOT, IDLE, IGNORING, PATIENCE, PENDING, RUNNING, is_ignoring, is_running};
pub use schedule::{block, give_way, give_way_as, run_other, switch_to_controller, visible, visible_as};

use crate::finding;
use crate::lend::Lender;
use crate::process;
use crate::repeat;
use crate::sync::SyncObject;
use crate::sys::{self, Global};
use porf_event::ThreadId;
use porf_sample::protocol::Shared;
use porf_sample::race::Detector;
use porf_sample::scheduler::{Mixed, Scheduler, Share, Writing};
use porf_sample::{Engine, View};
use std::sync::atomic::Ordering;

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

pub struct World {
    shared: *mut Shared,
    pub engine: Engine,
    pub detector: Detector,
    pub scheduler: Mixed,
    pub fibers: Vec<Fiber>,
    pub fiber_count: usize,
    pub runnable: Vec<ThreadId>,
    pub current: ThreadId,
    /// Numbers that kernel threads have exchanged, see [`crate::coroutine`].
    pub swaps: Vec<(ThreadId, ThreadId)>,
    /// The fibers of the program that nobody runs.
    pub left: Vec<usize>,
    pub lenders: Vec<Lender>,
    /// More lenders than there are were needed.
    pub starved: bool,
    pub syncs: Vec<SyncObject>,
    pub sync_count: usize,
    pub free_syncs: Vec<u32>,
    pub recent: [crate::atomic::Recent; 256],
    pub allocations: crate::allocation::Allocations,
    pub maps: crate::maps::Maps,
    pub modules: crate::modules::Modules,
    pub channels: crate::channel::Channels,
    pub timers: crate::timer::Timers,
    pub openmp: crate::openmp::OpenMp,
    pub orders: crate::order::Orders,
    /// The next number for a lock.
    pub next_lock: u64,
    /// What whoever installed a signal's handler had seen.
    pub installed: View,
    /// The execution changed what a signal does.
    pub actions_changed: bool,
    /// A thread of the execution changed the signals it blocks.
    pub mask_changed: bool,
    /// Bytes on which races are not reported; those up to the number were there from the beginning.
    pub benign: Vec<std::ops::Range<usize>>,
    pub benign_before: usize,
    /// Where the first thread began, before there were others, to have its accesses left out, and how often its atomics
    /// and locks.
    pub ignored_before: (Vec<usize>, i32),
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

    /// Before there are threads too, the first one has calls that a finding may tell of.
    pub fn has_first_fiber(&mut self) {
        if self.fibers.is_empty() {
            self.fibers.push(Fiber::new());
        }
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
            swaps: Vec::new(),
            left: Vec::new(),
            lenders: Vec::new(),
            starved: false,
            syncs: Vec::new(),
            sync_count: 0,
            free_syncs: Vec::new(),
            recent: crate::atomic::NOTHING_RECENT,
            allocations: crate::allocation::Allocations::default(),
            maps: crate::maps::Maps::default(),
            modules: crate::modules::Modules::default(),
            channels: crate::channel::Channels::default(),
            timers: crate::timer::Timers::default(),
            openmp: crate::openmp::OpenMp::default(),
            orders: crate::order::Orders::default(),
            next_lock: 0,
            installed: View::default(),
            actions_changed: false,
            mask_changed: false,
            benign: Vec::new(),
            benign_before: 0,
            ignored_before: (Vec::new(), 0),
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
    w.undo_swaps();
    w.left.clear();
    w.engine.reset();
    if w.detector.reset() {
        crate::shadow::clear();
    }
    if w.calibrates {
        w.scheduler.begin_pct(seed);
    } else {
        w.scheduler.begin(seed);
    }
    w.free_syncs.clear();
    w.recent = crate::atomic::NOTHING_RECENT;
    w.benign.truncate(w.benign_before);
    w.modules.reset();
    crate::java::reset();
    w.channels.reset();
    w.timers.reset();
    w.openmp.reset();
    w.orders.reset(w.shared().options.any_order != 0);
    w.installed.clear();
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
    let (ignored, unsynchronised) = &w.ignored_before;
    w.fibers[0].ignored_from.extend(ignored);
    w.fibers[0].ignoring = ignored.len() as i32;
    w.fibers[0].unsynchronised = *unsynchronised;
    w.runnable.push(ThreadId(0));
    w.shared().progress.seed.store(seed, Ordering::Relaxed);
    // SAFETY: one kernel thread.
    unsafe {
        (*HOT.get()).thread = ThreadId(0);
        (*HOT.get()).state = if w.fibers[0].ignoring > 0 { IGNORING } else { RUNNING };
        (*HOT.get()).orders = w.fibers[0].unsynchronised == 0;
    }
    w.refresh();
}

/// Ends the process when a limit of the sampler itself is reached.
pub fn give_up(message: &str) -> ! {
    sys::fail(message)
}
