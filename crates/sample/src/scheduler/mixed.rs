//! The scheduler of a run: mostly [`Random`], now and then [`Pct`], as the user asked for; or [`Systematic`]; and
//! [`Script`] on top of them.
//!
//! Bugs that need a long stretch of one thread are rare under [`Random`], bugs that need many weak loads under [`Pct`].
//! Which one runs an execution is a function of its seed.

use super::learn::{Arm, arm, arm_of};
use super::random::Manner;
use super::script::{Decision, Script};
use super::systematic::{Systematic, Turn};
use super::{Pct, Random, Rng, Scheduler};
use porf_event::ThreadId;

/// One execution in so many is PCT's.
const SHARE: usize = 32;

/// The scheduler that the user asked for.
#[derive(Clone, Debug)]
pub struct Mixed {
    share: Share,
    who: Who,
    writing: Writing,
    random: Random,
    pct: Pct,
    /// The choices, where all are enumerated.
    pub systematic: Systematic,
    /// The decisions, where they are taken down or followed.
    pub script: Script,
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
    /// [`Systematic`] runs all of them.
    Systematic,
    /// Each is run by the arm that its seed tells, see [`learn`](super::learn).
    Learning,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Random,
    Pct,
    Systematic,
}

/// What the script is for in the present execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writing {
    /// Nothing.
    Off,
    /// It takes down what the others decide.
    Records,
    /// It decides.
    Follows,
}

impl Share {
    /// The one with this number in the memory shared with the command line.
    pub fn from_number(number: u32) -> Share {
        [Share::Random, Share::Pct, Share::Systematic, Share::Learning]
            .into_iter()
            .find(|share| *share as u32 == number)
            .unwrap_or(Share::Both)
    }
}

macro_rules! chosen {
    ($self:ident, $inner:ident => $body:expr) => {
        match $self.who {
            Who::Random => {
                let $inner = &mut $self.random;
                $body
            }
            Who::Pct => {
                let $inner = &mut $self.pct;
                $body
            }
            Who::Systematic => {
                let $inner = &mut $self.systematic;
                $body
            }
        }
    };
}

impl Mixed {
    /// A scheduler for these shares; `depth` is PCT's.
    pub fn new(share: Share, depth: u32) -> Mixed {
        Mixed {
            share,
            who: Who::Random,
            writing: Writing::Off,
            random: Random::default(),
            pct: Pct::new(depth),
            systematic: Systematic::default(),
            script: Script::default(),
        }
    }

    /// Whether the execution with this seed is PCT's, which must be told how long executions are.
    pub fn wants_pct(&self, seed: u64) -> bool {
        match self.share {
            Share::Random | Share::Systematic => false,
            Share::Pct => true,
            Share::Both => Rng::new(!seed).below(SHARE) == 0,
            Share::Learning => matches!(arm_of(seed).map(arm), Some(Arm::Pct(_))),
        }
    }

    /// The coming execution only shows how long executions are: PCT runs it.
    pub fn pct(&mut self) -> &mut Pct {
        &mut self.pct
    }

    /// Begins with PCT, whatever the seed.
    pub fn begin_pct(&mut self, seed: u64) {
        self.who = Who::Pct;
        self.pct.begin(seed);
    }

    /// The decisions of the coming execution are taken down.
    pub fn record(&mut self) {
        self.writing = Writing::Records;
    }

    /// The coming execution follows these decisions.
    pub fn follow(&mut self, decisions: &[Decision]) {
        self.writing = Writing::Follows;
        self.script.follow(decisions);
    }

    /// The coming execution is the scheduler's alone.
    pub fn write_nothing(&mut self) {
        self.writing = Writing::Off;
    }

    /// Whether seeds must tell an arm.
    pub fn learns(&self) -> bool {
        self.share == Share::Learning
    }

    /// What the script is for.
    pub fn writing(&self) -> Writing {
        self.writing
    }

    /// All choices of the execution are those of [`Systematic`].
    pub fn is_systematic(&self) -> bool {
        self.share == Share::Systematic && self.writing != Writing::Follows
    }

    /// Who goes next, in a systematic execution.
    pub fn turn(&mut self, runnable: &[ThreadId], current: ThreadId) -> Turn {
        let turn = self.systematic.turn(runnable, current);
        if let (Turn::Go(index), Writing::Records) = (turn, self.writing) {
            self.script.next_thread(runnable, current, Some(index));
        }
        turn
    }

    #[cold]
    fn next_written(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        let decided = self.decides().then(|| chosen!(self, inner => inner.next_thread(runnable, current)));
        self.script.next_thread(runnable, current, decided)
    }

    #[cold]
    fn pick_written(&mut self, count: usize) -> usize {
        let decided = self.decides().then(|| chosen!(self, inner => inner.pick_store(count)));
        self.script.pick_store(count, decided)
    }

    /// Whether another than the script decides.
    fn decides(&self) -> bool {
        self.writing == Writing::Records
    }
}

impl Scheduler for Mixed {
    fn begin(&mut self, seed: u64) {
        self.who = match self.share {
            Share::Systematic => Who::Systematic,
            _ if self.wants_pct(seed) => Who::Pct,
            _ => Who::Random,
        };
        if self.share == Share::Learning {
            match arm_of(seed).map(arm) {
                Some(Arm::Pct(depth)) => self.pct.set_depth(depth),
                Some(Arm::Random(manner)) => self.random.manner = manner,
                None => self.random.manner = Manner::default(),
            }
        }
        chosen!(self, inner => inner.begin(seed));
        self.script.begin();
    }

    #[inline]
    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        if self.writing != Writing::Off {
            return self.next_written(runnable, current);
        }
        chosen!(self, inner => inner.next_thread(runnable, current))
    }

    #[inline]
    fn is_updated(&mut self, updated: bool) {
        self.random.is_updated(updated);
    }

    #[inline]
    fn goes_on(&mut self) -> bool {
        self.writing == Writing::Off && self.who == Who::Random && self.random.goes_on()
    }

    #[inline]
    fn pick_store(&mut self, count: usize) -> usize {
        if self.writing != Writing::Off {
            return self.pick_written(count);
        }
        chosen!(self, inner => inner.pick_store(count))
    }

    fn choose(&mut self, count: usize) -> usize {
        if self.writing == Writing::Off {
            return chosen!(self, inner => inner.choose(count));
        }
        let decided = self.decides().then(|| chosen!(self, inner => inner.choose(count)));
        self.script.choose(count, 0, decided)
    }

    fn rarely(&mut self, one_in: usize) -> bool {
        if self.writing == Writing::Off {
            return chosen!(self, inner => inner.rarely(one_in));
        }
        let decided = self.decides().then(|| usize::from(chosen!(self, inner => inner.rarely(one_in))));
        self.script.choose(2, 0, decided) == 1
    }

    fn created(&mut self) -> bool {
        let asks = match self.writing {
            Writing::Follows => true,
            _ => chosen!(self, inner => inner.created()),
        };
        if asks && self.writing != Writing::Off {
            self.script.created();
        }
        asks
    }

    fn yielded(&mut self, thread: ThreadId) {
        if self.writing != Writing::Off {
            self.script.yielded();
        }
        if self.writing != Writing::Follows {
            chosen!(self, inner => inner.yielded(thread));
        }
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
