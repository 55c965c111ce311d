//! A list of words that is cloned by copying memory. The clone of a `SmallVec` would copy word by word, and a
//! state of a thread is cloned for every event.

use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WordList(SmallVec<[u64; 16]>);

impl WordList {
    pub fn new(length: usize) -> WordList {
        WordList(SmallVec::from_elem(0, length))
    }

    /// Cuts it off, or fills it up with 0.
    pub fn resize(&mut self, length: usize) {
        self.0.resize(length, 0);
    }

    /// About how many bytes it has outside of itself.
    pub fn heap_bytes(&self) -> usize {
        if self.0.spilled() { 8 * self.0.capacity() } else { 0 }
    }
}

impl Clone for WordList {
    #[inline]
    fn clone(&self) -> WordList {
        WordList(SmallVec::from_slice(&self.0))
    }
}

impl Deref for WordList {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for WordList {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}
