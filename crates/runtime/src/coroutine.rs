//! Fibers of the program (`__tsan_create_fiber` and so on): stacks that it switches between by itself, also from one
//! thread to another.
//!
//! A fiber has calls of its own, and what it had seen when it was left. A switch orders the fibers, as it does in
//! ThreadSanitizer unless asked not to; here it always does, so a race between fibers of one thread is not seen.

use crate::call::DEPTH;
use crate::world::{HOT, is_running, world};
use porf_sample::View;

pub struct Coroutine {
    view: View,
    calls: Vec<usize>,
    top: usize,
    /// The calls of a thread that was left by a switch are the thread's own.
    limit: usize,
}

impl Coroutine {
    fn new(calls: Vec<usize>) -> Coroutine {
        let (top, limit) = (calls.as_ptr() as usize, calls.as_ptr_range().end as usize);
        Coroutine { view: View::default(), calls, top, limit }
    }
}

/// Where the calls of a thread begin and end that runs this fiber (0 is none), if it is not the thread's own.
pub fn calls(coroutine: usize, start: usize, top: usize) -> (usize, usize) {
    if coroutine == 0 {
        return (start, top);
    }
    // SAFETY: a fiber that runs was not destroyed.
    let own = unsafe { &(*(coroutine as *const Coroutine)).calls };
    if own.is_empty() { (start, top) } else { (own.as_ptr() as usize, top) }
}

/// The fiber that runs now; threads get one when they are asked.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_fiber() -> usize {
    if !is_running() {
        return 0;
    }
    // SAFETY: running.
    let fiber = unsafe { world() }.fiber();
    if fiber.coroutine == 0 {
        fiber.coroutine = Box::into_raw(Box::new(Coroutine::new(Vec::new()))) as usize;
    }
    fiber.coroutine
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_create_fiber(_flags: u32) -> usize {
    crate::thread::begin();
    Box::into_raw(Box::new(Coroutine::new(vec![0; DEPTH]))) as usize
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_destroy_fiber(fiber: usize) {
    // SAFETY: made by `__tsan_create_fiber`.
    drop(unsafe { Box::from_raw(fiber as *mut Coroutine) });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_switch_to_fiber(to: usize, _flags: u32) {
    if !is_running() || to == 0 {
        return;
    }
    crate::atomic::tracked();
    let from = __tsan_get_current_fiber() as *mut Coroutine;
    // SAFETY: running; both were made here and not destroyed.
    unsafe {
        let (from, next) = (&mut *from, &mut *(to as *mut Coroutine));
        let hot = HOT.get();
        let w = world();
        w.engine.release(w.current, &mut from.view);
        w.engine.acquire(w.current, &next.view);
        (from.top, from.limit) = ((*hot).calls as usize, (*hot).calls_limit as usize);
        ((*hot).calls, (*hot).calls_limit) = (next.top as *mut usize, next.limit as *mut usize);
        w.fiber().coroutine = to;
        w.refresh();
        debug_assert!(next.calls.is_empty() || next.calls.len() == DEPTH);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_set_fiber_name(_fiber: usize, _name: usize) {}
