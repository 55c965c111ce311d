//! Clocks: for each event and kind of clock, how many events of each thread are below.

use crate::{Ev, Event, ExecutionGraph};
use porf_event::{EventId, Label};

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
        self.clock_covers(self.needed, b, a)
    }

    /// Computes what an event needs from what its predecessors need; `also` is another one of them, if any.
    pub fn update_needs(&mut self, event: Ev, also: Ev) {
        let kind = self.needed;
        let before = self.po_pred(event);
        self.copy_clock(kind, event, kind, before);
        let Event { id, rf, label, .. } = self.events[event.as_usize()];
        let slot = self.slot(kind, event);
        self.clocks[slot + id.thread.as_usize()] = id.index + 1;
        let joined = match label {
            Label::Join { child } => self.thread_end(child).unwrap_or(Ev::NONE),
            _ => Ev::NONE,
        };
        for before in [rf, joined, also] {
            if before.is_some() && before != Ev::INIT {
                self.join_clock(kind, event, kind, before);
            }
        }
    }

    /// Whether `a` is below the clock `kind` of `b` (or is `b`).
    #[inline]
    pub fn clock_covers(&self, kind: usize, b: Ev, a: Ev) -> bool {
        if a == Ev::INIT {
            return true;
        }
        let EventId { thread, index } = self.events[a.as_usize()].id;
        self.clocks[self.slot(kind, b) + thread.as_usize()] > index
    }

    /// For each thread, how many of its events are below.
    #[inline]
    pub fn clock(&self, kind: usize, event: Ev) -> &[u32] {
        let slot = self.slot(kind, event);
        &self.clocks[slot..slot + self.stride]
    }

    /// The clock `kind` of an event, to be changed.
    #[inline]
    pub fn clock_mut(&mut self, kind: usize, event: Ev) -> &mut [u32] {
        let slot = self.slot(kind, event);
        &mut self.clocks[slot..slot + self.stride]
    }

    /// Numbers per clock.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// `to` := `from`.
    #[inline]
    pub fn copy_clock(&mut self, to_kind: usize, to: Ev, from_kind: usize, from: Ev) {
        let (to, from) = (self.slot(to_kind, to), self.slot(from_kind, from));
        self.clocks.copy_within(from..from + self.stride, to);
    }

    /// `to` := the least upper bound of both.
    #[inline]
    pub fn join_clock(&mut self, to_kind: usize, to: Ev, from_kind: usize, from: Ev) {
        let (to, from) = (self.slot(to_kind, to), self.slot(from_kind, from));
        let stride = self.stride;
        let (to, from) = if from < to {
            let (low, high) = self.clocks.split_at_mut(to);
            (&mut high[..stride], &low[from..from + stride])
        } else {
            let (low, high) = self.clocks.split_at_mut(from);
            (&mut low[to..to + stride], &high[..stride])
        };
        for (to, &from) in to.iter_mut().zip(from) {
            *to = (*to).max(from);
        }
    }

    #[inline]
    pub(crate) fn slot(&self, kind: usize, event: Ev) -> usize {
        (event.as_usize() * self.kinds + kind) * self.stride
    }

    /// The porf clock that an event has by program order, creation and joining alone.
    #[inline]
    pub(crate) fn init_porf(&mut self, event: Ev, before: Ev) {
        self.copy_clock(Self::PORF, event, Self::PORF, before);
        let EventId { thread, index } = self.events[event.as_usize()].id;
        let slot = self.slot(Self::PORF, event);
        self.clocks[slot + thread.as_usize()] = index + 1;
        if let Label::Join { child } = self.events[event.as_usize()].label
            && let Some(last) = self.thread_end(child)
        {
            self.join_clock(Self::PORF, event, Self::PORF, last);
        }
    }

    /// Computes the porf clock of an event from those of its predecessors.
    pub fn update_porf(&mut self, event: Ev) {
        self.init_porf(event, self.po_pred(event));
        let source = self.events[event.as_usize()].rf;
        if source.is_some() && source != Ev::INIT {
            self.join_clock(Self::PORF, event, Self::PORF, source);
        }
    }

    /// Makes room for more threads in every clock.
    pub(crate) fn widen(&mut self) {
        let (old, new) = (self.stride, self.threads.len().next_multiple_of(4).max(self.stride * 2));
        let mut clocks = vec![0; self.events.len() * self.kinds * new];
        for slot in 0..self.events.len() * self.kinds {
            clocks[slot * new..slot * new + old].copy_from_slice(&self.clocks[slot * old..(slot + 1) * old]);
        }
        self.clocks = clocks;
        self.stride = new;
    }
}
