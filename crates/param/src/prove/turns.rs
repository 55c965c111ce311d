//! Several searches side by side, one at a time: each works until its share is used up, then the next goes on.
//!
//! Nobody knows beforehand which way to search is the good one for a system. Shares are counted in steps of work
//! ([`super::work`]), so who goes on when is the same on every machine. No search is started again: a search that has no
//! turn waits within [`super::work::Work::spend`].

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Whose turn it is.
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    searches: Vec<Search>,
    turn: usize,
    /// Steps of all searches.
    done: u64,
    /// Steps that all searches may do.
    limit: u64,
    over: bool,
}

#[derive(Clone, Copy)]
struct Search {
    /// It begins when so much work was done by all, or when nobody else is left.
    begins: u64,
    /// Steps in the next turn, and in a later one at most: turns double, so that what is easy for one search does
    /// not wait long for the others.
    next: u64,
    share: u64,
    ended: bool,
}

impl Turns {
    /// For each search when it begins, its first share and its largest, and how much all may do. The first begins at
    /// once.
    pub fn new(searches: &[(u64, u64, u64)], limit: u64) -> Turns {
        let search = |(begins, next, share): &(u64, u64, u64)| Search {
            begins: *begins,
            next: *next,
            share: *share,
            ended: false,
        };
        let searches = searches.iter().map(search);
        let state = State { searches: searches.collect(), turn: 0, done: 0, limit, over: false };
        Turns { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn of `search`, which has done `steps` since its last one began; how many it may do now.
    /// `None`: it is over.
    pub fn wait(&self, search: usize, steps: u64) -> Option<u64> {
        let mut state = self.lock();
        state.count(steps);
        if state.turn == search && steps > 0 {
            state.pass();
            self.changed.notify_all();
        }
        while state.turn != search && !state.over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.over {
            return None;
        }
        let left = state.limit - state.done;
        let Search { next, share, .. } = &mut state.searches[search];
        let now = *next;
        *next = (2 * now).min(*share);
        Some(now.min(left))
    }

    /// A search has ended, after `steps` of its last turn. With an answer, the others end too.
    pub fn end(&self, search: usize, steps: u64, answered: bool) {
        let mut state = self.lock();
        state.count(steps);
        state.searches[search].ended = true;
        state.over |= answered;
        if state.turn == search {
            state.pass();
        }
        self.changed.notify_all();
    }
}

impl State {
    fn count(&mut self, steps: u64) {
        self.done += steps;
        self.over |= self.done > self.limit;
    }

    /// The next search that has begun; the first to begin, if none has.
    fn pass(&mut self) {
        let count = self.searches.len();
        let order = (1..=count).map(|step| (self.turn + step) % count);
        let left: Vec<usize> = order.filter(|search| !self.searches[*search].ended).collect();
        let begun = left.iter().find(|search| self.searches[**search].begins <= self.done);
        let next = begun.or_else(|| left.iter().min_by_key(|search| self.searches[**search].begins));
        match next {
            Some(search) => self.turn = *search,
            None => self.over = true,
        }
    }
}
