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
//! Hence no check at all if x has no mo or fr successor (the canonical choice) or there is nothing that a cycle
//! could leave it to, and otherwise one backward closure. SC events of a thread are psc-ordered by sb, so that
//! the closure is a number per thread: all SC events below it are in.
//!
//! Not every edge has to be followed. With an event the closure has all SC fences that happen before
//! it. An SC access that happens before a fence of the closure is not looked for: what reaches it by mo
//! or fr reaches the fence in the same way, and what happens before it happens before the fence.
//!
//! Cost: for each SC event reached, the accesses to its location (for a fence: all accesses).

use crate::hb::{HappensBefore, Rc11Hb};
use crate::labels::{no_access, place};
use porf_event::{FenceMode, Label, ReadMode, ThreadId, WriteMode};
use porf_graph::{Ev, ExecutionGraph, Loc};

const HB: usize = Rc11Hb::<true>::HB;

#[derive(Clone, Debug, Default)]
pub struct Psc {
    /// Per thread: SC events below this index are in the closure.
    reached: Vec<u32>,
    /// Per thread: an SC event at or after this index closes a cycle.
    targets: Vec<u32>,
    work: Vec<(ThreadId, u32, u32)>,
}

impl Psc {
    /// Whether psc stays acyclic with `event`, which has its source or place and is last in hb.
    #[inline]
    pub fn allows(&mut self, graph: &ExecutionGraph, event: Ev) -> bool {
        let loc = graph.event(event).loc;
        let Some(place) = place(graph, event) else { return true };
        if place as usize == graph.co(loc).len() {
            return true;
        }
        self.allows_overtaken(graph, event, loc, place)
    }

    fn allows_overtaken(&mut self, graph: &ExecutionGraph, event: Ev, loc: Loc, place: u32) -> bool {
        let is_sc = is_sc(graph, event);
        if !is_sc && !has_fence_below(graph, event) {
            return true;
        }
        let later = &graph.co(loc)[place as usize..];
        // [Fsc];hb;eco;hb;[Fsc]: from a fence before the event, by the event, to a fence after a co-later write
        // or a read of it, or to a co-later SC write, and back.
        if !self.find_targets(graph, later, true) {
            return true;
        }
        self.reached.clear();
        self.reached.resize(graph.threads().len(), 0);
        self.work.clear();
        self.reach_fences(graph, event);
        if self.close(graph) {
            return false;
        }
        // ([SC] ∪ [Fsc];hb);(mo ∪ fr): from the event to an SC write, or one before a fence, and back.
        if !is_sc || !self.find_targets(graph, later, false) {
            return true;
        }
        self.reach_event(graph, event);
        !self.close(graph)
    }

    /// Finds what closes a cycle if it is psc-before the event that `later` overtakes: SC writes among those, and
    /// SC fences after them or, with `reads`, after reads of them.
    fn find_targets(&mut self, graph: &ExecutionGraph, later: &[Ev], reads: bool) -> bool {
        let found = find_fences_above(graph, later, reads, &mut self.targets);
        let writes = later.iter().filter(|&&write| is_sc_access(graph, write));
        writes.fold(found, |_, &write| {
            let id = graph.event(write).id;
            let target = &mut self.targets[id.thread.as_usize()];
            *target = (*target).min(id.index);
            true
        })
    }

    /// Whether a target is reached. Otherwise the closure is complete.
    fn close(&mut self, graph: &ExecutionGraph) -> bool {
        while let Some((thread, from, to)) = self.work.pop() {
            // SC events of a thread are in the closure with all later ones that are.
            if to > self.targets[thread.as_usize()] {
                return true;
            }
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
        false
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
        let overwritten = if event.label.is_write() { event.co } else { 0 };
        self.accesses(graph, loc, |this, c| {
            // ([SC] ∪ [Fsc];hb);(mo ∪ fr ∪ hb∩loc)
            let is_earlier = place(graph, c).is_some_and(|place| place < overwritten);
            if c != b && (is_earlier || graph.clock_covers(HB, b, c)) {
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
}

/// Finds, per thread, the index of the first SC fence that one of some writes to a location, or with `reads` a
/// read of one, happens before. Whether there is any. hb grows along sb: so for all later ones.
pub(crate) fn find_fences_above(
    graph: &ExecutionGraph,
    writes: &[Ev],
    reads: bool,
    first: &mut Vec<u32>,
) -> bool {
    let is_above = |fence: Ev| {
        writes.iter().any(|&write| {
            let mut readers = graph.readers(write, graph.event(write).loc);
            graph.clock_covers(HB, fence, write)
                || (reads && readers.any(|read| graph.clock_covers(HB, fence, read)))
        })
    };
    let mut found = false;
    first.clear();
    first.extend(graph.threads().iter().map(|thread| {
        let mut lowest = u32::MAX;
        for (at, &ev) in thread.events().iter().enumerate().rev() {
            if ev.is_some() && is_sc_fence(graph, ev) {
                if !is_above(ev) {
                    break;
                }
                lowest = at as u32;
            }
        }
        found |= lowest != u32::MAX;
        lowest
    }));
    found
}

/// Writes at even places, the reads of each just after it: eco is less-than.
pub(crate) fn eco_rank(graph: &ExecutionGraph, event: Ev) -> u32 {
    let place = place(graph, event).unwrap_or_else(|| unreachable!("eco relates accesses"));
    2 * place + u32::from(graph.event(event).label.is_read())
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
        no_access!() => false,
    }
}

pub(crate) fn is_sc(graph: &ExecutionGraph, event: Ev) -> bool {
    is_sc_access(graph, event) || is_sc_fence(graph, event)
}
