//! Mostly [`Random`], now and then [`Pct`]: bugs that need a long stretch of one thread are rare under the first,
//! bugs that need many weak loads under the second.
//!
//! Which one runs an execution is a function of its seed.

use super::{Pct, Random, Rng, Scheduler};
use porf_event::ThreadId;

/// One execution in so many is PCT's.
const SHARE: usize = 32;

/// The scheduler that the user asked for.
#[derive(Clone, Debug)]
pub struct Mixed {
    share: Share,
    uses_pct: bool,
    random: Random,
    pct: Pct,
}

/// Who runs the executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Share {
    /// [`Random`] runs all of them.
    Random,
    /// [`Pct`] runs all of them.
    Pct,
    /// [`Pct`] runs its share, [`Random`] the others.
    Both,
}

impl Share {
    /// The one with this number in the memory shared with the command line.
    pub fn from_number(number: u32) -> Share {
        [Share::Random, Share::Pct].into_iter().find(|share| *share as u32 == number).unwrap_or(Share::Both)
    }
}

impl Mixed {
    /// A scheduler for these shares; `depth` is PCT's.
    pub fn new(share: Share, depth: u32) -> Mixed {
        Mixed { share, uses_pct: share == Share::Pct, random: Random::default(), pct: Pct::new(depth) }
    }

    /// Whether the execution with this seed is PCT's, which must be told how long executions are.
    pub fn wants_pct(&self, seed: u64) -> bool {
        match self.share {
            Share::Random => false,
            Share::Pct => true,
            Share::Both => Rng::new(!seed).below(SHARE) == 0,
        }
    }

    /// The coming execution only shows how long executions are: PCT runs it.
    pub fn pct(&mut self) -> &mut Pct {
        &mut self.pct
    }

    /// Begins with PCT, whatever the seed.
    pub fn begin_pct(&mut self, seed: u64) {
        self.uses_pct = true;
        self.pct.begin(seed);
    }
}

macro_rules! chosen {
    ($self:ident, $inner:ident => $body:expr) => {
        if $self.uses_pct {
            let $inner = &mut $self.pct;
            $body
        } else {
            let $inner = &mut $self.random;
            $body
        }
    };
}

impl Scheduler for Mixed {
    fn begin(&mut self, seed: u64) {
        self.uses_pct = self.wants_pct(seed);
        chosen!(self, inner => inner.begin(seed));
    }

    #[inline]
    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        chosen!(self, inner => inner.next_thread(runnable, current))
    }

    #[inline]
    fn pick_store(&mut self, count: usize) -> usize {
        chosen!(self, inner => inner.pick_store(count))
    }

    #[inline]
    fn choose(&mut self, count: usize) -> usize {
        chosen!(self, inner => inner.choose(count))
    }

    fn created(&mut self) -> bool {
        chosen!(self, inner => inner.created())
    }

    fn yielded(&mut self, thread: ThreadId) {
        chosen!(self, inner => inner.yielded(thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_share_of_the_seeds_is_pcts() {
        let mixed = Mixed::new(Share::Both, 3);
        let count = (0..16_000).filter(|&seed| mixed.wants_pct(seed)).count();
        assert!((400..600).contains(&count), "{count} of 16,000");
        assert!((0..100).all(|seed| !Mixed::new(Share::Random, 3).wants_pct(seed)));
    }
}
