//! Vector clocks: for each thread, how many of its events are known.

use std::cmp::Ordering;

/// A vector clock. Components beyond its length are zero, so clocks of different lengths can be compared.
#[derive(Clone, Default, Debug)]
pub struct VectorClock {
    counts: Vec<u32>,
}

impl VectorClock {
    /// The clock that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events of `thread` are known.
    pub fn get(&self, thread: usize) -> u32 {
        self.counts.get(thread).copied().unwrap_or(0)
    }

    /// Sets how many events of `thread` are known.
    pub fn set(&mut self, thread: usize, count: u32) {
        if thread >= self.counts.len() {
            self.counts.resize(thread + 1, 0);
        }
        self.counts[thread] = count;
    }

    /// Counts one more event of `thread` and returns the new count.
    pub fn tick(&mut self, thread: usize) -> u32 {
        let count = self.get(thread) + 1;
        self.set(thread, count);
        count
    }

    /// The least upper bound of both, in place.
    pub fn join(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, &theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Whether the `count`-th event of `thread` is known.
    pub fn covers(&self, thread: usize, count: u32) -> bool {
        self.get(thread) >= count
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Makes this clock equal to `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.counts.clone_from(&other.counts);
    }

    /// The components up to the last one stored.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    fn below(&self, other: &Self) -> bool {
        (0..self.counts.len()).all(|thread| self.get(thread) <= other.get(thread))
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl Eq for VectorClock {}

impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.below(other), other.below(self)) {
            (true, true) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => None,
        }
    }
}
