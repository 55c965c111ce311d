//! A recorded list of choices, then the first alternative.

use super::Scheduler;
use porf_event::ThreadId;

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

    fn next_thread(&mut self, runnable: &[ThreadId], _current: ThreadId) -> usize {
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
}
