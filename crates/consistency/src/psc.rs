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
//! An SC event b that is psc-before all targets is not followed: a way from one of them to b would be a cycle
//! without x. A fence that happens before a target t may count as psc-before it. For let t be psc-before c: what
//! leads from t to c begins in scb, or in hb if t is a fence, and so leads from b to c. For an SC access
//! sb≠loc;hb;sb≠loc has to lead to t. So long beginnings of a program, before there are threads, cost nothing.
//!
//! Cost: for each SC access reached the accesses to its location; for fences once all accesses to locations that
//! several threads access.

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
    /// Per thread: fences below this index were looked for.
    looked: Vec<u32>,
    /// Per thread: fences, and accesses, below this index are psc-before all targets.
    before: Vec<(u32, u32)>,
    /// Per location: what has a lower rank in eco was followed from a fence, and of SC accesses.
    followed: Vec<(u32, u32)>,
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
        self.looked.clear();
        self.looked.resize(graph.threads().len(), 0);
        self.followed.clear();
        self.followed.resize(graph.location_count(), (0, 0));
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
        let mut found = find_fences_above(graph, later, reads, &mut self.targets);
        for &write in later.iter().filter(|&&write| is_sc_access(graph, write)) {
            let id = graph.event(write).id;
            let target = &mut self.targets[id.thread.as_usize()];
            *target = (*target).min(id.index);
            found = true;
        }
        if found {
            self.find_what_is_before(graph);
        }
        found
    }

    /// Finds what is psc-before all targets. It is so before later SC events of their threads, too.
    fn find_what_is_before(&mut self, graph: &ExecutionGraph) {
        self.before.clear();
        self.before.resize(graph.threads().len(), (u32::MAX, u32::MAX));
        for (thread, &target) in graph.threads().iter().zip(&self.targets).filter(|(_, at)| **at != u32::MAX)
        {
            let events = thread.events();
            let target = events[target as usize];
            let loc = graph.event(target).loc;
            let earlier = &events[..graph.event(target).id.index as usize];
            let last = earlier.iter().rev().find(|&&e| e.is_some() && graph.event(e).loc != loc);
            let fences = graph.clock(HB, target);
            for (at, (fence, access)) in self.before.iter_mut().enumerate() {
                *fence = (*fence).min(fences[at]);
                *access = (*access).min(last.map_or(0, |&last| graph.clock(HB, last)[at]));
            }
        }
        for (thread, (_, access)) in graph.threads().iter().zip(&mut self.before) {
            *access = different_up_to(graph, thread.events(), *access as usize);
        }
    }

    /// Whether a target is reached. Otherwise the closure is complete.
    fn close(&mut self, graph: &ExecutionGraph) -> bool {
        while let Some((thread, from, to)) = self.work.pop() {
            // SC events of a thread are in the closure with all later ones that are.
            if to > self.targets[thread.as_usize()] {
                return true;
            }
            let (fences, accesses) = self.before[thread.as_usize()];
            for at in from.max(fences.min(accesses))..to {
                let ev = graph.thread(thread).events()[at as usize];
                if !ev.is_some() {
                    continue;
                }
                if is_sc_fence(graph, ev) {
                    if at >= fences {
                        self.expand_fence(graph, ev);
                    }
                } else if at >= accesses && is_sc(graph, ev) {
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
                    let events = graph.threads()[thread].events();
                    self.reach(ThreadId(thread as u16), different_up_to(graph, events, below as usize));
                }
            }
        }
        let overwritten = if event.label.is_write() { event.co } else { 0 };
        for c in graph.accesses(loc) {
            // ([SC] ∪ [Fsc];hb);(mo ∪ fr ∪ hb∩loc)
            let is_earlier = place(graph, c).is_some_and(|place| place < overwritten);
            if c != b && (is_earlier || graph.clock_covers(HB, b, c)) {
                if is_sc(graph, c) {
                    self.reach_event(graph, c);
                }
                self.reach_fences(graph, c);
            }
        }
    }

    /// psc-predecessors of an SC fence by mo, fr and eco; see above for the others. What only one thread accesses
    /// is in eco as in sb.
    fn expand_fence(&mut self, graph: &ExecutionGraph, b: Ev) {
        for loc in (0..graph.location_count() as u32).map(Loc).filter(|&loc| graph.is_shared(loc)) {
            let followed = self.followed[loc.as_usize()];
            let (latest, latest_write) = latest_before(graph, b, loc, followed.0.min(followed.1));
            if latest > followed.0 || 2 * latest_write > followed.1 {
                self.followed[loc.as_usize()] = (followed.0.max(latest), followed.1.max(2 * latest_write));
                self.follow(graph, loc, followed, (latest, 2 * latest_write));
            }
        }
    }

    /// Follows accesses to a location that are ranked in eco from `from` up to `to`: whatever they are, and SC accesses.
    fn follow(&mut self, graph: &ExecutionGraph, loc: Loc, from: (u32, u32), to: (u32, u32)) {
        let mut visit = |x: Ev, rank: u32| {
            // [SC];(mo ∪ fr);hb
            if (from.1..to.1).contains(&rank) && is_sc(graph, x) {
                self.reach_event(graph, x);
            }
            // [Fsc];hb;eco;hb
            if (from.0..to.0).contains(&rank) {
                self.reach_fences(graph, x);
            }
        };
        let (first, last) = (from.0.min(from.1) / 2, to.0.max(to.1) / 2);
        for place in first..=last.min(graph.co(loc).len() as u32) {
            let write = match place {
                0 => Ev::INIT,
                _ => graph.co(loc)[place as usize - 1],
            };
            if write != Ev::INIT {
                visit(write, 2 * place);
            }
            graph.readers(write, loc).for_each(|read| visit(read, 2 * place + 1));
        }
    }

    /// The SC fences hb-before an event.
    fn reach_fences(&mut self, graph: &ExecutionGraph, event: Ev) {
        for thread in 0..graph.threads().len() {
            let (below, looked) = (graph.clock(HB, event)[thread], self.looked[thread]);
            if below > looked {
                self.looked[thread] = below;
                let events = &graph.threads()[thread].events()[looked as usize..below as usize];
                if let Some(at) = events.iter().rposition(|&e| e.is_some() && is_sc_fence(graph, e)) {
                    self.reach(ThreadId(thread as u16), looked + at as u32 + 1);
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

/// How many of the first `below` events of a thread come before another one of them that is at another location.
fn different_up_to(graph: &ExecutionGraph, events: &[Ev], below: usize) -> u32 {
    let Some(&last) = events[..below].last() else { return 0 };
    let last = graph.event(last).loc;
    let different = events[..below].iter().rposition(|&e| e.is_some() && graph.event(e).loc != last);
    different.map_or(0, |at| at as u32 + 1)
}

/// The latest in eco, and the place of the latest write, that is hb-before a fence; 0 if there is none, or none that
/// is ranked higher than `known`.
fn latest_before(graph: &ExecutionGraph, fence: Ev, loc: Loc, known: u32) -> (u32, u32) {
    let covers = |e: Ev| graph.clock_covers(HB, fence, e);
    let mut latest = 0;
    for (at, &write) in graph.co(loc).iter().enumerate().rev() {
        let place = at as u32 + 1;
        if 2 * place < known {
            return (latest, 0);
        }
        if latest == 0 && graph.readers(write, loc).any(covers) {
            latest = 2 * place + 1;
        }
        if covers(write) {
            return (latest.max(2 * place), place);
        }
    }
    if latest == 0 && graph.readers(Ev::INIT, loc).any(covers) {
        latest = 1;
    }
    (latest, 0)
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
    let (mut found, mut over) = (false, 0u128);
    first.clear();
    first.resize(graph.threads().len(), u32::MAX);
    for fence in graph.sc_fences() {
        let id = graph.event(fence).id;
        let thread = 1u128.checked_shl(id.thread.0.into()).unwrap_or(0);
        if over & thread != 0 {
            continue;
        }
        if is_above(fence) {
            first[id.thread.as_usize()] = id.index;
            found = true;
        } else {
            over |= thread;
        }
    }
    found
}

/// Writes at even places, the reads of each just after it: eco is less-than.
pub(crate) fn eco_rank(graph: &ExecutionGraph, event: Ev) -> u32 {
    let place = place(graph, event).unwrap_or_else(|| unreachable!("eco relates accesses"));
    2 * place + u32::from(graph.event(event).label.is_read())
}

pub(crate) fn has_fence_below(graph: &ExecutionGraph, event: Ev) -> bool {
    graph.sc_fences().any(|fence| graph.clock_covers(HB, event, fence))
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
