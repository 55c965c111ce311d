//! Fibers of the program (`__tsan_create_fiber` and so on): stacks that it switches between by itself, also from one
//! thread to another.
//!
//! A fiber has calls of its own, and what it had seen when it was left. A switch orders the fibers, unless the program
//! asks for one that does not ([`NO_SYNC`]). From then on both fibers count as threads of their own: each has a
//! number, under which its accesses are known, and the kernel thread that runs it goes by this number
//! ([`World::becomes`]). A fiber that is only switched to in order goes by the number of whoever switches to it.

use crate::call::DEPTH;
use crate::world::{Fiber, HOT, State, World, is_running, world};
use porf_event::ThreadId;
use porf_sample::View;

/// The flag of a switch that does not order the fibers.
const NO_SYNC: u32 = 1;

pub struct Coroutine {
    view: View,
    calls: Vec<usize>,
    top: usize,
    /// The calls of a thread that was left by a switch are the thread's own.
    limit: usize,
    /// Its own number.
    id: Option<ThreadId>,
}

impl Coroutine {
    fn new(calls: Vec<usize>) -> Coroutine {
        let (top, limit) = (calls.as_ptr() as usize, calls.as_ptr_range().end as usize);
        Coroutine { view: View::default(), calls, top, limit, id: None }
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

/// Where the calls of such a thread must end.
pub fn calls_end(coroutine: usize, end: usize) -> usize {
    if coroutine == 0 {
        return end;
    }
    // SAFETY: a fiber that runs was not destroyed.
    let own = unsafe { &(*(coroutine as *const Coroutine)).calls };
    if own.is_empty() { end } else { own.as_ptr_range().end as usize }
}

/// The fiber that runs now; threads get one when they are asked.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_fiber() -> usize {
    crate::thread::begin();
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
    let mut new = Coroutine::new(vec![0; DEPTH]);
    if is_running() {
        // SAFETY: running.
        let w = unsafe { world() };
        w.engine.release(w.current, &mut new.view);
        w.refresh();
    }
    let new = Box::into_raw(Box::new(new)) as usize;
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.left.push(new);
    }
    new
}

/// What fibers had seen that nobody runs now, and that have no number of their own yet.
pub fn left(w: &World) -> impl Iterator<Item = &View> {
    // SAFETY: a fiber that is destroyed is struck off.
    w.left
        .iter()
        .map(|&fiber| unsafe { &*(fiber as *const Coroutine) })
        .filter(|f| f.id.is_none())
        .map(|f| &f.view)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_destroy_fiber(fiber: usize) {
    if is_running() {
        // SAFETY: running.
        unsafe { world() }.left.retain(|&left| left != fiber);
    }
    // SAFETY: made by `__tsan_create_fiber`.
    drop(unsafe { Box::from_raw(fiber as *mut Coroutine) });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_switch_to_fiber(to: usize, flags: u32) {
    if !is_running() || to == 0 {
        return;
    }
    crate::atomic::tracked();
    let from = __tsan_get_current_fiber() as *mut Coroutine;
    // SAFETY: running; both were made here and not destroyed.
    unsafe {
        let left = &mut world().left;
        left.retain(|&left| left != to);
        left.push(from as usize);
        let (from, next) = (&mut *from, &mut *(to as *mut Coroutine));
        let hot = HOT.get();
        let w = world();
        let orders = flags & NO_SYNC == 0;
        if orders {
            w.engine.release(w.current, &mut from.view);
        }
        let is_apart = !orders || from.id.is_some() || next.id.is_some();
        if is_apart {
            from.id.get_or_insert(w.current);
            let id = *next.id.get_or_insert_with(|| w.park(&next.view));
            w.becomes(id);
            (*hot).thread = id;
        }
        if orders {
            w.engine.acquire(w.current, if is_apart { &from.view } else { &next.view });
        }
        (from.top, from.limit) = ((*hot).calls as usize, (*hot).calls_limit as usize);
        ((*hot).calls, (*hot).calls_limit) = (next.top as *mut usize, next.limit as *mut usize);
        w.fiber().coroutine = to;
        w.refresh();
        debug_assert!(next.calls.is_empty() || next.calls.len() == DEPTH);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_set_fiber_name(_fiber: usize, _name: usize) {}

impl World {
    /// A number for a fiber that no kernel thread runs now, and that has seen so much.
    fn park(&mut self, view: &View) -> ThreadId {
        let thread = self.engine.create_thread_after(view);
        let index = thread.as_usize();
        if index >= usize::from(u16::MAX) {
            crate::world::give_up("porf: more than 65,534 threads and fibers in one execution\n");
        }
        debug_assert_eq!(index, self.fiber_count);
        if index == self.fibers.len() {
            self.fibers.push(Fiber::new());
        }
        let parked = &mut self.fibers[index];
        parked.reset();
        (parked.state, parked.joined) = (State::Finished, true);
        self.fiber_count += 1;
        thread
    }

    /// The running kernel thread goes by another number.
    fn becomes(&mut self, id: ThreadId) {
        let old = self.current;
        if id != old {
            self.fibers.swap(old.as_usize(), id.as_usize());
            self.swaps.push((old, id));
            self.current = id;
            self.runnable.iter_mut().filter(|thread| **thread == old).for_each(|thread| *thread = id);
        }
    }

    /// The execution is over: every kernel thread has its first number again.
    pub fn undo_swaps(&mut self) {
        while let Some((old, id)) = self.swaps.pop() {
            self.fibers.swap(old.as_usize(), id.as_usize());
        }
    }
}
