//! Which reads each register was computed from.
//!
//! A state of a thread is copied for every event, so copying must be cheap. Nearly all registers depend only on
//! some of the first 64 events. One word holds such a set, and the words of all registers are copied as memory.

use crate::words::WordList;
use porf_event::DepSet;
use std::collections::BTreeMap;

/// Per register, as `ThreadState::registers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tainted {
    plain: WordList,
    /// Of registers that depend on more, in place of the above.
    others: BTreeMap<usize, DepSet>,
}

impl Tainted {
    pub fn new(registers: usize) -> Tainted {
        Tainted { plain: WordList::new(registers), others: BTreeMap::new() }
    }

    pub fn resize(&mut self, registers: usize) {
        self.plain.resize(registers);
        if !self.others.is_empty() {
            self.others.split_off(&registers);
        }
    }

    #[inline]
    pub fn set(&mut self, register: usize, taint: DepSet) {
        match taint.as_bits() {
            Some(bits) => {
                self.plain[register] = bits;
                if !self.others.is_empty() {
                    self.others.remove(&register);
                }
            }
            None => {
                self.plain[register] = 0;
                self.others.insert(register, taint);
            }
        }
    }

    /// Adds what a register was computed from to `set`.
    #[inline]
    pub fn add_to(&self, register: usize, set: &mut DepSet) {
        set.insert_bits(self.plain[register]);
        if !self.others.is_empty()
            && let Some(other) = self.others.get(&register)
        {
            set.union_with(other);
        }
    }

    /// About how many bytes it has outside of itself.
    pub fn heap_bytes(&self) -> usize {
        self.plain.heap_bytes()
            + self.others.values().map(|set| size_of::<DepSet>() + set.heap_bytes()).sum::<usize>()
    }
}
