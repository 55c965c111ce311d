//! SC, SRA, TSO and PSO: acyclic(order) by a backward closure from the new event.
//!
//! The new event is last in po, so a cycle through it leaves it by co (a write) or fr (a read) to
//! some co-later write and comes back by po. All co-later writes are reached from that one: the floor
//! of the new event is the co-last write of its location among the ancestors of its po-predecessors.
//!
//! | model | order |
//! | --- | --- |
//! | SC | po ∪ rf ∪ co ∪ fr |
//! | SRA | hb ∪ co for writes, and RA's coherence |
//! | TSO | ppo ∪ rfe ∪ co ∪ fr with ppo = [R∪F∪UW];po ∪ po;[W∪F], and SC per location |
//! | PSO | as TSO, but a write is ordered after an earlier one only if of the same location, if a releasing fence stands between, or if it is UW |
//!
//! UW: the write of a read-modify-write. F: full fences, creation and joining of threads.
//!
//! The set of ancestors is four families of numbers: per thread, up to where *all* events are in it,
//! all *strong* ones (R, F, UW), and all writes; per location, up to which place of co. Cost: linear
//! in the ancestors.

use crate::hb::{HappensBefore, Po, Porf, PorfAndPo};
use crate::labels::{place, silent};
use crate::mo::{Floor, coherence_floor};
use porf_event::{Label, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc};
use std::marker::PhantomData;

/// Which edges the closure follows.
pub trait Order: Default {
    /// fr is part of the order.
    const FR: bool;
    /// Everything before a read is ordered before it (not only what is strong).
    const READ_IS_LATE: bool;
    /// Everything before a write is ordered before it.
    const WRITE_IS_LATE: bool;
    /// Reads follow happens-before coherence instead of the closure.
    const RA_READS: bool;
    /// rf within a thread orders nothing.
    const RFE_ONLY: bool;
    /// Up to rf: the clocks that a graph has, and what of them the coherence of the model follows at least.
    type Clocks: HappensBefore;
    /// See `Clocks`.
    type Before: HappensBefore;
}

/// Sequential consistency.
#[derive(Clone, Debug, Default)]
pub struct Sc;
/// Strong release/acquire.
#[derive(Clone, Debug, Default)]
pub struct Sra;
/// Total store order.
#[derive(Clone, Debug, Default)]
pub struct Tso;
/// Partial store order.
#[derive(Clone, Debug, Default)]
pub struct Pso;

impl Order for Sc {
    const FR: bool = true;
    const READ_IS_LATE: bool = true;
    const WRITE_IS_LATE: bool = true;
    const RA_READS: bool = false;
    const RFE_ONLY: bool = false;
    type Clocks = Porf;
    type Before = Porf;
}

impl Order for Sra {
    const FR: bool = false;
    const READ_IS_LATE: bool = true;
    const WRITE_IS_LATE: bool = true;
    const RA_READS: bool = true;
    const RFE_ONLY: bool = false;
    type Clocks = Porf;
    type Before = Porf;
}

impl Order for Tso {
    const FR: bool = true;
    const READ_IS_LATE: bool = false;
    const WRITE_IS_LATE: bool = true;
    const RA_READS: bool = false;
    const RFE_ONLY: bool = true;
    type Clocks = Porf;
    type Before = Porf;
}

impl Order for Pso {
    const FR: bool = true;
    const READ_IS_LATE: bool = false;
    const WRITE_IS_LATE: bool = false;
    const RA_READS: bool = false;
    const RFE_ONLY: bool = true;
    // A read may see the second of two writes and not the first.
    type Clocks = PorfAndPo;
    type Before = Po;
}

/// The ancestors of an event under an [`Order`].
#[derive(Clone, Debug, Default)]
pub struct Closure<O> {
    all: Vec<u32>,
    strong: Vec<u32>,
    writes: Vec<u32>,
    co: Vec<u32>,
    /// Locations whose entry in `co` is not 0.
    touched: Vec<Loc>,
    work: Vec<Work>,
    order: PhantomData<O>,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    All { thread: ThreadId, from: u32, to: u32 },
    Strong { thread: ThreadId, from: u32, to: u32 },
    Writes { thread: ThreadId, from: u32, to: u32 },
    Co { loc: Loc, from: u32, to: u32 },
}

impl<O: Order> Floor for Closure<O> {
    type Hb = Porf;

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        let Label::Read { .. } = graph.event(event).label else {
            return self.ancestors(graph, event);
        };
        if O::RA_READS {
            return coherence_floor::<Porf>(graph, event);
        }
        let floor = self.ancestors(graph, event);
        if O::READ_IS_LATE { floor } else { floor.max(own_floor(graph, event)) }
    }
}

impl<O: Order> Closure<O> {
    /// The place of the co-last write to the event's location among its ancestors.
    fn ancestors(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        let loc = graph.event(event).loc;
        if graph.co(loc).is_empty() {
            return 0;
        }
        self.reset(graph);
        let id = graph.event(event).id;
        let late = if graph.event(event).label.is_read() {
            O::READ_IS_LATE
        } else {
            O::WRITE_IS_LATE || graph.event(event).pair.is_some()
        };
        if late {
            self.reach_all(id.thread, id.index);
        } else {
            self.reach_strong(id.thread, id.index);
            // LOC: an earlier write of the same thread and location, which co has in its place.
            if !graph.event(event).label.is_read() {
                let own = own_floor(graph, event);
                self.reach_co(loc, own);
                self.reach_released(graph, event);
            }
        }
        if id.index == 0 {
            self.reach_creator(graph, id.thread);
        }
        self.run(graph);
        self.co[loc.as_usize()]
    }

    fn reset(&mut self, graph: &ExecutionGraph) {
        self.all.clear();
        self.all.resize(graph.threads().len(), 0);
        self.strong.clear();
        self.strong.resize(graph.threads().len(), 0);
        if !O::WRITE_IS_LATE {
            self.writes.clear();
            self.writes.resize(graph.threads().len(), 0);
        }
        while let Some(loc) = self.touched.pop() {
            self.co[loc.as_usize()] = 0;
        }
        if self.co.len() < graph.location_count() {
            self.co.resize(graph.location_count(), 0);
        }
    }

    fn run(&mut self, graph: &ExecutionGraph) {
        while let Some(work) = self.work.pop() {
            match work {
                Work::All { thread, from, to } => {
                    for &ev in &graph.thread(thread).events()[from as usize..to as usize] {
                        if ev.is_some() {
                            self.expand(graph, ev);
                        }
                    }
                }
                Work::Strong { thread, from, to } => {
                    // Whatever a thread begins with, all of it comes after its creation.
                    if from == 0 {
                        self.reach_creator(graph, thread);
                    }
                    for &ev in &graph.thread(thread).events()[from as usize..to as usize] {
                        if ev.is_some() && is_strong(graph, ev) {
                            self.expand(graph, ev);
                        }
                    }
                }
                Work::Writes { thread, from, to } => {
                    for &ev in &graph.thread(thread).events()[from as usize..to as usize] {
                        if ev.is_some() && graph.event(ev).label.is_write() {
                            self.expand(graph, ev);
                        }
                    }
                }
                Work::Co { loc, from, to } => {
                    for place in from + 1..=to {
                        let write = graph.co(loc)[place as usize - 1];
                        self.reach_preds(graph, write);
                        if O::FR {
                            let before =
                                if place == 1 { Ev::INIT } else { graph.co(loc)[place as usize - 2] };
                            for read in graph.readers(before, loc) {
                                self.reach_read(graph, read);
                            }
                        }
                    }
                }
            }
        }
    }

    /// An event found by po: follows its other edges, and po where it is stronger than what found it.
    #[inline]
    fn expand(&mut self, graph: &ExecutionGraph, ev: Ev) {
        let event = graph.event(ev);
        if event.id.index == 0 {
            self.reach_creator(graph, event.id.thread);
        }
        match event.label {
            Label::Read { .. } => {
                if O::READ_IS_LATE {
                    self.reach_all(event.id.thread, event.id.index + 1);
                }
                self.reach_source(graph, ev);
            }
            Label::Write { .. } if event.co == ExecutionGraph::UNPLACED => {}
            Label::Write { .. } => self.reach_co(event.loc, event.co),
            Label::Join { child } => {
                self.reach_all(event.id.thread, event.id.index + 1);
                self.reach_all(child, graph.thread(child).events().len() as u32);
                self.reach_creator(graph, child);
            }
            Label::Create { .. } | Label::Fence { .. } if is_strong(graph, ev) => {
                self.reach_all(event.id.thread, event.id.index + 1);
            }
            Label::Create { .. } | Label::Fence { .. } | silent!() => {}
        }
    }

    /// A read found by fr.
    #[inline]
    fn reach_read(&mut self, graph: &ExecutionGraph, read: Ev) {
        let id = graph.event(read).id;
        if O::READ_IS_LATE {
            self.reach_all(id.thread, id.index + 1);
        } else {
            self.reach_strong(id.thread, id.index + 1);
        }
    }

    /// What is ordered before a write by po. The write itself is in `co`.
    #[inline]
    fn reach_preds(&mut self, graph: &ExecutionGraph, write: Ev) {
        let id = graph.event(write).id;
        if O::WRITE_IS_LATE || graph.event(write).pair.is_some() {
            self.reach_all(id.thread, id.index + 1);
        } else {
            self.reach_strong(id.thread, id.index);
            self.reach_released(graph, write);
        }
        if id.index == 0 {
            self.reach_creator(graph, id.thread);
        }
    }

    /// PSO: writes before a releasing fence before a write.
    fn reach_released(&mut self, graph: &ExecutionGraph, write: Ev) {
        let id = graph.event(write).id;
        let releases = |&&e: &&Ev| {
            e.is_some() && matches!(graph.event(e).label, Label::Fence { mode, .. } if mode.is_release())
        };
        let earlier = &graph.thread(id.thread).events()[..id.index as usize];
        if let Some(&fence) = earlier.iter().rfind(releases) {
            let to = graph.event(fence).id.index;
            let from = self.writes[id.thread.as_usize()];
            if from < to {
                self.writes[id.thread.as_usize()] = to;
                self.work.push(Work::Writes { thread: id.thread, from, to });
            }
        }
    }

    #[inline]
    fn reach_source(&mut self, graph: &ExecutionGraph, read: Ev) {
        let event = graph.event(read);
        if !event.rf.is_some() || event.rf == Ev::INIT {
            return;
        }
        let source = graph.event(event.rf);
        if O::RFE_ONLY && source.id.thread == event.id.thread {
            return;
        }
        if source.co != ExecutionGraph::UNPLACED {
            self.reach_co(event.loc, source.co);
        }
    }

    /// The thread was started by an event that orders like a fence.
    fn reach_creator(&mut self, graph: &ExecutionGraph, thread: ThreadId) {
        let creator = graph.thread(thread).creator;
        if creator.is_some() && creator != Ev::INIT {
            let id = graph.event(creator).id;
            self.reach_all(id.thread, id.index + 1);
        }
    }

    #[inline]
    fn reach_all(&mut self, thread: ThreadId, to: u32) {
        let from = std::mem::replace(&mut self.all[thread.as_usize()], to);
        if from < to {
            self.work.push(Work::All { thread, from, to });
        } else {
            self.all[thread.as_usize()] = from;
        }
    }

    #[inline]
    fn reach_strong(&mut self, thread: ThreadId, to: u32) {
        let from = self.strong[thread.as_usize()].max(self.all[thread.as_usize()]);
        if from < to {
            self.strong[thread.as_usize()] = to;
            self.work.push(Work::Strong { thread, from, to });
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
            self.work.push(Work::Co { loc, from, to });
        }
    }
}

/// R, F or UW: ordered before everything that follows it in its thread.
#[inline]
pub(crate) fn is_strong(graph: &ExecutionGraph, ev: Ev) -> bool {
    match graph.event(ev).label {
        Label::Read { .. } | Label::Create { .. } | Label::Join { .. } => true,
        Label::Write { .. } => graph.event(ev).pair.is_some(),
        Label::Fence { mode, .. } => mode.is_full(),
        silent!() => false,
    }
}

/// LOC: the place in co that the last access of the same thread to the same location has seen.
pub(crate) fn own_floor(graph: &ExecutionGraph, event: Ev) -> u32 {
    let (id, loc) = (graph.event(event).id, graph.event(event).loc);
    for &earlier in graph.thread(id.thread).events()[..id.index as usize].iter().rev() {
        if earlier.is_some()
            && graph.event(earlier).loc == loc
            && let Some(place) = place(graph, earlier)
        {
            return place;
        }
    }
    0
}
