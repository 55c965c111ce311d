//! Data races and freed memory on plain accesses.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009) on shadow cells of four bytes: a [`State`] holds the last
//! write and the last read as epochs (thread, clock) as long as both touched the same bytes and reads are
//! ordered; otherwise it points to an [`Extension`] that keeps every byte apart, all concurrent reads, and which
//! atomic object ([`Place`]) covers each byte. Cells of which the same is known share their state ([`known`]). Two
//! accesses race if one writes, at least one is not atomic, and neither happens before the other. Precise: no race
//! is forgotten because a slot was full.
//!
//! `free` counts as a write; whoever touches the bytes afterwards uses freed memory.
//!
//! Accesses that every thread has seen are forgotten now and then ([`Detector::settle`]): no access to come can be
//! unordered with them.
//!
//! A cell is the number of its state. The numbers of a new execution begin where those of the last ended, and what is
//! smaller is of an earlier one: so a new execution clears nothing.
//! Cost: an access that repeats its epoch one comparison, any other O(1) without an extension. Four bytes of
//! shadow for four of the program, and what [`known`] needs.

mod extension;
mod known;
mod state;

pub use extension::Extension;

use crate::clock::Clock;
use crate::place::Place;
use known::{Known, UNTOUCHED};
use porf_event::ThreadId;
use state::{NO_EXTENSION, Next, State};

/// The shadow of four bytes. All zeros is valid and means untouched.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(transparent)]
pub struct Cell(u32);

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// A plain read.
    #[default]
    Read,
    /// A plain write.
    Write,
    /// The end of an object.
    Free,
    /// An atomic load.
    AtomicRead,
    /// An atomic store or read-modify-write.
    AtomicWrite,
}

impl Kind {
    /// Whether it conflicts with reads.
    pub fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::Free | Kind::AtomicWrite)
    }

    /// The kind of this number in the memory shared with the command line.
    pub fn from_number(number: u32) -> Kind {
        [Kind::Read, Kind::Write, Kind::Free, Kind::AtomicRead]
            .into_iter()
            .find(|kind| *kind as u32 == number)
            .unwrap_or(Kind::AtomicWrite)
    }

    /// Whether it conflicts with plain accesses only.
    pub fn is_atomic(self) -> bool {
        matches!(self, Kind::AtomicRead | Kind::AtomicWrite)
    }
}

/// An access to some of the four bytes of a cell.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Who accesses.
    pub thread: ThreadId,
    /// The thread's clock; its own entry is the epoch.
    pub clock: &'a Clock,
    /// The thread's own entry.
    pub now: u32,
    /// Where it was called from, shortened.
    pub pc: u32,
    /// The bytes, one bit each.
    pub mask: u8,
    /// What it does.
    pub kind: Kind,
}

impl Access<'_> {
    /// Whether an earlier access of a thread does not happen before this one.
    #[inline]
    fn is_unordered_with(&self, thread: ThreadId, clock: u32) -> bool {
        thread != self.thread && clock > self.clock.get(thread)
    }
}

/// The earlier access of a race, or the free before a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Who accessed.
    pub thread: ThreadId,
    /// The thread's own entry then.
    pub clock: u32,
    /// Where it was called from, shortened.
    pub pc: u32,
    /// What it did.
    pub kind: Kind,
}

/// An access that later ones may race with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Past {
    /// Who accessed.
    pub thread: ThreadId,
    /// The thread's own entry then.
    pub clock: u32,
    /// Where it was called from, shortened.
    pub pc: u32,
    /// The bytes, one bit each.
    pub mask: u8,
    /// What it did.
    pub kind: Kind,
}

/// All that is known of plain memory and of atomic objects in one execution.
#[derive(Default)]
pub struct Detector {
    /// The number of no state; those of this execution are greater.
    base: u32,
    known: Known,
    places: Vec<Place>,
}

impl Detector {
    /// Begins a new execution: every cell is untouched again. If that is said to be so, all cells must be cleared: the
    /// numbers begin anew.
    #[must_use]
    pub fn reset(&mut self) -> bool {
        self.base += self.known.reset();
        let is_far = self.base > u32::MAX / 2;
        self.base = if is_far { 0 } else { self.base };
        is_far
    }

    /// Whether it pays to [`settle`](Detector::settle).
    #[inline]
    pub fn is_due(&self) -> bool {
        self.known.is_due()
    }

    /// Forgets what nobody can race with any more who has seen `everyone`. `pages` must call its argument with all cells, in
    /// groups; the answer says whether any cell of the group is touched.
    pub fn settle(&mut self, everyone: &Clock, pages: impl FnOnce(&mut dyn FnMut(&mut [Cell]) -> bool)) {
        let same = self.known.settle(everyone);
        let mut touched = 0;
        pages(&mut |cells| {
            let before = touched;
            for cell in cells {
                let from = state_of(cell, self.base);
                if from != UNTOUCHED {
                    let to = same[from as usize];
                    if to != from {
                        self.known.move_to(from, to);
                        set(cell, to, self.base);
                    }
                    touched += usize::from(to != UNTOUCHED);
                }
            }
            touched > before
        });
        self.known.has_settled(touched);
    }

    /// Makes the cell untouched: the memory was allocated again. No place covers it any more. Returns what
    /// the runtime kept for a lock here, or 0.
    pub fn forget(&mut self, cell: &mut Cell) -> u32 {
        let from = self.state_of(cell);
        debug_assert!(self.known.extension(from).is_none_or(|extension| extension.cover == [0; 4]));
        *cell = Cell::default();
        self.known.leave(from, 1)
    }

    /// The four bytes of the cell were freed, and no place covers them any more: only that matters from now
    /// on. Returns what the runtime kept for a lock here, or 0.
    pub fn retire(&mut self, cell: &mut Cell) -> u32 {
        let from = self.state_of(cell);
        let Some(extension) = self.known.extension(from) else { return 0 };
        debug_assert_eq!(extension.cover, [0; 4]);
        let Some(Past { thread, clock, pc, kind, .. }) = extension.write_at(0) else { return 0 };
        // Who has a lock here shares the extension with nobody.
        let sync = self.known.own_extension(from).map_or(0, |own| std::mem::take(&mut own.sync));
        let to = self.known.put(from, State::written(thread, clock, pc, kind), 1);
        self.set(cell, to);
        sync
    }

    /// The number of the place that covers this byte of a cell, if one does.
    #[inline]
    pub fn place_at(&self, cell: &Cell, byte: usize) -> Option<u32> {
        self.known.extension(self.state_of(cell))?.cover[byte].checked_sub(1)
    }

    /// An atomic object by its number.
    #[inline]
    pub fn place(&mut self, place: u32) -> &mut Place {
        &mut self.places[place as usize]
    }

    /// A place for an atomic object, under a number that is not in use.
    pub fn new_place(&mut self, place: u32, address: usize, size: usize) {
        if place as usize >= self.places.len() {
            self.places.resize_with(place as usize + 1, Place::default);
        }
        self.places[place as usize].begin(address, size);
    }

    /// These bytes of the cell belong to the place now, and to no other.
    pub fn cover(&mut self, cell: &mut Cell, mask: u8, place: u32) {
        let to = self.known.change(self.state_of(cell), |extension| {
            for byte in bytes(mask) {
                debug_assert_eq!(extension.cover[byte], 0);
                extension.cover[byte] = place + 1;
            }
        });
        self.set(cell, to);
        if self.known.extension(to).is_some_and(Extension::is_touched) {
            self.places[place as usize].note_plain();
        }
    }

    /// The place is given up; its accesses stay with the bytes.
    pub fn uncover(&mut self, cell: &mut Cell, mask: u8, place: u32) {
        let places = &self.places;
        let to = self.known.change(state_of(cell, self.base), |extension| {
            bytes(mask).for_each(|byte| extension.cover[byte] = 0);
            places[place as usize].history(mask, |past| extension.keep(past));
        });
        self.set(cell, to);
    }

    /// A plain access that races with this atomic one, which is not recorded here.
    pub fn check_atomic(&self, cell: &Cell, access: &Access) -> Option<Conflict> {
        let state = self.state_of(cell);
        match self.known.extension(state) {
            Some(extension) => extension.conflict(access),
            None => self.known.state(state).conflict(access),
        }
    }

    /// The extension of a cell, made if need be, which no other cell has.
    pub fn extend(&mut self, cell: &mut Cell) -> &mut Extension {
        let to = self.known.own(self.state_of(cell));
        self.set(cell, to);
        self.known.own_extension(to).expect("one cell alone has it")
    }

    /// Did this access (or one covering it) already happen in the same epoch?
    #[inline]
    pub fn is_repeated(&self, cell: &Cell, thread: ThreadId, now: u32, mask: u8, write: bool) -> bool {
        // All fields of a state with an extension are zero, and no epoch is.
        self.known.state(self.state_of(cell)).is_repeated(thread, now, mask, write)
    }

    /// Checks an access to each of these cells and records it; returns a conflicting earlier access, and whether
    /// the bytes belong to an atomic object that must see a value written here as a store.
    pub fn access(&mut self, cells: &mut [Cell], access: &Access) -> (Option<Conflict>, bool) {
        let (mut found, mut overwrites) = (None, false);
        // Cells that were in one state go to one state.
        let mut last = None;
        for cell in cells {
            let from = self.state_of(cell);
            if let Some((earlier, to)) = last
                && from == earlier
                && self.known.is_shareable(to)
            {
                self.known.again(from, to, 1);
                self.set(cell, to);
                continue;
            }
            let (conflict, overwritten) = self.access_one(cell, from, access);
            overwrites |= overwritten;
            last = if conflict.is_none() { Some((from, self.state_of(cell))) } else { None };
            found = found.or(conflict);
        }
        (found, overwrites)
    }

    fn access_one(&mut self, cell: &mut Cell, from: u32, access: &Access) -> (Option<Conflict>, bool) {
        let Some(extension) = self.known.extension(from) else {
            let to = match self.known.state(from).after(access) {
                Next::Conflict(conflict) => return (Some(conflict), false),
                Next::State(state) => self.known.put(from, state, 1),
                Next::Extension => self.known.change(from, |extension| extension.record(access)),
            };
            self.set(cell, to);
            return (None, false);
        };
        let mut conflict = extension.conflict(access);
        let mut last = 0;
        for byte in bytes(access.mask) {
            let cover = extension.cover[byte];
            if cover != 0 && cover != last {
                last = cover;
                let place = &mut self.places[cover as usize - 1];
                place.note_plain();
                conflict = conflict.or_else(|| place.conflict(access));
                if access.kind == Kind::Write {
                    place.overwrite(access.thread, access.now);
                }
            }
        }
        let to = self.known.change(from, |extension| extension.record(access));
        self.set(cell, to);
        (conflict, last != 0 && access.kind == Kind::Write)
    }

    /// [`Detector::access`] in the most common cases, for the one or two cells of a variable; false if more is to be done.
    /// A repeated access is always one of these cases, others only if the state may change.
    #[inline(always)]
    pub fn access_at_once<const COUNT: usize>(
        &mut self,
        cells: &[Cell; COUNT],
        access: &Access,
        may_change: bool,
    ) -> bool {
        let first = cells[0];
        cells.iter().all(|cell| *cell == first)
            && self.known.access_at_once(self.state_of(&first), access, COUNT as u32, may_change)
    }

    /// The same in other common cases without a conflict.
    pub fn access_quickly(&mut self, cells: &mut [Cell], access: &Access) -> bool {
        let from = self.state_of(&cells[0]);
        if cells.iter().any(|cell| self.state_of(cell) != from) {
            return cells.chunks_mut(1).all(|cell| self.together(cell, self.state_of(&cell[0]), access));
        }
        self.together(cells, from, access)
    }

    /// The same for cells in one state.
    fn together(&mut self, cells: &mut [Cell], from: u32, access: &Access) -> bool {
        let (state, count) = (self.known.state(from), cells.len() as u32);
        if state.extension != NO_EXTENSION {
            return self.known.read_again(from, access, count);
        }
        let Next::State(next) = state.after(access) else { return false };
        let to = self.known.put(from, next, count);
        if to != from {
            cells.iter_mut().for_each(|cell| self.set(cell, to));
        }
        true
    }

    #[inline]
    fn state_of(&self, cell: &Cell) -> u32 {
        state_of(cell, self.base)
    }

    #[inline]
    fn set(&self, cell: &mut Cell, state: u32) {
        set(cell, state, self.base);
    }
}

#[inline]
fn state_of(cell: &Cell, base: u32) -> u32 {
    cell.0.saturating_sub(base)
}

#[inline]
fn set(cell: &mut Cell, state: u32, base: u32) {
    cell.0 = if state == UNTOUCHED { 0 } else { base + state };
}

#[inline]
fn bytes(mask: u8) -> impl Iterator<Item = usize> {
    (0..4).filter(move |byte| mask & (1 << byte) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        detector: Detector,
        cell: Cell,
        clocks: Vec<Clock>,
    }

    impl World {
        fn new() -> World {
            let clocks = (0..3)
                .map(|thread| {
                    let mut clock = Clock::default();
                    clock.set(ThreadId(thread), 1);
                    clock
                })
                .collect();
            World { detector: Detector::default(), cell: Cell::default(), clocks }
        }

        fn access(&mut self, thread: u16, kind: Kind, mask: u8) -> Option<(u16, Kind)> {
            let (pc, thread) = (u32::from(thread), ThreadId(thread));
            let clock = &self.clocks[thread.as_usize()];
            let access = Access { thread, clock, now: clock.get(thread), pc, mask, kind };
            let conflict = if kind.is_atomic() {
                if self.detector.place_at(&self.cell, 0).is_none() {
                    self.detector.new_place(0, 0, 4);
                    self.detector.cover(&mut self.cell, mask, 0);
                }
                let store = kind == Kind::AtomicWrite;
                let look = self.detector.place(0).touch(thread, access.now, pc, store);
                let found = if look { self.detector.check_atomic(&self.cell, &access) } else { None };
                if found.is_some() {
                    self.detector.place(0).doubt(thread, store);
                }
                found
            } else {
                self.detector.access(std::slice::from_mut(&mut self.cell), &access).0
            };
            conflict.map(|c| (c.thread.0, c.kind))
        }

        /// Forgets what all threads have seen.
        fn settle(&mut self, pages: &mut [&mut [Cell]]) {
            let mut everyone = self.clocks[0].clone();
            self.clocks.iter().for_each(|clock| everyone.meet(clock));
            self.detector.settle(&everyone, |each| {
                pages.iter_mut().for_each(|page| {
                    each(page);
                })
            });
        }

        /// `to` synchronises with `from`.
        fn synchronise(&mut self, from: usize, to: usize) {
            let clock = self.clocks[from].clone();
            self.clocks[to].join(&clock);
            let thread = ThreadId(from as u16);
            self.clocks[from].set(thread, clock.get(thread) + 1);
        }
    }

    #[test]
    fn unordered_write_and_read_race() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        assert_eq!(w.access(1, Kind::Read, 15), Some((0, Kind::Write)));
    }

    #[test]
    fn ordered_accesses_do_not_race() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        w.synchronise(0, 1);
        assert_eq!(w.access(1, Kind::Write, 15), None);
        assert_eq!(w.access(0, Kind::Read, 15), Some((1, Kind::Write)));
    }

    #[test]
    fn different_bytes_do_not_race() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 0b0011), None);
        assert_eq!(w.access(1, Kind::Write, 0b1100), None);
        assert_eq!(w.access(2, Kind::Read, 0b0100), Some((1, Kind::Write)));
    }

    #[test]
    fn bytes_of_one_epoch_share_a_cell() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        assert_eq!(w.access(0, Kind::Write, 1), None);
        assert_eq!(w.access(0, Kind::Read, 4), None);
        assert!(w.detector.known.extension(w.detector.state_of(&w.cell)).is_none());
        assert_eq!(w.access(1, Kind::Read, 2), Some((0, Kind::Write)), "the other bytes were written too");
        w.synchronise(0, 1);
        assert_eq!(w.access(1, Kind::Write, 2), None);
        assert_eq!(w.access(2, Kind::Read, 2), Some((1, Kind::Write)));
        assert_eq!(w.access(2, Kind::Read, 8), Some((0, Kind::Write)), "nor is the older write forgotten");
    }

    #[test]
    fn a_read_of_other_bytes_is_remembered() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Read, 1), None);
        assert_eq!(w.access(1, Kind::Write, 2), None);
        assert_eq!(w.access(1, Kind::Write, 1), Some((0, Kind::Read)));
    }

    #[test]
    fn every_concurrent_read_is_remembered() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Read, 15), None);
        assert_eq!(w.access(1, Kind::Read, 15), None);
        w.synchronise(1, 2);
        assert_eq!(w.access(2, Kind::Write, 15), Some((0, Kind::Read)));
    }

    #[test]
    fn atomics_race_only_with_plain_accesses() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::AtomicWrite, 15), None);
        assert_eq!(w.access(1, Kind::AtomicWrite, 15), None);
        assert_eq!(w.access(2, Kind::Read, 15).map(|c| c.1), Some(Kind::AtomicWrite));
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Read, 15), None);
        assert_eq!(w.access(1, Kind::AtomicRead, 15), None);
        assert_eq!(w.access(1, Kind::AtomicWrite, 15), Some((0, Kind::Read)));
    }

    #[test]
    fn an_atomic_access_looks_at_every_new_plain_one() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::AtomicRead, 15), None);
        assert_eq!(w.access(1, Kind::Write, 15), Some((0, Kind::AtomicRead)));
        assert_eq!(w.access(0, Kind::AtomicRead, 15), Some((1, Kind::Write)));
        assert_eq!(w.access(0, Kind::AtomicRead, 15), Some((1, Kind::Write)), "again, perhaps elsewhere");
        w.synchronise(1, 0);
        assert_eq!(w.access(0, Kind::AtomicRead, 15), None);
        assert_eq!(w.access(0, Kind::AtomicWrite, 15), None);
    }

    #[test]
    fn a_place_given_up_leaves_its_accesses() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::AtomicWrite, 15), None);
        w.detector.uncover(&mut w.cell, 15, 0);
        assert_eq!(w.access(1, Kind::Read, 1), Some((0, Kind::AtomicWrite)));
    }

    #[test]
    fn use_after_free_even_if_ordered() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        assert_eq!(w.access(0, Kind::Free, 15), None);
        assert_eq!(w.access(0, Kind::Read, 15), Some((0, Kind::Free)));
        w.detector.forget(&mut w.cell);
        assert_eq!(w.access(1, Kind::Read, 15), None);
    }

    #[test]
    fn a_freed_atomic_is_forgotten_but_for_that() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::AtomicWrite, 15), None);
        assert_eq!(w.access(0, Kind::Free, 15), None);
        w.detector.uncover(&mut w.cell, 15, 0);
        w.detector.retire(&mut w.cell);
        assert!(w.detector.known.extension(w.detector.state_of(&w.cell)).is_none());
        assert_eq!(w.access(1, Kind::AtomicRead, 15), Some((0, Kind::Free)));
    }

    #[test]
    fn numbers_begin_anew_before_they_end() {
        let mut w = World::new();
        w.detector.base = u32::MAX / 2 - 1;
        assert_eq!(w.access(0, Kind::Write, 15), None);
        assert!(!w.detector.reset());
        assert_eq!(w.access(1, Kind::Write, 15), None, "nobody has touched it");
        assert_eq!(w.access(2, Kind::Write, 15), Some((1, Kind::Write)));
        assert!(w.detector.reset());
        w.cell = Cell::default();
        assert_eq!(w.access(0, Kind::Write, 15), None);
    }

    #[test]
    fn a_new_execution_forgets() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        assert!(!w.detector.reset());
        assert_eq!(w.access(1, Kind::Write, 15), None);
    }

    #[test]
    fn a_cell_is_four_bytes() {
        assert_eq!(size_of::<Cell>(), 4);
    }

    #[test]
    fn cells_with_the_same_past_share_it() {
        let mut w = World::new();
        let mut cells = vec![Cell::default(); 1000];
        let mut all = |w: &mut World, thread, kind, mask| {
            let (pc, thread) = (u32::from(thread), ThreadId(thread));
            let clock = &w.clocks[thread.as_usize()];
            let access = Access { thread, clock, now: clock.get(thread), pc, mask, kind };
            for cell in &mut cells {
                assert_eq!(w.detector.access(std::slice::from_mut(cell), &access).0, None);
            }
        };
        for mask in [1, 2, 4, 8] {
            all(&mut w, 0, Kind::Write, mask);
        }
        assert!(w.detector.known.count() <= 3, "written byte by byte: {}", w.detector.known.count());
        w.synchronise(0, 1);
        w.synchronise(0, 2);
        all(&mut w, 1, Kind::Read, 15);
        all(&mut w, 2, Kind::Read, 15);
        assert!(w.detector.known.count() <= 5, "read by two: {}", w.detector.known.count());
        w.synchronise(1, 2);
        all(&mut w, 2, Kind::Free, 15);
        assert!(w.detector.known.count() <= 7, "freed: {}", w.detector.known.count());
        cells.iter_mut().for_each(|cell| assert_eq!(w.detector.forget(cell), 0));
        assert_eq!(w.detector.known.count(), 1, "nothing is left but the untouched state");
    }

    #[test]
    fn what_everyone_has_seen_is_forgotten() {
        let mut w = World::new();
        let mut cells = vec![Cell::default(); 1000];
        for (place, cell) in cells.iter_mut().enumerate() {
            let kind = if place % 2 == 0 { Kind::Write } else { Kind::Read };
            for mask in [15, 1 << (place % 3)] {
                let clock = &w.clocks[0];
                let access =
                    Access { thread: ThreadId(0), clock, now: clock.get(ThreadId(0)), pc: 0, mask, kind };
                w.detector.access(std::slice::from_mut(cell), &access);
                let now = clock.get(ThreadId(0));
                w.clocks[0].set(ThreadId(0), now + 1);
            }
        }
        assert!(w.detector.known.count() > 1000, "each has a past of its own");
        w.synchronise(0, 1);
        let (front, back) = cells.split_at_mut(500);
        w.settle(&mut [front, back]);
        assert!(w.detector.known.count() > 1000, "thread 2 has seen nothing");
        w.synchronise(0, 2);
        // The second half may be out of sight, swapped out for example.
        let (front, back) = cells.split_at_mut(500);
        w.settle(&mut [front]);
        let count = w.detector.known.count();
        assert!((2..600).contains(&count), "{count}");
        w.settle(&mut [back]);
        assert_eq!(w.detector.known.count(), 1, "nothing is left but the untouched state");
        assert!(cells.iter().all(|cell| *cell == Cell::default()));
    }

    /// Every access so far, byte by byte, compared with every new one.
    #[derive(Default)]
    struct Oracle(Vec<(usize, Past)>);

    impl Oracle {
        fn races(&self, byte: usize, a: &Access) -> bool {
            self.0.iter().any(|(at, past)| {
                *at == byte
                    && (past.kind == Kind::Free
                        || ((past.kind.writes() || a.kind.writes())
                            && a.is_unordered_with(past.thread, past.clock)))
            })
        }
    }

    #[test]
    fn the_first_race_is_the_oracles() {
        const CELLS: usize = 6;
        let mut raced = 0;
        for seed in 0..3000 {
            let mut rng = crate::scheduler::Rng::new(seed);
            let mut w = World::new();
            let (mut cells, mut oracle) = ([Cell::default(); CELLS], Oracle::default());
            for _ in 0..60 {
                if rng.below(3) > 0 {
                    let from = rng.below(3);
                    w.synchronise(from, (from + 1 + rng.below(2)) % 3);
                }
                if rng.below(8) == 0 {
                    w.settle(&mut [&mut cells]);
                }
                let thread = ThreadId(rng.below(3) as u16);
                let kind = [Kind::Read, Kind::Read, Kind::Write, Kind::Write][rng.below(4)];
                let kind = if rng.below(100) == 0 { Kind::Free } else { kind };
                let mask = [15, 15, 15, 1, 2, 12][rng.below(6)];
                let first = rng.below(CELLS);
                let count = 1 + rng.below(CELLS - first);
                let clock = w.clocks[thread.as_usize()].clone();
                let (now, pc) = (clock.get(thread), rng.below(2) as u32);
                let access = Access { thread, clock: &clock, now, pc, mask, kind };
                let touched =
                    || (first..first + count).flat_map(|cell| bytes(mask).map(move |b| cell * 4 + b));
                let races = touched().any(|byte| oracle.races(byte, &access));
                if races && rng.below(8) > 0 {
                    continue;
                }
                let cells = &mut cells[first..first + count];
                // Either way in, as the runtime does.
                let may = count <= 2 && kind != Kind::Free && rng.below(2) == 0;
                let quick = may && w.detector.access_quickly(cells, &access);
                let found = !quick && w.detector.access(cells, &access).0.is_some();
                assert_eq!(found, races, "seed {seed}");
                if races {
                    raced += 1;
                    break;
                }
                let past = Past { thread, clock: now, pc, mask, kind };
                oracle.0.extend(touched().map(|byte| (byte, past)));
            }
        }
        assert!(raced > 1000, "{raced} of 3,000 raced");
    }
}
