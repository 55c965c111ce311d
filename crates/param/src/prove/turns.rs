//! Several searches side by side, one at a time: each works until its turn ends, then another goes on.
//!
//! Nobody knows beforehand which way to search is the good one for a system. Each search has a clock, which runs the
//! slower the larger its weight is, and the one whose clock is behind goes on (Waldspurger and Weihl, "Stride scheduling",
//! 1995). A search that begins late has a clock that begins at 0, so it first makes up for what the others did.
//!
//! Weights follow promise. Among searches of one kind, the one with the fewest open cubes has its whole weight, the others
//! a quarter of theirs. A search that leads nowhere has more and more open cubes, and nobody starves.
//!
//! Work is counted in steps ([`super::work`]), so who goes on when is the same on every machine. No search is started
//! again: a search that has no turn waits within [`super::work::Work::spend`].

use super::shared::Shared;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The part of the work that a search gets.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// It begins when so much work was done by all, or when nobody else is left.
    pub begins: u64,
    /// What easy systems need: up to so many steps of its own, it has the weight [`WHOLE`].
    pub favoured: u64,
    /// Its weight after them.
    pub weight: u64,
    /// Searches that are compared by their open cubes.
    pub kind: Kind,
}

/// Searches of one kind have cubes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The predecessors of unsafe states, and nothing else.
    Exact,
    /// With candidates.
    Guess,
    /// Of another question than the system's safety: compared with nothing.
    Other,
}

/// The weight of a search that is likely to end.
pub const WHOLE: u64 = 16;
/// The weight of a search is divided by this, if another one of its kind has fewer open cubes.
const UNPROMISING: u64 = 4;
/// Steps in the shortest and the longest turn of a search with the weight [`WHOLE`]. The shortest is what the easiest systems
/// need: what one search decides in it must not wait long for the first turns of the others.
const SHORTEST: u64 = 500;
const LONGEST: u64 = 1_000_000;
/// A turn is this part of what the search has done: what is easy for one search does not wait long for the others.
const PART: u64 = 16;

/// Whose turn it is, and what the searches share.
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
    /// What is explored once for all.
    pub shared: Shared,
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

struct Search {
    share: Share,
    done: u64,
    clock: u64,
    /// Cubes whose predecessors are to be computed, once it has cubes.
    open: Option<u64>,
    /// It waits for what another search explores.
    waits: bool,
    ended: bool,
}

impl Turns {
    /// The share of each search, and how much all may do. The first begins at once.
    pub fn new(shares: &[Share], limit: u64) -> Turns {
        let search = |share: &Share| Search {
            share: *share,
            done: 0,
            clock: 0,
            open: None,
            waits: false,
            ended: false,
        };
        let searches = shares.iter().map(search).collect();
        let state = State { searches, turn: 0, done: 0, limit, over: false };
        Turns { state: Mutex::new(state), changed: Condvar::new(), shared: Shared::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the first turn of `search`; how many steps it may do. `None`: it is over.
    pub fn begin(&self, search: usize) -> Option<u64> {
        self.wait(self.lock(), search)
    }

    /// Ends a turn of `search`, after `steps` and with so many `open` cubes, and waits for its next one.
    pub fn pass(&self, search: usize, steps: u64, open: Option<u64>) -> Option<u64> {
        let mut state = self.lock();
        state.count(search, steps);
        state.searches[search].open = open;
        self.hand_on(&mut state, search);
        self.wait(state, search)
    }

    /// The same, for a search that can do nothing until [`Turns::found`] is called.
    pub fn pass_until_found(&self, search: usize, steps: u64) -> Option<u64> {
        self.lock().searches[search].waits = true;
        self.pass(search, steps, None)
    }

    /// Something was explored, or will not be by whoever began to.
    pub fn found(&self) {
        for search in &mut self.lock().searches {
            search.waits = false;
        }
    }

    /// A search has ended, after `steps` of its last turn. With an answer, the others end too.
    pub fn end(&self, search: usize, steps: u64, answered: bool) {
        let mut state = self.lock();
        state.count(search, steps);
        state.searches[search].ended = true;
        state.over |= answered;
        self.hand_on(&mut state, search);
    }

    fn hand_on(&self, state: &mut State, search: usize) {
        if state.turn == search {
            state.choose();
        }
        self.changed.notify_all();
    }

    fn wait(&self, mut state: MutexGuard<'_, State>, search: usize) -> Option<u64> {
        while state.turn != search && !state.over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.over).then(|| state.length(search))
    }
}

impl State {
    fn count(&mut self, search: usize, steps: u64) {
        self.done += steps;
        self.over |= self.done > self.limit;
        let weight = self.weight(search);
        let search = &mut self.searches[search];
        search.done += steps;
        search.clock += steps.max(1) * WHOLE / weight;
    }

    fn length(&self, search: usize) -> u64 {
        let weight = self.weight(search);
        let steps = self.searches[search].done / PART;
        let steps = steps.clamp(SHORTEST * weight / WHOLE, LONGEST * weight / WHOLE);
        steps.min(self.limit - self.done)
    }

    fn weight(&self, search: usize) -> u64 {
        let Search { share, done, open, .. } = &self.searches[search];
        let whole = if *done < share.favoured { WHOLE } else { share.weight };
        let rivals = || self.searches.iter().filter(|other| !other.ended && other.share.kind == share.kind);
        let fewer = |open: u64| rivals().any(|other| other.open.is_some_and(|other| other < open));
        match open {
            Some(open) if share.kind != Kind::Other && fewer(*open) => whole / UNPROMISING,
            _ => whole,
        }
    }

    /// Of the searches that have begun, the one whose clock is behind; the first to begin, if none has.
    fn choose(&mut self) {
        let done = self.done;
        let left = || self.searches.iter().enumerate().filter(|(_, search)| !search.ended);
        let begun = left().filter(|(_, search)| search.share.begins <= done && !search.waits);
        let next = begun.min_by_key(|(_, search)| search.clock);
        match next.or_else(|| left().min_by_key(|(_, search)| (search.waits, search.share.begins))) {
            Some((search, _)) => self.turn = search,
            None => self.over = true,
        }
    }
}
