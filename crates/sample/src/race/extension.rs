//! What a [`State`] cannot hold: every byte apart, and all concurrent accesses.

use super::state::{State, mix};
use super::{Access, Conflict, Kind, Past, bytes};
use porf_event::ThreadId;
use smallvec::SmallVec;

/// A write or a free: thread, clock, program counter, kind.
type Written = (ThreadId, u32, u32, Kind);

/// Every byte apart, and all concurrent accesses.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Extension {
    /// Per byte the number of the [`Place`](crate::place::Place) that covers it, plus one; 0 is none.
    pub(super) cover: [u32; 4],
    /// What the runtime keeps for a lock that begins in this cell; 0 is nothing.
    pub sync: u32,
    /// Per byte the last plain write or free.
    pub(super) writes: [Option<Written>; 4],
    /// Reads since then, and atomic accesses of places that are gone, at most one per thread, kind and mask.
    others: SmallVec<[Past; 2]>,
}

impl Extension {
    /// Holds what the state does, from now on.
    pub(super) fn begin(&mut self, state: &State) {
        *self = Extension::default();
        for byte in bytes(state.write_mask) {
            self.writes[byte] =
                Some((state.write_thread, state.write_clock, state.write_pc, state.write_kind));
        }
        if state.read_mask != 0 {
            self.others.push(Past {
                thread: state.read_thread,
                clock: state.read_clock,
                pc: state.read_pc,
                mask: state.read_mask,
                kind: Kind::Read,
            });
        }
    }

    /// The state that says the same, if one can.
    pub(super) fn as_state(&self) -> Option<State> {
        if self.sync != 0 || self.others.len() > 1 || self.cover != [0; 4] {
            return None;
        }
        let mut state = State::default();
        if let Some(&past) = self.others.first() {
            if past.kind != Kind::Read {
                return None;
            }
            (state.read_thread, state.read_clock) = (past.thread, past.clock);
            (state.read_pc, state.read_mask) = (past.pc, past.mask);
        }
        let mut known = None;
        for (byte, write) in self.writes.iter().enumerate() {
            let &Some(write) = write else { continue };
            if *known.get_or_insert(write) != write {
                return None;
            }
            (state.write_thread, state.write_clock, state.write_pc, state.write_kind) = write;
            state.write_mask |= 1 << byte;
        }
        Some(state)
    }

    /// A number that equal extensions share and others seldom do.
    pub(super) fn hash(&self) -> u64 {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let writes = self.writes.iter().flatten();
        let hash = writes.fold(u64::from(self.cover[0]), |hash, &(thread, clock, pc, _)| {
            mix(hash, pair(clock, pc) ^ u64::from(thread.0) << 48)
        });
        self.others.iter().fold(hash, |hash, past| {
            mix(hash, pair(past.clock, past.pc) ^ u64::from(past.thread.0) << 48 ^ u64::from(past.mask))
        })
    }

    /// Whether there was a plain access.
    pub(super) fn is_touched(&self) -> bool {
        self.writes != [None; 4] || !self.others.is_empty()
    }

    /// A further read by a thread that reads these bytes again and again, as others do: the read it is to be
    /// kept as, if nothing else is to be looked at.
    pub(super) fn read_again(&mut self, a: &Access) -> Option<&mut Past> {
        if a.kind != Kind::Read || self.cover != [0; 4] {
            return None;
        }
        for (byte, write) in self.writes.iter().enumerate() {
            if let &Some((thread, clock, _, kind)) = write
                && a.mask & (1 << byte) != 0
                && (kind == Kind::Free || a.is_unordered_with(thread, clock))
            {
                return None;
            }
        }
        let mut own = None;
        for past in &mut self.others {
            if past.kind != Kind::Read {
                return None;
            }
            if past.thread == a.thread && past.mask == a.mask {
                own = Some(past);
            }
        }
        own
    }

    /// An earlier access that races with this one, or the free before it.
    pub(super) fn conflict(&self, a: &Access) -> Option<Conflict> {
        for byte in bytes(a.mask) {
            if let Some((thread, clock, pc, kind)) = self.writes[byte]
                && (kind == Kind::Free || a.is_unordered_with(thread, clock))
            {
                return Some(Conflict { thread, clock, pc, kind });
            }
        }
        let racing = self.others.iter().find(|past| {
            past.mask & a.mask != 0
                && (past.kind.writes() || a.kind.writes())
                && !(past.kind.is_atomic() && a.kind.is_atomic())
                && a.is_unordered_with(past.thread, past.clock)
        });
        racing.map(|p| Conflict { thread: p.thread, clock: p.clock, pc: p.pc, kind: p.kind })
    }

    /// Remembers a plain access.
    pub(super) fn record(&mut self, a: &Access) {
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

    /// Remembers an access in place of an earlier one of its sort.
    pub(super) fn keep(&mut self, past: Past) {
        let key = |past: &Past| (past.thread, past.mask, past.kind);
        let same = |other: &&mut Past| key(other) == key(&past);
        match self.others.iter_mut().find(same) {
            Some(other) => *other = past,
            None => self.others.push(past),
        }
    }
}
