//! Clocks: for each event and kind of clock, how many events of each thread are below it.
//!
//! Clocks of all events lie in one vector, in groups of four numbers ([`Four`]). Cost: O(threads / 4) to copy,
//! join or compare two clocks.

use crate::graph::Four;
use crate::{Ev, ExecutionGraph};
use porf_event::{EventId, Label, silent};

impl ExecutionGraph {
    /// Whether `a` is in the porf prefix of `b`, or `b` itself.
    #[inline]
    pub fn in_prefix(&self, a: Ev, b: Ev) -> bool {
        self.clock_covers(Self::PORF, b, a)
    }

    /// Whether `b` needs `a`: `a` is in its porf prefix, or below its clock of needs if there is one
    /// ([`with_needs`](Self::with_needs)).
    #[inline]
    pub fn needs(&self, b: Ev, a: Ev) -> bool {
        self.clock_covers(self.shape.needed(), b, a)
    }

    /// Computes what an event needs from what its predecessors need; `also` is another one of them, if any.
    pub fn update_needs(&mut self, event: Ev, also: Ev) {
        self.update_needs_of(event, [self.rf(event), also]);
    }

    /// Computes what an event needs from what is before it in its thread, the end of the thread that it joins, and
    /// `others`.
    pub fn update_needs_of(&mut self, event: Ev, others: impl IntoIterator<Item = Ev>) {
        let kind = self.shape.needed();
        let before = self.po_pred(event);
        self.copy_clock(kind, event, kind, before);
        self.count_itself(kind, event);
        let joined = match self.events[event.as_usize()].label {
            Label::Join { child } => self.thread_end(child).unwrap_or(Ev::NONE),
            Label::Read { .. }
            | Label::Write { .. }
            | Label::Fence { .. }
            | Label::Create { .. }
            | silent!() => Ev::NONE,
        };
        self.add_need(event, joined);
        for before in others {
            self.add_need(event, before);
        }
    }

    /// The event needs `before`, and all that `before` needs.
    pub fn add_need(&mut self, event: Ev, before: Ev) {
        if before.is_some() && before != Ev::INIT {
            self.join_clock(self.shape.needed(), event, self.shape.needed(), before);
        }
    }

    /// What an event needs: for each thread, how many of its events.
    pub fn needs_clock(&self, event: Ev) -> &[u32] {
        self.clock(self.shape.needed(), event)
    }

    /// Whether `a` is below the clock `kind` of `b` (or is `b`).
    #[inline]
    pub fn clock_covers(&self, kind: usize, b: Ev, a: Ev) -> bool {
        if a == Ev::INIT {
            return true;
        }
        let EventId { thread, index } = self.events[a.as_usize()].id;
        self.clocks.as_flattened()[4 * self.slot(kind, b) + thread.as_usize()] > index
    }

    /// For each thread, how many of its events are below.
    #[inline]
    pub fn clock(&self, kind: usize, event: Ev) -> &[u32] {
        let slot = self.slot(kind, event);
        self.clocks[slot..slot + self.shape.stride()].as_flattened()
    }

    /// The clock `kind` of an event, to be changed.
    #[inline]
    pub fn clock_mut(&mut self, kind: usize, event: Ev) -> &mut [u32] {
        let slot = self.slot(kind, event);
        self.clocks[slot..slot + self.shape.stride()].as_flattened_mut()
    }

    /// Numbers per clock.
    pub fn stride(&self) -> usize {
        4 * self.shape.stride()
    }

    /// `to` := `from`.
    #[inline]
    pub fn copy_clock(&mut self, to_kind: usize, to: Ev, from_kind: usize, from: Ev) {
        let (to, from) = (self.slot(to_kind, to), self.slot(from_kind, from));
        for at in 0..self.shape.stride() {
            self.clocks[to + at] = self.clocks[from + at];
        }
    }

    /// `to` := the least upper bound of both.
    #[inline]
    pub fn join_clock(&mut self, to_kind: usize, to: Ev, from_kind: usize, from: Ev) {
        let (to, from) = (self.slot(to_kind, to), self.slot(from_kind, from));
        for at in 0..self.shape.stride() {
            let from = self.clocks[from + at];
            let to = &mut self.clocks[to + at];
            *to = std::array::from_fn(|at| to[at].max(from[at]));
        }
    }

    /// Where a clock begins.
    #[inline]
    pub(crate) fn slot(&self, kind: usize, event: Ev) -> usize {
        (event.as_usize() * self.shape.kinds() + kind) * self.shape.stride()
    }

    /// Makes room for the clocks of a new event: those of the event before it.
    #[inline]
    pub(crate) fn push_clocks(&mut self, before: Ev) {
        let from = self.slot(0, before);
        self.clocks.extend_from_within(from..from + self.shape.width());
    }

    /// The porf clock that an event has by program order, creation and joining alone. The other clocks become those of
    /// the event before it.
    #[inline]
    pub(crate) fn init_porf(&mut self, event: Ev, before: Ev) {
        let (from, to) = (self.slot(0, before), self.slot(0, event));
        self.clocks.copy_within(from..from + self.shape.width(), to);
        self.start_porf(event);
    }

    /// The same where all clocks are those of the event before it.
    #[inline]
    pub(crate) fn start_porf(&mut self, event: Ev) {
        self.count_itself(Self::PORF, event);
        if let Label::Join { child } = self.events[event.as_usize()].label
            && let Some(last) = self.thread_end(child)
        {
            self.join_clock(Self::PORF, event, Self::PORF, last);
        }
    }

    /// An event is below itself.
    #[inline]
    pub fn count_itself(&mut self, kind: usize, event: Ev) {
        let EventId { thread, index } = self.events[event.as_usize()].id;
        let slot = 4 * self.slot(kind, event);
        self.clocks.as_flattened_mut()[slot + thread.as_usize()] = index + 1;
    }

    /// Computes the porf clock of an event from those of its predecessors. The other clocks become those of the event
    /// before it.
    pub fn update_porf(&mut self, event: Ev) {
        self.init_porf(event, self.po_pred(event));
        let source = self.events[event.as_usize()].rf;
        if source.is_some() && source != Ev::INIT {
            self.join_clock(Self::PORF, event, Self::PORF, source);
        }
    }

    /// Makes room for more threads in every clock.
    pub(crate) fn widen(&mut self) {
        let (old, new) = (self.shape, self.shape.widened(self.threads.len()));
        let mut clocks = vec![Four::default(); self.events.len() * new.width()];
        for slot in 0..self.events.len() * old.kinds() {
            let (from, to) = (slot * old.stride(), slot * new.stride());
            clocks[to..to + old.stride()].copy_from_slice(&self.clocks[from..from + old.stride()]);
        }
        self.clocks = clocks;
        self.shape = new;
    }
}
