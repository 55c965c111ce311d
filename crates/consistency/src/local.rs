//! The order that a machine keeps within a thread, as sets of earlier events.
//!
//! It depends only on the thread up to the event, so it is computed once for each history of a thread ([`Memo`]).
//! The search then goes through threads a word at a time. The part that depends on rf is left to
//! [`LocalOrder::by_source`].

use crate::checked::MachineModel;
use porf_event::{Label, LockKind, RmwKind};
use porf_graph::{Ev, Event, ExecutionGraph, Linked, Memo, Words};

/// The local order of a machine: lob on Arm, ppo on RISC-V.
///
/// Creating and joining threads orders as a full barrier does.
pub trait LocalOrder: MachineModel {
    /// Whether an atomic operation is one event for the model, its read and its write together.
    const AMO_IS_ONE: bool;

    /// What is before an event, the order being closed: first the set of [`words`] many words that
    /// [`before`] gives, then what this order itself remembers. Indices of fences may be in the set.
    ///
    /// `earlier` is the same for the reads and writes before it.
    fn find<'w>(linked: &impl Linked, event: Ev, earlier: &impl Fn(Ev) -> &'w [u64]) -> Words;

    /// Calls `found` with what is before a read because of where it reads from.
    fn by_source(linked: &impl Linked, read: Ev, found: &mut impl FnMut(Ev));

    /// Whether the write of a read-modify-write may stand where it does, if so many writes of other threads
    /// and of its own are between it and what was read.
    fn is_atomic(others: usize, own: usize) -> bool;
}

/// The words of a set of events that are before the one with this index.
pub(crate) fn words(index: u32) -> usize {
    index as usize / 64 + 1
}

/// What [`LocalOrder::find`] finds, remembered.
pub(crate) fn remembered<O: LocalOrder>(linked: &impl Memo, event: Ev) -> &[u64] {
    let graph = linked.graph();
    let this = graph.event(event);
    // An attempt that does not take the lock does not acquire.
    let variant = this.label.rmw() == RmwKind::Lock(LockKind::Test);
    linked.memo(event, usize::from(variant), || {
        // From the first event on, so that none of them has to compute many others.
        let accesses = earlier(graph, this).iter().filter(|&&ev| is_access(graph, ev));
        accesses.for_each(|&ev| {
            remembered::<O>(linked, ev);
        });
        O::find(linked, event, &|ev| remembered::<O>(linked, ev))
    })
}

/// The set of what is before an event.
#[inline]
pub(crate) fn before(found: &[u64], index: u32) -> &[u64] {
    &found[..words(index)]
}

/// The events before one in its thread.
pub(crate) fn earlier<'g>(graph: &'g ExecutionGraph, event: &Event) -> &'g [Ev] {
    &graph.thread(event.id.thread).events()[..event.id.index as usize]
}

/// The last write before a read in its thread, to the same location.
pub(crate) fn last_write(graph: &ExecutionGraph, read: Ev) -> Option<Ev> {
    let this = graph.event(read);
    let same = |ev: &&Ev| graph.event(**ev).loc == this.loc && graph.event(**ev).label.is_write();
    earlier(graph, this).iter().rfind(same).copied()
}

pub(crate) fn is_access(graph: &ExecutionGraph, ev: Ev) -> bool {
    matches!(graph.event(ev).label, Label::Read { .. } | Label::Write { .. })
}

/// Whether an access is half of one instruction that reads and writes.
pub(crate) fn is_amo(label: &Label) -> bool {
    matches!(
        label.rmw(),
        RmwKind::Amo | RmwKind::AmoNoReturn | RmwKind::Barrier | RmwKind::Lock(LockKind::Acquire)
    )
}

pub(crate) fn set(words: &mut [u64], index: u32) {
    words[index as usize / 64] |= 1 << (index % 64);
}

/// Sets all indices below `to`.
pub(crate) fn set_below(words: &mut [u64], to: u32) {
    let (full, rest) = (to as usize / 64, to % 64);
    words[..full].fill(u64::MAX);
    if rest > 0 {
        words[full] |= (1 << rest) - 1;
    }
}

pub(crate) fn contains(words: &[u64], index: u32) -> bool {
    words[index as usize / 64] >> (index % 64) & 1 == 1
}

pub(crate) fn merge(words: &mut [u64], others: &[u64]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
}

/// The indices in a set, the greatest first.
pub(crate) fn downwards(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    let (mut at, mut word) = (words.len(), 0);
    std::iter::from_fn(move || {
        while word == 0 {
            at = at.checked_sub(1)?;
            word = words[at];
        }
        let bit = word.ilog2();
        word ^= 1 << bit;
        Some(at as u32 * 64 + bit)
    })
}
