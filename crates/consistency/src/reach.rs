//! A relation between some events of a graph that only grows and is kept transitively closed, so that a cycle is
//! noticed at once.
//!
//! Cost: events times their words for each product of two sets that is added.

use porf_graph::Ev;

/// Sets of events are words with a bit for each of the events that there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    events: Vec<Ev>,
    words: usize,
    /// Row i: the events that the i-th leads to.
    after: Vec<u64>,
}

impl Reach {
    /// No event leads to another.
    pub fn reset(&mut self, events: impl Iterator<Item = Ev>) {
        self.events.clear();
        self.events.extend(events);
        self.words = self.events.len().div_ceil(64);
        self.after.clear();
        self.after.resize(self.events.len() * self.words, 0);
    }

    pub fn events(&self) -> &[Ev] {
        &self.events
    }

    pub fn empty_set(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// Adds to a set the events of which something holds.
    pub fn mark(&self, set: &mut [u64], holds: impl Fn(Ev) -> bool) {
        for (at, &e) in self.events.iter().enumerate() {
            if holds(e) {
                set[at / 64] |= 1 << (at % 64);
            }
        }
    }

    /// Every event of `from` comes before every one of `to`. Whether that makes no cycle.
    pub fn add(&mut self, from: &[u64], to: &[u64]) -> bool {
        if !any(from) || !any(to) {
            return true;
        }
        let mut reached = to.to_vec();
        for at in 0..self.events.len() {
            if has(to, at) {
                join(&mut reached, &self.after[at * self.words..(at + 1) * self.words]);
            }
        }
        if intersect(&reached, from) {
            return false;
        }
        for at in 0..self.events.len() {
            let row = &mut self.after[at * self.words..(at + 1) * self.words];
            if has(from, at) || intersect(row, from) {
                join(row, &reached);
            }
        }
        true
    }
}

pub(crate) fn any(set: &[u64]) -> bool {
    set.iter().any(|&word| word != 0)
}

fn has(set: &[u64], at: usize) -> bool {
    set[at / 64] & 1 << (at % 64) != 0
}

pub(crate) fn join(set: &mut [u64], other: &[u64]) {
    for (word, &more) in set.iter_mut().zip(other) {
        *word |= more;
    }
}

fn intersect(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}
