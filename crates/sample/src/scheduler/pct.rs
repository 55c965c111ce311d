//! Probabilistic concurrency testing for weak memory, after Gao, Chakraborty and Özkan, "Probabilistic
//! Concurrency Testing for Weak Memory Programs", ASPLOS 2023.
//!
//! Threads run by random priorities with `depth - 1` change points, and a load returns the newest store except at
//! `depth` randomly placed loads. Deviation: the bound on the history a load may reach back is whatever the model
//! allows.

use super::{Rng, Scheduler};
use porf_event::ThreadId;

/// Priorities of threads with a few changes, and a few weak loads.
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
    /// A scheduler for bugs that need `depth` ordering constraints.
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

    /// The coming executions are for bugs of this depth.
    pub fn set_depth(&mut self, depth: u32) {
        self.depth = depth.max(1);
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

    fn demote(&mut self, thread: ThreadId) {
        self.lowest -= 1;
        self.priorities[thread.as_usize()] = self.lowest;
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

    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        let highest = runnable.iter().copied().max().unwrap_or_default().max(current).as_usize();
        while self.priorities.len() <= highest {
            self.priorities.push((1 << 33) + (self.rng.draw() >> 32));
        }
        while self.change_points.last() == Some(&self.steps) {
            self.change_points.pop();
            self.demote(current);
        }
        self.steps += 1;
        let best = (0..runnable.len()).max_by_key(|&i| self.priorities[runnable[i].as_usize()]);
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

    fn yielded(&mut self, thread: ThreadId) {
        if thread.as_usize() < self.priorities.len() {
            self.demote(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pct_runs_the_highest_priority_until_a_change_point() {
        let threads = [0, 1, 2].map(ThreadId);
        let mut pct = Pct::new(1);
        pct.begin(7);
        let first = pct.next_thread(&threads, ThreadId(0));
        assert!((0..50).all(|_| pct.next_thread(&threads, threads[first]) == first));
    }
}
