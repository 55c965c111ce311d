//! The memory that a step touches.

use porf_graph::Loc;

/// Cells, in the order of their numbers, and whether they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint(Vec<(Loc, bool)>);

impl Footprint {
    /// A cell is read or written.
    pub fn touch(&mut self, loc: Loc, writes: bool) {
        match self.0.binary_search_by_key(&loc, |(loc, _)| *loc) {
            Ok(at) => self.0[at].1 |= writes,
            Err(at) => self.0.insert(at, (loc, writes)),
        }
    }

    /// The cells, and whether each is written.
    pub fn iter(&self) -> impl Iterator<Item = (Loc, bool)> + '_ {
        self.0.iter().copied()
    }

    /// All that another one touches is touched.
    pub fn join(&mut self, other: &Footprint) {
        for &(loc, writes) in &other.0 {
            self.touch(loc, writes);
        }
    }

    /// Whether both touch a cell that one of them writes.
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(&&(a, writes)), Some(&&(b, also))) = (one.peek(), two.peek()) {
            match a.cmp(&b) {
                std::cmp::Ordering::Less => one.next(),
                std::cmp::Ordering::Greater => two.next(),
                std::cmp::Ordering::Equal if writes || also => return true,
                std::cmp::Ordering::Equal => {
                    one.next();
                    two.next()
                }
            };
        }
        false
    }
}
