//! RVWMO: preserved program order.
//!
//! Source: `models/riscv.cat`; the names here are the names there. Rules 3 and 12 depend on rf, the others on the
//! thread alone. Rule 2 is left out: if two reads have no write between them and different sources, then the
//! source of the second read is in another thread, and fr;rfe orders the two. Picks are no dependencies here.

use crate::checked::Riscv;
use crate::labels::{no_access, silent};
use crate::local::{LocalOrder, before, downwards, earlier, is_access, is_amo, merge, set, set_below, words};
use porf_event::{FenceMode, Label, ReadMode, RmwKind, RwSet, WriteMode};
use porf_graph::{Ev, Event, Linked, Need, Words};

impl LocalOrder for Riscv {
    const AMO_IS_ONE: bool = true;

    /// ppo+ without the rules that depend on rf.
    fn find<'w>(linked: &impl Linked, event: Ev, order_of: &impl Fn(Ev) -> &'w [u64]) -> Words {
        let graph = linked.graph();
        let this = graph.event(event);
        let events = earlier(graph, this);
        let count = words(this.id.index);
        let mut steps = Words::from_elem(0, count);
        let is_write = this.label.is_write();
        for need in linked.needs(event) {
            if need.is(Need::ADDR) || (is_write && need.is(Need::DATA | Need::CTRL)) {
                set(&mut steps, graph.event(need.event).id.index);
            }
        }
        if this.pair.is_some() {
            set(&mut steps, graph.event(this.pair).id.index);
        }
        // Fences were passed that order reads, writes before the event.
        let (mut reads, mut writes) = (false, false);
        for (at, &ev) in events.iter().enumerate().rev() {
            let other = graph.event(ev);
            match other.label {
                Label::Fence { mode: FenceMode::Riscv { before: RwSet::Rw, after: RwSet::Rw }, .. } => {
                    set_below(&mut steps, at as u32);
                    break;
                }
                Label::Fence { mode: FenceMode::Riscv { before, after }, .. } => {
                    let here = match after {
                        RwSet::R => !is_write,
                        RwSet::W => is_write,
                        RwSet::Rw => true,
                    };
                    reads |= here && before != RwSet::W;
                    writes |= here && before != RwSet::R;
                }
                Label::Fence { mode: FenceMode::RiscvTso, .. } => {
                    reads = true;
                    writes |= is_write;
                }
                Label::Create { .. } | Label::Join { .. } => {
                    set_below(&mut steps, at as u32 + 1);
                    break;
                }
                Label::Read { .. } | Label::Write { .. } => {
                    let is_read = other.label.is_read();
                    if (is_read && reads)
                        || (!is_read && writes)
                        || (is_write && other.loc == this.loc)
                        || acquires(other)
                        || releases(this)
                        || (is_ordered_update(other) && is_ordered_update(this))
                    {
                        set(&mut steps, at as u32);
                    }
                    if is_write {
                        // Rule 13.
                        for need in linked.needs(ev).filter(|need| need.is(Need::ADDR)) {
                            set(&mut steps, graph.event(need.event).id.index);
                        }
                    }
                }
                // Other fences order nothing here.
                Label::Fence { .. } | silent!() => {}
            }
        }
        let mut all = steps.clone();
        for at in downwards(&steps).filter(|at| is_access(graph, events[*at as usize])) {
            merge(&mut all, before(order_of(events[at as usize]), at));
        }
        all
    }

    #[inline]
    fn by_source(linked: &impl Linked, read: Ev, found: &mut impl FnMut(Ev)) {
        let graph = linked.graph();
        let this = graph.event(read);
        let source = graph.event(this.rf);
        if this.rf != Ev::INIT && source.id.thread == this.id.thread {
            // Rules 3 and 12.
            if is_update(source) {
                found(this.rf);
            }
            linked
                .needs(this.rf)
                .filter(|need| need.is(Need::ADDR | Need::DATA))
                .for_each(|need| found(need.event));
        }
    }

    fn is_atomic(others: usize, _: usize) -> bool {
        others == 0
    }
}

/// AQ
fn acquires(event: &Event) -> bool {
    match event.label {
        Label::Read { mode, .. } => matches!(mode, ReadMode::Acquire | ReadMode::SeqCst),
        Label::Write { mode, .. } => matches!(mode, WriteMode::RiscvAcquire | WriteMode::SeqCst),
        no_access!() => false,
    }
}

/// RL
fn releases(event: &Event) -> bool {
    match event.label {
        Label::Read { mode, .. } => matches!(mode, ReadMode::RiscvRelease | ReadMode::SeqCst),
        Label::Write { mode, .. } => matches!(mode, WriteMode::Release | WriteMode::SeqCst),
        no_access!() => false,
    }
}

/// X | EX
fn is_exclusive(event: &Event) -> bool {
    is_amo(&event.label) || matches!(event.label.rmw(), RmwKind::Exclusive | RmwKind::Loop)
}

/// RCsc
fn is_ordered_update(event: &Event) -> bool {
    is_exclusive(event) && (acquires(event) || releases(event))
}

/// update
fn is_update(event: &Event) -> bool {
    is_amo(&event.label) || (is_exclusive(event) && event.label.is_write())
}
