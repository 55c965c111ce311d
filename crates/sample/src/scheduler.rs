//! Who runs next, and which store a load returns: the choices of an execution.
//!
//! A scheduler sees only numbers of alternatives and thread indices, so the same ones drive native
//! programs and tests. All are deterministic functions of their seed.
//!
//! - [`Random`]: uniform over stores and almost so over threads (the paper, §3). Deviations, by which more
//!   threads meet in critical sections: the thread that ran last goes on a little less often than others, one
//!   that yields lets another go first at least once in four times, and one that creates others goes on
//!   first, so that those begin together. After 16,384 steps threads mostly go on, to save time. In one
//!   execution in thirty-two the threads have very different chances to run, drawn anew each time, and in
//!   one in sixteen a created thread may begin at once: without these, one thread hardly ever runs to
//!   its end while others wait at their start.
//! - [`Pct`]: probabilistic concurrency testing for weak memory, after Gao, Chakraborty and Özkan,
//!   "Probabilistic Concurrency Testing for Weak Memory Programs", ASPLOS 2023: threads run by random
//!   priorities with `depth - 1` change points, and a load returns the newest store except at
//!   `depth` randomly placed loads. Deviation: the bound on the history a load may reach back is
//!   whatever the model allows.
//! - [`Replay`]: a recorded list of choices, then the first alternative.

/// Answers every question that the model leaves open.
pub trait Scheduler {
    /// A new execution begins.
    fn begin(&mut self, seed: u64);
    /// Which of `runnable` takes the next step? `current` ran last. Returns an index.
    fn next_thread(&mut self, runnable: &[u32], current: u32) -> usize;
    /// Which of `count` stores, newest last, does a load return?
    fn pick_store(&mut self, count: usize) -> usize;
    /// Some other choice among `count` (does a weak CAS fail, who is woken).
    fn choose(&mut self, count: usize) -> usize;
    /// A thread was created: may another than its creator go next?
    fn created(&mut self) -> bool {
        true
    }
    /// The thread waits for another to do something: let others go first.
    fn yielded(&mut self, _thread: u32) {}
}

/// SplitMix64: small, fast, good enough for choices.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    state: u64,
    /// The next number, made early: who asks goes on at once.
    next: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut rng =
            Rng { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d, next: 0 };
        rng.draw();
        rng
    }

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

#[derive(Clone, Debug, Default)]
pub struct Random {
    rng: Rng,
    /// In a skewed execution, where the threads' weights come from.
    skew: Option<u64>,
    /// Created threads may run before their creator goes on.
    head_start: bool,
    /// The weights of the threads seen so far.
    weights: Vec<u8>,
    /// The thread that just gave way.
    yielded: Option<u32>,
    steps: u64,
}

/// An execution of more steps is long: its threads meet anyway, and switching costs time.
const LONG: u64 = 1 << 14;

impl Random {
    /// 1, 8 or 64, a function of execution and thread.
    #[inline]
    fn weight(&mut self, skew: u64, thread: u32) -> usize {
        while self.weights.len() <= thread as usize {
            let next = self.weights.len() as u64;
            self.weights.push(1 << (3 * Rng::new(skew.wrapping_add(next)).below(3)));
        }
        usize::from(self.weights[thread as usize])
    }

    /// Any thread. In a short execution, where it is the current one, every other time once more; in a
    /// long one, seven times of eight the current one.
    #[inline]
    fn uniform(&mut self, runnable: &[u32], current: u32) -> usize {
        self.steps += 1;
        let scaled = |number: u64| u128::from(number) * runnable.len() as u128;
        let product = scaled(self.rng.draw());
        // The low half is as random as the high one, which is the choice.
        let (choice, rest) = ((product >> 64) as usize, product as u64);
        if self.steps > LONG && rest >> 61 != 0 {
            return runnable.iter().position(|&thread| thread == current).unwrap_or(choice);
        }
        let again = runnable[choice] == current && rest >> 63 == 1;
        if again { (scaled(rest << 1) >> 64) as usize } else { choice }
    }

    /// Any thread but this one, now and then.
    #[cold]
    fn another(&mut self, runnable: &[u32], thread: u32) -> Option<usize> {
        let place = runnable.iter().position(|&other| other == thread)?;
        if runnable.len() == 1 || self.rng.below(4) != 0 {
            return None;
        }
        let choice = self.rng.below(runnable.len() - 1);
        Some(if choice < place { choice } else { choice + 1 })
    }

    #[cold]
    fn skewed(&mut self, runnable: &[u32], skew: u64) -> usize {
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
        self.weights.clear();
    }

    fn created(&mut self) -> bool {
        self.head_start
    }

    fn yielded(&mut self, thread: u32) {
        self.yielded = Some(thread);
    }

    #[inline]
    fn next_thread(&mut self, runnable: &[u32], current: u32) -> usize {
        if let Some(thread) = self.yielded.take()
            && let Some(choice) = self.another(runnable, thread)
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
        self.rng.below(count)
    }

    #[inline]
    fn choose(&mut self, count: usize) -> usize {
        self.rng.below(count)
    }
}

#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    rng: Rng,
    /// Priority of each thread, higher first; assigned when a thread is first seen.
    priorities: Vec<u64>,
    /// Steps at which the running thread drops to the lowest priority, ascending.
    change_points: Vec<u64>,
    /// Loads that do not return the newest store, ascending.
    weak_loads: Vec<u64>,
    steps: u64,
    loads: u64,
    /// How long executions are thought to be.
    step_estimate: u64,
    load_estimate: u64,
    lowest: u64,
}

impl Pct {
    pub fn new(depth: u32) -> Pct {
        Pct {
            depth: depth.max(1),
            rng: Rng::default(),
            priorities: Vec::new(),
            change_points: Vec::new(),
            weak_loads: Vec::new(),
            steps: 0,
            loads: 0,
            step_estimate: 64,
            load_estimate: 16,
            lowest: 0,
        }
    }

    /// Steps and loads of the last execution.
    pub fn length(&self) -> (u64, u64) {
        (self.steps, self.loads)
    }

    /// Tells how long executions are. Whoever wants an execution to be a function of its seed tells
    /// the same for all of them.
    pub fn expect(&mut self, steps: u64, loads: u64) {
        (self.step_estimate, self.load_estimate) = (steps.max(1), loads.max(1));
    }

    fn demote(&mut self, thread: u32) {
        self.lowest -= 1;
        self.priorities[thread as usize] = self.lowest;
    }
}

impl Scheduler for Pct {
    fn begin(&mut self, seed: u64) {
        (self.steps, self.loads, self.lowest) = (0, 0, 1 << 32);
        self.rng = Rng::new(seed);
        self.priorities.clear();
        self.change_points.clear();
        self.weak_loads.clear();
        for _ in 1..self.depth {
            self.change_points.push(self.rng.below(self.step_estimate as usize) as u64);
        }
        for _ in 0..self.depth {
            self.weak_loads.push(self.rng.below(self.load_estimate as usize) as u64);
        }
        self.change_points.sort_unstable_by(|a, b| b.cmp(a));
        self.weak_loads.sort_unstable_by(|a, b| b.cmp(a));
    }

    fn next_thread(&mut self, runnable: &[u32], current: u32) -> usize {
        let highest = runnable.iter().copied().max().unwrap_or(0).max(current) as usize;
        while self.priorities.len() <= highest {
            self.priorities.push((1 << 33) + (self.rng.draw() >> 32));
        }
        while self.change_points.last() == Some(&self.steps) {
            self.change_points.pop();
            self.demote(current);
        }
        self.steps += 1;
        let best = (0..runnable.len()).max_by_key(|&i| self.priorities[runnable[i] as usize]);
        best.unwrap_or(0)
    }

    fn pick_store(&mut self, count: usize) -> usize {
        let mut weak = false;
        while self.weak_loads.last() == Some(&self.loads) {
            self.weak_loads.pop();
            weak = true;
        }
        self.loads += 1;
        if weak { self.rng.below(count) } else { count - 1 }
    }

    fn choose(&mut self, count: usize) -> usize {
        self.rng.below(count)
    }

    fn yielded(&mut self, thread: u32) {
        if (thread as usize) < self.priorities.len() {
            self.demote(thread);
        }
    }
}

/// Follows recorded choices; [`Replay::advance`] turns it into an exhaustive search (odometer).
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// (choice, alternatives)
    choices: Vec<(usize, usize)>,
    next: usize,
}

impl Replay {
    /// Moves to the next combination of choices, depth first; false when all were tried.
    pub fn advance(&mut self) -> bool {
        self.choices.truncate(self.next);
        while let Some((choice, count)) = self.choices.pop() {
            if choice + 1 < count {
                self.choices.push((choice + 1, count));
                self.next = 0;
                return true;
            }
        }
        self.next = 0;
        false
    }
}

impl Scheduler for Replay {
    fn begin(&mut self, _seed: u64) {
        self.next = 0;
    }

    fn next_thread(&mut self, runnable: &[u32], _current: u32) -> usize {
        self.choose(runnable.len())
    }

    fn pick_store(&mut self, count: usize) -> usize {
        self.choose(count)
    }

    fn choose(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        if self.next == self.choices.len() {
            self.choices.push((0, count));
        }
        self.next += 1;
        self.choices[self.next - 1].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_enumerates_every_combination_once() {
        let mut replay = Replay::default();
        let mut seen = Vec::new();
        loop {
            replay.begin(0);
            let first = replay.choose(3);
            let second = if first == 1 { replay.choose(2) } else { 9 };
            seen.push((first, second));
            if !replay.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 9), (1, 0), (1, 1), (2, 9)]);
    }

    #[test]
    fn pct_runs_the_highest_priority_until_a_change_point() {
        let mut pct = Pct::new(1);
        pct.begin(7);
        let first = pct.next_thread(&[0, 1, 2], 0);
        assert!((0..50).all(|_| pct.next_thread(&[0, 1, 2], first as u32) == first));
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
