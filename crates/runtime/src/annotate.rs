//! What programs tell ThreadSanitizer about themselves: `__tsan_acquire`, `AnnotateHappensBefore` and so on.
//!
//! Synchronisation that the compiler cannot see becomes happens-before; accesses between "ignore" marks are
//! not checked, races on bytes declared benign are not reported. Locks of the program's own are in [`lock`]. The rest
//! changes nothing.

pub mod lock;

use crate::call::caller;
use crate::entry;
use crate::sync::object;
use crate::world::{HOT, IGNORING, RUNNING, Step, is_running, visible, world};
use porf_sample::protocol::FindingKind;
use std::ffi::c_char;

fn acquire(address: usize) {
    if is_running() {
        visible(Step::Other);
        let index = object(address, |_| {});
        // SAFETY: running.
        unsafe { world() }.acquire_from(index);
    }
}

fn release(address: usize) {
    if is_running() {
        visible(Step::Other);
        let index = object(address, |_| {});
        // SAFETY: running.
        unsafe { world() }.release_to(index);
    }
}

/// Begins a stretch of plain accesses that are not checked; they nest.
extern "C" fn begin_ignoring() {
    if let Some(from) = ignored_from() {
        from.push(caller());
        set_ignoring(from.len() as i32);
    }
}

extern "C" fn end_ignoring() {
    if let Some(from) = ignored_from() {
        from.pop();
        set_ignoring(from.len() as i32);
    }
}

/// Begins (1) or ends (-1) one.
fn ignore(change: i32) {
    if change > 0 { begin_ignoring() } else { end_ignoring() }
}

extern "C" fn enable_detection(_file: File, _line: i32, enable: i32) {
    ignore(if enable != 0 { -1 } else { 1 });
}

entry! {
    __tsan_ignore_thread_begin => begin_ignoring; __tsan_ignore_thread_end => end_ignoring;
    AnnotateIgnoreReadsBegin => begin_ignoring; AnnotateIgnoreReadsEnd => end_ignoring;
    AnnotateIgnoreWritesBegin => begin_ignoring; AnnotateIgnoreWritesEnd => end_ignoring;
    AnnotateEnableRaceDetection => enable_detection;
}

/// Where the stretches of the running thread began; before there are others those of the first one, which last.
fn ignored_from() -> Option<&'static mut Vec<usize>> {
    if !crate::world::is_initialised() {
        return None;
    }
    // SAFETY: initialised; one kernel thread, and the list is given up before another runs.
    let w = unsafe { world() };
    if is_running() {
        crate::atomic::tracked();
        return Some(&mut w.fiber().ignored_from);
    }
    (w.fiber_count == 0).then_some(&mut w.ignored_before.0)
}

fn set_ignoring(depth: i32) {
    if is_running() {
        // SAFETY: running.
        unsafe {
            world().fiber().ignoring = depth;
            (*HOT.get()).state = if depth > 0 { IGNORING } else { RUNNING };
        }
    }
}

/// The running thread ends: are there stretches that it has not ended? Races are missed in what came since, by mistake.
pub fn check_ended() {
    if let Some(from) = ignored_from()
        && let Some(&pc) = from.last()
    {
        // SAFETY: initialised.
        let w = unsafe { world() };
        w.has_first_fiber();
        let message = "the thread ends, and its accesses are still ignored since here";
        crate::finding::event(w, FindingKind::Annotation, pc, message);
    }
}

/// Begins or ends a stretch in which the thread's atomics and locks order nothing; they nest.
fn unsynchronise(change: i32) {
    if !crate::world::is_initialised() {
        return;
    }
    // SAFETY: initialised; one kernel thread.
    unsafe {
        let w = world();
        if is_running() {
            let fiber = w.fiber();
            fiber.unsynchronised = (fiber.unsynchronised + change).max(0);
            (*HOT.get()).orders = fiber.unsynchronised == 0;
        } else if w.fiber_count == 0 {
            w.ignored_before.1 = (w.ignored_before.1 + change).max(0);
        }
    }
}

/// A handler interrupts the thread: what it does is checked and orders others, whatever stretch the thread is in.
/// Returns the depths for [`resume`].
pub fn suspend() -> (i32, i32) {
    // SAFETY: running.
    let fiber = unsafe { world() }.fiber();
    let depths = (fiber.ignoring, fiber.unsynchronised);
    crate::atomic::tracked();
    set_ignoring(0);
    unsynchronise(-depths.1);
    depths
}

/// The handler has returned.
pub fn resume(depths: (i32, i32)) {
    crate::atomic::tracked();
    set_ignoring(depths.0);
    unsynchronise(depths.1);
}

macro_rules! annotations {
    ($($name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) $body
    )*};
}

type File = *const c_char;

annotations! {
    __tsan_acquire(address: usize) { acquire(address) }
    __tsan_release(address: usize) { release(address) }
    AnnotateHappensBefore(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateHappensAfter(_f: File, _l: i32, a: usize) { acquire(a) }
    AnnotateCondVarSignal(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateCondVarSignalAll(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateCondVarWait(_f: File, _l: i32, _c: usize, a: usize) { acquire(a) }
    AnnotatePublishMemoryRange(_f: File, _l: i32, _a: usize, _n: usize) {}
    AnnotateUnpublishMemoryRange(_f: File, _l: i32, _a: usize, _n: usize) {}
    AnnotateIgnoreSyncBegin(_f: File, _l: i32) { unsynchronise(1) }
    AnnotateIgnoreSyncEnd(_f: File, _l: i32) { unsynchronise(-1) }
    AnnotateFlushState(_f: File, _l: i32) {}
    AnnotateNewMemory(_f: File, _l: i32, a: usize, size: usize) { if is_running() { crate::heap::forget(a, size) } }
    AnnotateMutexIsNotPHB(_f: File, _l: i32, _a: usize) {}
    AnnotateMutexIsUsedAsCondVar(_f: File, _l: i32, _a: usize) {}
    AnnotateThreadName(_f: File, _l: i32, _name: File) {}
    AnnotateBenignRace(_f: File, _l: i32, a: usize, _d: File) { benign(a, 1) }
    AnnotateBenignRaceSized(_f: File, _l: i32, a: usize, size: usize, _d: File) { benign(a, size) }
    WTFAnnotateHappensBefore(_f: File, _l: i32, a: usize) { release(a) }
    WTFAnnotateHappensAfter(_f: File, _l: i32, a: usize) { acquire(a) }
    WTFAnnotateBenignRaceSized(_f: File, _l: i32, a: usize, size: usize, _d: File) { benign(a, size) }
}

// ---- what ThreadSanitizer's own tests use ----

/// A barrier that orders the schedule only, and what loads may still return: on the machine that a test has in mind, they
/// return nothing older than what was stored before the barrier. Nothing happens before by it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_testonly_barrier_init(barrier: *mut u64, count: u32) {
    // SAFETY: the caller's barrier.
    unsafe { *barrier = u64::from(count) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_testonly_barrier_wait(barrier: *mut u64) {
    if !is_running() {
        return;
    }
    visible(Step::Other);
    // SAFETY: the caller's barrier: its size is in the low half.
    let size = unsafe { *barrier } as u32;
    let index = object(barrier as usize, |_| {});
    // SAFETY: running.
    let w = unsafe { world() };
    w.changed();
    w.engine.pass(w.current);
    w.syncs[index].readers += 1;
    if w.syncs[index].readers.is_multiple_of(size.max(1)) {
        w.wake_all(index);
    } else {
        let round = w.syncs[index].readers / size;
        // SAFETY: running; reacquired after each wait.
        while unsafe { world() }.syncs[index].readers / size == round {
            crate::sync::wait_on(index, "at a barrier of a test", None);
        }
    }
    // SAFETY: as above.
    let w = unsafe { world() };
    w.engine.pass(w.current);
    w.refresh();
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_testonly_shadow_stack_current_size() -> usize {
    let mut depth = 0;
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        crate::call::stack_of(w, w.current, 0, |_| depth += 1);
    }
    depth
}

/// Races on these bytes are meant to be there: they are not reported in this execution.
fn benign(address: usize, size: usize) {
    // SAFETY: initialised before the program's own code.
    unsafe {
        if crate::world::is_initialised() {
            world().benign.push(address..address + size);
        }
    }
}
