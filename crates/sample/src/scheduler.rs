//! Who runs next, and which store a load returns: the choices of an execution.
//!
//! A scheduler sees only numbers of alternatives and thread indices, so the same ones drive native
//! programs and tests. All are deterministic functions of their seed.
//!
//! - [`Random`]: all threads and stores alike, or nearly so.
//! - [`Pct`]: priorities of threads, few changes of them, few weak loads.
//! - [`Mixed`]: each of the two by its share of the executions.
//! - [`learn`]: each of several ways of drawing as often as it shows something.
//! - [`Systematic`]: all executions, each once.
//! - [`Script`]: takes down the decisions of another one, or follows such a list.
//! - [`Replay`]: a recorded list of choices, and all lists in turn.

pub mod learn;
mod mixed;
mod pct;
pub mod random;
mod replay;
pub mod script;
pub mod systematic;

pub use mixed::{Mixed, Share, Writing};
pub use pct::Pct;
pub use random::Random;
pub use replay::Replay;
pub use script::Script;
pub use systematic::Systematic;

use porf_event::ThreadId;

/// Answers every question that the model leaves open.
pub trait Scheduler {
    /// A new execution begins.
    fn begin(&mut self, seed: u64);
    /// Which of `runnable` takes the next step? `current` ran last. Returns an index.
    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize;
    /// Whether the thread that ran last goes on, whoever else might, without a question.
    #[inline]
    fn goes_on(&mut self) -> bool {
        false
    }
    /// Which of `count` stores, newest last, does a load return?
    fn pick_store(&mut self, count: usize) -> usize;
    /// Whether the object of the load that is asked for next was ever changed by a read-modify-write.
    #[inline]
    fn is_updated(&mut self, _updated: bool) {}
    /// Some other choice among `count` (who is woken).
    fn choose(&mut self, count: usize) -> usize;
    /// Does what happens once in so many times happen now (a weak CAS fails)?
    fn rarely(&mut self, one_in: usize) -> bool {
        self.choose(one_in) == 0
    }
    /// A thread was created: may another than its creator go next?
    fn created(&mut self) -> bool {
        true
    }
    /// The thread waits for another to do something: let others go first.
    fn yielded(&mut self, _thread: ThreadId) {}
}

/// SplitMix64: small, fast, good enough for choices.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    state: u64,
    /// The next number, made early: who asks goes on at once.
    next: u64,
}

impl Rng {
    /// A sequence of numbers that the seed determines.
    pub fn new(seed: u64) -> Rng {
        let mut rng =
            Rng { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d, next: 0 };
        rng.draw();
        rng
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let drawn = self.next;
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.next = z ^ (z >> 31);
        drawn
    }

    /// Uniform in `0..count`.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        if count <= 1 { 0 } else { ((self.draw() as u128 * count as u128) >> 64) as usize }
    }
}
