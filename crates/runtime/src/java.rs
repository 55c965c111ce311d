//! ThreadSanitizer's interface for virtual machines: locks by address, memory that begins and ends, volatile
//! variables that order. Moved objects are new ones: a race with an access before the move is not seen.

use crate::sync::object;
use crate::world::{Step, is_running, visible, world};

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
    __tsan_java_init(_start: usize, _size: usize) {}
    __tsan_java_fini() -> i32 { 0 }
    __tsan_java_alloc(address: usize, size: usize) { renew(address, size) }
    __tsan_java_free(address: usize, size: usize) { renew(address, size) }
    __tsan_java_move(_from: usize, to: usize, size: usize) { renew(to, size) }
    __tsan_java_finalize() {}
    __tsan_java_mutex_lock(address: usize) { order(address, false) }
    __tsan_java_mutex_unlock(address: usize) { order(address, true) }
    __tsan_java_mutex_read_lock(address: usize) { order(address, false) }
    __tsan_java_mutex_read_unlock(address: usize) { order(address, true) }
    __tsan_java_mutex_lock_rec(address: usize, _times: i32) { order(address, false) }
    __tsan_java_mutex_unlock_rec(address: usize) -> i32 { order(address, true); 1 }
    __tsan_java_acquire(address: usize) { order(address, false) }
    __tsan_java_release(address: usize) { order(address, true) }
    __tsan_java_release_store(address: usize) { order(address, true) }
}
