//! Whether a new edge between two locks can close a cycle: a topological order of the locks that is kept up to date.
//!
//! Source: Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM JEA 11, 2007. An
//! edge that leads upwards changes nothing. For one that leads downwards, only the locks with ranks between its ends
//! are looked at, and they share their ranks anew.
//! Deviations: an edge that closes a cycle is left out. From then on any edge may close one, so that each is said to.
//! If the steps that it may take are used up, the edge is left out too, and is not said to close one.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Ranks {
    locks: BTreeMap<u64, Lock>,
    cyclic: bool,
}

#[derive(Default)]
struct Lock {
    rank: usize,
    after: Vec<u64>,
    before: Vec<u64>,
}

impl Ranks {
    pub fn clear(&mut self) {
        self.locks.clear();
        self.cyclic = false;
    }

    /// Adds an edge. False if it may close a cycle. Takes from `credits` what it costs.
    pub fn add(&mut self, from: u64, to: u64, credits: &mut u64) -> bool {
        let (low, high) = (self.rank(to), self.rank(from));
        if low < high {
            let Some(below) = self.reach(to, credits, |rank| rank <= high, |lock| &lock.after) else {
                return true;
            };
            if below.contains(&from) {
                self.cyclic = true;
                return false;
            }
            let Some(above) = self.reach(from, credits, |rank| rank >= low, |lock| &lock.before) else {
                return true;
            };
            self.rearrange(above, below);
        }
        for (lock, other, is_from) in [(from, to, true), (to, from, false)] {
            let lock = self.locks.entry(lock).or_default();
            let list = if is_from { &mut lock.after } else { &mut lock.before };
            if !list.contains(&other) {
                list.push(other);
            }
        }
        !self.cyclic
    }

    /// The rank of a lock; a new one comes last.
    fn rank(&mut self, lock: u64) -> usize {
        let count = self.locks.len();
        self.locks.entry(lock).or_insert_with(|| Lock { rank: count, ..Lock::default() }).rank
    }

    /// All locks that edges lead to from `start`, by way of locks whose rank is within bounds. Nothing if that takes more
    /// steps than there are.
    fn reach(
        &self,
        start: u64,
        credits: &mut u64,
        within: impl Fn(usize) -> bool,
        next: impl Fn(&Lock) -> &Vec<u64>,
    ) -> Option<Vec<u64>> {
        let mut seen = std::collections::BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(lock) = open.pop() {
            for &other in next(&self.locks[&lock]) {
                *credits = credits.checked_sub(1)?;
                if within(self.locks[&other].rank) && seen.insert(other) {
                    open.push(other);
                }
            }
        }
        Some(seen.into_iter().collect())
    }

    /// The locks of both lists share their ranks: first those of one, then those of the other.
    fn rearrange(&mut self, mut first: Vec<u64>, mut then: Vec<u64>) {
        first.sort_by_key(|lock| self.locks[lock].rank);
        then.sort_by_key(|lock| self.locks[lock].rank);
        first.append(&mut then);
        let mut ranks: Vec<usize> = first.iter().map(|lock| self.locks[lock].rank).collect();
        ranks.sort_unstable();
        for (lock, rank) in first.into_iter().zip(ranks) {
            self.locks.entry(lock).or_default().rank = rank;
        }
    }
}
