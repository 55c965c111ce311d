//! What is known of four bytes in the common cases: one write and one read, as epochs.

use super::{Access, Conflict, Kind};
use crate::clock::Clock;
use porf_event::ThreadId;

/// The number that stands for no extension.
pub(super) const NO_EXTENSION: u32 = 0;

/// The last write and the last read of four bytes, or the extension that holds them instead: then all else is zero.
/// All zeros is untouched. What does not count is zero, so that states which mean the same are equal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub extension: u32,
    pub write_clock: u32,
    pub read_clock: u32,
    pub write_pc: u32,
    pub read_pc: u32,
    pub write_thread: ThreadId,
    pub read_thread: ThreadId,
    pub write_mask: u8,
    pub read_mask: u8,
    pub write_kind: Kind,
}

/// What becomes of a state when its bytes are accessed.
pub(super) enum Next {
    /// This one.
    State(State),
    /// The access races with an earlier one and is not recorded.
    Conflict(Conflict),
    /// A state cannot hold it: an extension must.
    Extension,
}

impl State {
    /// One write of all four bytes.
    pub fn written(thread: ThreadId, clock: u32, pc: u32, kind: Kind) -> State {
        State {
            write_clock: clock,
            write_pc: pc,
            write_thread: thread,
            write_mask: 15,
            write_kind: kind,
            ..State::default()
        }
    }

    /// A number that equal states share and others seldom do.
    #[inline]
    pub fn hash(&self) -> u64 {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let threads = pair(u32::from(self.write_thread.0), u32::from(self.read_thread.0));
        let masks =
            u64::from(self.write_mask) << 16 | u64::from(self.read_mask) << 24 | self.write_kind as u64;
        mix(mix(pair(self.write_clock, self.write_pc), threads ^ masks), pair(self.read_clock, self.read_pc))
    }

    /// Forgets what nobody can race with any more who has seen `everyone`.
    pub fn settle(&mut self, everyone: &Clock) {
        if self.write_kind != Kind::Free && self.write_clock <= everyone.get(self.write_thread) {
            (self.write_thread, self.write_clock, self.write_pc) = (ThreadId(0), 0, 0);
            (self.write_mask, self.write_kind) = (0, Kind::default());
        }
        if self.read_clock <= everyone.get(self.read_thread) {
            (self.read_thread, self.read_clock, self.read_pc, self.read_mask) = (ThreadId(0), 0, 0, 0);
        }
    }

    /// Did this access (or one covering it) already happen in the same epoch?
    #[inline]
    pub fn is_repeated(&self, thread: ThreadId, now: u32, mask: u8, write: bool) -> bool {
        let written = self.write_clock == now
            && self.write_thread == thread
            && self.write_mask & mask == mask
            && self.write_kind == Kind::Write;
        written
            || (!write
                && self.read_clock == now
                && self.read_thread == thread
                && self.read_mask & mask == mask)
    }

    /// An earlier access that races with this one, or the free before it.
    #[inline]
    pub fn conflict(&self, a: &Access) -> Option<Conflict> {
        if self.write_mask & a.mask != 0
            && (self.write_kind == Kind::Free || a.is_unordered_with(self.write_thread, self.write_clock))
        {
            return Some(Conflict {
                thread: self.write_thread,
                clock: self.write_clock,
                pc: self.write_pc,
                kind: self.write_kind,
            });
        }
        let races = a.kind.writes()
            && self.read_mask & a.mask != 0
            && a.is_unordered_with(self.read_thread, self.read_clock);
        races.then_some(Conflict {
            thread: self.read_thread,
            clock: self.read_clock,
            pc: self.read_pc,
            kind: Kind::Read,
        })
    }

    /// [`State::after`] in place, for a plain access to all four bytes of a state that was written as a whole; false if
    /// that must be asked. Fields are changed one by one: a copy of what was just written would wait for it.
    #[inline]
    pub fn advance(&mut self, a: &Access) -> bool {
        if self.extension != NO_EXTENSION
            || self.write_mask != 15
            || a.mask != 15
            || self.conflict(a).is_some()
        {
            return false;
        }
        if a.kind == Kind::Read {
            if self.read_mask != 0 && a.is_unordered_with(self.read_thread, self.read_clock) {
                return false;
            }
            (self.read_clock, self.read_thread, self.read_pc) = (a.now, a.thread, a.pc);
            self.read_mask = 15;
        } else {
            (self.write_clock, self.write_thread, self.write_pc) = (a.now, a.thread, a.pc);
            self.write_kind = a.kind;
            (self.read_clock, self.read_thread, self.read_pc) = (0, ThreadId(0), 0);
            self.read_mask = 0;
        }
        true
    }

    /// The state after a plain access; this one has no extension.
    #[inline]
    pub fn after(&self, a: &Access) -> Next {
        if let Some(conflict) = self.conflict(a) {
            return Next::Conflict(conflict);
        }
        if a.kind == Kind::Read {
            // One read is kept: this one, if it stands for the other or they are of one epoch.
            let same_epoch = self.read_clock == a.now && self.read_thread == a.thread;
            let others = self.read_mask != 0 && a.is_unordered_with(self.read_thread, self.read_clock);
            if (self.read_mask & !a.mask != 0 && !same_epoch) || others {
                return Next::Extension;
            }
            let read_mask = a.mask | if same_epoch { self.read_mask } else { 0 };
            let (read_clock, read_thread, read_pc) = (a.now, a.thread, a.pc);
            return Next::State(State { read_clock, read_thread, read_pc, read_mask, ..*self });
        }
        // One write is kept: this one, if it covers the other or they are of one epoch.
        let same_epoch =
            self.write_clock == a.now && self.write_thread == a.thread && self.write_kind == a.kind;
        if self.read_mask & !a.mask != 0 || (self.write_mask & !a.mask != 0 && !same_epoch) {
            return Next::Extension;
        }
        let earlier = if same_epoch { self.write_mask } else { 0 };
        let write_mask = a.mask | earlier;
        Next::State(State { write_mask, ..State::written(a.thread, a.now, a.pc, a.kind) })
    }
}

/// Two numbers into one, for hashes.
#[inline]
pub(super) fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}
