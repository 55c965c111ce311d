//! Happens-before as vector clocks, computed when an event is added.
//!
//! - [`Porf`]: hb = (po ∪ rf)+ as in RA; also for models that have no hb of their own.
//! - [`Po`]: po alone, beside the above.
//! - [`Rc11Hb`]: hb = (sb ∪ sw)+ of RC11 (Lahav et al., PLDI 2017):
//!   sw = [≥rel];([F];sb)?;rs;rf;[R≥rlx];(sb;[F])?;[≥acq], rs = [W];(sb∩loc)?;[W≥rlx];(rf;rmw)*.
//!   C++20 dropped the part of the same thread: rs = [W≥rlx];(rf;rmw)*.
//!
//! Creation and joining of threads are part of both. Cost: O(threads) per event; a relaxed write
//! also looks through the earlier events of its thread.

use crate::labels::silent;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph};

/// A happens-before that is kept in clocks.
pub trait HappensBefore {
    /// How many clocks an event has.
    const CLOCKS: usize;
    /// Which of them is hb.
    const HB: usize;
    /// Whether unordered conflicting non-atomic accesses are an error.
    const RACES: bool;

    /// Computes the clocks of an event from those of its predecessors. porf is up to date, and the other clocks are those
    /// of the event before it.
    fn update(graph: &mut ExecutionGraph, event: Ev);
}

/// hb = (po ∪ rf)+.
#[derive(Clone, Debug, Default)]
pub struct Porf;

impl HappensBefore for Porf {
    const CLOCKS: usize = 1;
    const HB: usize = ExecutionGraph::PORF;
    const RACES: bool = false;

    #[inline]
    fn update(_: &mut ExecutionGraph, _: Ev) {}
}

/// As [`Porf`], with a second clock for [`Po`].
#[derive(Clone, Debug, Default)]
pub struct PorfAndPo;

/// Program order, with creation and joining of threads; a clock of [`PorfAndPo`].
#[derive(Clone, Debug, Default)]
pub struct Po;

impl HappensBefore for PorfAndPo {
    const CLOCKS: usize = 2;
    const HB: usize = ExecutionGraph::PORF;
    const RACES: bool = false;

    #[inline]
    fn update(graph: &mut ExecutionGraph, event: Ev) {
        Po::update(graph, event);
    }
}

impl HappensBefore for Po {
    const CLOCKS: usize = 2;
    const HB: usize = 1;
    const RACES: bool = false;

    fn update(graph: &mut ExecutionGraph, event: Ev) {
        graph.count_itself(Self::HB, event);
        match graph.event(event).label {
            Label::Join { child } => {
                if let Some(end) = graph.thread_end(child) {
                    graph.join_clock(Self::HB, event, Self::HB, end);
                }
            }
            Label::Read { .. }
            | Label::Write { .. }
            | Label::Fence { .. }
            | Label::Create { .. }
            | silent!() => {}
        }
    }
}

/// `FENCES`: whether acquire fences may occur, which need a clock more. `C20`: whether a later write of the same
/// thread ends a release sequence.
#[derive(Clone, Debug, Default)]
pub struct Rc11Hb<const FENCES: bool, const C20: bool = false>;

const HB: usize = 1;
/// For a write: what a read that synchronises with it learns.
const REL: usize = 2;
/// What an acquire fence would learn here: the releases that earlier reads of the thread have seen.
const ACQ: usize = 3;

impl<const FENCES: bool, const C20: bool> HappensBefore for Rc11Hb<FENCES, C20> {
    const CLOCKS: usize = if FENCES { 4 } else { 3 };
    const HB: usize = HB;
    const RACES: bool = true;

    #[inline]
    fn update(graph: &mut ExecutionGraph, event: Ev) {
        graph.count_itself(HB, event);
        if FENCES {
            let id = graph.event(event).id;
            // What the creator of a thread has seen is no read of the thread.
            if graph.event(graph.po_pred(event)).id.thread != id.thread {
                graph.clock_mut(ACQ, event).fill(0);
            }
        }
        match graph.event(event).label {
            Label::Read { mode, .. } => {
                let source = graph.rf(event);
                if mode.is_atomic() && source.is_some() && source != Ev::INIT {
                    if FENCES {
                        graph.join_clock(ACQ, event, REL, source);
                    }
                    if mode.is_acquire() {
                        graph.join_clock(HB, event, REL, source);
                    }
                }
            }
            Label::Write { mode, .. } => {
                if mode.is_release() {
                    graph.copy_clock(REL, event, HB, event);
                } else {
                    graph.clock_mut(REL, event).fill(0);
                    if mode.is_atomic() {
                        inherit_release::<C20>(graph, event);
                    }
                }
                let pair = graph.event(event).pair;
                if pair.is_some() && graph.rf(pair) != Ev::INIT {
                    graph.join_clock(REL, event, REL, graph.rf(pair));
                }
            }
            Label::Fence { mode, .. } if FENCES && mode.is_acquire() => {
                graph.join_clock(HB, event, ACQ, event)
            }
            Label::Join { child } => {
                if let Some(end) = graph.thread_end(child) {
                    graph.join_clock(HB, event, HB, end);
                }
            }
            Label::Fence { .. } | Label::Create { .. } | silent!() => {}
        }
    }
}

/// A relaxed write releases what the last release fence of its thread released, and before C++20 what the last
/// release write to the same location did.
fn inherit_release<const C20: bool>(graph: &mut ExecutionGraph, write: Ev) {
    let (id, loc) = (graph.event(write).id, graph.event(write).loc);
    for index in (0..id.index as usize).rev() {
        let earlier = graph.thread(id.thread).events()[index];
        if !earlier.is_some() {
            continue;
        }
        let releases = match graph.event(earlier).label {
            Label::Fence { mode, .. } => mode.is_release(),
            Label::Write { mode, .. } => !C20 && mode.is_release() && graph.event(earlier).loc == loc,
            Label::Read { .. } | Label::Create { .. } | Label::Join { .. } | silent!() => false,
        };
        if releases {
            // hb grows along sb: the last one knows what earlier ones knew.
            graph.copy_clock(REL, write, HB, earlier);
            return;
        }
    }
}
