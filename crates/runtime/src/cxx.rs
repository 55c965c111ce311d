//! What C++ adds: guards of function-local statics and destructors of thread_local objects.

use crate::atomic;
use crate::hooks;
use crate::interpose;
use crate::real;
use crate::sync::{object, wait_on};
use crate::world::{Step, is_running, visible, world};
use porf_event::ThreadId;
use porf_sample::Order;

unsafe extern "C" fn guard_acquire(guard: usize) -> i32 {
    if let Some(function) = hooks::may_block() {
        function();
    }
    // SAFETY: the contract of this function is that of the one it calls.
    let must_initialise = unsafe { guard_begin(guard) };
    if let Some(function) = hooks::has_blocked() {
        function();
    }
    must_initialise
}

unsafe fn guard_begin(guard: usize) -> i32 {
    // SAFETY: a guard variable of the program: its first byte says that the object is initialised.
    unsafe {
        if !atomic::tracked() {
            return i32::from(*(guard as *const u8) == 0);
        }
        visible(Step::Other);
        let index = object(guard, |_| {});
        loop {
            if atomic::load(guard, 1, Order::Acquire) == 1 || *(guard as *const u8) == 1 {
                let w = world();
                w.acquire_from(index);
                return 0;
            }
            let w = world();
            if w.syncs[index].owner.is_none() {
                w.syncs[index].owner = w.me();
                return 1;
            }
            wait_on(index, "for the initialisation of a static", None);
        }
    }
}

unsafe fn guard_end(guard: usize, done: bool) {
    // SAFETY: as above.
    unsafe {
        if !atomic::tracked() {
            *(guard as *mut u8) = u8::from(done);
            return;
        }
        visible(Step::Other);
        if done {
            atomic::store(guard, 1, Order::Release, 1);
        }
        let index = object(guard, |_| {});
        let w = world();
        w.syncs[index].owner = None;
        w.release_to(index);
        w.wake_all(index);
    }
}

unsafe extern "C" fn guard_release(guard: usize) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { guard_end(guard, true) }
}

unsafe extern "C" fn guard_abort(guard: usize) {
    // SAFETY: the contract of this function is that of the one it calls.
    unsafe { guard_end(guard, false) }
}

unsafe extern "C" fn thread_atexit(destructor: usize, object: usize, dso: usize) -> i32 {
    // SAFETY: one kernel thread; libc keeps the main thread's list in the main thread's storage.
    unsafe {
        if !is_running() || world().current == ThreadId(0) {
            return real!(__cxa_thread_atexit_impl(f: usize = destructor, o: usize = object, d: usize = dso) -> i32);
        }
        world().fiber().destructors.push((destructor, object));
    }
    0
}

interpose! {
    __cxa_guard_acquire => guard_acquire; __cxa_guard_release => guard_release; __cxa_guard_abort => guard_abort;
    __cxa_thread_atexit => thread_atexit; __cxa_thread_atexit_impl => thread_atexit;
}

/// Tells libstdc++ that there may be threads: otherwise shared_ptr counts without atomics.
#[unsafe(no_mangle)]
pub static mut __libc_single_threaded: u8 = 0;
