//! Multi-copy atomic machines, ARMv8 and RISC-V, on executions in which po | rf has no cycle.
//!
//! Source: `models/armv8.cat` and `models/riscv.cat`: coherence, atomicity, and that ob, which is rfe, co, fr
//! and a local order, has no cycle.
//!
//! The new event e is last in po | rf. So a new cycle leaves e by fr or co, to a write x that is co-later
//! than e or than what e reads. It comes back to e by the local order: if it came back by rfe, co or fr, or
//! because of where reads take their values from, its source would be before x too, and there would be a
//! cycle without e. So the choices of e are an upper range of co, above every write that is before e by its
//! local order. For an atomic operation, the local orders of both halves count.
//!
//! What is before e is, per thread, a set of indices and, per location, a place in co: all writes up to it, and
//! the reads of all but the last of them. Cost: linear in what is before e, local orders by words.

use crate::closure::own_floor;
use crate::hb::Porf;
use crate::labels::silent;
use crate::local::{LocalOrder, before, is_amo, remembered};
use crate::mo::{is_co_last_of, sources_from};
use crate::order::Architecture;
use crate::{Choice, MemoryModel};
use porf_event::{Label, RmwKind, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc, Memo};
use std::marker::PhantomData;

/// A machine by its local order.
#[derive(Clone, Debug, Default)]
pub struct OrderedBefore<O> {
    /// What is before the event: a bit for each index of each thread.
    seen: Vec<u64>,
    starts: Vec<usize>,
    /// Threads that have something before the event.
    entered: Vec<bool>,
    /// Per location, up to which place of co.
    co: Vec<u32>,
    /// Locations whose entry in `co` is not 0.
    touched: Vec<Loc>,
    /// Ranges of co to be gone through.
    ranges: Vec<(Loc, u32, u32)>,
    /// Events that were found by communication.
    found: Vec<Ev>,
    order: PhantomData<O>,
}

impl<O: LocalOrder> MemoryModel for OrderedBefore<O> {
    type Hb = Porf;
    const SEES_CO: bool = true;
    const ARCHITECTURE: Option<Architecture> = Some(O::ARCHITECTURE);

    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let own = own_floor(graph, read);
        let floor = if is_open(linked, read) { own } else { self.floor(linked, read, own) };
        sources_from(graph, read, floor, out);
    }

    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let event = graph.event(write);
        let co = graph.co(event.loc);
        let last = co.len() as u32 + 1;
        let own = own_floor(graph, write);
        let mut lowest = own + 1;
        let mut source = None;
        if event.pair.is_some() {
            let at = graph.event(graph.rf(event.pair)).co;
            lowest = lowest.max(at + 1);
            source = Some(at);
        }
        let fits = |place: u32| {
            splits_none::<O>(graph, event.loc, place)
                && source
                    .is_none_or(|source| is_atomic_at::<O>(graph, event.id.thread, event.loc, source, place))
        };
        let start = out.len();
        out.extend((lowest..=last).rev().filter(|&place| fits(place)).map(Choice::Place));
        // The co-last place is always possible.
        if out[start..].iter().any(|&choice| choice != Choice::Place(last)) {
            let floor = self.floor(linked, write, own);
            let is_too_low = |choice: &Choice| matches!(choice, Choice::Place(place) if *place <= floor);
            while out.len() > start && out.last().is_some_and(is_too_low) {
                out.pop();
            }
        }
    }

    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool {
        let graph = linked.graph();
        let place = graph.event(write).co;
        place as usize == graph.co(graph.event(read).loc).len()
            || is_open(linked, read)
            || self.floor(linked, read, own_floor(graph, read)) <= place
    }

    #[inline]
    fn allows(&mut self, linked: &impl Memo, event: Ev) -> bool {
        let graph = linked.graph();
        if !is_open(linked, event) {
            return true;
        }
        let place = graph.event(graph.rf(event)).co;
        place as usize == graph.co(graph.event(event).loc).len()
            || self.floor(linked, event, own_floor(graph, event)) <= place
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        graph.co_max(loc) == write
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        is_co_last_of(graph, a, w)
    }
}

/// Whether what kind of read it is depends on what it reads: one that may find a lock taken. (The kinds of a
/// compare-and-swap do not differ in what is before it.)
#[inline]
fn is_open(linked: &impl Memo, event: Ev) -> bool {
    matches!(linked.graph().event(event).label, Label::Read { rmw: RmwKind::Lock(_), .. })
        && linked.is_conditional(event)
}

/// Whether a write of another thread may come to a place without splitting a read-modify-write.
fn splits_none<O: LocalOrder>(graph: &ExecutionGraph, loc: Loc, place: u32) -> bool {
    let later = &graph.co(loc)[place as usize - 1..];
    let Some(&next) = later.first() else { return true };
    // Only its own thread writes in the middle of one.
    let thread = graph.event(next).id.thread;
    later.iter().map(|&write| graph.event(write)).take_while(|event| event.id.thread == thread).all(|event| {
        if !event.pair.is_some() {
            return true;
        }
        let source = graph.event(graph.rf(event.pair)).co;
        if source >= place {
            return true;
        }
        let (others, own) = between(graph, thread, loc, source, event.co);
        O::is_atomic(others + 1, own)
    })
}

/// Whether the write of a read-modify-write may come to a place.
fn is_atomic_at<O: LocalOrder>(
    graph: &ExecutionGraph,
    thread: ThreadId,
    loc: Loc,
    source: u32,
    place: u32,
) -> bool {
    let (others, own) = between(graph, thread, loc, source, place);
    O::is_atomic(others, own)
}

/// How many writes of other threads, and of a thread, are between two places of co.
pub(crate) fn between(
    graph: &ExecutionGraph,
    thread: ThreadId,
    loc: Loc,
    after: u32,
    before: u32,
) -> (usize, usize) {
    let writes = &graph.co(loc)[after as usize..before as usize - 1];
    let own = writes.iter().filter(|&&write| graph.event(write).id.thread == thread).count();
    (writes.len() - own, own)
}

impl<O: LocalOrder> OrderedBefore<O> {
    /// The place of the co-last write that the event must not be before: of its own thread, which is known, or
    /// in ob.
    fn floor(&mut self, linked: &impl Memo, event: Ev, own: u32) -> u32 {
        let graph = linked.graph();
        let this = graph.event(event);
        let most = graph.co(this.loc).len() as u32;
        if own == most {
            return own;
        }
        self.reset(graph);
        self.reach_thread(linked, this.id.thread);
        self.reach_local(linked, event);
        while self.co[this.loc.as_usize()] < most {
            if let Some(ev) = self.found.pop() {
                self.visit(linked, ev);
                self.reach_local(linked, ev);
            } else if let Some((loc, from, to)) = self.ranges.pop() {
                self.reach_accesses(linked, loc, from, to);
            } else {
                break;
            }
        }
        own.max(self.co[this.loc.as_usize()])
    }

    fn reset(&mut self, graph: &ExecutionGraph) {
        self.starts.clear();
        let mut start = 0;
        for thread in graph.threads() {
            self.starts.push(start);
            start += thread.events().len() / 64 + 1;
        }
        self.seen.clear();
        self.seen.resize(start, 0);
        self.entered.clear();
        self.entered.resize(graph.threads().len(), false);
        while let Some(loc) = self.touched.pop() {
            self.co[loc.as_usize()] = 0;
        }
        if self.co.len() < graph.location_count() {
            self.co.resize(graph.location_count(), 0);
        }
        self.ranges.clear();
        self.found.clear();
    }

    /// An event that communication has found.
    #[inline]
    fn enter(&mut self, graph: &ExecutionGraph, ev: Ev) {
        let id = graph.event(ev).id;
        let word = &mut self.seen[self.starts[id.thread.as_usize()] + id.index as usize / 64];
        if *word >> (id.index % 64) & 1 == 0 {
            *word |= 1 << (id.index % 64);
            self.found.push(ev);
        }
    }

    /// What is before an event in its own thread.
    #[inline]
    fn reach_local(&mut self, linked: &impl Memo, ev: Ev) {
        let graph = linked.graph();
        let id = graph.event(ev).id;
        self.reach_thread(linked, id.thread);
        let set = before(remembered::<O>(linked, ev), id.index);
        for (at, &word) in set.iter().enumerate() {
            self.reach_word(linked, id.thread, at, word);
        }
    }

    #[inline]
    fn reach_word(&mut self, linked: &impl Memo, thread: ThreadId, at: usize, word: u64) {
        let seen = &mut self.seen[self.starts[thread.as_usize()] + at];
        let mut new = word & !*seen;
        *seen |= new;
        let events = &linked.graph().thread(thread).events()[at * 64..];
        while new != 0 {
            self.visit(linked, events[new.trailing_zeros() as usize]);
            new &= new - 1;
        }
    }

    /// The first `to` events of a thread.
    fn reach_all(&mut self, linked: &impl Memo, thread: ThreadId, to: u32) {
        self.reach_thread(linked, thread);
        for at in 0..to.div_ceil(64) {
            let rest = to - at * 64;
            let word = if rest >= 64 { u64::MAX } else { (1 << rest) - 1 };
            self.reach_word(linked, thread, at as usize, word);
        }
    }

    /// Something of a thread: what created it is a full barrier.
    #[inline]
    fn reach_thread(&mut self, linked: &impl Memo, thread: ThreadId) {
        if !std::mem::replace(&mut self.entered[thread.as_usize()], true) {
            let creator = linked.graph().thread(thread).creator;
            if creator.is_some() && creator != Ev::INIT {
                let id = linked.graph().event(creator).id;
                self.reach_all(linked, id.thread, id.index);
            }
        }
    }

    /// What is before an event by communication, and because of where its thread reads from.
    #[inline]
    fn visit(&mut self, linked: &impl Memo, ev: Ev) {
        let graph = linked.graph();
        let event = graph.event(ev);
        match event.label {
            Label::Read { .. } if event.rf.is_some() => {
                let source = graph.event(event.rf);
                if event.rf != Ev::INIT && source.id.thread != event.id.thread {
                    self.reach_co(event.loc, source.co);
                }
                if O::AMO_IS_ONE
                    && is_amo(&event.label)
                    && let Some(write) = graph.write_of(ev)
                {
                    self.enter(graph, write);
                }
                O::by_source(linked, ev, &mut |other| self.enter(graph, other));
            }
            // The new write is not there yet.
            Label::Write { .. } if event.co != ExecutionGraph::UNPLACED => self.reach_co(event.loc, event.co),
            Label::Join { child } => {
                self.reach_all(linked, child, graph.thread(child).events().len() as u32);
            }
            Label::Read { .. }
            | Label::Write { .. }
            | Label::Fence { .. }
            | Label::Create { .. }
            | silent!() => {}
        }
    }

    #[inline]
    fn reach_co(&mut self, loc: Loc, to: u32) {
        let from = self.co[loc.as_usize()];
        if from < to {
            if from == 0 {
                self.touched.push(loc);
            }
            self.co[loc.as_usize()] = to;
            self.ranges.push((loc, from, to));
        }
    }

    /// Writes between two places, and the reads of those that are overwritten.
    fn reach_accesses(&mut self, linked: &impl Memo, loc: Loc, from: u32, to: u32) {
        let graph = linked.graph();
        let mut before = if from == 0 { Ev::INIT } else { graph.co(loc)[from as usize - 1] };
        for &write in &graph.co(loc)[from as usize..to as usize] {
            for read in graph.readers(before, loc) {
                self.enter(graph, read);
            }
            self.enter(graph, write);
            before = write;
        }
    }
}
