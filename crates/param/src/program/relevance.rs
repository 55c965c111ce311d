//! What no step asks for is left out: numbers that are neither compared nor become part of such a number.
//!
//! A lock's counter is the usual case. That two threads do not stand before accesses to it is still part of the
//! property, since threads stand where they stood. Its value takes no part in that, and on x86 a write that nobody
//! looks at changes nothing for the others: it may reach memory as soon as it is the oldest of its buffer.

use super::control::{Control, Edge};
use super::machine::{Location, Sym, Val};
use std::collections::BTreeSet;

/// Leaves out what no guard depends on.
pub fn prune(control: &mut Control) {
    let mut slots: BTreeSet<usize> = BTreeSet::new();
    let mut locations: BTreeSet<Location> =
        control.shared.iter().filter(|(_, shared)| !shared.wide).map(|(location, _)| *location).collect();
    loop {
        let before = (slots.len(), locations.len());
        for edge in &control.edges {
            let location = edge.place.map(|place| place.location);
            let mut asked: Vec<&Val> = edge.guard.iter().flat_map(|atom| [&atom.a, &atom.b]).collect();
            asked.extend(edge.writes.iter().filter(|_| location.is_some_and(|at| locations.contains(&at))));
            asked.extend(edge.slots.iter().filter(|(slot, _)| slots.contains(slot)).map(|(_, value)| value));
            for value in asked {
                match value {
                    Val::Sym(Sym::Slot(slot), _) => _ = slots.insert(*slot),
                    Val::Sym(Sym::Read, _) => locations.extend(location),
                    _ => {}
                }
            }
        }
        if before == (slots.len(), locations.len()) {
            break;
        }
    }
    for Edge { place, reads, writes, fence, lock, slots: kept, .. } in &mut control.edges {
        kept.retain(|(slot, value)| matches!(value, Val::Of(..)) || slots.contains(slot));
        if place.is_some_and(|place| !locations.contains(&place.location)) {
            // A locked step drains the buffer, whatever it writes.
            *fence |= *lock;
            (*place, *reads, *writes, *lock) = (None, None, None, false);
        }
    }
    control.slots = slots;
}
