//! Slots: where a thread keeps numbers and threads that are not constant.

use super::super::machine::{Sym, Thread, Val, Who};
use super::round::Round;
use std::collections::BTreeSet;

/// A register, in which call, how many slots were taken when it needed one, and whether it is a slot for threads.
pub(super) type Home = (usize, u64, usize, usize, bool);

impl Round<'_> {
    /// Registers that are never looked at again hold nothing.
    pub(super) fn forget(&self, thread: &mut Thread) {
        let last = thread.frames.len() - 1;
        for (depth, frame) in thread.frames.iter_mut().enumerate() {
            let at = frame.at as u32;
            let live: BTreeSet<u32> = if depth == last {
                self.liveness.before(frame.function, at).map(|reg| reg.0).collect()
            } else {
                self.liveness.during_call(frame.function, at).map(|reg| reg.0).collect()
            };
            for (reg, value) in frame.regs.iter_mut().enumerate() {
                if !live.contains(&(reg as u32)) {
                    *value = Val::Const(0);
                }
            }
        }
    }

    /// Puts numbers and threads in slots, and says what the slots hold then.
    pub(super) fn settle(&mut self, thread: &mut Thread) -> Vec<(usize, Val)> {
        let Round { stay, homes, .. } = self;
        let mut slots: Vec<(usize, Val)> = Vec::new();
        // What is in a slot already.
        let mut taken: BTreeSet<(bool, usize)> = BTreeSet::new();
        if *stay {
            let registers = thread.frames.iter().flat_map(|frame| &frame.regs);
            taken = (registers.chain(thread.mirror.values()))
                .filter_map(|value| match value {
                    Val::Sym(Sym::Slot(slot), _) => Some((false, *slot)),
                    Val::Of(_, Who::Slot(slot)) => Some((true, *slot)),
                    _ => None,
                })
                .collect();
        }
        let mut place = |value: &mut Val, (depth, function, at): (usize, u64, usize)| {
            let (points, held) = match value {
                Val::Sym(sym, _) => (false, if let Sym::Slot(slot) = sym { Some(*slot) } else { None }),
                Val::Of(_, Who::Me) => return,
                Val::Of(_, who) => (true, if let Who::Slot(slot) = who { Some(*slot) } else { None }),
                _ => return,
            };
            let mut free = || {
                let mut tries = 0;
                loop {
                    let next = homes.keys().filter(|home| home.4 == points).count();
                    let slot = *homes.entry((depth, function, at, tries, points)).or_insert(next);
                    if taken.insert((points, slot)) {
                        return slot;
                    }
                    tries += 1;
                }
            };
            let of_kind = slots.iter().filter(|(_, held)| matches!(held, Val::Of(..)) == points);
            let known = of_kind.clone().find_map(|(slot, held)| match (held, &*value) {
                (Val::Sym(other, base), Val::Sym(sym, _)) if other == sym => Some((*slot, *base)),
                (Val::Of(_, other), Val::Of(_, who)) if other == who => Some((*slot, 0)),
                _ => None,
            });
            let next = of_kind.count();
            let (slot, base) = known.unwrap_or_else(|| {
                let slot = match held {
                    Some(slot) if *stay => slot,
                    _ if *stay => free(),
                    _ => next,
                };
                slots.push((slot, value.clone()));
                (slot, if let Val::Sym(_, offset) = value { *offset } else { 0 })
            });
            match value {
                Val::Sym(sym, offset) => (*sym, *offset) = (Sym::Slot(slot), *offset - base),
                Val::Of(_, who) => *who = Who::Slot(slot),
                _ => {}
            }
        };
        for (depth, frame) in thread.frames.iter_mut().enumerate() {
            for (at, value) in frame.regs.iter_mut().enumerate() {
                place(value, (depth, u64::from(frame.function.0), at));
            }
        }
        for (at, (_, value)) in thread.mirror.iter_mut().enumerate() {
            place(value, (usize::MAX, 0, at));
        }
        slots
    }
}
