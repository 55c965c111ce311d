//! A scheduler that learns which way of drawing executions still shows something.
//!
//! An arm is a way of drawing: [`Random`](super::Random) in some [`Manner`], or [`Pct`](super::Pct) of some depth. An
//! execution is worth 1 if it has a finding, else 1/4 if its reads-from relation is new, else 0. (Where nearly every
//! execution is new, novelty alone does not tell the arms apart.) The arm of the next execution is that of UCB1 (Auer, Cesa-Bianchi, Fischer, Machine Learning 47, 2002), with a quarter of its bonus for arms that
//! were seldom tried: runs are short.
//!
//! The highest eight bits of an execution's seed hold the number of its arm, from 1. So an execution is still a function
//! of its seed, and a finding can be shown again.

use super::random::{Loads, Manner, Threads};

/// How many arms there are.
pub const ARMS: usize = 14;

const SHIFT: u32 = 56;

/// A way of drawing an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arm {
    /// By [`Random`](super::Random).
    Random(Manner),
    /// By [`Pct`](super::Pct) with this depth.
    Pct(u32),
}

/// The arm of this number.
pub fn arm(number: usize) -> Arm {
    const LOADS: [Loads; 4] = [Loads::Any, Loads::Older, Loads::Newer, Loads::Apart];
    const THREADS: [Threads; 3] = [Threads::Any, Threads::Others, Threads::Same];
    match number {
        0..12 => Arm::Random(Manner { loads: LOADS[number % 4], threads: THREADS[number / 4] }),
        12 => Arm::Pct(1),
        _ => Arm::Pct(3),
    }
}

/// The arm that a seed tells.
pub fn arm_of(seed: u64) -> Option<usize> {
    let number = (seed >> SHIFT) as usize;
    (1..=ARMS).contains(&number).then(|| number - 1)
}

/// The seed with this arm.
pub fn with_arm(seed: u64, arm: usize) -> u64 {
    (seed & ((1 << SHIFT) - 1)) | ((arm as u64 + 1) << SHIFT)
}

/// What an execution was good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worth {
    /// Its reads-from relation was known.
    Nothing,
    /// Its reads-from relation was new.
    New,
    /// It has a finding, perhaps a known one.
    Finding,
}

/// What was learnt, in the memory shared with the command line.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Learnt {
    tries: [u32; ARMS],
    /// In quarters.
    worth: [u32; ARMS],
}

impl Learnt {
    /// The arm for the next execution.
    pub fn choose(&self) -> usize {
        if let Some(untried) = self.tries.iter().position(|&tries| tries == 0) {
            return untried;
        }
        // In millionths, with whole numbers: the runtime has no mathematics of its own. A logarithm to the base of two,
        // rounded up, times ln 2 is near enough.
        let all: u64 = self.tries.iter().map(|&tries| u64::from(tries)).sum();
        let log = u64::from(u64::BITS - all.leading_zeros()) * 693_147;
        let value = |&arm: &usize| {
            let tries = u64::from(self.tries[arm]);
            u64::from(self.worth[arm]) * 250_000 / tries + (log * 125_000 / tries).isqrt()
        };
        (0..ARMS).max_by_key(value).unwrap_or(0)
    }

    /// An execution of this arm was worth so much.
    pub fn note(&mut self, arm: usize, worth: Worth) {
        self.tries[arm] += 1;
        self.worth[arm] += match worth {
            Worth::Nothing => 0,
            Worth::New => 1,
            Worth::Finding => 4,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_tells_its_arm() {
        for number in 0..ARMS {
            assert_eq!(arm_of(with_arm(17, number)), Some(number));
            assert_eq!(with_arm(17, number) & 0xffff, 17);
        }
        assert_eq!(arm_of(17), None);
        let all: Vec<Arm> = (0..ARMS).map(arm).collect();
        assert!((0..ARMS).all(|number| all.iter().filter(|&&other| other == all[number]).count() == 1));
    }

    #[test]
    fn the_best_arm_is_tried_most() {
        let mut learnt = Learnt::default();
        for step in 0..1000u32 {
            let arm = learnt.choose();
            // One arm has a finding every other time, another every third time, all others always something new.
            let finds = (arm == 4 && step % 2 == 0) || (arm == 7 && step % 3 == 0);
            let is_new = arm != 4 && arm != 7;
            let worth = if finds { Worth::Finding } else { Worth::Nothing };
            learnt.note(arm, if is_new { Worth::New } else { worth });
        }
        assert!(learnt.tries.iter().all(|&tries| tries > 0));
        assert!(learnt.tries[4] > 600, "{:?}", learnt.tries);
    }
}
