//! Who allocated the blocks of the heap: the innermost calls, once for all blocks with the same.
//!
//! A block that the program has keeps a number in its header ([`crate::heap`]). Numbers stay what they are when an
//! execution ends: the calls are memory of ours. There are at most [`MOST`]; of blocks beyond, nothing is known.
//!
//! Cost: O([`DEPTH`]) for an allocation.

use crate::call;
use crate::world::World;
use porf_event::ThreadId;

/// So many calls are kept.
pub const DEPTH: usize = 8;
/// So many different ones.
const MOST: usize = 1 << 16;
const SLOTS: usize = 1 << 12;

/// By whom something was allocated, innermost call first; 0 where there are no more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    pub thread: ThreadId,
    pub calls: [usize; DEPTH],
}

/// All that were seen.
pub struct Allocations {
    known: Vec<Allocation>,
    /// Numbers, by a hash; one is forgotten for another, then calls may be there twice.
    recent: [u32; SLOTS],
}

impl Default for Allocations {
    fn default() -> Allocations {
        Allocations { known: Vec::new(), recent: [0; SLOTS] }
    }
}

impl Allocations {
    /// The allocation of this number.
    pub fn get(&self, number: u32) -> Option<&Allocation> {
        self.known.get((number as usize).checked_sub(1)?)
    }

    fn number(&mut self, new: Allocation) -> u32 {
        let mix =
            |hash: usize, part: &usize| (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let slot = new.calls.iter().fold(new.thread.as_usize(), mix) % SLOTS;
        let known = self.recent[slot];
        if self.get(known) == Some(&new) {
            return known;
        }
        if self.known.len() == MOST {
            return 0;
        }
        self.known.push(new);
        self.recent[slot] = self.known.len() as u32;
        self.recent[slot]
    }
}

/// The number of an allocation by the running thread, called from `pc`.
pub fn note(w: &mut World, pc: usize) -> u32 {
    w.has_first_fiber();
    let mut calls = [0; DEPTH];
    call::innermost(w, w.current, pc, &mut calls);
    w.allocations.number(Allocation { thread: w.current, calls })
}
