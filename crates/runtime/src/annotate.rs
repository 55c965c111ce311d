//! What programs tell ThreadSanitizer about themselves: `__tsan_acquire`, `AnnotateHappensBefore` and so on.
//!
//! Synchronisation that the compiler cannot see becomes happens-before; accesses between "ignore" marks are
//! not checked, races on bytes declared benign are not reported. Locks of the program's own are in [`lock`]. The rest
//! changes nothing.

pub mod lock;

use crate::sync::object;
use crate::world::{HOT, IGNORING, RUNNING, Step, is_running, visible, world};
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

/// Begins or ends a stretch of plain accesses that are not checked; they nest.
fn ignore(change: i32) {
    if !is_running() {
        return;
    }
    crate::atomic::tracked();
    // SAFETY: running.
    unsafe {
        let fiber = world().fiber();
        fiber.ignoring = (fiber.ignoring + change).max(0);
        (*HOT.get()).state = if fiber.ignoring > 0 { IGNORING } else { RUNNING };
    }
}

/// Begins or ends a stretch in which the thread's atomics and locks order nothing; they nest.
fn unsynchronise(change: i32) {
    if is_running() {
        // SAFETY: running.
        unsafe {
            let fiber = world().fiber();
            fiber.unsynchronised = (fiber.unsynchronised + change).max(0);
            (*HOT.get()).orders = fiber.unsynchronised == 0;
        }
    }
}

/// A handler interrupts the thread: what it does is checked and orders others, whatever stretch the thread is in.
/// Returns the depths for [`resume`].
pub fn suspend() -> (i32, i32) {
    // SAFETY: running.
    let fiber = unsafe { world() }.fiber();
    let depths = (fiber.ignoring, fiber.unsynchronised);
    ignore(-depths.0);
    unsynchronise(-depths.1);
    depths
}

/// The handler has returned.
pub fn resume(depths: (i32, i32)) {
    ignore(depths.0);
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
    __tsan_ignore_thread_begin() { ignore(1) }
    __tsan_ignore_thread_end() { ignore(-1) }
    AnnotateHappensBefore(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateHappensAfter(_f: File, _l: i32, a: usize) { acquire(a) }
    AnnotateCondVarSignal(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateCondVarSignalAll(_f: File, _l: i32, a: usize) { release(a) }
    AnnotateCondVarWait(_f: File, _l: i32, _c: usize, a: usize) { acquire(a) }
    AnnotatePublishMemoryRange(_f: File, _l: i32, _a: usize, _n: usize) {}
    AnnotateUnpublishMemoryRange(_f: File, _l: i32, _a: usize, _n: usize) {}
    AnnotateIgnoreReadsBegin(_f: File, _l: i32) { ignore(1) }
    AnnotateIgnoreReadsEnd(_f: File, _l: i32) { ignore(-1) }
    AnnotateIgnoreWritesBegin(_f: File, _l: i32) { ignore(1) }
    AnnotateIgnoreWritesEnd(_f: File, _l: i32) { ignore(-1) }
    AnnotateIgnoreSyncBegin(_f: File, _l: i32) { unsynchronise(1) }
    AnnotateIgnoreSyncEnd(_f: File, _l: i32) { unsynchronise(-1) }
    AnnotateEnableRaceDetection(_f: File, _l: i32, enable: i32) { ignore(if enable != 0 { -1 } else { 1 }) }
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

/// A barrier that orders nothing: only the schedule.
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
    w.syncs[index].readers += 1;
    if w.syncs[index].readers.is_multiple_of(size.max(1)) {
        return w.wake_all(index);
    }
    let round = w.syncs[index].readers / size;
    // SAFETY: running; reacquired after each wait.
    while unsafe { world() }.syncs[index].readers / size == round {
        crate::sync::wait_on(index, "at a barrier of a test", None);
    }
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
