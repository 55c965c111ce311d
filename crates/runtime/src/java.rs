//! ThreadSanitizer's interface for virtual machines: locks by address, memory that begins and ends, volatile
//! variables that order. Moved objects are new ones: a race with an access before the move is not seen.

use crate::annotate::lock;
use crate::sync::object;
use crate::sys::Global;
use crate::world::{Step, is_running, visible, world};
use std::collections::BTreeMap;

/// The objects of the virtual machine: address and size. In the Rust heap, so that it must be copied where executions
/// begin; see [`begin`].
static OBJECTS: Global<BTreeMap<usize, usize>> = Global::new(BTreeMap::new());
static OBJECTS_BEFORE: Global<BTreeMap<usize, usize>> = Global::new(BTreeMap::new());

/// Executions begin here.
pub fn begin() {
    // SAFETY: one kernel thread.
    unsafe { (*OBJECTS_BEFORE.get()).clone_from(objects()) };
}

/// Another execution begins.
pub fn reset() {
    // SAFETY: one kernel thread.
    objects().clone_from(unsafe { &*OBJECTS_BEFORE.get() });
}

fn objects() -> &'static mut BTreeMap<usize, usize> {
    // SAFETY: one kernel thread.
    unsafe { &mut *OBJECTS.get() }
}

fn allocated(address: usize, size: usize) {
    objects().insert(address, size);
    renew(address, size);
}

fn freed(address: usize, size: usize) {
    while let Some((&first, _)) = objects().range(address..address + size).next() {
        objects().remove(&first);
    }
    renew(address, size);
}

/// Objects move: what is known of their memory moves with them.
fn moved(from: usize, to: usize, size: usize) {
    let moving: Vec<(usize, usize)> =
        objects().range(from..from + size).map(|(&at, &bytes)| (at, bytes)).collect();
    for &(at, _) in &moving {
        objects().remove(&at);
    }
    objects().extend(moving.into_iter().map(|(at, bytes)| (at - from + to, bytes)));
    renew(to, size);
}

/// The first object at or after an address, up to another: its size, and its address in the first word.
unsafe fn find(from: *mut usize, to: usize) -> usize {
    // SAFETY: the caller's word.
    unsafe {
        let start = *from;
        let found = objects().range(start..to.max(start)).next();
        found.map_or(0, |(&at, &size)| {
            *from = at;
            size
        })
    }
}

fn order(address: usize, releases: bool) {
    if is_running() {
        visible(Step::Other);
        let index = object(address, |_| {});
        // SAFETY: running.
        let w = unsafe { world() };
        if releases {
            w.release_to(index);
        } else {
            w.acquire_from(index);
        }
    }
}

/// A monitor was entered, so many times at once.
fn locked(address: usize, flags: u32, times: u32) {
    lock::wanted(address, flags);
    lock::acquired(address, flags | lock::REENTRANT, times);
}

/// Objects are finalised: all that was done to them is over, whoever did it.
fn acquire_all() {
    if is_running() {
        visible(Step::Other);
        // SAFETY: running.
        let w = unsafe { world() };
        let mut view = porf_sample::View::default();
        for thread in w.threads() {
            w.engine.release(thread, &mut view);
        }
        w.engine.acquire(w.current, &view);
        w.refresh();
    }
}

fn renew(address: usize, size: usize) {
    if is_running() {
        crate::heap::forget(address, size);
    }
}

macro_rules! java {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) $(-> $ret)? $body
    )*};
}

java! {
    __tsan_java_preinit(_path: usize) {}
    __tsan_java_init(_start: usize, _size: usize) {}
    __tsan_java_find(from: *mut usize, to: usize) -> usize {
        // SAFETY: the contract of this function is that of the one it calls.
        unsafe { find(from, to) }
    }
    __tsan_java_fini() -> i32 { 0 }
    __tsan_java_alloc(address: usize, size: usize) { allocated(address, size) }
    __tsan_java_free(address: usize, size: usize) { freed(address, size) }
    __tsan_java_move(from: usize, to: usize, size: usize) { moved(from, to, size) }
    __tsan_java_finalize() { acquire_all() }
    __tsan_java_mutex_lock(address: usize) { locked(address, 0, 1) }
    __tsan_java_mutex_unlock(address: usize) { lock::released(address, 0); }
    __tsan_java_mutex_read_lock(address: usize) { locked(address, lock::READ, 1) }
    __tsan_java_mutex_read_unlock(address: usize) { lock::released(address, lock::READ); }
    __tsan_java_mutex_lock_rec(address: usize, times: i32) { locked(address, lock::RECURSIVE_LOCK, times as u32) }
    __tsan_java_mutex_unlock_rec(address: usize) -> i32 { lock::released(address, lock::RECURSIVE_UNLOCK) }
    __tsan_java_acquire(address: usize) { order(address, false) }
    __tsan_java_release(address: usize) { order(address, true) }
    __tsan_java_release_store(address: usize) { order(address, true) }
}
