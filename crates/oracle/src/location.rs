//! Reads-from and coherence of a single location: every choice, or every coherent one.
//!
//! If the model implies that each location by itself is sequentially consistent (acyclic
//! po-loc ∪ rf ∪ co ∪ fr), a choice of rf forces an order on some writes (CoWW, CoRW, CoWR, CoRR).
//! The coherence orders are then exactly the linear extensions of that order. Otherwise every rf and
//! every total order after the initial write is a candidate.

use crate::Candidate;
use smallvec::SmallVec;

/// The reads and writes of one location, as event numbers.
pub(crate) struct Cell {
    init: usize,
    pub reads: Vec<usize>,
    /// Without the initial write; those of one thread in program order.
    writes: Vec<usize>,
}

/// One choice of sources for the reads of a cell, with all coherence orders that fit it.
pub(crate) struct RfChoice {
    /// Parallel to `Cell::reads`.
    pub sources: SmallVec<[usize; 8]>,
    /// Each a total order of the writes, the initial one first.
    pub orders: Vec<SmallVec<[usize; 6]>>,
}

/// Which prunings the model allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pruning {
    pub coherence: bool,
    /// No write of another thread comes between the read and the write of a read-modify-write.
    pub atomicity: bool,
}

impl Cell {
    /// Sets of writes are kept in one word.
    pub const MAX_WRITES: usize = 64;

    pub fn write_count(&self) -> usize {
        self.writes.len()
    }

    pub fn new(candidate: &Candidate<'_>, location: usize) -> Cell {
        let of = |write: bool| {
            (candidate.inits()..candidate.len())
                .filter(|&event| candidate.events[event].location == Some(location))
                .filter(|&event| candidate.events[event].label.is_write() == write)
                .collect()
        };
        Cell { init: location, reads: of(false), writes: of(true) }
    }

    /// Every rf of this cell with its coherence orders. An rf without any order is left out.
    pub fn choices(&self, candidate: &Candidate<'_>, pruning: Pruning) -> Vec<RfChoice> {
        let mut sources: Vec<SmallVec<[usize; 6]>> = Vec::with_capacity(self.reads.len());
        for &read in &self.reads {
            let wanted = candidate.value(read);
            let may = |&write: &usize| {
                candidate.value(write) == wanted && !(pruning.coherence && candidate.po(read, write))
            };
            let found: SmallVec<_> =
                std::iter::once(self.init).chain(self.writes.iter().copied()).filter(may).collect();
            if found.is_empty() {
                return Vec::new();
            }
            sources.push(found);
        }
        let mut choices = Vec::new();
        let mut at: SmallVec<[usize; 8]> = SmallVec::from_elem(0, self.reads.len());
        loop {
            let chosen: SmallVec<[usize; 8]> = at.iter().zip(&sources).map(|(&i, found)| found[i]).collect();
            let orders = self.orders(candidate, &chosen, pruning);
            if !orders.is_empty() {
                choices.push(RfChoice { sources: chosen, orders });
            }
            // The next combination, the last read turning fastest.
            let Some(turn) = (0..at.len()).rev().find(|&i| at[i] + 1 < sources[i].len()) else {
                return choices;
            };
            at[turn] += 1;
            at[turn + 1..].fill(0);
        }
    }

    fn orders(
        &self,
        candidate: &Candidate<'_>,
        sources: &[usize],
        pruning: Pruning,
    ) -> Vec<SmallVec<[usize; 6]>> {
        let count = self.writes.len();
        debug_assert!(count <= Cell::MAX_WRITES, "refused before");
        let position = |write: usize| self.writes.iter().position(|&w| w == write);
        // before[i]: the writes that must come before writes[i].
        let mut before: SmallVec<[u64; 8]> = SmallVec::from_elem(0, count);
        let mut possible = true;
        // `a` must come before `b`, or be `b`.
        let mut order = |a: usize, b: usize| match (position(a), position(b)) {
            (Some(a), Some(b)) if a != b => before[b] |= 1 << a,
            // Nothing comes before the initial write.
            (Some(_), None) => possible = false,
            _ => {}
        };
        if pruning.coherence {
            for (i, &a) in self.writes.iter().enumerate() {
                for &b in &self.writes[i + 1..] {
                    if candidate.po(a, b) {
                        order(a, b); // CoWW
                    }
                }
            }
            for (i, &read) in self.reads.iter().enumerate() {
                for &write in &self.writes {
                    if candidate.po(read, write) {
                        order(sources[i], write); // CoRW
                    } else if candidate.po(write, read) {
                        order(write, sources[i]); // CoWR
                    }
                }
                for (j, &later) in self.reads.iter().enumerate().skip(i + 1) {
                    if candidate.po(read, later) {
                        order(sources[i], sources[j]); // CoRR
                    }
                }
            }
        }
        if !possible {
            return Vec::new();
        }
        // atomic[i]: the source that writes[i] must follow if it is half of a read-modify-write.
        let atomic: SmallVec<[Option<usize>; 8]> = self
            .writes
            .iter()
            .map(|&write| {
                let is_pair = |read: &usize| candidate.rmw.contains(&(*read, write));
                let at = self.reads.iter().position(is_pair)?;
                pruning.atomicity.then(|| sources[at])
            })
            .collect();
        let mut found = Vec::new();
        let mut prefix: SmallVec<[usize; 6]> = SmallVec::new();
        prefix.push(self.init);
        self.extend(candidate, &before, &atomic, 0, &mut prefix, &mut found);
        found
    }

    /// All linear extensions that begin with `prefix`.
    fn extend(
        &self,
        candidate: &Candidate<'_>,
        before: &[u64],
        atomic: &[Option<usize>],
        placed: u64,
        prefix: &mut SmallVec<[usize; 6]>,
        found: &mut Vec<SmallVec<[usize; 6]>>,
    ) {
        if prefix.len() == self.writes.len() + 1 {
            found.push(prefix.clone());
            return;
        }
        for (i, &write) in self.writes.iter().enumerate() {
            if placed & (1 << i) != 0 || before[i] & !placed != 0 {
                continue;
            }
            if let Some(source) = atomic[i] {
                let thread = candidate.events[write].id.thread;
                // ATOM: between source and write only the thread's own writes.
                let follows = prefix
                    .iter()
                    .rev()
                    .find(|&&w| w == source || candidate.events[w].id.thread != thread)
                    .is_some_and(|&w| w == source);
                if !follows {
                    continue;
                }
            }
            prefix.push(write);
            self.extend(candidate, before, atomic, placed | 1 << i, prefix, found);
            prefix.pop();
        }
    }
}
