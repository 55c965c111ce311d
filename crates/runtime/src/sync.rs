//! Locks and other objects that threads wait on.
//!
//! Before the first thread is created libc's own functions work on the program's objects; the first use
//! afterwards takes over the state that libc left in them. From then on the state is here, found through
//! the shadow of the object's address.

use crate::shadow;
use crate::world::{World, block, world};
use porf_sample::View;

#[derive(Default)]
pub struct SyncObject {
    /// What the last releaser (of a lock: writer) had seen.
    pub view: View,
    /// What readers of a lock had seen; of a barrier: what the last round had seen.
    pub readers_view: View,
    /// Thread index + 1; 0 is nobody.
    pub owner: u32,
    pub count: u32,
    pub readers: u32,
    pub round: u32,
    pub waiters: Vec<u32>,
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
        let object = &mut w.syncs[index];
        object.view.clear();
        object.readers_view.clear();
        (object.owner, object.count, object.readers, object.round) = (0, 0, 0, 0);
        object.waiters.clear();
        object.waited = false;
        import(object);
        w.detector.extend(&mut *shadow::cell(address)).sync = index as u32 + 1;
        index
    }
}

/// The object at this address is new, or gone.
pub fn forget(address: usize) {
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
    if !woken {
        // SAFETY: as above, after the switch.
        unsafe { world() }.syncs[index].waiters.retain(|&waiter| waiter != me);
    }
    crate::thread::test_cancel();
    woken
}

impl World {
    pub fn wake_all(&mut self, index: usize) {
        while let Some(waiter) = self.syncs[index].waiters.pop() {
            self.wake(waiter);
        }
    }

    pub fn acquire_from(&mut self, index: usize) {
        self.changed();
        let view = &self.syncs[index].view;
        self.engine.acquire(self.current, view);
        self.refresh();
    }

    pub fn release_to(&mut self, index: usize) {
        self.changed();
        self.engine.release(self.current, &mut self.syncs[index].view);
        self.refresh();
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

    pub fn me(&self) -> u32 {
        self.current + 1
    }
}
