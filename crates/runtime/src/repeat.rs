//! Execution after execution from one state of the process.
//!
//! In-process: when the first thread is created, the writable memory of the program is copied aside, and
//! before each execution copied back; open files are closed or rewound. A controller fiber on a stack of
//! its own does that. Fork: a child per execution; for programs whose memory is large. Restart: the whole
//! program once per execution; for programs with state outside their memory.

use crate::fiber;
use crate::finding;
use crate::heap;
use crate::lend;
use crate::minimise;
use crate::process::{self, Outcome};
use crate::signal::Dispositions;
use crate::sys;
use crate::world::{self, World, world};
use porf_sample::protocol::{FindingKind, HASH_SLOTS, Isolation, execution_seed};
use porf_sample::scheduler::learn::{self, Worth};
use std::sync::atomic::Ordering;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Not run by `porf sample`: one execution.
    Standalone,
    InProcess,
    Fork,
    /// This process runs one execution; `porf sample` starts the next.
    Restart,
}

/// Copying more than this back costs more than a fork.
const IN_PROCESS_LIMIT: usize = 4 << 20;
const LENDERS: usize = 8;
/// The seed of the execution that only shows how long executions are.
const CALIBRATION_SEED: u64 = 0;
const CONTROLLER_STACK: usize = 1 << 20;

/// The first thread is about to be created: executions start here. Returns once per execution.
pub fn begin() {
    // SAFETY: initialised; the only thread.
    let w = unsafe { world() };
    w.has_first_fiber();
    w.fibers[0].fs = fiber::fs_base();
    w.fibers[0].mask = crate::signal::current();
    w.benign_before = w.benign.len();
    w.modules.begin();
    crate::java::begin();
    w.timers.begin();
    w.fiber_count = 1;
    lend::lend(w, LENDERS);
    if !process::is_sampling() {
        world::begin(0);
        return;
    }
    let options = w.shared().options;
    process::install_handlers();
    note_maps();
    let size = Snapshot::measure();
    w.shared().progress.snapshot_bytes.store(size.unwrap_or(0) as u64, Ordering::Relaxed);
    let mode = match Isolation::from_number(options.isolation) {
        Isolation::InProcess => Mode::InProcess,
        Isolation::Fork => Mode::Fork,
        Isolation::Restart => Mode::Restart,
        Isolation::Automatic if holds_state_outside() => Mode::Restart,
        Isolation::Automatic if size.is_none_or(|size| size > IN_PROCESS_LIMIT) => Mode::Fork,
        Isolation::Automatic => Mode::InProcess,
    };
    w.mode = mode;
    minimise::begin(w);
    let used = match mode {
        Mode::Fork => Isolation::Fork,
        Mode::Restart => Isolation::Restart,
        _ => Isolation::InProcess,
    };
    w.shared().progress.isolation.store(used as u32, Ordering::Relaxed);
    w.shared().progress.process.store(std::process::id(), Ordering::Relaxed);
    match mode {
        Mode::Fork => return fork_executions(),
        Mode::Restart => return run_one(),
        _ => {}
    }
    let stack = sys::map(CONTROLLER_STACK) as usize;
    // SAFETY: a stack of our own; the main fiber continues here, once per execution.
    unsafe {
        let controller = fiber::prepare(stack + CONTROLLER_STACK, control, 0);
        let save = &raw mut world().fibers[0].context;
        fiber::porf_switch(save, controller);
    }
}

/// A thread is created and no lender is free.
pub fn need_lender() {
    // SAFETY: running.
    let w = unsafe { world() };
    if w.mode == Mode::InProcess {
        // A new kernel thread now would be rolled back half: make more before the next attempt.
        process::finish(Outcome::Starved);
    }
    let own = fiber::fs_base();
    // SAFETY: libc must see the kernel thread's own storage while it creates another.
    unsafe {
        fiber::set_fs_base(w.fibers[0].fs);
        lend::lend(w, LENDERS);
        fiber::set_fs_base(own);
    }
}

/// The plan of executions, and the books.
struct Plan {
    next: u64,
    total: u64,
}

impl Plan {
    /// Prepares the next execution and returns its seed.
    fn next(&mut self) -> Option<u64> {
        // SAFETY: between executions.
        let w = unsafe { world() };
        let options = w.shared().options;
        (w.calibrates, w.is_replay, w.is_trial) = (false, true, false);
        w.scheduler.write_nothing();
        w.shared().progress.heartbeat.fetch_add(1, Ordering::Relaxed);
        follow_path(w);
        if let Some(seed) = finding::incomplete(w).or_else(|| minimise::next(w)) {
            self.expect_length(w, seed);
            return Some(seed);
        }
        let found = w.shared().progress.finding_count.load(Ordering::Relaxed) > 0;
        let stops = w.shared().progress.stop.load(Ordering::Relaxed) != 0;
        if self.next == self.total || stops || (options.stop_at_first != 0 && found) {
            return None;
        }
        if w.shared().path_is_done != 0 && !next_path(w) {
            w.shared().progress.exhausted.store(1, Ordering::Relaxed);
            w.shared().progress.done.store(1, Ordering::Release);
            return None;
        }
        if options.scripted != 0 {
            let decisions = w.shared().minimiser.best().to_vec();
            w.scheduler.follow(&decisions);
        }
        let mut seed = execution_seed(options.seed, self.next);
        if w.scheduler.learns() && learn::arm_of(seed).is_none() {
            seed = learn::with_arm(seed, w.shared().learnt.choose());
        }
        if !self.expect_length(w, seed) {
            // One execution, always the same, tells how long they are.
            w.calibrates = true;
            return Some(CALIBRATION_SEED);
        }
        w.is_replay = false;
        w.execution = self.next;
        self.next += 1;
        w.shared().progress.begun.fetch_add(1, Ordering::Relaxed);
        Some(seed)
    }

    /// Tells PCT how long executions are, if it wants to know and that is known.
    fn expect_length(&self, w: &mut World, seed: u64) -> bool {
        let progress = &w.shared().progress;
        let (steps, loads) =
            (progress.pct_steps.load(Ordering::Relaxed), progress.pct_loads.load(Ordering::Relaxed));
        if steps > 0 {
            w.scheduler.pct().expect(steps, loads);
        }
        steps > 0 || !w.scheduler.wants_pct(seed)
    }

    fn again(&mut self) {
        // SAFETY: between executions.
        let w = unsafe { world() };
        if !w.is_replay {
            self.next -= 1;
            w.shared().progress.begun.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The next systematic execution makes the choices that the shared memory holds.
fn follow_path(w: &mut World) {
    let shared = w.shared();
    let path = shared.path[..shared.path_length as usize].to_vec();
    w.scheduler.systematic.follow(&path);
}

/// Moves on to the next systematic execution; false if there is none.
fn next_path(w: &mut World) -> bool {
    let more = w.scheduler.systematic.advance();
    store_path(w, false);
    more
}

fn store_path(w: &mut World, is_done: bool) {
    let path = w.scheduler.systematic.path().to_vec();
    let shared = w.shared_mut();
    shared.path[..path.len()].copy_from_slice(&path);
    shared.path_length = path.len() as u32;
    shared.path_is_done = u32::from(is_done);
}

/// After an execution, in the process that ran it.
fn account() {
    // SAFETY: between executions.
    let w = unsafe { world() };
    if w.calibrates {
        let (steps, loads) = w.scheduler.pct().length();
        w.shared().progress.pct_loads.store(loads, Ordering::Relaxed);
        w.shared().progress.pct_steps.store(steps.max(1), Ordering::Relaxed);
    }
    if w.is_trial {
        minimise::account(w);
    }
    if w.is_replay {
        while let Some(watch) = w.watches.pop() {
            // The access did not come again (a program that is not a function of its seed): one frame must do.
            w.shared_mut().findings[watch.finding].complete = 2;
        }
        return;
    }
    if w.systematic {
        store_path(w, true);
        let systematic = &w.scheduler.systematic;
        let (bounded, incomplete) = (systematic.is_bounded(), systematic.is_incomplete());
        w.shared().progress.bounded.fetch_or(bounded.into(), Ordering::Relaxed);
        w.shared().progress.incomplete.fetch_or(incomplete.into(), Ordering::Relaxed);
    }
    let progress = &w.shared().progress;
    let has_finding = progress.last_violating.load(Ordering::Relaxed) == w.execution + 1;
    if w.outcome == Outcome::Repeats && !has_finding {
        progress.repeats.fetch_add(1, Ordering::Release);
        return;
    }
    let shared = w.shared();
    let progress = &shared.progress;
    progress.events.fetch_add(w.steps, Ordering::Relaxed);
    progress.max_threads.fetch_max(w.fiber_count as u32, Ordering::Relaxed);
    progress.peak_stores.fetch_max(w.engine.stores_kept() as u64, Ordering::Relaxed);
    match w.outcome {
        Outcome::CutOff => {
            progress.cut_off.fetch_add(1, Ordering::Relaxed);
        }
        Outcome::Exited(status) if status != 0 => {
            progress.failed.fetch_add(1, Ordering::Relaxed);
            progress.failed_status.store(status as u64, Ordering::Relaxed);
        }
        _ => {}
    }
    let is_new = note_distinct(w.engine.reads_from);
    if let Some(arm) = learn::arm_of(w.seed).filter(|_| w.scheduler.learns()) {
        let worth = match (has_finding, is_new) {
            (true, _) => Worth::Finding,
            (false, true) => Worth::New,
            (false, false) => Worth::Nothing,
        };
        w.shared_mut().learnt.note(arm, worth);
    }
    w.shared().progress.ended.fetch_add(1, Ordering::Release);
}

/// Whether no execution had the same reads-from relation, as far as that is known.
fn note_distinct(hash: u64) -> bool {
    // SAFETY: between executions.
    let shared = unsafe { world() }.shared_mut();
    // The lowest bit is whether the slot is taken, the next whether it was seen again.
    let hash = hash & !3 | 1;
    let distinct = shared.progress.distinct.load(Ordering::Relaxed) as usize;
    if distinct >= HASH_SLOTS / 4 * 3 {
        return false;
    }
    let mut slot = hash as usize >> 20 & (HASH_SLOTS - 1);
    while shared.hashes[slot] != 0 {
        if shared.hashes[slot] & !2 == hash {
            if shared.hashes[slot] == hash {
                shared.hashes[slot] |= 2;
                shared.progress.once.fetch_sub(1, Ordering::Relaxed);
            }
            return false;
        }
        slot = (slot + 1) & (HASH_SLOTS - 1);
    }
    shared.hashes[slot] = hash;
    shared.progress.once.fetch_add(1, Ordering::Relaxed);
    shared.progress.distinct.fetch_add(1, Ordering::Relaxed);
    true
}

// ---- in-process ----

extern "C" fn control(_: usize) -> ! {
    // SAFETY: runs between executions, on its own stack.
    unsafe {
        let mut plan = Plan { next: 0, total: world().shared().options.executions };
        let files = Files::note(true);
        let signals = Dispositions::note();
        let mut snapshot = Snapshot::take(world().fibers[0].context);
        let main = world().fibers[0].context;
        while let Some(seed) = plan.next() {
            files.restore();
            signals.restore();
            world().maps.undo();
            snapshot.restore();
            world::begin(seed);
            fiber::set_fs_base(world().fibers[0].fs);
            let save = &raw mut world().controller;
            fiber::porf_switch(save, main);
            process::end_children();
            if world().outcome == Outcome::Starved {
                plan.again();
                world().maps.undo();
                snapshot.restore();
                let more = world().lenders.len();
                lend::lend(world(), more);
                snapshot = Snapshot::take(main);
                continue;
            }
            account();
        }
    }
    sys::exit_now(0)
}

/// Copies of the writable memory of the program.
struct Snapshot {
    parts: Vec<Part>,
    heap_end: usize,
    heap_high: usize,
}

struct Part {
    start: usize,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// The ranges to copy; `stack` is where the main thread's stack begins to matter.
    fn ranges(stack: usize) -> Option<Vec<(usize, usize)>> {
        let mut ranges = Vec::new();
        for line in read_maps()?.split(|&byte| byte == b'\n') {
            let Some((start, end, writable, shared)) = parse_map(line) else { continue };
            if !writable
                || shared
                || sys::OWN.contains(&start)
                || (heap::START..heap::START + (1 << 40)).contains(&start)
            {
                continue;
            }
            ranges.push(if (start..end).contains(&stack) { (stack, end) } else { (start, end) });
        }
        let heap = heap::used();
        ranges.push((heap.start, heap.end));
        Some(ranges)
    }

    /// How much would have to be copied; None where a sandbox does not let that be known.
    fn measure() -> Option<usize> {
        let here = 0u8;
        let ranges = Snapshot::ranges(&raw const here as usize)?;
        Some(ranges.iter().map(|(start, end)| end - start).sum())
    }

    unsafe fn take(stack: usize) -> Snapshot {
        let heap_end = heap::used().end;
        let parts = Snapshot::ranges(stack)
            .unwrap_or_else(|| sys::fail("porf: cannot read /proc/self/maps: try --isolation fork\n"))
            .into_iter()
            .map(|(start, end)| {
                // SAFETY: readable memory of the process.
                let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) }.to_vec();
                Part { start, bytes }
            })
            .collect();
        Snapshot { parts, heap_end, heap_high: heap_end }
    }

    unsafe fn restore(&mut self) {
        // Memory beyond the copied heap is given out again, zeroed as it was.
        self.heap_high = heap::used().end;
        // SAFETY: the same ranges as copied; nothing of ours lies in them but what rolls back.
        unsafe {
            if self.heap_high > self.heap_end {
                std::ptr::write_bytes(self.heap_end as *mut u8, 0, self.heap_high - self.heap_end);
            }
            for part in &self.parts {
                std::ptr::copy_nonoverlapping(part.bytes.as_ptr(), part.start as *mut u8, part.bytes.len());
            }
        }
    }
}

/// Start, end, writable, shared.
fn parse_map(line: &[u8]) -> Option<(usize, usize, bool, bool)> {
    let line = std::str::from_utf8(line).ok()?;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let permissions = rest.as_bytes();
    Some((start, end, permissions[1] == b'w', permissions[3] == b's'))
}

/// The text of /proc/self/maps; None where a sandbox forbids it.
fn read_maps() -> Option<Vec<u8>> {
    let mut text = Vec::new();
    // SAFETY: plain system calls on a buffer of ours.
    unsafe {
        let file = sys::syscall(
            libc::SYS_open,
            [c"/proc/self/maps".as_ptr() as usize, libc::O_RDONLY as usize, 0, 0, 0, 0],
        );
        if file < 0 {
            return None;
        }
        let mut buffer = [0u8; 4096];
        loop {
            let count = sys::syscall(
                libc::SYS_read,
                [file as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0],
            );
            if count <= 0 {
                break;
            }
            text.extend_from_slice(&buffer[..count as usize]);
        }
        sys::syscall(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
    }
    Some(text)
}

/// Notes where files are mapped, for whoever looks up functions and lines. In the beginning, because a sandbox may
/// forbid it later.
pub fn note_maps() {
    // SAFETY: initialised.
    let shared = unsafe { world() }.shared_mut();
    let text = read_maps().unwrap_or_default();
    let mut length = shared.maps_length as usize;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        // Lines from before stay: another execution may have loaded a library elsewhere.
        let known = shared.maps[..length].split_inclusive(|&byte| byte == b'\n').any(|known| known == line);
        if !known && line.contains(&b'/') && length + line.len() <= shared.maps.len() {
            shared.maps[length..length + line.len()].copy_from_slice(line);
            length += line.len();
        }
    }
    shared.maps_length = length as u64;
}

/// A copy of a descriptor, out of the program's way.
fn high(fd: usize) -> isize {
    // SAFETY: a system call on descriptors.
    unsafe { sys::syscall(libc::SYS_fcntl, [fd, libc::F_DUPFD_CLOEXEC as usize, 900, 0, 0, 0]) }
}

/// Where output goes that nobody is to see; opened in the beginning, because a sandbox may forbid it later.
pub fn nowhere() -> isize {
    // SAFETY: system calls on descriptors.
    unsafe {
        let path = c"/dev/null".as_ptr() as usize;
        let opened = sys::syscall(libc::SYS_open, [path, libc::O_RDWR as usize, 0, 0, 0, 0]);
        let null = high(opened as usize);
        sys::syscall(libc::SYS_close, [opened as usize, 0, 0, 0, 0, 0]);
        null
    }
}

/// The descriptors that were open, and where regular files stood.
struct Files {
    first_free: usize,
    offsets: Vec<(usize, isize)>,
    /// Descriptors other than the standard ones, and copies of them.
    copies: Vec<(usize, isize)>,
    output: u32,
    /// Copies of the standard ones.
    saved: [isize; 3],
    null: isize,
}

impl Files {
    /// `keep` is whether the descriptors are to be restored later.
    fn note(keep: bool) -> Files {
        // SAFETY: system calls on descriptors.
        unsafe {
            let output = world().shared().options.output;
            let saved = [high(0), high(1), high(2)];
            let null = world().null;
            let mut offsets = Vec::new();
            let mut copies = Vec::new();
            for fd in 0..DESCRIPTORS {
                let mode = mode_of(fd);
                if keep && mode.is_some() && fd > 2 {
                    copies.push((fd, high(fd)));
                }
                if mode.is_some_and(|mode| mode & libc::S_IFMT == libc::S_IFREG) {
                    offsets
                        .push((fd, sys::syscall(libc::SYS_lseek, [fd, 0, libc::SEEK_CUR as usize, 0, 0, 0])));
                }
            }
            Files { first_free: Files::free(), offsets, copies, output, saved, null }
        }
    }

    /// Shows or drops the output of the coming execution.
    unsafe fn choose_output(&self) {
        // SAFETY: system calls on descriptors.
        unsafe {
            let (execution, is_replay) = (world().execution, world().is_replay);
            let shown = match self.output {
                _ if is_replay => false,
                0 => false,
                1 => execution == 0,
                _ => true,
            };
            for (fd, saved) in self.saved.into_iter().enumerate() {
                let source = if shown || fd == 0 { saved } else { self.null };
                if source >= 0 {
                    sys::syscall(libc::SYS_dup2, [source as usize, fd, 0, 0, 0, 0]);
                } else {
                    sys::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]);
                }
            }
        }
    }

    /// The lowest free descriptor.
    unsafe fn free() -> usize {
        // SAFETY: duplicates and closes.
        unsafe {
            let fd = sys::syscall(libc::SYS_fcntl, [900, libc::F_DUPFD as usize, 0, 0, 0, 0]);
            if fd >= 0 {
                sys::syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
            }
            fd as usize
        }
    }

    unsafe fn restore(&self) {
        // SAFETY: closes what the last execution opened, rewinds what it moved.
        unsafe {
            if Files::free() != self.first_free {
                sys::syscall(libc::SYS_close_range, [self.first_free, 899, 0, 0, 0, 0]);
            }
            for &(fd, copy) in &self.copies {
                sys::syscall(libc::SYS_dup2, [copy as usize, fd, 0, 0, 0, 0]);
            }
            for &(fd, offset) in &self.offsets {
                sys::syscall(libc::SYS_lseek, [fd, offset as usize, libc::SEEK_SET as usize, 0, 0, 0]);
            }
            self.choose_output();
        }
    }
}

/// Whether a descriptor holds what cannot be put back: what is in a pipe, who is connected, what an event
/// counts. What the program inherited is somebody else's.
fn holds_state_outside() -> bool {
    // SAFETY: initialised.
    let inherited = &unsafe { world() }.inherited;
    (3..DESCRIPTORS).any(|fd| {
        let plain = |mode: u32| matches!(mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR | libc::S_IFCHR);
        !inherited[fd] && mode_of(fd).is_some_and(|mode| !plain(mode))
    })
}

/// So many descriptors are looked at.
const DESCRIPTORS: usize = 256;

fn mode_of(fd: usize) -> Option<u32> {
    // SAFETY: fills in a local.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let known = sys::syscall(libc::SYS_fstat, [fd, &raw mut status as usize, 0, 0, 0, 0]) == 0;
        known.then_some(status.st_mode)
    }
}

/// The descriptors that are open before the program does anything: whoever started it left them.
pub fn inherited() -> Vec<bool> {
    (0..DESCRIPTORS).map(|fd| mode_of(fd).is_some()).collect()
}

// ---- restart ----

/// Begins the one execution of this process, or ends it if none is left.
fn run_one() {
    // SAFETY: before the execution.
    unsafe {
        let progress = &world().shared().progress;
        let next = progress.begun.load(Ordering::Relaxed);
        let mut plan = Plan { next, total: world().shared().options.executions };
        let Some(seed) = plan.next() else {
            world().shared().progress.done.store(1, Ordering::Release);
            sys::exit_now(0)
        };
        Files::note(false).choose_output();
        world::begin(seed);
    }
}

// ---- fork ----

/// Forks a child per execution; returns in each child, and never in the parent.
fn fork_executions() {
    // SAFETY: between executions.
    unsafe {
        let mut plan = Plan { next: 0, total: world().shared().options.executions };
        let files = Files::note(true);
        while let Some(seed) = plan.next() {
            files.restore();
            let before = ended();
            let child = fork_child();
            if child == 0 {
                process::end_with_parent();
                world().shared().progress.process.store(std::process::id(), Ordering::Relaxed);
                world::begin(seed);
                return;
            }
            let mut status = 0i32;
            while sys::syscall(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0])
                == -(libc::EINTR as isize)
            {}
            let w = world();
            // A child that died before it could tell.
            if w.calibrates {
                let steps = &w.shared().progress.pct_steps;
                let _ = steps.compare_exchange(0, 64, Ordering::Relaxed, Ordering::Relaxed);
            }
            if w.is_replay {
                while let Some(watch) = w.watches.pop() {
                    let finding = &mut w.shared_mut().findings[watch.finding];
                    if finding.complete == 0 {
                        finding.complete = 2;
                    }
                }
            } else if ended() == before {
                // Killed without a word (SIGKILL, or a handler of the program's own).
                if w.scheduler.is_systematic() {
                    // Its choices are not known: none can be made after them.
                    w.shared().progress.incomplete.store(1, Ordering::Relaxed);
                    w.shared().progress.stop.store(1, Ordering::Relaxed);
                }
                w.seed = seed;
                w.steps = 0;
                w.outcome = Outcome::Aborted;
                let signal = status & 0x7f;
                let message = format!("the process was killed by signal {signal}");
                finding::event(w, FindingKind::Crash, 0, &message);
                w.shared().progress.ended.fetch_add(1, Ordering::Release);
            }
        }
    }
    sys::exit_now(0)
}

/// Executions that have ended, complete or not.
fn ended() -> u64 {
    // SAFETY: between executions.
    let progress = unsafe { &world().shared().progress };
    progress.ended.load(Ordering::Acquire) + progress.repeats.load(Ordering::Acquire)
}

/// A child has run its execution.
pub fn end_of_child() -> ! {
    process::end_children();
    account();
    sys::exit_now(0)
}

/// libc's fork, which also tidies libc's own state in the child.
unsafe fn fork_child() -> i32 {
    // SAFETY: one kernel thread runs; the lenders' storage is copied with everything else.
    unsafe { crate::real!(fork() -> i32) }
}
