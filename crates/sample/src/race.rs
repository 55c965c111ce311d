//! Data races and freed memory on plain accesses.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009) on shadow cells of four bytes: a [`Cell`] holds the last
//! write and the last read as epochs (thread, clock) as long as both touched the same bytes and reads are
//! ordered; otherwise it points to an [`Extension`] that keeps every byte apart, all concurrent reads, and which
//! atomic object ([`Place`]) covers each byte. Two accesses race if one writes, at least one is not atomic, and
//! neither happens before the other. Precise: no race is forgotten because a slot was full.
//!
//! `free` counts as a write; whoever touches the bytes afterwards uses freed memory.
//!
//! Cells carry the generation of the execution that wrote them, so a new execution clears nothing.
//! Cost: an access that repeats its epoch one comparison, any other O(1) without an extension.

use crate::clock::Clock;
use crate::place::Place;
use porf_event::ThreadId;
use smallvec::SmallVec;

/// The number that stands for no extension.
pub const NO_EXTENSION: u32 = 0;

/// The shadow of four bytes. All zeros is valid and means untouched.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C, align(32))]
pub struct Cell {
    generation: u32,
    extension: u32,
    write_clock: u32,
    read_clock: u32,
    write_thread: ThreadId,
    read_thread: ThreadId,
    write_mask: u8,
    read_mask: u8,
    write_kind: Kind,
    _reserved: u8,
    write_pc: u32,
    read_pc: u32,
}

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
#[derive(Clone, Copy, Debug)]
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

/// What a cell cannot hold: every byte apart, and all concurrent accesses.
#[derive(Clone, Default, Debug)]
#[repr(C)]
pub struct Extension {
    /// Per byte the number of the [`Place`] that covers it, plus one; 0 is none.
    cover: [u32; 4],
    /// What the runtime keeps for a lock that begins in this cell; 0 is nothing.
    pub sync: u32,
    /// Per byte the last plain write or free.
    writes: [Option<(ThreadId, u32, u32, Kind)>; 4],
    /// Reads since then, and atomic accesses of places that are gone, at most one per thread, kind and mask.
    others: SmallVec<[Past; 4]>,
}

/// All extensions and places of one execution.
pub struct Detector {
    generation: u32,
    extensions: Vec<Extension>,
    used: usize,
    /// Extensions of cells that were forgotten.
    free: Vec<u32>,
    places: Vec<Place>,
}

impl Default for Detector {
    fn default() -> Self {
        // Extension 0 means none.
        Detector {
            generation: 1,
            extensions: vec![Extension::default()],
            used: 1,
            free: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl Detector {
    /// Begins a new execution: every cell is untouched again.
    pub fn reset(&mut self) {
        self.generation += 1;
        self.used = 1;
        self.free.clear();
    }

    /// The number of the execution, which cells carry.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Makes the cell untouched: the memory was allocated again. No place covers it any more. Returns what
    /// the runtime kept for a lock here, or 0.
    pub fn forget(&mut self, cell: &mut Cell) -> u32 {
        let mut sync = 0;
        if let Some(extension) = self.extension(cell) {
            debug_assert_eq!(extension.cover, [0; 4]);
            sync = extension.sync;
            self.free.push(cell.extension);
        }
        cell.generation = 0;
        sync
    }

    /// The four bytes of the cell were freed, and no place covers them any more: only that matters from now
    /// on. Returns what the runtime kept for a lock here, or 0.
    pub fn retire(&mut self, cell: &mut Cell) -> u32 {
        let Some(extension) = self.extension(cell) else { return 0 };
        let Some((thread, clock, pc, kind)) = extension.writes[0] else { return 0 };
        debug_assert_eq!(extension.cover, [0; 4]);
        let sync = extension.sync;
        self.free.push(cell.extension);
        *cell = Cell {
            generation: self.generation,
            write_clock: clock,
            write_thread: thread,
            write_mask: 15,
            write_kind: kind,
            write_pc: pc,
            ..Cell::default()
        };
        sync
    }

    /// The number of the place that covers this byte of a cell, if one does.
    #[inline]
    pub fn place_at(&self, cell: &Cell, byte: usize) -> Option<u32> {
        if cell.generation != self.generation {
            return None;
        }
        // Extension 0 covers nothing.
        self.extensions[cell.extension as usize].cover[byte].checked_sub(1)
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
        let extension = self.extend(cell);
        for byte in bytes(mask) {
            debug_assert_eq!(extension.cover[byte], 0);
            extension.cover[byte] = place + 1;
        }
        if extension.writes != [None; 4] || !extension.others.is_empty() {
            self.places[place as usize].note_plain();
        }
    }

    /// The place is given up; its accesses stay with the bytes.
    pub fn uncover(&mut self, cell: &mut Cell, mask: u8, place: u32) {
        self.extend(cell);
        let extension = &mut self.extensions[cell.extension as usize];
        bytes(mask).for_each(|byte| extension.cover[byte] = 0);
        self.places[place as usize].history(mask, |past| extension.keep(past));
    }

    /// A plain write whose value the next atomic access must see as a store; says whether the bytes belong
    /// to an atomic object at all.
    #[inline]
    pub fn overwrite(&mut self, cell: &Cell, mask: u8, thread: ThreadId, clock: u32) -> bool {
        let mut hit = false;
        if cell.extension == NO_EXTENSION {
            return false;
        }
        for byte in bytes(mask) {
            if let Some(place) = self.place_at(cell, byte) {
                self.places[place as usize].overwrite(thread, clock);
                hit = true;
            }
        }
        hit
    }

    /// A plain access that races with this atomic one, which is not recorded here.
    pub fn check_atomic(&mut self, cell: &mut Cell, access: Access) -> Option<Conflict> {
        self.extend(cell).conflict(&access)
    }

    /// The extension of a cell, if it has one.
    #[inline]
    pub fn extension(&mut self, cell: &Cell) -> Option<&mut Extension> {
        if cell.generation != self.generation || cell.extension == NO_EXTENSION {
            return None;
        }
        Some(&mut self.extensions[cell.extension as usize])
    }

    /// The extension of a cell, made if need be.
    pub fn extend(&mut self, cell: &mut Cell) -> &mut Extension {
        self.renew(cell);
        if cell.extension == NO_EXTENSION {
            self.split(cell);
        }
        &mut self.extensions[cell.extension as usize]
    }

    /// Did this access (or one covering it) already happen in the same epoch?
    #[inline]
    pub fn is_repeated(&self, cell: &Cell, thread: ThreadId, now: u32, mask: u8, write: bool) -> bool {
        if cell.generation != self.generation || cell.extension != NO_EXTENSION {
            return false;
        }
        let written = cell.write_clock == now
            && cell.write_thread == thread
            && cell.write_mask & mask == mask
            && cell.write_kind == Kind::Write;
        written
            || (!write
                && cell.read_clock == now
                && cell.read_thread == thread
                && cell.read_mask & mask == mask)
    }

    /// Checks an access and records it; returns a conflicting earlier access.
    #[inline]
    pub fn access(&mut self, cell: &mut Cell, access: Access) -> Option<Conflict> {
        self.renew(cell);
        if cell.extension == NO_EXTENSION {
            if let Some(answer) = self.simple(cell, &access) {
                return answer;
            }
            self.split(cell);
        }
        let extension = &mut self.extensions[cell.extension as usize];
        let mut conflict = extension.conflict(&access);
        let mut last = 0;
        for byte in bytes(access.mask) {
            let cover = extension.cover[byte];
            if cover != 0 && cover != last {
                last = cover;
                let place = &mut self.places[cover as usize - 1];
                place.note_plain();
                conflict = conflict.or_else(|| place.conflict(&access));
            }
        }
        extension.record(access);
        conflict
    }

    /// [`Detector::access`] in the common cases without a conflict; false if it must be asked.
    #[inline]
    pub fn access_quickly(&mut self, cell: &mut Cell, access: &Access) -> bool {
        self.renew(cell);
        if cell.extension == NO_EXTENSION {
            return matches!(self.simple(cell, access), Some(None));
        }
        self.extensions[cell.extension as usize].read_quickly(access)
    }

    #[inline]
    fn renew(&self, cell: &mut Cell) {
        if cell.generation != self.generation {
            *cell = Cell { generation: self.generation, ..Cell::default() };
        }
    }

    /// The unextended case; None if the cell must be extended first.
    #[inline]
    fn simple(&self, cell: &mut Cell, a: &Access) -> Option<Option<Conflict>> {
        if a.kind.is_atomic() {
            return None;
        }
        if cell.write_mask & a.mask != 0
            && (cell.write_kind == Kind::Free || unordered(cell.write_thread, cell.write_clock, a))
        {
            return Some(Some(Conflict {
                thread: cell.write_thread,
                clock: cell.write_clock,
                pc: cell.write_pc,
                kind: cell.write_kind,
            }));
        }
        let read_unordered = cell.read_mask != 0 && unordered(cell.read_thread, cell.read_clock, a);
        if a.kind == Kind::Read {
            // One read is kept: this one, if it stands for the other.
            if cell.read_mask & !a.mask != 0 || read_unordered {
                return None;
            }
            cell.read_clock = a.now;
            cell.read_thread = a.thread;
            cell.read_mask = a.mask;
            cell.read_pc = a.pc;
            return Some(None);
        }
        if read_unordered && cell.read_mask & a.mask != 0 {
            return Some(Some(Conflict {
                thread: cell.read_thread,
                clock: cell.read_clock,
                pc: cell.read_pc,
                kind: Kind::Read,
            }));
        }
        // One write is kept: this one, if it covers the other or they are of one epoch.
        let same_epoch =
            cell.write_clock == a.now && cell.write_thread == a.thread && cell.write_kind == a.kind;
        if cell.read_mask & !a.mask != 0 || (cell.write_mask & !a.mask != 0 && !same_epoch) {
            return None;
        }
        cell.write_clock = a.now;
        cell.write_thread = a.thread;
        cell.write_mask = a.mask | if same_epoch { cell.write_mask } else { 0 };
        cell.write_kind = a.kind;
        cell.write_pc = a.pc;
        cell.read_mask = 0;
        Some(None)
    }

    fn split(&mut self, cell: &mut Cell) {
        let index = self.free.pop().map_or(self.used, |index| index as usize);
        if index == self.used {
            self.used += 1;
            if index == self.extensions.len() {
                self.extensions.push(Extension::default());
            }
        }
        let extension = &mut self.extensions[index];
        *extension = Extension::default();
        for byte in 0..4 {
            if cell.write_mask & (1 << byte) != 0 {
                extension.writes[byte] =
                    Some((cell.write_thread, cell.write_clock, cell.write_pc, cell.write_kind));
            }
        }
        if cell.read_mask != 0 {
            extension.others.push(Past {
                thread: cell.read_thread,
                clock: cell.read_clock,
                pc: cell.read_pc,
                mask: cell.read_mask,
                kind: Kind::Read,
            });
        }
        cell.extension = index as u32;
    }
}

impl Extension {
    /// A further read by a thread that reads these bytes again and again, as others do.
    fn read_quickly(&mut self, a: &Access) -> bool {
        if a.kind != Kind::Read || self.cover != [0; 4] {
            return false;
        }
        for (byte, write) in self.writes.iter().enumerate() {
            if let &Some((thread, clock, _, kind)) = write
                && a.mask & (1 << byte) != 0
                && (kind == Kind::Free || (thread != a.thread && clock > a.clock.get(thread)))
            {
                return false;
            }
        }
        let mut own = None;
        for past in &mut self.others {
            if past.kind != Kind::Read {
                return false;
            }
            if past.thread == a.thread && past.mask == a.mask {
                own = Some(past);
            }
        }
        let Some(own) = own else { return false };
        (own.clock, own.pc) = (a.now, a.pc);
        true
    }

    fn conflict(&self, a: &Access) -> Option<Conflict> {
        for byte in bytes(a.mask) {
            if let Some((thread, clock, pc, kind)) = self.writes[byte]
                && (kind == Kind::Free || (thread != a.thread && clock > a.clock.get(thread)))
            {
                return Some(Conflict { thread, clock, pc, kind });
            }
        }
        let racing = self.others.iter().find(|past| {
            past.mask & a.mask != 0
                && (past.kind.writes() || a.kind.writes())
                && !(past.kind.is_atomic() && a.kind.is_atomic())
                && past.thread != a.thread
                && past.clock > a.clock.get(past.thread)
        });
        racing.map(|p| Conflict { thread: p.thread, clock: p.clock, pc: p.pc, kind: p.kind })
    }

    fn record(&mut self, a: Access) {
        if matches!(a.kind, Kind::Write | Kind::Free) {
            for byte in bytes(a.mask) {
                self.writes[byte] = Some((a.thread, a.now, a.pc, a.kind));
            }
            // What happens before this write and lies within its bytes can race with nothing that the write does not.
            self.others.retain(|past| past.mask & !a.mask != 0 || past.clock > a.clock.get(past.thread));
            return;
        }
        self.keep(Past { thread: a.thread, clock: a.now, pc: a.pc, mask: a.mask, kind: a.kind });
    }

    fn keep(&mut self, past: Past) {
        let key = |past: &Past| (past.thread, past.mask, past.kind);
        let same = |other: &&mut Past| key(other) == key(&past);
        match self.others.iter_mut().find(same) {
            Some(other) => *other = past,
            None => self.others.push(past),
        }
    }
}

#[inline]
fn bytes(mask: u8) -> impl Iterator<Item = usize> {
    (0..4).filter(move |byte| mask & (1 << byte) != 0)
}

#[inline]
fn unordered(thread: ThreadId, clock: u32, a: &Access) -> bool {
    thread != a.thread && clock > a.clock.get(thread)
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
                let found = if look { self.detector.check_atomic(&mut self.cell, access) } else { None };
                if found.is_some() {
                    self.detector.place(0).doubt(thread, store);
                }
                found
            } else {
                self.detector.access(&mut self.cell, access)
            };
            conflict.map(|c| (c.thread.0, c.kind))
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
        assert_eq!(w.cell.extension, NO_EXTENSION);
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
        assert_eq!(w.cell.extension, NO_EXTENSION);
        assert_eq!(w.access(1, Kind::AtomicRead, 15), Some((0, Kind::Free)));
    }

    #[test]
    fn a_new_execution_forgets() {
        let mut w = World::new();
        assert_eq!(w.access(0, Kind::Write, 15), None);
        w.detector.reset();
        assert_eq!(w.access(1, Kind::Write, 15), None);
    }

    #[test]
    fn a_cell_is_half_a_cache_line() {
        assert_eq!(size_of::<Cell>(), 32);
    }
}
