//! Atomic objects as the race detector sees them.
//!
//! A [`Place`] keeps, per thread, the last atomic load and store of one object. An atomic access needs a
//! look at the plain accesses of its bytes only if there were any since the thread last looked: clocks
//! only grow, so what was ordered before the thread then still is.

use crate::clock::Clock;
use crate::race::{Access, Conflict, Kind, Past};
use porf_event::ThreadId;
use smallvec::SmallVec;

/// An atomic object and the last accesses to it.
#[derive(Clone, Default, Debug)]
pub struct Place {
    /// Where it begins.
    pub address: usize,
    /// In bytes.
    pub size: u8,
    /// Grows with every plain access to these bytes.
    plain: u32,
    /// The plain write since the last atomic access: (thread, clock).
    overwritten: Option<(ThreadId, u32)>,
    touches: SmallVec<[Touch; 2]>,
    of_thread: ByThread,
}

/// What one thread did here.
#[derive(Clone, Copy, Default, Debug)]
struct Touch {
    thread: ThreadId,
    load: Last,
    store: Last,
}

#[derive(Clone, Copy, Default, Debug)]
struct Last {
    /// 0 is never.
    clock: u32,
    pc: u32,
    /// [`Place::plain`] when no plain access conflicted.
    checked: u32,
}

impl Place {
    /// Stands for another object from now on.
    pub fn begin(&mut self, address: usize, size: usize) {
        self.address = address;
        self.size = size as u8;
        self.plain = 0;
        self.overwritten = None;
        self.touches.clear();
        self.of_thread = ByThread::default();
    }

    /// There are, or was now, a plain access to some of the bytes.
    pub fn note_plain(&mut self) {
        self.plain += 1;
    }

    /// A plain write has changed the object.
    pub fn overwrite(&mut self, thread: ThreadId, clock: u32) {
        self.overwritten = Some((thread, clock));
    }

    /// The plain write that no atomic access has seen yet; it is seen now.
    #[inline]
    pub fn take_overwritten(&mut self) -> Option<(ThreadId, u32)> {
        self.overwritten.take()
    }

    /// Records an atomic access; says whether plain accesses must be looked at.
    #[inline]
    pub fn touch(&mut self, thread: ThreadId, clock: u32, pc: u32, store: bool) -> bool {
        let plain = self.plain;
        let last = self.last(thread, store);
        last.clock = clock;
        last.pc = pc;
        std::mem::replace(&mut last.checked, plain) != plain
    }

    /// The access conflicted: look again next time.
    pub fn doubt(&mut self, thread: ThreadId, store: bool) {
        let before = self.plain.wrapping_sub(1);
        self.last(thread, store).checked = before;
    }

    #[inline(always)]
    fn last(&mut self, thread: ThreadId, store: bool) -> &mut Last {
        let touches = &self.touches;
        let index = match self.of_thread.get(thread, || touches.iter().position(|t| t.thread == thread)) {
            Some(index) => index,
            None => self.new_touch(thread),
        };
        let touch = &mut self.touches[index];
        if store { &mut touch.store } else { &mut touch.load }
    }

    #[cold]
    #[inline(never)]
    fn new_touch(&mut self, thread: ThreadId) -> usize {
        self.touches.push(Touch { thread, ..Touch::default() });
        self.of_thread.set(thread, self.touches.len() - 1);
        self.touches.len() - 1
    }

    /// An atomic access that races with this plain one.
    pub fn conflict(&self, a: &Access) -> Option<Conflict> {
        let found = |touch: &Touch, last: Last, kind| {
            (last.clock > a.clock.get(touch.thread)).then_some(Conflict {
                thread: touch.thread,
                clock: last.clock,
                pc: last.pc,
                kind,
            })
        };
        self.touches.iter().filter(|touch| touch.thread != a.thread).find_map(|touch| {
            let load = if a.kind.writes() { found(touch, touch.load, Kind::AtomicRead) } else { None };
            found(touch, touch.store, Kind::AtomicWrite).or(load)
        })
    }

    /// Whether all that happened here happens before whoever has seen `everyone`.
    pub fn is_settled(&self, everyone: &Clock) -> bool {
        self.overwritten.is_none()
            && self
                .touches
                .iter()
                .all(|touch| touch.load.clock.max(touch.store.clock) <= everyone.get(touch.thread))
    }

    /// All accesses, for bytes that will belong to another object.
    pub fn history(&self, mask: u8, mut keep: impl FnMut(Past)) {
        for touch in &self.touches {
            for (last, kind) in [(touch.load, Kind::AtomicRead), (touch.store, Kind::AtomicWrite)] {
                if last.clock != 0 {
                    keep(Past { thread: touch.thread, clock: last.clock, pc: last.pc, mask, kind });
                }
            }
        }
    }
}

/// Where a thread's entry is in a list with one entry per thread, without a search for the first few.
#[derive(Clone, Copy, Default, Debug)]
pub struct ByThread([u16; 8]);

impl ByThread {
    /// The entry of a thread; `search` is asked for threads beyond the first few.
    #[inline(always)]
    pub fn get(&self, thread: ThreadId, search: impl FnOnce() -> Option<usize>) -> Option<usize> {
        match self.0.get(thread.as_usize()) {
            Some(&index) if index > 0 => Some(usize::from(index) - 1),
            Some(_) => None,
            None => search(),
        }
    }

    /// For every new entry; there are at most 65,534 threads.
    pub fn set(&mut self, thread: ThreadId, index: usize) {
        if let Some(place) = self.0.get_mut(thread.as_usize()) {
            *place = (index + 1) as u16;
        }
    }
}
