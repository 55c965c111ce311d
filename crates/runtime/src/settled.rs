//! What every thread has seen: accesses that can race with none to come, atomic objects that are as if they had always
//! held their value. It is forgotten now and then.
//!
//! A thread that waits for a mutex, or on a condition variable, has seen what the mutex's last owner had, before it does
//! anything else: without that, one idle thread would keep all the past. The same holds for a thread that waits for
//! another's end ([`porf_sample::Engine::await_thread`]). Neither does if a signal's handler may run meanwhile.
//!
//! Cost: O(states + touched shadow) for accesses and O(stores) for objects, each when as many gathered as were left the
//! last time.

use crate::coroutine;
use crate::shadow;
use crate::signal;
use crate::sync::Robust;
use crate::world::World;
use porf_event::ThreadId;
use porf_sample::View;

/// What every thread has seen that is there, or may begin where another was left.
fn seen_by_all(w: &World) -> Option<View> {
    let handled = signal::has_handlers();
    let mut everyone = w.engine.everyone(|thread| if handled { None } else { awaited(w, thread) })?;
    coroutine::left(w).for_each(|view| everyone.meet(view));
    if handled {
        let joining = w.threads().filter(|thread| w.fibers[thread.as_usize()].is_joining());
        joining.for_each(|thread| everyone.hb.meet(w.engine.clock(thread)));
    }
    Some(everyone)
}

/// What a thread that waits for a lock will have seen before anything else it does.
fn awaited(w: &World, thread: ThreadId) -> Option<&View> {
    let fiber = &w.fibers[thread.as_usize()];
    let (index, id) = fiber.awaits?;
    let lock = &w.syncs[index];
    (lock.id == id && lock.robust == Robust::No && fiber.unsynchronised == 0).then_some(&lock.view)
}

/// Forgets accesses, if so many gathered that it pays.
#[inline]
pub fn forget_if_due(w: &mut World) {
    if w.detector.is_due() {
        forget_accesses(w);
    }
}

#[cold]
fn forget_accesses(w: &mut World) {
    let Some(everyone) = seen_by_all(w) else { return };
    w.engine.all_have_seen(&everyone);
    w.detector.settle(&everyone.hb, |each| shadow::for_each_page(each));
}

/// Forgets the objects that are as if they had always held the value in memory: all that was done to them happens
/// before all that is to come. A program that keeps many objects with atomics uses few of them at a time.
#[cold]
pub fn forget_locations(w: &mut World) {
    let Some(everyone) = seen_by_all(w) else { return };
    w.engine.all_have_seen(&everyone);
    for location in w.engine.settled_locations(&everyone) {
        let place = w.detector.place(location.0);
        let (start, length) = (place.address, usize::from(place.size));
        if !place.is_settled(&everyone.hb) {
            continue;
        }
        place.begin(start, length);
        shadow::for_each(start, length, |cell, mask| {
            // SAFETY: a cell of the shadow.
            w.detector.uncover(unsafe { &mut *cell }, mask, location.0);
        });
        w.engine.release_location(location);
        crate::atomic::forget_recent(start);
    }
}
