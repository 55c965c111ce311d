//! Sets of events, as a row of bits.

use std::fmt;

use crate::{WORD, tail, words};

/// A set of events out of `0..len`.
///
/// Invariant: bits at and above `len` are zero. Binary operations require equal universes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EventSet {
    len: usize,
    words: Vec<u64>,
}

impl EventSet {
    /// The empty set over the universe `0..len`.
    pub fn empty(len: usize) -> Self {
        Self { len, words: vec![0; words(len)] }
    }

    /// All events of `0..len`.
    pub fn full(len: usize) -> Self {
        let mut set = Self::empty(len);
        set.complement();
        set
    }

    /// The set of the given events.
    pub fn of(len: usize, events: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::empty(len);
        for event in events {
            set.insert(event);
        }
        set
    }

    /// The set of the events that satisfy `holds`.
    pub fn filter(len: usize, holds: impl FnMut(&usize) -> bool) -> Self {
        Self::of(len, (0..len).filter(holds))
    }

    /// The size of the universe, not of the set: see [`EventSet::count`].
    pub fn universe(&self) -> usize {
        self.len
    }

    /// The number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether `event` is a member.
    pub fn contains(&self, event: usize) -> bool {
        debug_assert!(event < self.len);
        self.words[event / WORD] >> (event % WORD) & 1 == 1
    }

    /// Adds `event` and says whether it was new.
    pub fn insert(&mut self, event: usize) -> bool {
        assert!(event < self.len, "event {event} outside the universe 0..{}", self.len);
        let (word, bit) = (&mut self.words[event / WORD], 1 << (event % WORD));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes `event` and says whether it was there.
    pub fn remove(&mut self, event: usize) -> bool {
        assert!(event < self.len, "event {event} outside the universe 0..{}", self.len);
        let (word, bit) = (&mut self.words[event / WORD], 1 << (event % WORD));
        let old = *word & bit != 0;
        *word &= !bit;
        old
    }

    /// Empties the set and gives it the universe `0..len`, keeping its memory.
    pub fn reset(&mut self, len: usize) {
        self.len = len;
        self.words.clear();
        self.words.resize(words(len), 0);
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Makes this set equal to `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.len = other.len;
        self.words.clone_from(&other.words);
    }

    /// `self := self ∪ other`.
    pub fn union_with(&mut self, other: &Self) {
        self.zip(other, |a, b| a | b);
    }

    /// `self := self ∩ other`.
    pub fn intersect_with(&mut self, other: &Self) {
        self.zip(other, |a, b| a & b);
    }

    /// `self := self \ other`.
    pub fn subtract(&mut self, other: &Self) {
        self.zip(other, |a, b| a & !b);
    }

    /// `self := ¬self`, within the universe.
    pub fn complement(&mut self) {
        for word in &mut self.words {
            *word = !*word;
        }
        if let Some(last) = self.words.last_mut() {
            *last &= tail(self.len);
        }
    }

    /// `s ∪ other`.
    pub fn union(mut self, other: &Self) -> Self {
        self.union_with(other);
        self
    }

    /// `s ∩ other`.
    pub fn intersection(mut self, other: &Self) -> Self {
        self.intersect_with(other);
        self
    }

    /// `s \ other`.
    pub fn difference(mut self, other: &Self) -> Self {
        self.subtract(other);
        self
    }

    /// `¬s`, within the universe.
    pub fn complemented(mut self) -> Self {
        self.complement();
        self
    }

    /// Whether every member is one of `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        debug_assert_eq!(self.len, other.len);
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether no member is one of `other` too.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        debug_assert_eq!(self.len, other.len);
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    /// The smallest member.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The members, in ascending order.
    pub fn iter(&self) -> Bits<'_> {
        Bits::new(&self.words)
    }

    /// The row of bits, least significant first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    fn zip(&mut self, other: &Self, op: impl Fn(u64, u64) -> u64) {
        assert_eq!(self.len, other.len, "sets over different universes");
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            *a = op(*a, b);
        }
    }
}

impl<'a> IntoIterator for &'a EventSet {
    type Item = usize;
    type IntoIter = Bits<'a>;

    fn into_iter(self) -> Bits<'a> {
        self.iter()
    }
}

impl fmt::Debug for EventSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

/// The positions of the ones in a row of bits, ascending.
#[derive(Clone)]
pub struct Bits<'a> {
    current: u64,
    base: usize,
    rest: &'a [u64],
}

impl<'a> Bits<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        match words.split_first() {
            Some((&current, rest)) => Self { current, base: 0, rest },
            None => Self { current: 0, base: 0, rest: &[] },
        }
    }
}

impl Iterator for Bits<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.current == 0 {
            let (&next, rest) = self.rest.split_first()?;
            self.current = next;
            self.rest = rest;
            self.base += WORD;
        }
        let bit = self.current.trailing_zeros() as usize;
        self.current &= self.current - 1;
        Some(self.base + bit)
    }
}
