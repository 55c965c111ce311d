//! Every execution, one after the other: choices are enumerated instead of drawn.
//!
//! The choices of an execution are a path; [`Systematic::advance`] moves to the next one, depth first. Interleavings
//! that differ only in the order of independent operations are visited once: sleep sets (Godefroid, LNCS 1032,
//! 1996). What a thread does next is known before it does it, because threads stop in front of their visible
//! operations ([`Op`]). An operation that concerns nobody else is done at once, without a choice.
//!
//! Deviation, so that waiting loops end: a thread that has read the same stores [`SPINS`] times in a row, and could
//! read no others, waits until somebody writes there, or until nobody else can go on. If it could read others, the
//! execution is given up. [`Systematic::is_bounded`] tells whether that happened. A weak compare-and-swap fails
//! spuriously at most every other time.
//!
//! Cost: one run per execution, and one per prefix that turns out to repeat another.

use super::Scheduler;
use porf_event::ThreadId;
use smallvec::SmallVec;

/// A thread may read the same stores so many times in a row.
pub const SPINS: u32 = 4;
/// So many choices of an execution are enumerated.
pub const LONGEST: usize = 1 << 16;
/// So many operations in a row, and a thread may wait for others in a way that is not seen.
const PATIENCE: u32 = 256;
/// So many operations in a row that concern nobody else may be done without a choice: a thread might do only such.
const PRIVATE: u32 = 64;

/// What a thread is about to do, as far as others are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Nothing that others notice.
    Local,
    /// An atomic load of `size` bytes, or a store or read-modify-write.
    Access {
        /// Where.
        address: usize,
        /// How many bytes.
        size: usize,
        /// Whether it may write.
        writes: bool,
        /// Whether it is sequentially consistent.
        sc: bool,
    },
    /// A sequentially consistent fence.
    Fence,
    /// Something with the lock at this address.
    Lock {
        /// Where.
        address: usize,
        /// Whether it waits while another thread has the lock.
        waits: bool,
    },
    /// Anything else.
    Any,
}

impl Op {
    /// Whether the order of the two may matter.
    pub fn depends_on(self, other: Op) -> bool {
        match (self, other) {
            (Op::Local, _) | (_, Op::Local) => false,
            (Op::Any, _) | (_, Op::Any) => true,
            (Op::Fence, Op::Fence) => true,
            (Op::Fence, Op::Access { sc, .. }) | (Op::Access { sc, .. }, Op::Fence) => sc,
            (Op::Lock { address: one, .. }, Op::Lock { address: two, .. }) => one == two,
            (
                Op::Access { address: a, size: m, writes: v, sc: s },
                Op::Access { address: b, size: n, writes: w, sc: t },
            ) => a < b + n && b < a + m && (v || w || (s && t)),
            (Op::Lock { .. }, _) | (_, Op::Lock { .. }) => false,
        }
    }
}

/// One choice: which of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Choice {
    /// The one that was taken, from 0.
    pub taken: u16,
    /// How many there were.
    pub of: u16,
}

/// Who goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The runnable thread with this index.
    Go(usize),
    /// Whatever comes now repeats another execution.
    Repeats,
}

/// An address, the store that was read there, and how often.
type Read = (usize, (ThreadId, u32), u32);

#[derive(Clone, Debug)]
struct Thread {
    pending: Op,
    asleep: bool,
    parked: bool,
    /// Another thread has the lock that it is about to take.
    hindered: bool,
    /// What it read since it last did something else.
    reads: SmallVec<[Read; 4]>,
    failed: bool,
}

impl Thread {
    fn new() -> Thread {
        Thread {
            pending: Op::Local,
            asleep: false,
            parked: false,
            hindered: false,
            reads: SmallVec::new(),
            failed: false,
        }
    }

    /// It would only wait for a lock, or read once more what it has read.
    fn waits(&self) -> bool {
        if self.hindered {
            return true;
        }
        let Op::Access { address, .. } = self.pending else { return false };
        self.parked && self.reads.iter().any(|read| read.0 == address)
    }
}

/// The enumeration of executions.
#[derive(Clone, Debug, Default)]
pub struct Systematic {
    path: Vec<Choice>,
    next: usize,
    threads: Vec<Thread>,
    current: ThreadId,
    private: u32,
    /// Turns in a row of the current thread.
    turns: u32,
    /// How many stores the last load could return.
    stores: usize,
    bounded: bool,
    incomplete: bool,
}

impl Systematic {
    /// The choices of the execution so far.
    pub fn path(&self) -> &[Choice] {
        &self.path[..self.next]
    }

    /// These were the choices of the last execution; or those that the next begins with.
    pub fn follow(&mut self, path: &[Choice]) {
        self.path.clear();
        self.path.extend_from_slice(path);
        self.next = path.len();
    }

    /// Moves to the next combination of choices, depth first; false when all were tried.
    pub fn advance(&mut self) -> bool {
        self.path.truncate(self.next);
        while let Some(choice) = self.path.pop() {
            if choice.taken + 1 < choice.of {
                self.path.push(Choice { taken: choice.taken + 1, of: choice.of });
                self.next = self.path.len();
                return true;
            }
        }
        self.next = 0;
        false
    }

    /// Executions were left out in which a thread reads the same stores more than [`SPINS`] times in a row.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// Executions were left out for another reason: they are too long, or the program does not repeat itself.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// What a thread is about to do.
    pub fn announce(&mut self, thread: ThreadId, op: Op) {
        let this = self.thread(thread);
        (this.pending, this.hindered) = (op, false);
    }

    /// The lock that a thread is about to wait for, if another has it.
    pub fn wants(&self, thread: ThreadId) -> Option<usize> {
        match self.threads.get(thread.as_usize())?.pending {
            Op::Lock { address, waits: true } => Some(address),
            _ => None,
        }
    }

    /// Whether another has that lock.
    pub fn hinder(&mut self, thread: ThreadId, is_hindered: bool) {
        self.thread(thread).hindered = is_hindered;
    }

    /// A thread has read a store. Returns false if the execution is one too many of its kind.
    pub fn has_read(&mut self, thread: ThreadId, address: usize, store: (ThreadId, u32)) -> bool {
        let has_others = self.stores > 1;
        let this = self.thread(thread);
        let Some(known) = this.reads.iter().position(|read| read.0 == address) else {
            this.reads.push((address, store, 1));
            return true;
        };
        if this.reads[known].1 != store {
            this.reads.clear();
            this.reads.push((address, store, 1));
            return true;
        }
        let read = &mut this.reads[known];
        read.2 += 1;
        if read.2 < SPINS {
            return true;
        }
        let too_many = read.2 > SPINS && has_others;
        this.parked = !has_others;
        self.bounded = true;
        !too_many
    }

    /// A thread has written to memory.
    pub fn has_written(&mut self, thread: ThreadId, address: usize, size: usize) {
        self.thread(thread).reads.clear();
        for other in &mut self.threads {
            other.parked &= !other.reads.iter().any(|read| (address..address + size).contains(&read.0));
        }
    }

    /// Who goes next.
    pub fn turn(&mut self, runnable: &[ThreadId], current: ThreadId) -> Turn {
        for &thread in runnable {
            self.thread(thread);
        }
        let is_private = |&thread: &ThreadId| self.threads[thread.as_usize()].pending == Op::Local;
        if let Some(index) = runnable.iter().position(is_private)
            && self.private < PRIVATE
        {
            self.private += 1;
            self.current = runnable[index];
            return Turn::Go(index);
        }
        self.private = 0;
        let state = |index: &usize| &self.threads[runnable[*index].as_usize()];
        let mut open: SmallVec<[usize; 8]> = (0..runnable.len())
            .filter(|index| {
                let thread = state(index);
                !thread.asleep && !thread.waits()
            })
            .collect();
        if open.is_empty() {
            let idle = (0..runnable.len()).filter(|index| !state(index).asleep);
            let Some(index) = idle.min_by_key(|&index| runnable[index]) else { return Turn::Repeats };
            if (0..runnable.len()).any(|index| !state(&index).waits()) {
                return Turn::Repeats;
            }
            // All that can go on wait, in loops or for locks: one looks again, each in its turn.
            let next = (0..runnable.len())
                .filter(|index| !state(index).asleep && runnable[*index] > current)
                .min_by_key(|&index| runnable[index])
                .unwrap_or(index);
            let thread = self.thread(runnable[next]);
            (thread.parked, thread.hindered) = (false, false);
            thread.reads.clear();
            open.push(next);
        }
        // The first execution has few changes of threads.
        let goes_on = self.threads.get(current.as_usize()).is_some_and(|thread| thread.pending != Op::Local);
        let lasts = self.turns > PATIENCE || !goes_on;
        open.sort_unstable_by_key(|&index| ((runnable[index] != current) ^ lasts, runnable[index]));
        let taken = self.take(open.len());
        for &index in &open[..taken] {
            self.thread(runnable[index]).asleep = true;
        }
        let chosen = runnable[open[taken]];
        let op = self.threads[chosen.as_usize()].pending;
        for thread in &mut self.threads {
            thread.asleep &= !thread.pending.depends_on(op);
            thread.parked &= op != Op::Any;
        }
        if matches!(op, Op::Any | Op::Lock { .. }) {
            self.thread(chosen).reads.clear();
        }
        self.turns = if chosen == current { self.turns + 1 } else { 0 };
        self.current = chosen;
        Turn::Go(open[taken])
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        while self.threads.len() <= thread.as_usize() {
            self.threads.push(Thread::new());
        }
        &mut self.threads[thread.as_usize()]
    }

    fn take(&mut self, of: usize) -> usize {
        if of <= 1 {
            return 0;
        }
        let of = u16::try_from(of).unwrap_or(u16::MAX);
        if self.next == self.path.len() {
            if self.next == LONGEST {
                self.incomplete = true;
                return 0;
            }
            self.path.push(Choice { taken: 0, of });
        }
        let choice = &mut self.path[self.next];
        self.next += 1;
        if choice.of != of {
            self.incomplete = true;
            *choice = Choice { taken: choice.taken.min(of - 1), of };
        }
        usize::from(choice.taken)
    }
}

impl Scheduler for Systematic {
    fn begin(&mut self, _seed: u64) {
        self.next = 0;
        self.threads.clear();
        self.current = ThreadId(0);
        (self.private, self.turns) = (0, 0);
    }

    fn next_thread(&mut self, runnable: &[ThreadId], current: ThreadId) -> usize {
        match self.turn(runnable, current) {
            Turn::Go(index) => index,
            Turn::Repeats => 0,
        }
    }

    /// The newest first: waiting loops end soon.
    fn pick_store(&mut self, count: usize) -> usize {
        self.stores = count;
        count - 1 - self.take(count)
    }

    fn choose(&mut self, count: usize) -> usize {
        self.take(count)
    }

    fn rarely(&mut self, _one_in: usize) -> bool {
        let current = self.current;
        if std::mem::take(&mut self.thread(current).failed) {
            return false;
        }
        let fails = self.take(2) == 1;
        self.thread(current).failed = fails;
        fails
    }

    fn created(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads of so many operations each; the orders in which they are done.
    fn orders(first: &[Op], second: &[Op]) -> Vec<Vec<usize>> {
        let mut systematic = Systematic::default();
        let mut seen = Vec::new();
        loop {
            systematic.begin(0);
            let ops = [first, second];
            let mut next = [0, 0];
            let mut order = Vec::new();
            let mut current = ThreadId(0);
            let repeats = loop {
                let runnable: Vec<ThreadId> =
                    (0..2).filter(|&t| next[t] < ops[t].len()).map(|t| ThreadId(t as u16)).collect();
                if runnable.is_empty() {
                    break false;
                }
                for &thread in &runnable {
                    systematic.announce(thread, ops[thread.as_usize()][next[thread.as_usize()]]);
                }
                match systematic.turn(&runnable, current) {
                    Turn::Repeats => break true,
                    Turn::Go(index) => current = runnable[index],
                }
                next[current.as_usize()] += 1;
                order.push(current.as_usize());
            };
            if !repeats {
                seen.push(order);
            }
            if !systematic.advance() {
                return seen;
            }
        }
    }

    fn access(address: usize, writes: bool) -> Op {
        Op::Access { address, size: 4, writes, sc: false }
    }

    #[test]
    fn independent_operations_have_one_order() {
        assert_eq!(orders(&[access(0, true); 3], &[access(8, true); 3]).len(), 1);
        assert_eq!(orders(&[access(0, false); 3], &[access(0, false); 3]).len(), 1);
        let lock = |address| Op::Lock { address, waits: false };
        assert_eq!(orders(&[lock(0); 3], &[lock(8); 3]).len(), 1);
    }

    #[test]
    fn dependent_operations_have_all() {
        assert_eq!(orders(&[access(0, true); 3], &[access(2, false); 3]).len(), 20);
        assert_eq!(orders(&[Op::Any; 2], &[access(0, false); 2]).len(), 6);
        // The second operation of each is with the other's first: three orders of each such pair together.
        let (x, y) = (access(0, true), access(8, true));
        assert_eq!(orders(&[x, access(8, false)], &[y, access(0, false)]).len(), 3);
    }
}
