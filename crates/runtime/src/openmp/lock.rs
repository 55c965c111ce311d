//! Critical regions and locks: known by their addresses, as mutexes are.

use crate::interpose;
use crate::sync::{object, wait_on};
use crate::sys::Global;
use crate::world::{Step, is_running, visible, world};

/// Named critical regions and locks are known by their addresses.
unsafe extern "C" fn enter(address: usize) {
    if !is_running() {
        return;
    }
    visible(Step::Other);
    let index = object(address, |_| {});
    loop {
        // SAFETY: running; reacquired after every wait.
        let w = unsafe { world() };
        let me = w.me();
        if w.syncs[index].owner.is_none() {
            w.syncs[index].owner = me;
            w.acquire_from(index);
            return;
        }
        wait_on(index, "for a critical region or lock", None);
    }
}

unsafe extern "C" fn leave(address: usize) {
    if !is_running() {
        return;
    }
    visible(Step::Other);
    let index = object(address, |_| {});
    // SAFETY: running.
    let w = unsafe { world() };
    w.syncs[index].owner = None;
    w.release_to(index);
    w.wake_all(index);
}

static CRITICAL: Global<u64> = Global::new(0);
static ATOMIC: Global<u64> = Global::new(0);

unsafe extern "C" fn critical_start() {
    // SAFETY: an address of our own.
    unsafe { enter(CRITICAL.get() as usize) };
}

unsafe extern "C" fn critical_end() {
    // SAFETY: an address of our own.
    unsafe { leave(CRITICAL.get() as usize) };
}

unsafe extern "C" fn atomic_start() {
    // SAFETY: an address of our own.
    unsafe { enter(ATOMIC.get() as usize) };
}

unsafe extern "C" fn atomic_end() {
    // SAFETY: an address of our own.
    unsafe { leave(ATOMIC.get() as usize) };
}

unsafe extern "C" fn lock_init(lock: usize) {
    // SAFETY: libgomp's lock has four bytes at least.
    unsafe { *(lock as *mut u32) = 0 };
    crate::sync::initialise(lock);
}

unsafe extern "C" fn lock_destroy(lock: usize) {
    crate::sync::destroy(lock);
}

unsafe extern "C" fn lock_test(lock: usize) -> i32 {
    if !is_running() {
        return 1;
    }
    visible(Step::Other);
    let index = object(lock, |_| {});
    // SAFETY: running.
    let w = unsafe { world() };
    if w.syncs[index].owner.is_some() {
        return 0;
    }
    w.syncs[index].owner = w.me();
    w.acquire_from(index);
    1
}

/// A lock that its holder may take again; how often it holds it, 0 if another does.
fn nest(lock: usize, only_try: bool) -> i32 {
    if !is_running() {
        return 1;
    }
    let index = object(lock, |_| {});
    // SAFETY: running.
    let w = unsafe { world() };
    let me = w.me();
    if w.syncs[index].owner != me {
        // SAFETY: the contract of this function is that of the one it calls.
        if only_try && unsafe { lock_test(lock) } == 0 {
            return 0;
        }
        if !only_try {
            // SAFETY: as above.
            unsafe { enter(lock) };
        }
    }
    // SAFETY: running.
    let object = unsafe { &mut world().syncs[index] };
    object.count += 1;
    object.count as i32
}

unsafe extern "C" fn nest_set(lock: usize) {
    nest(lock, false);
}

unsafe extern "C" fn nest_test(lock: usize) -> i32 {
    nest(lock, true)
}

unsafe extern "C" fn nest_unset(lock: usize) {
    if !is_running() {
        return;
    }
    let index = object(lock, |_| {});
    // SAFETY: running.
    let object = unsafe { &mut world().syncs[index] };
    object.count = object.count.saturating_sub(1);
    if object.count == 0 {
        // SAFETY: the contract of this function is that of the one it calls.
        unsafe { leave(lock) };
    }
}

interpose! {
    GOMP_critical_start => critical_start; GOMP_critical_end => critical_end; GOMP_critical_name_start => enter;
    GOMP_critical_name_end => leave; GOMP_atomic_start => atomic_start; GOMP_atomic_end => atomic_end;
    omp_init_lock => lock_init; omp_destroy_lock => lock_destroy; omp_set_lock => enter;
    omp_unset_lock => leave; omp_test_lock => lock_test; omp_init_nest_lock => lock_init;
    omp_destroy_nest_lock => lock_destroy; omp_set_nest_lock => nest_set; omp_unset_nest_lock => nest_unset;
    omp_test_nest_lock => nest_test;
}
