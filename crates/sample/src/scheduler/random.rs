//! Uniform over stores and almost so over threads (the paper, §3).
//!
//! Deviations, by which more threads meet in critical sections: the thread that ran last goes on a little less
//! often than others, one that yields lets another go first at least once in four times, and one that creates
//! others goes on first, so that those begin together. After 16,384 steps threads mostly go on, to save time. In
//! one execution in thirty-two the threads have very different chances to run, drawn again each time, and in one
//! in sixteen a created thread may begin at once: without these, one thread hardly ever runs to its end while
//! others wait at their start. A [`Manner`] other than the usual one is for [`learn`](super::learn).

use super::{Rng, Scheduler};
use porf_event::ThreadId;

/// How stores and threads are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Manner {
    /// Which stores loads return.
    pub loads: Loads,
    /// Which threads run.
    pub threads: Threads,
}

/// Which stores loads return.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loads {
    /// All alike.
    #[default]
    Any,
    /// Three times of four the oldest.
    Older,
    /// Three times of four the newest.
    Newer,
    /// Of objects that read-modify-writes changed three times of four the newest, of all others any: threads agree on
    /// their locks and counters, not on what these protect.
    Apart,
}

/// Which threads run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Threads {
    /// All almost alike.
    #[default]
    Any,
    /// Three times of four another than the last.
    Others,
    /// Three times of four the last one.
    Same,
}

/// Chooses almost uniformly: see the head of this file.
#[derive(Clone, Debug, Default)]
pub struct Random {
    rng: Rng,
    /// How the coming execution is drawn.
    pub manner: Manner,
    /// In a skewed execution, where the threads' weights come from.
    skew: Option<u64>,
    /// Created threads may run before their creator goes on.
    head_start: bool,
    /// The coming load is of an object that read-modify-writes changed.
    updated: bool,
    /// The weights of the threads seen so far.
    weights: Vec<u8>,
    /// The thread that just gave way.
    yielded: Option<ThreadId>,
    steps: u64,
    /// In a long execution, the steps before the next choice.
    stays: u32,
}

/// An execution of more steps is long: its threads meet anyway, and switching costs time.
const LONG: u64 = 1 << 14;

impl Random {
    /// 1, 8 or 64, a function of execution and thread.
    #[inline]
    fn weight(&mut self, skew: u64, thread: ThreadId) -> usize {
        while self.weights.len() <= thread.as_usize() {
            let next = self.weights.len() as u64;
            self.weights.push(1 << (3 * Rng::new(skew.wrapping_add(next)).below(3)));
        }
        usize::from(self.weights[thread.as_usize()])
    }

    /// Any thread; where it is the current one, every other time once more. In a long execution that is asked in one step
    /// of eight only: how many steps the chosen one gets is drawn with it.
    #[inline]
    fn uniform(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        self.steps += 1;
        let scaled = |number: u64| u128::from(number) * runnable.len() as u128;
        let product = scaled(self.rng.draw());
        // The low half is as random as the high one, which is the choice.
        let (choice, rest) = ((product >> 64) as usize, product as u64);
        if self.steps > LONG && self.manner.threads == Threads::Any {
            self.stays = self.turn();
        }
        let again = runnable[choice] == current && rest >> 63 == 1;
        if again { (scaled(rest << 1) >> 64) as usize } else { choice }
    }

    /// Steps without a choice between two with one: each step has one with probability 1/8.
    fn turn(&mut self) -> u32 {
        /// The lowest bit of each of the 21 octal digits.
        const ONES: u64 = 0o111_111_111_111_111_111_111;
        let mut steps = 0;
        loop {
            let drawn = self.rng.draw();
            // The digits that are 0.
            let choices = !(drawn | drawn >> 1 | drawn >> 2) & ONES;
            if choices != 0 {
                return steps + choices.trailing_zeros() / 3;
            }
            steps += 21;
        }
    }

    /// Any thread but this one, now and then.
    #[cold]
    fn another(&mut self, runnable: &[ThreadId], thread: ThreadId) -> Option<usize> {
        let place = runnable.iter().position(|&other| other == thread)?;
        if runnable.len() == 1 || self.rng.below(4) != 0 {
            return None;
        }
        let choice = self.rng.below(runnable.len() - 1);
        Some(if choice < place { choice } else { choice + 1 })
    }

    /// The thread that ran last, or another, three times of four.
    #[cold]
    fn mannered(&mut self, runnable: &[ThreadId], current: ThreadId) -> Option<usize> {
        let place = runnable.iter().position(|&thread| thread == current)?;
        if runnable.len() == 1 || self.rng.below(4) == 0 {
            return None;
        }
        if self.manner.threads == Threads::Same {
            return Some(place);
        }
        let choice = self.rng.below(runnable.len() - 1);
        Some(if choice < place { choice } else { choice + 1 })
    }

    #[cold]
    fn skewed(&mut self, runnable: &[ThreadId], skew: u64) -> usize {
        let total = runnable.iter().map(|&thread| self.weight(skew, thread)).sum();
        let mut place = self.rng.below(total);
        for (index, &thread) in runnable.iter().enumerate() {
            let weight = self.weight(skew, thread);
            if place < weight {
                return index;
            }
            place -= weight;
        }
        0
    }
}

impl Scheduler for Random {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        let skew = self.rng.draw();
        let special = skew & 31;
        self.skew = (special == 0).then_some(skew >> 5);
        self.head_start = special <= 1;
        self.yielded = None;
        self.steps = 0;
        self.stays = 0;
        self.weights.clear();
    }

    fn created(&mut self) -> bool {
        self.head_start
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.yielded = Some(thread);
        self.stays = 0;
    }

    #[inline]
    fn is_updated(&mut self, updated: bool) {
        self.updated = updated;
    }

    #[inline]
    fn goes_on(&mut self) -> bool {
        let stays = self.stays > 0;
        self.stays = self.stays.saturating_sub(1);
        stays
    }

    #[inline]
    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        if let Some(thread) = self.yielded.take()
            && let Some(choice) = self.another(runnable, thread)
        {
            return choice;
        }
        if self.goes_on()
            && let Some(place) = runnable.iter().position(|&thread| thread == current)
        {
            return place;
        }
        if self.manner.threads != Threads::Any
            && let Some(choice) = self.mannered(runnable, current)
        {
            return choice;
        }
        match self.skew {
            None => self.uniform(runnable, current),
            Some(skew) => self.skewed(runnable, skew),
        }
    }

    #[inline]
    fn pick_store(&mut self, count: usize) -> usize {
        if count == 1 {
            return 0;
        }
        match self.manner.loads {
            Loads::Apart if self.updated && self.rng.below(4) != 0 => count - 1,
            Loads::Older if self.rng.below(4) != 0 => 0,
            Loads::Newer if self.rng.below(4) != 0 => count - 1,
            _ => self.rng.below(count),
        }
    }

    #[inline]
    fn choose(&mut self, count: usize) -> usize {
        self.rng.below(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads in a long execution: one step in eight asks who goes on, and then it is the same one three times of
    /// eight (the draw, and one more if it was the last).
    #[test]
    fn threads_have_longer_turns_in_long_executions() {
        let mut random = Random::default();
        random.begin(3);
        let runnable = [ThreadId(0), ThreadId(1)];
        let mut current = 0;
        let switches = (0..LONG + 80_000)
            .map(|step| {
                let next = random.next_thread(&runnable, runnable[current]);
                let switched = next != current && step >= LONG;
                current = next;
                u32::from(switched)
            })
            .sum::<u32>();
        assert!((5_900..6_600).contains(&switches), "{switches} of 80,000");
    }

    #[test]
    fn same_seed_same_choices() {
        let draw = |seed| {
            let mut random = Random::default();
            random.begin(seed);
            (0..20).map(|_| random.choose(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
