//! Vector clocks of a growing number of threads.
//!
//! A missing entry is 0. The first eight threads have their entries in the clock itself, so that most programs' clocks
//! are a few words that are copied and joined at once, without a loop over a length. Cost: O(threads).

use porf_event::ThreadId;

/// So many threads need no allocation. What is done for the others is never inlined: the common case must not save
/// registers for it.
const FEW: usize = 8;

/// How many events of each thread are known.
#[derive(Clone, Default, Debug)]
pub struct Clock {
    few: [u32; FEW],
    /// The entries of the other threads, as far as any were set.
    more: Box<[u32]>,
}

impl Clock {
    /// What is known of a thread; 0 is nothing.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        match self.few.get(thread.as_usize()) {
            Some(&value) => value,
            None => self.more.get(thread.as_usize() - FEW).copied().unwrap_or(0),
        }
    }

    /// Of the threads from this number on nothing is known.
    pub fn threads(&self) -> u16 {
        (FEW + self.more.len()) as u16
    }

    /// Replaces what is known of a thread.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, value: u32) {
        match self.few.get_mut(thread.as_usize()) {
            Some(entry) => *entry = value,
            None => self.set_far(thread.as_usize() - FEW, value),
        }
    }

    #[inline(never)]
    fn set_far(&mut self, place: usize, value: u32) {
        if place >= self.more.len() {
            if value == 0 {
                return;
            }
            // Threads come one by one.
            self.grow((place + 1).next_power_of_two());
        }
        self.more[place] = value;
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        let mut more = vec![0; length].into_boxed_slice();
        more[..self.more.len()].copy_from_slice(&self.more);
        self.more = more;
    }

    /// Makes sure that at least so much of a thread is known.
    #[inline]
    pub fn raise(&mut self, thread: ThreadId, value: u32) {
        if self.get(thread) < value {
            self.set(thread, value);
        }
    }

    /// The least upper bound.
    #[inline]
    pub fn absorb(&mut self, other: &Clock) {
        for (mine, &theirs) in self.few.iter_mut().zip(&other.few) {
            *mine = theirs.max(*mine);
        }
        if !other.more.is_empty() {
            self.join_far(&other.more);
        }
    }

    /// The same; says whether anything changed.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        let before = self.few;
        for (mine, &theirs) in self.few.iter_mut().zip(&other.few) {
            *mine = theirs.max(*mine);
        }
        let more = !other.more.is_empty() && self.join_far(&other.more);
        before != self.few || more
    }

    #[inline(never)]
    fn join_far(&mut self, other: &[u32]) -> bool {
        if other.len() > self.more.len() {
            self.grow(other.len());
        }
        let mut changed = false;
        for (mine, &theirs) in self.more.iter_mut().zip(other) {
            changed |= *mine < theirs;
            *mine = theirs.max(*mine);
        }
        changed
    }

    /// The greatest lower bound.
    pub fn meet(&mut self, other: &Clock) {
        for (mine, &theirs) in self.few.iter_mut().zip(&other.few) {
            *mine = theirs.min(*mine);
        }
        for (place, mine) in self.more.iter_mut().enumerate() {
            *mine = other.more.get(place).copied().unwrap_or(0).min(*mine);
        }
    }

    /// Whether at least as much is known of every thread.
    pub fn covers(&self, other: &Clock) -> bool {
        let far = |place: usize| self.more.get(place).copied().unwrap_or(0);
        other.few.iter().zip(&self.few).all(|(theirs, mine)| theirs <= mine)
            && other.more.iter().enumerate().all(|(place, &theirs)| theirs <= far(place))
    }

    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.few = [0; FEW];
        // To fill nothing takes long: libc's function touches the page where nothing is.
        if !self.more.is_empty() {
            self.more.fill(0);
        }
    }

    /// Whether nothing is known of any thread.
    pub fn is_empty(&self) -> bool {
        self.few == [0; FEW] && self.more.iter().all(|&value| value == 0)
    }

    /// Makes this clock equal to `other` without giving up its memory.
    #[inline]
    pub fn assign(&mut self, other: &Clock) {
        self.few = other.few;
        if !(self.more.is_empty() && other.more.is_empty()) {
            self.assign_far(&other.more);
        }
    }

    #[inline(never)]
    fn assign_far(&mut self, other: &[u32]) {
        if self.more.len() < other.len() {
            self.more = other.into();
            return;
        }
        let (same, rest) = self.more.split_at_mut(other.len());
        same.copy_from_slice(other);
        rest.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_first_threads_all_is_the_same() {
        let clock = |entries: &[(u16, u32)]| {
            let mut clock = Clock::default();
            entries.iter().for_each(|&(thread, value)| clock.set(ThreadId(thread), value));
            clock
        };
        let (mut joined, other) = (clock(&[(7, 1), (8, 2)]), clock(&[(7, 1), (30, 5)]));
        assert!(!joined.covers(&other) && joined.join(&other) && joined.covers(&other));
        assert!(!joined.join(&other), "nothing is new any more");
        assert_eq!([8, 30, 31, 500].map(|thread| joined.get(ThreadId(thread))), [2, 5, 0, 0]);
        let mut assigned = clock(&[(60, 9)]);
        assigned.assign(&joined);
        assert!(assigned.covers(&joined) && joined.covers(&assigned));
        joined.meet(&clock(&[(8, 1)]));
        assert_eq!([7, 8, 30].map(|thread| joined.get(ThreadId(thread))), [0, 1, 0]);
        joined.clear();
        assert!(joined.is_empty() && !assigned.is_empty());
    }

    #[test]
    fn join_is_least_upper_bound_and_meet_greatest_lower() {
        let clock = |entries: &[u32]| {
            let mut clock = Clock::default();
            entries.iter().enumerate().for_each(|(thread, &value)| clock.set(ThreadId(thread as u16), value));
            clock
        };
        let mut joined = clock(&[3, 0, 5]);
        assert!(joined.join(&clock(&[1, 4])));
        let same = |a: &Clock, b: &Clock| a.covers(b) && b.covers(a);
        assert!(same(&joined, &clock(&[3, 4, 5])));
        assert!(!joined.join(&clock(&[3, 4])));
        let mut met = clock(&[3, 0, 5]);
        met.meet(&clock(&[1, 4]));
        assert!(clock(&[3, 4, 5]).covers(&met) && !met.covers(&clock(&[0, 1])));
        assert_eq!((met.get(ThreadId(0)), met.get(ThreadId(1)), met.get(ThreadId(2))), (1, 0, 0));
    }
}
