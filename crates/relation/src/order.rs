//! Acyclicity, cycles and linear extensions.

use crate::{Bits, Cycle, EventSet, Relation, WORD, tail};

/// Rows up to this many words are peeled on the stack.
const STACK_WORDS: usize = 8;

impl Relation {
    /// Whether no event reaches itself. Peels sinks; allocates nothing up to 512 events.
    pub fn is_acyclic(&self) -> bool {
        let len = self.universe();
        if self.stride() == 1 {
            return peels_word(self.rows(), tail(len));
        }
        if self.stride() <= STACK_WORDS {
            let mut left = [0; STACK_WORDS];
            return self.peels(&mut left[..self.stride()]);
        }
        self.peels(&mut vec![0; self.stride()])
    }

    /// A shortest cycle, if there is one.
    pub fn cycle(&self) -> Option<Cycle> {
        if self.is_acyclic() {
            return None;
        }
        let len = self.universe();
        let mut best: Option<Vec<usize>> = None;
        let (mut parent, mut queue) = (vec![usize::MAX; len], Vec::with_capacity(len));
        for start in 0..len {
            if let Some(path) = self.round_trip(start, &mut parent, &mut queue)
                && best.as_ref().is_none_or(|old| path.len() < old.len())
            {
                best = Some(path);
            }
        }
        best.map(Cycle::new)
    }

    /// All linear orders of `events` that extend this relation. There are none if it is cyclic on them.
    pub fn linearisations<'a>(&'a self, events: &EventSet) -> Linearisations<'a> {
        Linearisations::new(self, events)
    }

    /// One topological order of `events`, smallest first; `None` if the relation is cyclic on them.
    pub fn topological_order(&self, events: &EventSet) -> Option<Vec<usize>> {
        let mut linear = self.linearisations(events);
        if linear.advance() { Some(linear.order) } else { None }
    }

    fn peels(&self, left: &mut [u64]) -> bool {
        left.fill(u64::MAX);
        left[self.stride() - 1] = tail(self.universe());
        loop {
            let (mut some, mut peeled) = (false, false);
            for word in 0..left.len() {
                let mut candidates = left[word];
                while candidates != 0 {
                    let bit = candidates.trailing_zeros() as usize;
                    candidates &= candidates - 1;
                    some = true;
                    if self.row(word * WORD + bit).iter().zip(&*left).all(|(row, left)| row & left == 0) {
                        left[word] &= !(1 << bit);
                        peeled = true;
                    }
                }
            }
            if !some {
                return true;
            }
            if !peeled {
                return false;
            }
        }
    }

    /// A shortest path from `start` back to `start`, by breadth-first search.
    fn round_trip(&self, start: usize, parent: &mut [usize], queue: &mut Vec<usize>) -> Option<Vec<usize>> {
        parent.fill(usize::MAX);
        queue.clear();
        queue.push(start);
        let mut head = 0;
        while let Some(&event) = queue.get(head) {
            head += 1;
            for next in self.successors(event) {
                if next == start {
                    let mut path = vec![event];
                    while *path.last()? != start {
                        path.push(parent[*path.last()?]);
                    }
                    path.reverse();
                    return Some(path);
                }
                if parent[next] == usize::MAX {
                    parent[next] = event;
                    queue.push(next);
                }
            }
        }
        None
    }
}

/// Peels sinks where a row is one word.
fn peels_word(rows: &[u64], mut left: u64) -> bool {
    loop {
        let before = left;
        let mut candidates = left;
        while candidates != 0 {
            // From the last event down: program order leads upwards, so one round often peels all.
            let bit = 63 - candidates.leading_zeros();
            candidates &= !(1 << bit);
            let sink = (rows[bit as usize] & left == 0) as u64;
            left &= !(sink << bit);
        }
        if left == 0 {
            return true;
        }
        if left == before {
            return false;
        }
    }
}

/// The linear extensions of a relation over a set of events; see [`Relation::linearisations`].
///
/// This is no `Iterator`, because each order is only lent: `while orders.advance() { use(orders.order()) }`.
pub struct Linearisations<'a> {
    relation: &'a Relation,
    /// The events not yet placed.
    left: EventSet,
    order: Vec<usize>,
    started: bool,
}

impl<'a> Linearisations<'a> {
    fn new(relation: &'a Relation, events: &EventSet) -> Self {
        Self { relation, left: events.clone(), order: Vec::with_capacity(events.count()), started: false }
    }

    /// Moves to the next order; false when there is none.
    pub fn advance(&mut self) -> bool {
        // Placing starts at `from`. After a retreat it continues above the event that was taken back.
        let mut from = if self.started { self.retreat() } else { Some(0) };
        self.started = true;
        while let Some(at) = from {
            from = match self.ready(at) {
                Some(event) => {
                    self.left.remove(event);
                    self.order.push(event);
                    if self.left.is_empty() {
                        return true;
                    }
                    Some(0)
                }
                None if self.left.is_empty() => return true,
                None => self.retreat(),
            };
        }
        false
    }

    /// The current order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The current order as a relation: strict, total on the events.
    pub fn as_relation(&self) -> Relation {
        let mut relation = Relation::empty(self.relation.universe());
        for (position, &from) in self.order.iter().enumerate() {
            for &to in &self.order[position + 1..] {
                relation.insert(from, to);
            }
        }
        relation
    }

    fn retreat(&mut self) -> Option<usize> {
        let event = self.order.pop()?;
        self.left.insert(event);
        Some(event + 1)
    }

    /// The first event at or above `from` with no unplaced predecessor.
    fn ready(&self, from: usize) -> Option<usize> {
        let left = self.left.words();
        Bits::new(left)
            .filter(|&event| event >= from)
            .find(|&event| Bits::new(left).all(|other| !self.relation.contains(other, event)))
    }
}
