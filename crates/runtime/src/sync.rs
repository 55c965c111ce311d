//! Locks and other objects that threads wait on.
//!
//! Before the first thread is created libc's own functions work on the program's objects; the first use
//! afterwards takes over the state that libc left in them. From then on the state is here, found through
//! the shadow of the object's address.

use crate::settled;
use crate::shadow;
use crate::trace;
use crate::world::{HOT, World, block, is_running, world};
use porf_event::ThreadId;
use porf_sample::View;
use porf_sample::protocol::Did;
use porf_sample::race::Kind;

/// What became of a robust mutex.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Robust {
    #[default]
    No,
    Usable,
    /// Its owner ended: who locks it next is told.
    Abandoned,
    /// That one unlocked it without making it consistent.
    Lost,
}

#[derive(Default)]
pub struct SyncObject {
    /// What the last releaser (of a lock: writer) had seen.
    pub view: View,
    /// What readers of a lock had seen; of a barrier: what the last round had seen.
    pub readers_view: View,
    /// Who holds it.
    pub owner: Option<ThreadId>,
    pub count: u32,
    pub readers: u32,
    pub round: u32,
    pub waiters: Vec<ThreadId>,
    /// A number that no other object of the execution has.
    pub id: u64,
    /// Where it is.
    pub address: usize,
    /// For a robust mutex; [`Robust::No`] of all others.
    pub robust: Robust,
    /// Some thread waited on it, and may not have noticed yet that it need not.
    waited: bool,
}

/// The object at an address; `import` reads what libc left there.
pub fn object(address: usize, import: impl FnOnce(&mut SyncObject)) -> usize {
    // SAFETY: called while running; a cell of the shadow.
    unsafe {
        let w = world();
        let known = w.detector.extend(&mut *shadow::cell(address)).sync;
        if known != 0 {
            return known as usize - 1;
        }
        let index = w.free_syncs.pop().map_or(w.sync_count, |index| index as usize);
        if index == w.sync_count {
            w.sync_count += 1;
            if index == w.syncs.len() {
                w.syncs.push(SyncObject::default());
            }
        }
        w.next_lock += 1;
        let object = &mut w.syncs[index];
        object.id = w.next_lock;
        object.address = address;
        object.view.clear();
        object.readers_view.clear();
        (object.owner, object.count, object.readers, object.round) = (None, 0, 0, 0);
        object.waiters.clear();
        object.waited = false;
        object.robust = Robust::No;
        import(object);
        w.detector.extend(&mut *shadow::cell(address)).sync = index as u32 + 1;
        index
    }
}

/// A use of the object: races with its initialisation, and must not come after its memory was freed.
pub fn used(address: usize) {
    touch(address, Kind::Read);
}

/// The first bytes of the object are accessed by the caller, if that is the program.
fn touch(address: usize, kind: Kind) {
    // SAFETY: called while running.
    unsafe {
        if world().is_called_by_program() {
            // A trace has what becomes of the object instead.
            let tracing = std::mem::take(&mut world().tracing);
            crate::plain::any_range(address, FIRST_BYTES, kind);
            world().tracing = tracing;
        }
    }
}

const FIRST_BYTES: usize = 4;

/// A wake-up: as [`used`], but who is woken may end the object at once, so nothing is remembered of it.
pub fn used_to_wake(address: usize) {
    // SAFETY: called while running.
    if unsafe { world() }.is_called_by_program() {
        crate::plain::look(address, FIRST_BYTES, Kind::Read);
    }
}

/// The object at this address is initialised.
pub fn initialise(address: usize) {
    if is_running() {
        forget(address);
        touch(address, Kind::Write);
    }
}

/// The object at this address is destroyed.
pub fn destroy(address: usize) {
    if is_running() {
        forget(address);
    }
}

/// As [`destroy`], for objects that must not be in use any more: it races with uses that are not ordered before it.
pub fn destroy_unused(address: usize) {
    if is_running() {
        touch(address, Kind::Write);
        forget(address);
    }
}

/// The object at this address is new, or gone.
fn forget(address: usize) {
    // SAFETY: called while running; a cell of the shadow.
    unsafe {
        let sync = std::mem::take(&mut world().detector.extend(&mut *shadow::cell(address)).sync);
        world().free_sync(sync);
    }
}

/// The running thread waits on the object until woken or until the deadline; false for the latter.
pub fn wait_on(index: usize, waiting: &'static str, deadline: Option<u64>) -> bool {
    // SAFETY: called while running.
    let w = unsafe { world() };
    let me = w.current;
    w.syncs[index].waiters.push(me);
    w.syncs[index].waited = true;
    let woken = block(waiting, deadline);
    // SAFETY: as above, after the switch. It is still there if a signal, a cancellation or the time woke it.
    unsafe { world() }.syncs[index].waiters.retain(|&waiter| waiter != me);
    woken
}

/// The running thread has this lock, or waits for it, before it does anything else; `None` if that is over.
pub fn awaits(lock: Option<usize>) {
    // SAFETY: called while running.
    let w = unsafe { world() };
    w.fiber().awaits = lock.map(|index| (index, w.syncs[index].id));
}

/// Whether locks of the running thread order anything now.
#[inline]
fn orders() -> bool {
    // SAFETY: one kernel thread.
    unsafe { (*HOT.get()).orders }
}

impl World {
    pub fn wake_all(&mut self, index: usize) {
        while let Some(waiter) = self.syncs[index].waiters.pop() {
            self.wake(waiter);
        }
    }

    /// A thread ends: the robust mutexes it holds are abandoned.
    pub fn abandon_locks(&mut self, thread: ThreadId) {
        for index in 0..self.sync_count {
            let object = &mut self.syncs[index];
            if object.owner == Some(thread) && object.robust != Robust::No {
                object.owner = None;
                object.robust = Robust::Abandoned;
                self.release_to(index);
                self.wake_all(index);
            }
        }
    }

    pub fn acquire_from(&mut self, index: usize) {
        self.changed();
        settled::forget_if_due(self);
        trace::event(self, Did::Acquire, self.syncs[index].address);
        if orders() {
            self.engine.acquire(self.current, &self.syncs[index].view);
            self.refresh();
        }
    }

    pub fn release_to(&mut self, index: usize) {
        self.changed();
        trace::event(self, Did::Release, self.syncs[index].address);
        if orders() {
            self.engine.release(self.current, &mut self.syncs[index].view);
            self.refresh();
        }
    }

    /// A writer has the lock: what its readers did is over.
    pub fn acquire_from_readers(&mut self, index: usize) {
        if orders() {
            self.engine.acquire(self.current, &self.syncs[index].readers_view);
            self.refresh();
        }
    }

    /// A reader gives the lock back.
    pub fn release_to_writers(&mut self, index: usize) {
        if orders() {
            self.engine.release(self.current, &mut self.syncs[index].readers_view);
            self.refresh();
        }
    }

    /// The object of this number plus one (0 is none) is gone. Its number is free, unless a thread that
    /// waited on it may still use it (a barrier may be destroyed as soon as one thread has left it).
    pub fn free_sync(&mut self, sync: u32) {
        if let Some(index) = sync.checked_sub(1)
            && !self.syncs[index as usize].waited
        {
            self.free_syncs.push(index);
        }
    }

    /// The running thread, as an owner.
    pub fn me(&self) -> Option<ThreadId> {
        Some(self.current)
    }
}
