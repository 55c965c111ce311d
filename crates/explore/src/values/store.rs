//! The states that were met: what each thread was told, and what memory holds.
//!
//! A state is a row of numbers, one for the history of each thread and one for memory. Memory is a binary tree over
//! its cells in which equal parts are stored once (hash consing), so that equal memories have equal numbers and a
//! write makes as many nodes as the tree is deep. Rows are compared in full: two states are never taken for one.
//!
//! Cost: four bytes for each thread and nine more for a state; twelve bytes for a new part of memory.

use hashbrown::HashTable;
use porf_event::Value;
use std::collections::HashMap;

/// What a memory has at each place; equal memories have equal numbers.
#[derive(Default)]
pub(super) struct Memories {
    nodes: Vec<(u32, u32)>,
    index: HashTable<u32>,
    values: Vec<Value>,
    numbers: HashMap<Value, u32>,
    depth: u32,
}

/// The memory in which nothing was written. In the tree: a part in which nothing was.
pub(super) const UNTOUCHED: u32 = 0;

impl Memories {
    /// For at least so many places.
    pub fn new(places: usize) -> Memories {
        Memories { depth: places.max(32).next_power_of_two().trailing_zeros(), ..Memories::default() }
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        1 << self.depth
    }

    /// What was written to a place last, if anything was.
    pub fn get(&self, memory: u32, place: usize) -> Option<Value> {
        let mut at = if place < self.places() { memory } else { UNTOUCHED };
        for level in (0..self.depth).rev() {
            let (left, right) = self.nodes[at.checked_sub(1)? as usize];
            at = if place >> level & 1 == 0 { left } else { right };
        }
        Some(self.values[at.checked_sub(1)? as usize])
    }

    /// The memory after a write; `None` takes away what was written.
    pub fn set(&mut self, memory: u32, place: usize, value: Option<Value>) -> u32 {
        let leaf = match value {
            None => UNTOUCHED,
            Some(value) => match self.numbers.get(&value) {
                Some(number) => *number,
                None => {
                    self.values.push(value);
                    self.numbers.insert(value, self.values.len() as u32);
                    self.values.len() as u32
                }
            },
        };
        self.put(memory, self.depth, place, leaf)
    }

    fn put(&mut self, at: u32, height: u32, place: usize, leaf: u32) -> u32 {
        if height == 0 {
            return leaf;
        }
        let (left, right) = match at {
            UNTOUCHED => (UNTOUCHED, UNTOUCHED),
            at => self.nodes[at as usize - 1],
        };
        let pair = match place >> (height - 1) & 1 {
            0 => (self.put(left, height - 1, place, leaf), right),
            _ => (left, self.put(right, height - 1, place, leaf)),
        };
        if pair == (UNTOUCHED, UNTOUCHED) { UNTOUCHED } else { self.number(pair) }
    }

    fn number(&mut self, pair: (u32, u32)) -> u32 {
        let Memories { nodes, index, .. } = self;
        let hash_of = |(left, right): (u32, u32)| hash(&[left, right]);
        if let Some(number) = index.find(hash_of(pair), |number| nodes[*number as usize - 1] == pair) {
            return *number;
        }
        nodes.push(pair);
        let number = nodes.len() as u32;
        index.insert_unique(hash_of(pair), number, |number| hash_of(nodes[*number as usize - 1]));
        number
    }
}

/// A set of rows of one length.
pub(super) struct Table {
    width: usize,
    rows: Vec<u32>,
    index: HashTable<u32>,
}

impl Table {
    pub fn new(width: usize) -> Table {
        Table { width, rows: Vec::new(), index: HashTable::new() }
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn row(&self, number: u32) -> &[u32] {
        let start = number as usize * self.width;
        &self.rows[start..start + self.width]
    }

    /// The number of a row that was not there.
    pub fn insert(&mut self, row: &[u32]) -> Option<u32> {
        if self.index.find(hash(row), |number| self.row(*number) == row).is_some() {
            return None;
        }
        let number = self.len() as u32;
        self.rows.extend_from_slice(row);
        let Table { width, rows, index } = self;
        let hash_of = |number: &u32| hash(&rows[*number as usize * *width..][..*width]);
        index.insert_unique(hash(row), number, hash_of);
        Some(number)
    }
}

/// A hash with good upper and lower bits, as the tables need it: rotate and multiply, then mix.
fn hash(row: &[u32]) -> u64 {
    let fold = |hash: u64, &number: &u32| {
        (hash.rotate_left(26) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let hash = row.iter().fold(0, fold);
    (hash ^ hash >> 32).wrapping_mul(0x94d0_49bb_1331_11eb)
}
