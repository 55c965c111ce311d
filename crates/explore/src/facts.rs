//! What is known about the events of a thread beyond their labels: what they depend on, and what is ordered
//! before them. These facts belong to the history of the thread and are computed once.
//!
//! Tracking dependencies makes a state and a step half as large again. Few histories need them: only those
//! of a write that something before it could read ([`buffering`](crate::buffering)). So a model whose checker
//! does not need dependencies runs its threads without tracking. When a history needs them, the thread runs
//! again with the same answers, now with tracking. It starts from its longest prefix that already has them.

use crate::history::{History, Tag};
use crate::prefix::Below;
use porf_event::{DepSet, Dependencies};
use porf_graph::{Need, Words};
use porf_interp::{FaultKind, Interpreter, Step, ThreadState};
use smallvec::SmallVec;
use std::cell::{Cell, OnceCell};
use std::mem::size_of;

/// For which histories dependencies are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracking {
    Never,
    /// Those that are asked about.
    Asked,
    Always,
}

/// What is known of a history.
#[derive(Default)]
pub(crate) struct Facts {
    hangs: OnceCell<Box<Hangs>>,
    /// The earlier events of the thread that are ordered before the event that led here, by index.
    order: OnceCell<Box<[u32]>>,
    /// Those that are surely below it.
    below: OnceCell<Box<Below>>,
}

/// What the next event of a thread depends on.
#[derive(Default)]
pub(crate) struct Hangs {
    /// Earlier events of the thread by index, and how: [`Need`]'s kinds.
    pub needs: Box<[(u32, u8)]>,
    /// Tells the event from all others of its thread, once someone asked.
    site: Cell<Option<u64>>,
    /// Whether its ordering depends on the value that it reads.
    pub conditional: bool,
    /// What a model found out about the order of the event with earlier ones of its thread, in its two variants.
    pub local_order: [OnceCell<Words>; 2],
    /// The thread with its dependencies, if it is usually run without.
    state: Option<ThreadState>,
}

impl Hangs {
    fn new(interp: &Interpreter<'_>, state: &ThreadState, tracked: &Dependencies) -> Hangs {
        let kinds = [
            (&tracked.addr, Need::ADDR, Need::PICK_ADDR),
            (&tracked.data, Need::DATA, Need::PICK_DATA),
            (&tracked.ctrl, Need::CTRL, Need::PICK_CTRL),
            (&tracked.cas, Need::CAS, Need::CAS),
        ];
        let all = state.needs();
        let needs = all.iter().map(|index| {
            let of = |&(set, kind, pick): &(&DepSet, u8, u8)| {
                (u8::from(set.contains(index)) * kind) | (u8::from(set.is_picked_by(index)) * pick)
            };
            (index, kinds.iter().map(of).fold(0, std::ops::BitOr::bitor))
        });
        let needs: SmallVec<[(u32, u8); 16]> = needs.collect();
        let conditional = interp.is_conditional(state);
        Hangs { needs: needs.into_boxed_slice(), conditional, ..Hangs::default() }
    }
}

impl Facts {
    /// Of a thread that has come to its next event; afterwards it has dependencies only if they are always tracked.
    pub fn new(interp: &Interpreter<'_>, tracking: Tracking, state: &mut ThreadState) -> Facts {
        let known = Facts::default();
        if let Some(tracked) = state.tracked() {
            let mut hangs = Hangs::new(interp, state, tracked);
            if tracking == Tracking::Asked {
                hangs.state = Some(state.clone());
                state.untrack();
            }
            known.hangs.get_or_init(|| Box::new(hangs));
        }
        known
    }

    /// About how many bytes it has, itself included, but for what is always there.
    pub fn bytes(&self) -> usize {
        let state = self.hangs.get().and_then(|hangs| hangs.state.as_ref());
        size_of::<Facts>()
            + state.map_or(0, |state| size_of::<Hangs>() + state.heap_bytes())
            + self.below.get().map_or(0, |_| size_of::<Below>())
    }
}

/// Only where dependencies are tracked, always or when asked for.
impl History<'_> {
    /// What the next event of the thread depends on.
    #[inline]
    pub fn hangs(&self, tag: Tag) -> &Hangs {
        match self.facts(tag).hangs.get() {
            Some(hangs) => hangs,
            None => self.find_hangs(tag),
        }
    }

    /// What is ordered before the event that led to a node.
    #[inline]
    pub fn order(&self, tag: Tag, find: impl FnOnce() -> Box<[u32]>) -> &[u32] {
        self.facts(tag).order.get_or_init(find)
    }

    /// What is below the event that led to a node.
    #[inline]
    pub fn below(&self, tag: Tag) -> &OnceCell<Box<Below>> {
        &self.facts(tag).below
    }

    /// Tells the next event of the thread from all others of it.
    pub fn site(&self, tag: Tag) -> u64 {
        let hangs = self.hangs(tag);
        // Loops are counted where dependencies are tracked.
        let find = || hangs.state.as_ref().unwrap_or_else(|| self.state(tag)).site();
        let site = hangs.site.get().unwrap_or_else(find);
        hangs.site.set(Some(site));
        site
    }

    /// Whether the next event of the thread would be of the same kind whatever was read: not so of a
    /// store-conditional whose address was read.
    pub fn is_certain(&self, tag: Tag) -> bool {
        !self.interp.is_store_conditional(self.state(tag))
            || self.hangs(tag).needs.iter().all(|(_, kinds)| kinds & Need::CAS == 0)
    }

    /// Runs the thread once more, from where its dependencies are known.
    #[cold]
    fn find_hangs(&self, tag: Tag) -> &Hangs {
        let mut path = Vec::new();
        let mut at = tag;
        while self.facts(at).hangs.get().is_none() {
            let (parent, answer) =
                self.parent(at).unwrap_or_else(|| unreachable!("known of every beginning"));
            path.push((at, answer));
            at = parent;
        }
        let interp = self.interp.track_dependencies(true);
        for (next, answer) in path.into_iter().rev() {
            let before = self.facts(at).hangs.get().and_then(|hangs| hangs.state.as_ref());
            let mut state = before.unwrap_or_else(|| unreachable!("it was run before")).clone();
            interp.deliver(&mut state, answer);
            if let Step::Fault(fault) = interp.run(&mut state)
                && fault.kind == FaultKind::Unsupported
            {
                self.refused.set(true);
            }
            let known = Facts::new(&interp, Tracking::Asked, &mut state);
            self.size.set(self.size.get() + known.bytes());
            self.facts(next).hangs.get_or_init(|| known.hangs.into_inner().unwrap_or_default());
            at = next;
        }
        self.facts(tag).hangs.get().unwrap_or_else(|| unreachable!("the last of them"))
    }
}
