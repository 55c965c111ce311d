//! An execution as a list of decisions: where it departs from the plainest one.
//!
//! In the plainest execution a thread goes on until it waits or yields, every load returns the newest store, and
//! nothing rare happens. A [`Decision`] says where an execution does otherwise, in terms of the thread itself (its
//! clock, its n-th load), so that it means the same when other decisions are left out. [`Script`] follows such a list,
//! or watches another scheduler and writes the list down.

use porf_event::ThreadId;

/// So many decisions of an execution are kept.
pub const MOST: usize = 1 << 12;

/// Set in the clock of a question that is asked because a thread was created.
const CREATION: u32 = 1 << 31;

/// What is decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
pub enum Sort {
    /// Another thread goes on: which.
    Switch,
    /// A load returns an older store: how many stores older.
    Read,
    /// Some other choice: which.
    Other,
}

/// Where an execution departs from the plainest one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// The thread that was running.
    pub thread: u16,
    /// A [`Sort`] as a number.
    pub sort: u16,
    /// Of a switch the thread's clock, of others their number among the thread's.
    pub number: u32,
    /// How often the thread was asked before at this clock.
    pub repeat: u32,
    /// What was decided.
    pub value: u32,
}

impl Decision {
    /// Where it is made.
    fn key(&self) -> (u16, u16, u32, u32) {
        (self.thread, self.sort, self.number, self.repeat)
    }
}

/// How far an execution is from the plainest one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Distance {
    /// Another thread goes on, for whatever reason.
    pub switches: u32,
    /// A load does not return the newest store.
    pub weak_reads: u32,
}

impl Distance {
    /// Both together.
    pub fn total(self) -> u64 {
        u64::from(self.switches) + u64::from(self.weak_reads)
    }
}

/// Numbers the questions that a thread asks.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    clock: u32,
    repeat: u32,
    loads: u32,
    others: u32,
}

/// Follows a list of decisions, or takes one down.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In the order of their keys.
    wanted: Vec<Decision>,
    made: Vec<Decision>,
    distance: Distance,
    asked: Vec<Asked>,
    current: ThreadId,
    clock: u32,
    yielded: bool,
    created: bool,
    closed: bool,
    overflows: bool,
}

impl Script {
    /// The coming execution follows these decisions.
    pub fn follow(&mut self, decisions: &[Decision]) {
        self.wanted.clear();
        self.wanted.extend_from_slice(decisions);
        self.wanted.sort_unstable_by_key(Decision::key);
    }

    fn wanted(&self, key: (u16, u16, u32, u32)) -> Option<u32> {
        let place = self.wanted.binary_search_by_key(&key, Decision::key).ok()?;
        Some(self.wanted[place].value)
    }

    /// The decisions that were made before [`Script::close`]; None if there were too many.
    pub fn made(&self) -> Option<&[Decision]> {
        (!self.overflows).then_some(&self.made)
    }

    /// How far the execution was from the plainest one before [`Script::close`].
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// What was looked for has happened: what comes now does not matter.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The clock of the running thread, for the next question.
    #[inline]
    pub fn at(&mut self, clock: u32) {
        self.clock = clock;
    }

    fn asked(&mut self, thread: ThreadId) -> &mut Asked {
        if self.asked.len() <= thread.as_usize() {
            self.asked.resize(thread.as_usize() + 1, Asked::default());
        }
        &mut self.asked[thread.as_usize()]
    }

    fn note(&mut self, decision: Decision) {
        if self.closed {
            return;
        }
        if self.made.len() == MOST {
            self.overflows = true;
            return;
        }
        self.made.push(decision);
    }

    /// Who goes next, as another scheduler has decided or as the list says.
    pub fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId, decided: Option<usize>) -> usize {
        let gives_way = std::mem::take(&mut self.yielded) && runnable.len() > 1;
        let place = |wanted: ThreadId| runnable.iter().position(|&thread| thread == wanted);
        let following = |thread: &&ThreadId| **thread > current;
        let after = runnable.iter().filter(following).min().or_else(|| runnable.iter().min());
        let usual = place(current)
            .filter(|_| !gives_way)
            .or_else(|| after.and_then(|&thread| place(thread)))
            .unwrap_or(0);
        let clock = if std::mem::take(&mut self.created) { self.clock | CREATION } else { self.clock };
        let asked = self.asked(current);
        asked.repeat = if asked.clock == clock { asked.repeat + 1 } else { 0 };
        asked.clock = clock;
        let (thread, sort, number, repeat) = (current.0, Sort::Switch as u16, clock, asked.repeat);
        let wanted = || place(ThreadId(self.wanted((thread, sort, number, repeat))? as u16));
        let chosen = decided.or_else(wanted).unwrap_or(usual);
        if chosen != usual {
            let value = u32::from(runnable[chosen].0);
            self.note(Decision { thread, sort, number, repeat, value });
        }
        if runnable[chosen] != current && !self.closed {
            self.distance.switches += 1;
        }
        self.current = runnable[chosen];
        chosen
    }

    /// Which of `count` stores a load returns.
    pub fn pick_store(&mut self, count: usize, decided: Option<usize>) -> usize {
        let current = self.current;
        let asked = self.asked(current);
        asked.loads += 1;
        let (thread, sort, number) = (current.0, Sort::Read as u16, asked.loads);
        let wanted = || Some(self.wanted((thread, sort, number, 0))? as usize);
        let older =
            decided.map(|store| count - 1 - store).or_else(wanted).map_or(0, |older| older.min(count - 1));
        if older > 0 {
            self.note(Decision { thread, sort, number, repeat: 0, value: older as u32 });
            self.distance.weak_reads += u32::from(!self.closed);
        }
        count - 1 - older
    }

    /// Some other choice among `count`; `usual` is the plainest.
    pub fn choose(&mut self, count: usize, usual: usize, decided: Option<usize>) -> usize {
        let current = self.current;
        let asked = self.asked(current);
        asked.others += 1;
        let (thread, sort, number) = (current.0, Sort::Other as u16, asked.others);
        let wanted = || Some(self.wanted((thread, sort, number, 0))? as usize);
        let chosen = decided.or_else(wanted).filter(|&chosen| chosen < count).unwrap_or(usual);
        if chosen != usual {
            self.note(Decision { thread, sort, number, repeat: 0, value: chosen as u32 });
        }
        chosen
    }

    /// A thread was created: the next question is whether it goes first.
    pub fn created(&mut self) {
        self.created = true;
    }

    /// The thread lets others go first.
    pub fn yielded(&mut self) {
        self.yielded = true;
    }

    /// A new execution begins.
    pub fn begin(&mut self) {
        self.made.clear();
        self.distance = Distance::default();
        self.asked.clear();
        self.current = ThreadId(0);
        (self.clock, self.yielded, self.created) = (0, false, false);
        (self.closed, self.overflows) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_down_can_be_followed() {
        let threads = [0, 1, 2].map(ThreadId);
        // Thread 1 instead of going on, an older store, and what is rare.
        let run = |script: &mut Script, decided: Option<[usize; 3]>| {
            script.begin();
            script.at(5);
            let next = script.next_thread(&threads, ThreadId(0), decided.map(|all| all[0]));
            let store = script.pick_store(4, decided.map(|all| all[1]));
            let other = script.choose(2, 0, decided.map(|all| all[2]));
            [next, store, other]
        };
        let mut script = Script::default();
        assert_eq!(run(&mut script, Some([1, 1, 1])), [1, 1, 1]);
        let made = script.made().expect("few").to_vec();
        assert_eq!(made.len(), 3);
        assert_eq!(script.distance(), Distance { switches: 1, weak_reads: 1 });
        script.follow(&made);
        assert_eq!(run(&mut script, None), [1, 1, 1]);
        script.follow(&made[1..]);
        assert_eq!(run(&mut script, None), [0, 3, 0], "the thread that runs is another one");
        script.follow(&[]);
        assert_eq!(run(&mut script, None), [0, 3, 0]);
        assert_eq!(script.distance(), Distance::default());
    }
}
