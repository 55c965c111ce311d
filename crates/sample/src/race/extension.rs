//! What a [`State`] cannot hold: every byte apart, and all concurrent accesses.

use super::state::{State, mix};
use super::{Access, Conflict, Kind, Past, bytes};
use crate::clock::Clock;
use porf_event::ThreadId;
use smallvec::SmallVec;

/// Every byte apart, and all concurrent accesses.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Extension {
    /// Per byte the number of the [`Place`](crate::place::Place) that covers it, plus one; 0 is none.
    pub(super) cover: [u32; 4],
    /// What the runtime keeps for a lock that begins in this cell; 0 is nothing.
    pub sync: u32,
    /// For each byte its last plain write or free, the reads since then that do not happen before each other, and atomic
    /// accesses of places that are gone.
    rows: SmallVec<[Row; 2]>,
}

/// What a thread did to some of the bytes in one epoch: most words that are accessed byte by byte have one writer and
/// one reader.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Row {
    thread: ThreadId,
    kind: Kind,
    /// The bytes, one bit each.
    mask: u8,
    clock: u32,
    /// For each of these bytes, from where; 0 for others.
    pcs: [u32; 4],
}

impl Row {
    fn new(thread: ThreadId, clock: u32, pc: u32, mask: u8, kind: Kind) -> Row {
        let mut row = Row { thread, kind, mask: 0, clock, pcs: [0; 4] };
        row.add(mask, pc);
        row
    }

    fn add(&mut self, mask: u8, pc: u32) {
        self.mask |= mask;
        bytes(mask).for_each(|byte| self.pcs[byte] = pc);
    }

    fn remove(&mut self, mask: u8) {
        self.mask &= !mask;
        bytes(mask).for_each(|byte| self.pcs[byte] = 0);
    }

    /// From where, if that is the same for all of its bytes.
    fn only_pc(&self) -> Option<u32> {
        let first = self.pcs[self.mask.trailing_zeros() as usize];
        bytes(self.mask).all(|byte| self.pcs[byte] == first).then_some(first)
    }

    /// The last plain write of its bytes, or their free.
    fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Free)
    }

    /// Whether it happens before the access.
    fn is_before(&self, a: &Access) -> bool {
        self.clock <= a.clock.get(self.thread)
    }

    /// Whether it races with the access, or the access uses what it freed.
    fn conflicts(&self, a: &Access) -> bool {
        self.mask & a.mask != 0
            && if self.is_write() {
                self.kind == Kind::Free || a.is_unordered_with(self.thread, self.clock)
            } else {
                (self.kind.writes() || a.kind.writes())
                    && !(self.kind.is_atomic() && a.kind.is_atomic())
                    && a.is_unordered_with(self.thread, self.clock)
            }
    }
}

impl Extension {
    /// Holds what the state does, from now on.
    pub(super) fn begin(&mut self, state: &State) {
        *self = Extension::default();
        if state.write_mask != 0 {
            let (thread, clock, pc) = (state.write_thread, state.write_clock, state.write_pc);
            self.rows.push(Row::new(thread, clock, pc, state.write_mask, state.write_kind));
        }
        if state.read_mask != 0 {
            let (thread, clock, pc) = (state.read_thread, state.read_clock, state.read_pc);
            self.rows.push(Row::new(thread, clock, pc, state.read_mask, Kind::Read));
        }
    }

    /// The state that says the same, if one can.
    pub(super) fn as_state(&self) -> Option<State> {
        if self.sync != 0 || self.rows.len() > 2 || self.cover != [0; 4] {
            return None;
        }
        let mut state = State::default();
        for row in &self.rows {
            let pc = row.only_pc()?;
            if row.is_write() && state.write_mask == 0 {
                (state.write_thread, state.write_clock, state.write_pc) = (row.thread, row.clock, pc);
                (state.write_mask, state.write_kind) = (row.mask, row.kind);
            } else if row.kind == Kind::Read && state.read_mask == 0 {
                (state.read_thread, state.read_clock) = (row.thread, row.clock);
                (state.read_pc, state.read_mask) = (pc, row.mask);
            } else {
                return None;
            }
        }
        Some(state)
    }

    /// A number that equal extensions share and others seldom do.
    pub(super) fn hash(&self) -> u64 {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        self.rows.iter().fold(u64::from(self.cover[0]), |hash, row| {
            let [first, second, third, fourth] = row.pcs;
            let pcs = mix(pair(first, second), pair(third, fourth));
            mix(hash, pair(row.clock, u32::from(row.thread.0) << 8 | u32::from(row.mask)) ^ pcs)
        })
    }

    /// Forgets what nobody can race with any more who has seen `everyone`.
    pub(super) fn settle(&mut self, everyone: &Clock) {
        self.rows.retain(|row| row.kind == Kind::Free || row.clock > everyone.get(row.thread));
        self.shrink();
    }

    /// Whether there was a plain access.
    pub(super) fn is_touched(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The last plain write of a byte, or its free.
    pub(super) fn write_at(&self, byte: u8) -> Option<Past> {
        let row = self.rows.iter().find(|row| row.is_write() && row.mask & (1 << byte) != 0)?;
        let Row { thread, clock, mask, kind, pcs } = *row;
        Some(Past { thread, clock, pc: pcs[usize::from(byte)], mask, kind })
    }

    /// A further read by a thread that reads these bytes again and again, as others do, if nothing else is to be looked at:
    /// true if it is recorded. Other cells may share the extension, if it is not `own`.
    pub(super) fn read_again(&mut self, a: &Access, own: bool) -> bool {
        if a.kind != Kind::Read || self.cover != [0; 4] {
            return false;
        }
        let mut earlier = None;
        for row in &mut self.rows {
            if row.is_write() {
                if row.conflicts(a) {
                    return false;
                }
            } else if row.kind != Kind::Read {
                return false;
            } else if row.thread == a.thread && row.mask == a.mask {
                earlier = Some(row);
            }
        }
        let Some(row) = earlier else { return false };
        if own {
            row.clock = a.now;
            row.add(a.mask, a.pc);
            return true;
        }
        row.clock == a.now && row.only_pc() == Some(a.pc)
    }

    /// An earlier access that races with this one, or the free before it: of writes that of the first byte.
    pub(super) fn conflict(&self, a: &Access) -> Option<Conflict> {
        let first_byte = |row: &Row| (row.mask & a.mask).trailing_zeros();
        let conflicting = self.rows.iter().filter(|row| row.conflicts(a));
        let row = conflicting.min_by_key(|row| if row.is_write() { first_byte(row) } else { u32::MAX })?;
        let Row { thread, clock, kind, pcs, .. } = *row;
        Some(Conflict { thread, clock, pc: pcs[first_byte(row) as usize], kind })
    }

    /// Remembers a plain access.
    pub(super) fn record(&mut self, a: &Access) {
        let is_write = matches!(a.kind, Kind::Write | Kind::Free);
        let mut is_kept = false;
        self.rows.retain(|row| {
            if (row.thread, row.clock, row.kind) == (a.thread, a.now, a.kind) {
                row.add(a.mask, a.pc);
                is_kept = true;
            } else if row.is_write() == is_write && !row.kind.is_atomic() {
                // A byte was last written now. What happens before a read races with nothing that the read does not.
                if is_write || row.is_before(a) {
                    row.remove(a.mask);
                }
            } else if is_write && row.is_before(a) {
                // Nor does what happens before a write.
                row.remove(a.mask);
            }
            row.mask != 0
        });
        if !is_kept {
            self.rows.push(Row::new(a.thread, a.now, a.pc, a.mask, a.kind));
        }
        self.shrink();
    }

    /// Remembers an atomic access in place of an earlier one of its sort.
    pub(super) fn keep(&mut self, past: Past) {
        let row = Row::new(past.thread, past.clock, past.pc, past.mask, past.kind);
        let key = |row: &Row| (row.thread, row.mask, row.kind);
        match self.rows.iter_mut().find(|other| key(other) == key(&row)) {
            Some(other) => *other = row,
            None => self.rows.push(row),
        }
    }

    /// Most have two rows, and need no memory besides.
    fn shrink(&mut self) {
        if self.rows.spilled() && self.rows.len() <= self.rows.inline_size() {
            self.rows.shrink_to_fit();
        }
    }
}
