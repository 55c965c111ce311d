//! Where the values of nodes live: one buffer for each, reused from execution to execution.

use porf_relation::{EventSet, Relation};

use crate::node::{Kind, NodeId};

pub enum Slot {
    Set(EventSet),
    Relation(Relation),
    /// Taken out, to be put back.
    Vacant,
}

#[derive(Default)]
pub struct Slots {
    len: usize,
    slots: Vec<Slot>,
}

impl Slots {
    /// Makes room for the given nodes over `len` events.
    pub fn reset(&mut self, len: usize, kinds: impl ExactSizeIterator<Item = Kind>, same: bool) {
        if same && self.len == len && self.slots.len() >= kinds.len() {
            // The steps of the program write before they read.
            return;
        }
        self.len = len;
        for (count, kind) in kinds.enumerate() {
            match (self.slots.get_mut(count), kind) {
                (Some(Slot::Set(set)), Kind::Set) => set.reset(len),
                (Some(Slot::Relation(relation)), Kind::Relation) => relation.reset(len),
                (slot, kind) => {
                    let new = match kind {
                        Kind::Set => Slot::Set(EventSet::empty(len)),
                        Kind::Relation => Slot::Relation(Relation::empty(len)),
                    };
                    match slot {
                        Some(slot) => *slot = new,
                        None => self.slots.push(new),
                    }
                }
            }
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, id: NodeId) -> &Slot {
        &self.slots[id as usize]
    }

    pub fn set(&self, id: NodeId) -> &EventSet {
        match self.get(id) {
            Slot::Set(set) => set,
            _ => unreachable!("node {id} is no set: kinds are checked while compiling"),
        }
    }

    pub fn relation(&self, id: NodeId) -> &Relation {
        match self.get(id) {
            Slot::Relation(relation) => relation,
            _ => unreachable!("node {id} is no relation: kinds are checked while compiling"),
        }
    }

    pub fn relation_mut(&mut self, id: NodeId) -> &mut Relation {
        match &mut self.slots[id as usize] {
            Slot::Relation(relation) => relation,
            _ => unreachable!("node {id} is no relation: kinds are checked while compiling"),
        }
    }

    /// Takes a slot out to write to it while others are read; put it back with [`Slots::put`].
    pub fn take(&mut self, id: NodeId) -> Slot {
        std::mem::replace(&mut self.slots[id as usize], Slot::Vacant)
    }

    pub fn put(&mut self, id: NodeId, slot: Slot) {
        self.slots[id as usize] = slot;
    }
}
