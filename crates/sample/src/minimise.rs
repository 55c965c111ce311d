//! The plainest execution that still shows a finding: delta debugging over the decisions of one that does.
//!
//! Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002. The list of decisions
//! ([`crate::scheduler::script`]) is cut into pieces, and each piece is left out in turn; what is left is run again. If
//! that shows the finding with fewer changes of threads and weak reads, it takes the place of the list. The pieces
//! become smaller until they are single decisions. The result is minimal in that no single decision can be left out;
//! it need not be the smallest of all.
//!
//! All of the state is here, as numbers, because it lives in the shared memory: with `fork` and `restart` the runs are
//! those of other processes.

use crate::scheduler::script::{Decision, Distance, MOST};

/// The coming run has no list: the scheduler that found the finding decides once more.
pub const RECORD: u32 = 1;
/// The coming run follows [`Minimiser::trial`].
pub const TRY: u32 = 2;

/// The search for one finding at a time.
#[repr(C)]
pub struct Minimiser {
    /// The finding, from 1; 0 if none.
    pub finding: u32,
    /// [`RECORD`] or [`TRY`].
    pub phase: u32,
    /// Written by the run: it has shown the finding.
    pub found: u32,
    /// Written by the run: it had too many decisions.
    pub overflows: u32,
    /// Runs so far.
    pub runs: u32,
    /// Pieces have so many decisions.
    piece: u32,
    /// Where the piece begins that is left out.
    at: u32,
    /// A piece of this size was left out for good.
    progress: u32,
    /// The list is minimal.
    pub minimal: u32,
    /// Of the execution that found it.
    pub first: Distance,
    /// Of the best so far.
    pub distance: Distance,
    /// Written by the run: its distance.
    pub made_distance: Distance,
    best_length: u32,
    trial_length: u32,
    /// Written by the run: so many decisions it made.
    pub made_length: u32,
    best: [Decision; MOST],
    trial: [Decision; MOST],
    /// Written by the run.
    pub made: [Decision; MOST],
    /// Over all findings: visible events of these runs.
    pub events: u64,
    /// When executions began, in nanoseconds.
    pub started: u64,
    /// When the first of these runs began.
    pub began: u64,
}

impl Minimiser {
    /// Begins with a finding.
    pub fn start(&mut self, finding: usize) {
        self.finding = finding as u32 + 1;
        (self.phase, self.runs, self.minimal) = (RECORD, 0, 0);
        (self.best_length, self.trial_length) = (0, 0);
        (self.first, self.distance) = (Distance::default(), Distance::default());
        self.prepare();
    }

    /// The list that the coming run follows.
    pub fn trial(&self) -> &[Decision] {
        &self.trial[..self.trial_length as usize]
    }

    /// The best list so far.
    pub fn best(&self) -> &[Decision] {
        &self.best[..self.best_length as usize]
    }

    /// The coming execution follows these decisions.
    pub fn set_best(&mut self, decisions: &[Decision]) {
        let length = decisions.len().min(MOST);
        self.best[..length].copy_from_slice(&decisions[..length]);
        self.best_length = length as u32;
    }

    fn prepare(&mut self) {
        (self.found, self.overflows, self.made_length) = (0, 0, 0);
        self.made_distance = Distance::default();
    }

    /// After a run: what follows from it. False when there is nothing left to try.
    pub fn judge(&mut self) -> bool {
        self.runs += 1;
        let shows = self.found != 0 && self.overflows == 0;
        if self.phase == RECORD {
            if !shows {
                return false;
            }
            self.adopt();
            self.first = self.distance;
            self.phase = TRY;
            // All at once to begin with.
            (self.piece, self.at, self.progress) = (self.best_length.max(1), 0, 0);
        } else {
            let size = |distance: Distance, length: u32| (distance.total(), length);
            let better = size(self.made_distance, self.made_length) < size(self.distance, self.best_length);
            if shows && better {
                self.adopt();
                self.progress = 1;
            } else {
                self.at += self.piece;
            }
        }
        if self.at >= self.best_length {
            if self.best_length == 0 || (self.piece == 1 && self.progress == 0) {
                self.minimal = 1;
                return false;
            }
            self.piece = (self.piece.min(self.best_length) / 2).max(1);
            (self.at, self.progress) = (0, 0);
        }
        self.leave_out();
        self.prepare();
        true
    }

    fn adopt(&mut self) {
        let length = self.made_length as usize;
        self.best[..length].copy_from_slice(&self.made[..length]);
        (self.best_length, self.distance) = (self.made_length, self.made_distance);
    }

    fn leave_out(&mut self) {
        let (from, length) = (self.at as usize, self.best_length as usize);
        let to = (from + self.piece as usize).min(length);
        self.trial[..from].copy_from_slice(&self.best[..from]);
        self.trial[from..from + length - to].copy_from_slice(&self.best[to..length]);
        self.trial_length = (from + length - to) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finding that needs some of the decisions, by number.
    fn minimised(all: u32, needed: &[u32]) -> (Vec<u32>, u32) {
        let mut minimiser: Box<Minimiser> = empty();
        minimiser.start(0);
        let decision = |number: u32| Decision { number, ..Decision::default() };
        let mut list: Vec<Decision> = (0..all).map(decision).collect();
        loop {
            if minimiser.phase == TRY {
                list = minimiser.trial().to_vec();
            }
            minimiser.found = u32::from(needed.iter().all(|&n| list.contains(&decision(n))));
            minimiser.made[..list.len()].copy_from_slice(&list);
            minimiser.made_length = list.len() as u32;
            minimiser.made_distance = Distance { switches: list.len() as u32, weak_reads: 0 };
            if !minimiser.judge() {
                break;
            }
        }
        assert_eq!(minimiser.minimal, 1);
        (minimiser.best().iter().map(|decision| decision.number).collect(), minimiser.runs)
    }

    fn empty() -> Box<Minimiser> {
        let none = [Decision::default(); MOST];
        let far = Distance::default();
        Box::new(Minimiser {
            finding: 0,
            phase: 0,
            found: 0,
            overflows: 0,
            runs: 0,
            piece: 0,
            at: 0,
            progress: 0,
            minimal: 0,
            first: far,
            distance: far,
            made_distance: far,
            best_length: 0,
            trial_length: 0,
            made_length: 0,
            best: none,
            trial: none,
            made: none,
            events: 0,
            started: 0,
            began: 0,
        })
    }

    #[test]
    fn what_is_needed_stays_and_nothing_else() {
        assert_eq!(minimised(100, &[]).0, []);
        assert_eq!(minimised(100, &[7, 31, 99]).0, [7, 31, 99]);
        assert_eq!(minimised(1, &[0]).0, [0]);
        assert_eq!(minimised(5, &[0, 1, 2, 3, 4]).0, [0, 1, 2, 3, 4]);
        let (_, runs) = minimised(4096, &[12, 2000]);
        assert!(runs < 120, "{runs} runs");
    }
}
