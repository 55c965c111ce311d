//! Accesses of different sizes to the same bytes: memory is cut into pieces.
//!
//! The pieces are the coarsest ones such that each access covers some of them in whole. An access of several pieces is
//! several events, which carry the same id; the model relates them by `si`. This is how herd's mixed-size variant
//! sees such accesses, but for its pieces, which all have the size of the smallest access of the test. (Alglave,
//! Deacon, Grisenthwaite, Hacquard, Maranget, "Armed Cats", TOPLAS 2021.)
//!
//! The lowest addresses hold the lowest bits. Limits: accesses of up to 8 bytes are cut.

use porf_event::{Access, Label, Location, Value};
use porf_ir::Width;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Where memory is cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    accesses: BTreeSet<Access>,
    /// The first byte of each access and the one behind its last.
    bounds: BTreeSet<u64>,
    /// Whether some access covers several pieces. It is asked for each candidate.
    is_mixed: bool,
}

/// The pieces of one access, by address.
pub(crate) type Covered = SmallVec<[Access; 4]>;

impl Pieces {
    /// Takes an access into account. Returns whether other accesses may have more pieces now.
    pub fn add(&mut self, access: Access) -> bool {
        if !self.accesses.insert(access) {
            return false;
        }
        let first = self.bounds.insert(access.location.0);
        let last = self.bounds.insert(end(access));
        self.is_mixed = self.accesses.iter().any(|access| self.inner(*access).next().is_some());
        first || last
    }

    /// Where an access is cut.
    fn inner(&self, access: Access) -> impl Iterator<Item = u64> + '_ {
        self.bounds.range(access.location.0 + 1..end(access)).copied()
    }

    /// What an access covers.
    #[inline]
    pub fn of(&self, access: Access) -> Covered {
        if self.is_mixed { self.cover(access) } else { Covered::from_slice(&[access]) }
    }

    fn cover(&self, access: Access) -> Covered {
        let mut start = access.location.0;
        let mut found = Covered::new();
        for bound in self.inner(access).chain([end(access)]) {
            found.push(Access { location: Location(start), size: (bound - start) as u8 });
            start = bound;
        }
        found
    }

    /// Whether some access covers several pieces.
    pub fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// An access that cannot be cut: it is not at a multiple of its size, or too wide.
    pub fn odd(&self) -> Option<Access> {
        let odd =
            |access: &&Access| access.size > 8 || !access.location.0.is_multiple_of(u64::from(access.size));
        self.accesses.iter().find(odd).copied()
    }
}

/// The bytes of a piece, out of the value of an access that covers it.
pub(crate) fn cut(whole: Access, value: Value, piece: Access) -> Value {
    if whole == piece {
        return value;
    }
    Width::of_bytes(piece.size).truncate(value >> shift(whole, piece))
}

/// What a piece adds to the value of an access that covers it.
pub(crate) fn place(whole: Access, piece: Access, value: Value) -> Value {
    value << shift(whole, piece)
}

/// The event of one piece of an access.
pub(crate) fn label(label: &Label, piece: Access) -> Label {
    match *label {
        Label::Read { access, mode, rmw, value } => {
            Label::Read { access: piece, mode, rmw, value: cut(access, value, piece) }
        }
        Label::Write { access, mode, rmw, value } => {
            Label::Write { access: piece, mode, rmw, value: cut(access, value, piece) }
        }
        other => other,
    }
}

fn shift(whole: Access, piece: Access) -> u64 {
    8 * (piece.location.0 - whole.location.0)
}

fn end(access: Access) -> u64 {
    access.location.0 + u64::from(access.size)
}
