//! Locks of the program's own, as it tells of them: `__tsan_mutex_pre_lock` and so on, `AnnotateRWLock…`.
//!
//! Between the marks "pre" and "post" a thread is inside of the lock's own code: its plain accesses are not checked,
//! and its atomics and other locks order nothing. What the lock orders is what the marks say. Misuse and orders of
//! locks are seen as of `pthread_mutex_t`.

use super::{ignore, unsynchronise};
use crate::call::caller;
use crate::entry;
use crate::finding;
use crate::order;
use crate::sync::{self, object};
use crate::sys::Global;
use crate::world::{Step, is_initialised, is_running, visible, world};
use porf_event::ThreadId;
use porf_sample::protocol::FindingKind;
use std::collections::BTreeMap;

const LINKER_INIT: u32 = 1;
/// A thread that holds the lock may lock it once more.
pub const REENTRANT: u32 = 1 << 1;
pub const READ: u32 = 1 << 3;
const TRY: u32 = 1 << 4;
const TRY_FAILED: u32 = 1 << 5;
/// The lock may be destroyed. One that is destroyed with this flag, but was not created with it, lives on.
const NOT_STATIC: u32 = 1 << 8;
pub const RECURSIVE_LOCK: u32 = 1 << 6;
pub const RECURSIVE_UNLOCK: u32 = 1 << 7;

const HELD: &str = "lock of a mutex that is locked";

/// With which of the flags [`LINKER_INIT`] and [`NOT_STATIC`] locks were created. Those that the linker initialises live
/// as long as the program.
static CREATED: Global<BTreeMap<usize, u32>> = Global::new(BTreeMap::new());

fn created() -> &'static mut BTreeMap<usize, u32> {
    // SAFETY: one kernel thread.
    unsafe { &mut *CREATED.get() }
}

/// Those that the first thread holds before there is another: how often to write, and to read.
static HELD_BEFORE: Global<BTreeMap<usize, [u32; 2]>> = Global::new(BTreeMap::new());

fn held_before() -> &'static mut BTreeMap<usize, [u32; 2]> {
    // SAFETY: one kernel thread.
    unsafe { &mut *HELD_BEFORE.get() }
}

/// The lock at an address. Its first bytes are not touched: they are the program's, which may access them as it likes.
fn lock_at(address: usize) -> usize {
    object(address, |object| {
        if let Some(&[writes, reads]) = held_before().get(&address) {
            (object.owner, object.count) = ((writes > 0).then_some(ThreadId(0)), writes);
            object.readers = reads;
        }
    })
}

/// The lock is misused, also before there are threads.
fn misuse(pc: usize, message: &str) {
    if is_initialised() {
        // SAFETY: initialised.
        let w = unsafe { world() };
        w.has_first_fiber();
        finding::event(w, FindingKind::Lock, pc, message);
    }
}

pub fn wanted(address: usize, flags: u32) {
    if is_running() && flags & TRY == 0 {
        let pc = caller();
        let index = lock_at(address);
        // SAFETY: running.
        let w = unsafe { world() };
        if w.syncs[index].owner != w.me() {
            order::wanted(w, index, flags & READ != 0, pc);
        }
    }
}

pub fn acquired(address: usize, flags: u32, times: u32) {
    if flags & TRY_FAILED != 0 {
        return;
    }
    let pc = caller();
    if !is_running() {
        let held = held_before().entry(address).or_default();
        let is_misused = held[0] > 0 && flags & REENTRANT == 0;
        held[usize::from(flags & READ != 0)] += times.max(1);
        if is_misused {
            misuse(pc, HELD);
        }
        return;
    }
    visible(Step::Other);
    let index = lock_at(address);
    // SAFETY: running.
    let w = unsafe { world() };
    let me = w.me();
    let reads = flags & READ != 0;
    let owner = w.syncs[index].owner;
    if owner.is_some() && (owner != me || flags & REENTRANT == 0) {
        misuse(pc, HELD);
    }
    let object = &mut w.syncs[index];
    if reads {
        object.readers += 1;
    } else if owner == me {
        object.count += 1;
        return;
    } else {
        (object.owner, object.count) = (me, if flags & RECURSIVE_LOCK != 0 { times.max(1) } else { 1 });
    }
    order::taken(w, index, reads);
    w.acquire_from(index);
    if !reads {
        w.acquire_from_readers(index);
    }
}

/// The running thread unlocks; how many levels were released.
pub fn released(address: usize, flags: u32) -> i32 {
    let pc = caller();
    if !is_running() {
        let held = held_before().entry(address).or_default();
        let count = &mut held[usize::from(flags & READ != 0)];
        let levels = if flags & RECURSIVE_UNLOCK != 0 { *count } else { 1.min(*count) };
        *count -= levels;
        if *held == [0, 0] {
            held_before().remove(&address);
        }
        if levels == 0 {
            misuse(pc, "unlock of a mutex that the thread does not hold");
        }
        return levels as i32;
    }
    visible(Step::Other);
    let index = lock_at(address);
    // SAFETY: running.
    let w = unsafe { world() };
    let me = w.me();
    let object = &mut w.syncs[index];
    if flags & READ != 0 && object.owner.is_none() {
        if object.readers == 0 {
            misuse(pc, "unlock of a reader-writer lock that nobody holds");
            return 0;
        }
        object.readers -= 1;
        order::released(w, index);
        w.release_to_writers(index);
        return 1;
    }
    if object.owner != me || flags & READ != 0 {
        misuse(pc, "unlock of a mutex that the thread does not hold");
        return 0;
    }
    let levels = if flags & RECURSIVE_UNLOCK != 0 { object.count } else { 1 };
    object.count -= levels;
    if object.count == 0 {
        object.owner = None;
        order::released(w, index);
        w.release_to(index);
    }
    levels as i32
}

fn destroyed(address: usize, flags: u32) {
    let before = created().remove(&address).unwrap_or(0);
    let is_kept = flags & NOT_STATIC != 0 && before & NOT_STATIC == 0;
    if (flags | before) & LINKER_INIT != 0 || is_kept {
        return;
    }
    let pc = caller();
    let mut is_held = held_before().contains_key(&address);
    if is_running() {
        let index = lock_at(address);
        // SAFETY: running.
        let object = &unsafe { world() }.syncs[index];
        is_held = object.owner.is_some() || object.readers > 0;
    }
    if is_held {
        misuse(pc, "destruction of a locked mutex");
    }
    sync::destroy(address);
}

/// The thread enters the code of a lock, or leaves it.
fn inside(change: i32) {
    ignore(change);
    unsynchronise(change);
}

extern "C" fn create(address: usize, flags: u32) {
    created().insert(address, flags & (LINKER_INIT | NOT_STATIC));
    if flags & LINKER_INIT == 0 {
        held_before().remove(&address);
        sync::destroy(address);
    }
}

extern "C" fn destroy(address: usize, flags: u32) {
    destroyed(address, flags);
}

extern "C" fn pre_lock(address: usize, flags: u32) {
    wanted(address, flags);
    inside(1);
}

extern "C" fn post_lock(address: usize, flags: u32, times: i32) {
    inside(-1);
    // Whether it may be locked again was said when it was created, perhaps; that is not kept.
    acquired(address, flags | REENTRANT, times as u32);
}

extern "C" fn pre_unlock(address: usize, flags: u32) -> i32 {
    let levels = released(address, flags);
    inside(1);
    levels
}

extern "C" fn enter() {
    inside(1);
}

extern "C" fn leave() {
    inside(-1);
}

extern "C" fn rw_create(_file: usize, _line: i32, address: usize) {
    create(address, 0);
}

extern "C" fn rw_create_static(_file: usize, _line: i32, address: usize) {
    create(address, LINKER_INIT);
}

extern "C" fn rw_destroy(_file: usize, _line: i32, address: usize) {
    destroyed(address, 0);
}

fn reads(writes: usize) -> u32 {
    if writes == 0 { READ } else { 0 }
}

extern "C" fn rw_acquired(_file: usize, _line: i32, address: usize, writes: usize) {
    acquired(address, reads(writes), 1);
}

extern "C" fn rw_released(_file: usize, _line: i32, address: usize, writes: usize) {
    released(address, reads(writes));
}

entry! {
    __tsan_mutex_create => create; __tsan_mutex_destroy => destroy; __tsan_mutex_pre_lock => pre_lock;
    __tsan_mutex_post_lock => post_lock; __tsan_mutex_pre_unlock => pre_unlock; __tsan_mutex_post_unlock => leave;
    __tsan_mutex_pre_signal => enter; __tsan_mutex_post_signal => leave; __tsan_mutex_pre_divert => leave;
    __tsan_mutex_post_divert => enter; AnnotateRWLockCreate => rw_create;
    AnnotateRWLockCreateStatic => rw_create_static; AnnotateRWLockDestroy => rw_destroy;
    AnnotateRWLockAcquired => rw_acquired; AnnotateRWLockReleased => rw_released;
}
