//! Vector clocks of a growing number of threads.
//!
//! A missing entry is 0. Up to eight threads a clock needs no allocation. Cost: O(threads).

use porf_event::ThreadId;
use smallvec::SmallVec;

/// How many events of each thread are known.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Clock(SmallVec<[u32; 8]>);

impl Clone for Clock {
    // One copy of memory; the derived one goes entry by entry.
    #[inline]
    fn clone(&self) -> Clock {
        Clock(SmallVec::from_slice(&self.0))
    }
}

impl Clock {
    /// What is known of a thread; 0 is nothing.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.as_usize()).copied().unwrap_or(0)
    }

    /// Replaces what is known of a thread.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, value: u32) {
        let thread = thread.as_usize();
        if thread >= self.0.len() {
            if value == 0 {
                return;
            }
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = value;
    }

    /// Makes sure that at least so much of a thread is known.
    #[inline]
    pub fn raise(&mut self, thread: ThreadId, value: u32) {
        if self.get(thread) < value {
            self.set(thread, value);
        }
    }

    /// The least upper bound; says whether anything changed.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            if *mine < theirs {
                *mine = theirs;
                changed = true;
            }
        }
        changed
    }

    /// The greatest lower bound.
    pub fn meet(&mut self, other: &Clock) {
        self.0.truncate(other.0.len());
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).min(theirs);
        }
    }

    /// Whether at least as much is known of every thread.
    pub fn covers(&self, other: &Clock) -> bool {
        other.0.iter().enumerate().all(|(thread, &value)| value <= self.0.get(thread).copied().unwrap_or(0))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether nothing is known of any thread.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes this clock equal to `other` without giving up its memory.
    #[inline]
    pub fn assign(&mut self, other: &Clock) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_is_least_upper_bound_and_meet_greatest_lower() {
        let clock = |entries: &[u32]| {
            let mut clock = Clock::default();
            entries.iter().enumerate().for_each(|(thread, &value)| clock.set(ThreadId(thread as u16), value));
            clock
        };
        let mut joined = clock(&[3, 0, 5]);
        assert!(joined.join(&clock(&[1, 4])));
        assert_eq!(joined, clock(&[3, 4, 5]));
        assert!(!joined.join(&clock(&[3, 4])));
        let mut met = clock(&[3, 0, 5]);
        met.meet(&clock(&[1, 4]));
        assert!(clock(&[3, 4, 5]).covers(&met) && !met.covers(&clock(&[0, 1])));
        assert_eq!((met.get(ThreadId(0)), met.get(ThreadId(1)), met.get(ThreadId(2))), (1, 0, 0));
    }
}
