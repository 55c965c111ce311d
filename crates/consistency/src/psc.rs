//! RC11's axiom for SC accesses and fences: acyclic psc.
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11",
//! PLDI 2017:
//! scb = sb ∪ sb≠loc;hb;sb≠loc ∪ hb∩loc ∪ mo ∪ fr,
//! psc = ([SC] ∪ [Fsc];hb?);scb;([SC] ∪ hb?;[Fsc]) ∪ [Fsc];(hb ∪ hb;eco;hb);[Fsc].
//!
//! The new event x is last in hb, so that a new cycle leaves it by mo or fr: to an SC write, or to a
//! write that is hb-before an SC fence. It comes back to x, if x is SC, or to an SC fence hb-before x;
//! from such a fence it may also leave by x and mo;rf or fr;rf to a read hb-before an SC fence.
//! Hence no check at all if x has no mo or fr successor (the canonical choice), and otherwise one
//! backward closure. SC events of a thread are psc-ordered by sb, so that the closure is a number per
//! thread: all SC events below it are in.
//!
//! Not every edge has to be followed. With an event the closure has all SC fences that happen before
//! it. An SC access that happens before a fence of the closure is not looked for: what reaches it by mo
//! or fr reaches the fence in the same way, and what happens before it happens before the fence.
//!
//! Cost: for each SC event reached, the accesses to its location (for a fence: all accesses).

use crate::hb::{HappensBefore, Rc11Hb};
use porf_event::{FenceMode, Label, ReadMode, ThreadId, WriteMode};
use porf_graph::{Ev, ExecutionGraph, Loc};

const HB: usize = Rc11Hb::<true>::HB;

#[derive(Clone, Debug, Default)]
pub struct Psc {
    /// Per thread: SC events below this index are in the closure.
    reached: Vec<u32>,
    work: Vec<(ThreadId, u32, u32)>,
}

impl Psc {
    /// Whether psc stays acyclic with `event`, which has its source or place and is last in hb.
    #[inline]
    pub fn allows(&mut self, graph: &ExecutionGraph, event: Ev) -> bool {
        let (loc, place) = match graph.event(event).label {
            Label::Read { .. } => (graph.event(event).loc, graph.event(graph.rf(event)).co),
            Label::Write { .. } => (graph.event(event).loc, graph.event(event).co),
            _ => return true,
        };
        if place as usize == graph.co(loc).len() {
            return true;
        }
        self.allows_overtaken(graph, event, loc, place)
    }

    fn allows_overtaken(&mut self, graph: &ExecutionGraph, event: Ev, loc: Loc, place: u32) -> bool {
        self.reached.clear();
        self.reached.resize(graph.threads().len(), 0);
        let is_sc = is_sc(graph, event);
        if !is_sc && !has_fence_below(graph, event) {
            return true;
        }
        let later = &graph.co(loc)[place as usize..];
        // [Fsc];hb;eco;hb;[Fsc]: from a fence before the event, by the event, to a fence after a read of a
        // co-later write, and back.
        self.reach_fences(graph, event);
        self.close(graph);
        let mut reads = later.iter().flat_map(|&write| graph.readers(write, loc));
        if reads.any(|read| self.contains_fence_above(graph, read)) {
            return false;
        }
        // ([SC] ∪ [Fsc];hb);(mo ∪ fr): by or from the event to an SC write, or one before a fence,
        // and back to the event.
        if is_sc {
            let id = graph.event(event).id;
            self.reach(id.thread, id.index + 1);
            self.close(graph);
        }
        !later
            .iter()
            .any(|&write| self.contains_fence_above(graph, write) || self.contains_sc_access(graph, write))
    }

    fn close(&mut self, graph: &ExecutionGraph) {
        while let Some((thread, from, to)) = self.work.pop() {
            for at in from..to {
                let ev = graph.thread(thread).events()[at as usize];
                if !ev.is_some() {
                    continue;
                }
                if is_sc_fence(graph, ev) {
                    self.expand_fence(graph, ev);
                } else if is_sc(graph, ev) {
                    self.expand_access(graph, ev);
                }
            }
        }
    }

    /// psc-predecessors of an SC access. Those in its own thread, and fences, are there already.
    fn expand_access(&mut self, graph: &ExecutionGraph, b: Ev) {
        let event = graph.event(b);
        let (id, loc) = (event.id, event.loc);
        // [SC];sb≠loc;hb;sb≠loc: from the last event before b of another location.
        let own = graph.thread(id.thread).events();
        if let Some(&y) =
            own[..id.index as usize].iter().rev().find(|&&y| y.is_some() && graph.event(y).loc != loc)
        {
            for thread in 0..graph.threads().len() {
                let below = graph.clock(HB, y)[thread];
                if thread != id.thread.as_usize() && below > 0 {
                    let events = &graph.threads()[thread].events()[..below as usize];
                    let last = graph.event(events[below as usize - 1]).loc;
                    // Those of the same location as all that follow them are not sb≠loc-before any.
                    if let Some(m) = events.iter().rposition(|&e| e.is_some() && graph.event(e).loc != last) {
                        self.reach(ThreadId(thread as u16), m as u32 + 1);
                    }
                }
            }
        }
        let place = match event.label {
            Label::Write { .. } => event.co,
            _ => 0,
        };
        self.accesses(graph, loc, |this, c| {
            // ([SC] ∪ [Fsc];hb);(mo ∪ fr ∪ hb∩loc)
            let earlier = match graph.event(c).label {
                Label::Write { .. } => graph.event(c).co < place,
                _ => graph.event(graph.rf(c)).co < place,
            };
            if c != b && (earlier || graph.clock_covers(HB, b, c)) {
                if is_sc(graph, c) {
                    this.reach_event(graph, c);
                }
                this.reach_fences(graph, c);
            }
        });
    }

    /// psc-predecessors of an SC fence by mo, fr and eco; see above for the others.
    fn expand_fence(&mut self, graph: &ExecutionGraph, b: Ev) {
        for loc in (0..graph.location_count() as u32).map(Loc) {
            // The latest in eco, and the latest write, that is hb-before b.
            let (mut latest, mut latest_write) = (0, 0);
            self.accesses(graph, loc, |_, y| {
                if graph.clock_covers(HB, b, y) {
                    latest = latest.max(eco_rank(graph, y));
                    if graph.event(y).label.is_write() {
                        latest_write = latest_write.max(graph.event(y).co);
                    }
                }
            });
            if latest == 0 {
                continue;
            }
            self.accesses(graph, loc, |this, x| {
                // [SC];(mo ∪ fr);hb
                if is_sc(graph, x) && eco_rank(graph, x) < 2 * latest_write {
                    this.reach_event(graph, x);
                }
                // [Fsc];hb;eco;hb
                if eco_rank(graph, x) < latest {
                    this.reach_fences(graph, x);
                }
            });
        }
    }

    /// Every access to a location that has its source or place.
    fn accesses(&mut self, graph: &ExecutionGraph, loc: Loc, mut visit: impl FnMut(&mut Self, Ev)) {
        for read in graph.readers(Ev::INIT, loc) {
            visit(self, read);
        }
        for &write in graph.co(loc) {
            visit(self, write);
            for read in graph.readers(write, loc) {
                visit(self, read);
            }
        }
    }

    /// The SC fences hb-before an event.
    fn reach_fences(&mut self, graph: &ExecutionGraph, event: Ev) {
        for thread in 0..graph.threads().len() {
            let below = graph.clock(HB, event)[thread];
            if below > self.reached[thread] {
                let events = &graph.threads()[thread].events()[..below as usize];
                if let Some(at) = events.iter().rposition(|&e| e.is_some() && is_sc_fence(graph, e)) {
                    self.reach(ThreadId(thread as u16), at as u32 + 1);
                }
            }
        }
    }

    fn reach_event(&mut self, graph: &ExecutionGraph, event: Ev) {
        let id = graph.event(event).id;
        self.reach(id.thread, id.index + 1);
    }

    fn reach(&mut self, thread: ThreadId, to: u32) {
        let from = self.reached[thread.as_usize()];
        if from < to {
            self.reached[thread.as_usize()] = to;
            self.work.push((thread, from, to));
        }
    }

    fn contains_sc_access(&self, graph: &ExecutionGraph, event: Ev) -> bool {
        let id = graph.event(event).id;
        is_sc_access(graph, event) && id.index < self.reached[id.thread.as_usize()]
    }

    /// Whether an SC fence that an access happens before is in the closure.
    fn contains_fence_above(&self, graph: &ExecutionGraph, access: Ev) -> bool {
        (0..graph.threads().len()).any(|thread| {
            let events = &graph.threads()[thread].events()[..self.reached[thread] as usize];
            // hb grows along sb: the last one decides.
            events
                .iter()
                .rfind(|&&e| e.is_some() && is_sc_fence(graph, e))
                .is_some_and(|&fence| graph.clock_covers(HB, fence, access))
        })
    }
}

/// Writes at even places, the reads of each just after it: eco is less-than.
pub(crate) fn eco_rank(graph: &ExecutionGraph, event: Ev) -> u32 {
    match graph.event(event).label {
        Label::Write { .. } => 2 * graph.event(event).co,
        _ => 2 * graph.event(graph.rf(event)).co + 1,
    }
}

pub(crate) fn has_fence_below(graph: &ExecutionGraph, event: Ev) -> bool {
    (0..graph.threads().len()).any(|thread| {
        let below = graph.clock(HB, event)[thread] as usize;
        graph.threads()[thread].events()[..below].iter().any(|&e| e.is_some() && is_sc_fence(graph, e))
    })
}

pub(crate) fn is_sc_fence(graph: &ExecutionGraph, event: Ev) -> bool {
    matches!(graph.event(event).label, Label::Fence { mode: FenceMode::SeqCst, .. })
}

pub(crate) fn is_sc_access(graph: &ExecutionGraph, event: Ev) -> bool {
    match graph.event(event).label {
        Label::Read { mode, .. } => mode == ReadMode::SeqCst,
        Label::Write { mode, .. } => mode == WriteMode::SeqCst,
        _ => false,
    }
}

pub(crate) fn is_sc(graph: &ExecutionGraph, event: Ev) -> bool {
    is_sc_access(graph, event) || is_sc_fence(graph, event)
}
