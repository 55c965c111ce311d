//! Relations between events, as a matrix of bits.

use std::fmt;

use crate::{Bits, EventSet, WORD, tail, words};

/// A binary relation over the events `0..len`.
///
/// Invariant: bits at and above `len` in a row are zero. Binary operations require equal universes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    len: usize,
    /// Words per row.
    stride: usize,
    bits: Vec<u64>,
}

impl Relation {
    /// No pairs, over the universe `0..len`.
    pub fn empty(len: usize) -> Self {
        let stride = words(len);
        Self { len, stride, bits: vec![0; stride * len] }
    }

    /// All pairs.
    pub fn full(len: usize) -> Self {
        let mut relation = Self::empty(len);
        relation.complement();
        relation
    }

    /// Every event with itself.
    pub fn identity(len: usize) -> Self {
        let mut relation = Self::empty(len);
        relation.make_reflexive();
        relation
    }

    /// The identity on `set`, written `[S]` in cat.
    pub fn identity_on(set: &EventSet) -> Self {
        let mut relation = Self::empty(set.universe());
        for event in set {
            relation.insert(event, event);
        }
        relation
    }

    /// Everything in `from` with everything in `to`.
    pub fn product(from: &EventSet, to: &EventSet) -> Self {
        let mut relation = Self::empty(from.universe());
        relation.assign_product(from, to);
        relation
    }

    /// The given pairs.
    pub fn of(len: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut relation = Self::empty(len);
        for (from, to) in pairs {
            relation.insert(from, to);
        }
        relation
    }

    /// The pairs that satisfy `holds`.
    pub fn filter(len: usize, mut holds: impl FnMut(usize, usize) -> bool) -> Self {
        let mut relation = Self::empty(len);
        for from in 0..len {
            for to in 0..len {
                if holds(from, to) {
                    relation.insert(from, to);
                }
            }
        }
        relation
    }

    /// The number of events, not of pairs: see [`Relation::count`].
    pub fn universe(&self) -> usize {
        self.len
    }

    /// The number of pairs.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }

    /// Whether `from` is related to `to`.
    pub fn contains(&self, from: usize, to: usize) -> bool {
        debug_assert!(from < self.len && to < self.len);
        self.bits[from * self.stride + to / WORD] >> (to % WORD) & 1 == 1
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        assert!(from < self.len && to < self.len, "pair ({from}, {to}) outside 0..{}", self.len);
        self.bits[from * self.stride + to / WORD] |= 1 << (to % WORD);
    }

    /// Removes a pair.
    pub fn remove(&mut self, from: usize, to: usize) {
        assert!(from < self.len && to < self.len, "pair ({from}, {to}) outside 0..{}", self.len);
        self.bits[from * self.stride + to / WORD] &= !(1 << (to % WORD));
    }

    /// Empties the relation and gives it the universe `0..len`, keeping its memory.
    pub fn reset(&mut self, len: usize) {
        self.len = len;
        self.stride = words(len);
        self.bits.clear();
        self.bits.resize(self.stride * len, 0);
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// Makes this relation equal to `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.len = other.len;
        self.stride = other.stride;
        self.bits.clone_from(&other.bits);
    }

    /// The successors of `from`, ascending.
    pub fn successors(&self, from: usize) -> Bits<'_> {
        Bits::new(self.row(from))
    }

    /// The predecessors of `to`, ascending: O(n).
    pub fn predecessors(&self, to: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.len).filter(move |&from| self.contains(from, to))
    }

    /// All pairs, in lexicographic order.
    pub fn pairs(&self) -> Pairs<'_> {
        Pairs { relation: self, from: 0, row: Bits::new(if self.len == 0 { &[] } else { self.row(0) }) }
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
        let (stride, tail) = (self.stride, tail(self.len));
        for row in self.bits.chunks_exact_mut(stride) {
            for word in &mut *row {
                *word = !*word;
            }
            row[stride - 1] &= tail;
        }
    }

    /// Adds the identity: `r?` in cat.
    pub fn make_reflexive(&mut self) {
        for event in 0..self.len {
            self.bits[event * self.stride + event / WORD] |= 1 << (event % WORD);
        }
    }

    /// `self := from × to`.
    pub fn assign_product(&mut self, from: &EventSet, to: &EventSet) {
        assert_eq!(from.universe(), to.universe(), "sets over different universes");
        self.reset(from.universe());
        let stride = self.stride;
        for event in from {
            self.bits[event * stride..][..stride].copy_from_slice(to.words());
        }
    }

    /// `self := [set]`.
    pub fn assign_identity_on(&mut self, set: &EventSet) {
        self.reset(set.universe());
        for event in set {
            self.bits[event * self.stride + event / WORD] |= 1 << (event % WORD);
        }
    }

    /// Keeps the pairs that start in `set`: `[set];self`.
    pub fn restrict_domain(&mut self, set: &EventSet) {
        assert_eq!(self.len, set.universe(), "set over another universe");
        for (event, row) in self.bits.chunks_exact_mut(self.stride).enumerate() {
            if !set.contains(event) {
                row.fill(0);
            }
        }
    }

    /// Keeps the pairs that end in `set`: `self;[set]`.
    pub fn restrict_range(&mut self, set: &EventSet) {
        assert_eq!(self.len, set.universe(), "set over another universe");
        for row in self.bits.chunks_exact_mut(self.stride) {
            for (word, mask) in row.iter_mut().zip(set.words()) {
                *word &= mask;
            }
        }
    }

    /// `out := self ; other`.
    pub fn compose_into(&self, other: &Self, out: &mut Self) {
        assert_eq!(self.len, other.len, "relations over different universes");
        out.reset(self.len);
        if self.stride == 1 {
            for (&row, result) in self.bits.iter().zip(&mut out.bits) {
                let mut left = row;
                while left != 0 {
                    *result |= other.bits[left.trailing_zeros() as usize];
                    left &= left - 1;
                }
            }
        } else {
            for from in 0..self.len {
                let result = &mut out.bits[from * self.stride..][..self.stride];
                for middle in Bits::new(&self.bits[from * self.stride..][..self.stride]) {
                    for (word, add) in result.iter_mut().zip(other.row(middle)) {
                        *word |= add;
                    }
                }
            }
        }
    }

    /// `out := self⁻¹`.
    pub fn inverse_into(&self, out: &mut Self) {
        out.reset(self.len);
        for from in 0..self.len {
            let (word, bit) = (from / WORD, 1 << (from % WORD));
            for to in Bits::new(self.row(from)) {
                out.bits[to * self.stride + word] |= bit;
            }
        }
    }

    /// `self := self⁺`, by Warshall's algorithm on rows.
    pub fn close(&mut self) {
        if self.stride == 1 {
            for k in 0..self.len {
                let through = self.bits[k];
                if through == 0 {
                    continue;
                }
                for row in &mut self.bits {
                    // All ones where k is a successor, so that the loop has no branch.
                    *row |= through & (*row >> k & 1).wrapping_neg();
                }
            }
            return;
        }
        let stride = self.stride;
        for k in 0..self.len {
            let (word, shift) = (k / WORD, k % WORD);
            let (before, rest) = self.bits.split_at_mut(k * stride);
            let (through, after) = rest.split_at_mut(stride);
            for row in before.chunks_exact_mut(stride).chain(after.chunks_exact_mut(stride)) {
                if row[word] >> shift & 1 == 1 {
                    for (bits, add) in row.iter_mut().zip(&*through) {
                        *bits |= add;
                    }
                }
            }
        }
    }

    /// `out :=` the events with a successor.
    pub fn domain_into(&self, out: &mut EventSet) {
        out.reset(self.len);
        for (event, row) in self.bits.chunks_exact(self.stride).enumerate() {
            if row.iter().any(|&word| word != 0) {
                out.insert(event);
            }
        }
    }

    /// `out :=` the events with a predecessor.
    pub fn range_into(&self, out: &mut EventSet) {
        out.reset(self.len);
        for row in self.bits.chunks_exact(self.stride) {
            for (word, add) in out.words_mut().iter_mut().zip(row) {
                *word |= add;
            }
        }
    }

    /// `r ∪ other`.
    pub fn union(mut self, other: &Self) -> Self {
        self.union_with(other);
        self
    }

    /// `r ∩ other`.
    pub fn intersection(mut self, other: &Self) -> Self {
        self.intersect_with(other);
        self
    }

    /// `r \ other`.
    pub fn difference(mut self, other: &Self) -> Self {
        self.subtract(other);
        self
    }

    /// `¬r`, within the universe.
    pub fn complemented(mut self) -> Self {
        self.complement();
        self
    }

    /// `r ; other`.
    pub fn compose(&self, other: &Self) -> Self {
        let mut out = Self::empty(self.len);
        self.compose_into(other, &mut out);
        out
    }

    /// `r⁻¹`.
    pub fn inverse(&self) -> Self {
        let mut out = Self::empty(self.len);
        self.inverse_into(&mut out);
        out
    }

    /// `r⁺`.
    pub fn transitive(mut self) -> Self {
        self.close();
        self
    }

    /// `r?`.
    pub fn optional(mut self) -> Self {
        self.make_reflexive();
        self
    }

    /// `r*`.
    pub fn reflexive_transitive(self) -> Self {
        self.transitive().optional()
    }

    /// `[from];r;[to]`.
    pub fn restricted(mut self, from: &EventSet, to: &EventSet) -> Self {
        self.restrict_domain(from);
        self.restrict_range(to);
        self
    }

    /// The events with a successor.
    pub fn domain(&self) -> EventSet {
        let mut out = EventSet::empty(self.len);
        self.domain_into(&mut out);
        out
    }

    /// The events with a predecessor.
    pub fn range(&self) -> EventSet {
        let mut out = EventSet::empty(self.len);
        self.range_into(&mut out);
        out
    }

    /// Whether every pair is one of `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        debug_assert_eq!(self.len, other.len);
        self.bits.iter().zip(&other.bits).all(|(a, b)| a & !b == 0)
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.len).all(|event| !self.contains(event, event))
    }

    /// Whether `r ; r ⊆ r`.
    pub fn is_transitive(&self) -> bool {
        self.compose(self).is_subset(self)
    }

    /// The row of `from`: its successors as bits.
    pub fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.stride..][..self.stride]
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The whole matrix, row after row; with one word per row if there are at most 64 events.
    pub(crate) fn rows(&self) -> &[u64] {
        &self.bits
    }

    fn zip(&mut self, other: &Self, op: impl Fn(u64, u64) -> u64) {
        assert_eq!(self.len, other.len, "relations over different universes");
        for (a, &b) in self.bits.iter_mut().zip(&other.bits) {
            *a = op(*a, b);
        }
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}

impl<'a> IntoIterator for &'a Relation {
    type Item = (usize, usize);
    type IntoIter = Pairs<'a>;

    fn into_iter(self) -> Pairs<'a> {
        self.pairs()
    }
}

/// The pairs of a relation, in lexicographic order.
pub struct Pairs<'a> {
    relation: &'a Relation,
    from: usize,
    row: Bits<'a>,
}

impl Iterator for Pairs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            if let Some(to) = self.row.next() {
                return Some((self.from, to));
            }
            self.from += 1;
            if self.from >= self.relation.len {
                self.from = self.relation.len;
                return None;
            }
            self.row = Bits::new(self.relation.row(self.from));
        }
    }
}
