//! IMM on executions in which po | rf has no cycle: clocks, as for RC11.
//!
//! Source: the papers that `models/imm.cat` cites. In these executions rfe, bob, ppo and detour all lie in
//! po | rf and have no cycle. What is left to check is coherence, by RC11's clocks, and for programs with seq_cst
//! accesses or fences two things: RC11's axiom for psc ([`Psc`]), and that psc makes no cycle with the rest of the
//! global order ([`Fences`]).
//!
//! Cost: as RC11, and one more backward closure over the events where an SC fence is overtaken.

use crate::hb::{HappensBefore, Rc11Hb};
use crate::labels::{place, silent};
use crate::mo::{Floor, coherence_floor};
use crate::order::Architecture;
use crate::psc::{Psc, eco_rank, find_fences_above, is_sc_fence};
use porf_event::{Label, RmwKind, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Need};

/// IMM for programs without seq_cst accesses and fences; `FENCES`: whether there are others.
#[derive(Clone, Debug, Default)]
pub struct ImmWeak<const FENCES: bool>;

impl<const FENCES: bool> Floor for ImmWeak<FENCES> {
    type Hb = Rc11Hb<FENCES>;
    const ARCHITECTURE: Option<Architecture> = Some(Architecture::Imm);

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        coherence_floor::<Rc11Hb<FENCES>>(graph, event)
    }
}

/// IMM with seq_cst. Without `ACCESSES` only fences are: RC11's psc is then part of the global order.
#[derive(Clone, Debug, Default)]
pub struct ImmSc<const ACCESSES: bool> {
    psc: Psc,
    fences: Fences,
}

impl<const ACCESSES: bool> Floor for ImmSc<ACCESSES> {
    type Hb = Rc11Hb<true>;
    const ARCHITECTURE: Option<Architecture> = Some(Architecture::Imm);

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        coherence_floor::<Rc11Hb<true>>(graph, event)
    }

    #[inline]
    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        (!ACCESSES || self.psc.allows(linked.graph(), event)) && self.fences.allows(linked, event)
    }
}

const HB: usize = <Rc11Hb<true> as HappensBefore>::HB;

/// data | ctrl | addr | casdep
pub(crate) const DEPS: u8 = Need::ADDR | Need::DATA | Need::CTRL | Need::CAS;

/// Rex: the read of a read-modify-write, also of one that did not write.
pub fn is_exclusive_read(graph: &ExecutionGraph, ev: Ev) -> bool {
    let label = graph.event(ev).label;
    label.is_read() && (label.rmw().is_pair() || label.rmw() == RmwKind::Failed)
}

/// In a closure: before, in the global order, a fence that the new event comes after.
const ORDERED: u8 = 1;
/// Before, in (deps | rfi)+, a write that is `ORDERED`.
const CHAIN: u8 = 2;

/// Cycles of the global order: through psc = [Fsc];hb;eco;hb;[Fsc] and rfe, bob, ppo, detour.
///
/// The new event e is last in po | rf. A new cycle has a psc edge by it, from a fence before it in hb to a
/// fence after something that e is eco-before. The closure goes back from the former and looks for the latter.
#[derive(Clone, Debug, Default)]
struct Fences {
    marks: Vec<u8>,
    work: Vec<(Ev, u8)>,
    /// Per thread: SC fences from this index on close a cycle.
    targets: Vec<u32>,
    /// Per thread: all events below this index are `ORDERED`.
    all: Vec<u32>,
    /// Per thread: psc of the SC fences below this index has been followed.
    followed: Vec<u32>,
}

impl Fences {
    #[inline]
    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        let graph = linked.graph();
        let Some(place) = place(graph, event) else { return true };
        let later = &graph.co(graph.event(event).loc)[place as usize..];
        later.is_empty() || self.allows_overtaken(linked, event, later)
    }

    fn allows_overtaken(&mut self, linked: &impl Linked, event: Ev, later: &[Ev]) -> bool {
        let graph = linked.graph();
        if !find_fences_above(graph, later, true, &mut self.targets) {
            return true;
        }
        self.marks.clear();
        self.marks.resize(graph.len(), 0);
        self.all.clear();
        self.all.resize(graph.threads().len(), 0);
        self.followed.clear();
        self.followed.resize(graph.threads().len(), 0);
        self.work.clear();
        self.reach_fences(graph, event);
        while let Some((ev, marks)) = self.work.pop() {
            if marks & ORDERED != 0 {
                let id = graph.event(ev).id;
                if is_sc_fence(graph, ev) && id.index >= self.targets[id.thread.as_usize()] {
                    return false;
                }
                self.expand(graph, ev);
            }
            if marks & CHAIN != 0 {
                self.expand_chain(linked, ev);
            }
        }
        true
    }

    fn mark(&mut self, ev: Ev, marks: u8) {
        let new = marks & !self.marks[ev.as_usize()];
        if ev != Ev::INIT && new != 0 {
            self.marks[ev.as_usize()] |= new;
            self.work.push((ev, new));
        }
    }

    /// What is before an event in rfe | bob | ppo | detour | [strong];po;[W] | psc.
    fn expand(&mut self, graph: &ExecutionGraph, ev: Ev) {
        let event = graph.event(ev);
        let (thread, index) = (event.id.thread, event.id.index);
        match event.label {
            Label::Read { .. } => {
                self.reach_source(graph, ev);
                self.reach_earlier(graph, ev);
            }
            Label::Write { mode, .. } => {
                if mode.is_release() {
                    self.reach_all(graph, thread, index);
                } else {
                    self.reach_earlier(graph, ev);
                }
                self.mark(ev, CHAIN);
            }
            Label::Choice { .. } | Label::Block { .. } | Label::Alloc { .. } | Label::Free { .. } => {}
            label => {
                self.reach_all(graph, thread, index);
                if let Label::Join { child } = label {
                    self.reach_all(graph, child, graph.thread(child).events().len() as u32);
                }
                // What is psc-before a fence is so before later ones of its thread.
                let followed = &mut self.followed[thread.as_usize()];
                if is_sc_fence(graph, ev) && index >= *followed {
                    *followed = index;
                    self.reach_psc(graph, ev);
                }
            }
        }
    }

    /// rfe, and detour = (coe;rfe) & po.
    fn reach_source(&mut self, graph: &ExecutionGraph, read: Ev) {
        let (event, source) = (graph.event(read), graph.event(graph.rf(read)));
        if event.rf == Ev::INIT || source.id.thread == event.id.thread {
            return;
        }
        self.mark(event.rf, ORDERED);
        for &write in &graph.co(event.loc)[..source.co as usize - 1] {
            let id = graph.event(write).id;
            if id.thread == event.id.thread && id.index < event.id.index {
                self.mark(write, ORDERED);
            }
        }
    }

    /// Fences and acquire reads; for a write those of read-modify-writes, and releases of the location.
    fn reach_earlier(&mut self, graph: &ExecutionGraph, ev: Ev) {
        let event = graph.event(ev);
        let is_write = event.label.is_write();
        let earlier = &graph.thread(event.id.thread).events()[..event.id.index as usize];
        for &other in earlier.iter().rev() {
            let it = graph.event(other);
            match it.label {
                Label::Read { mode, .. } if mode.is_acquire() => self.mark(other, ORDERED),
                Label::Write { mode, .. }
                    if is_write && (it.pair.is_some() || (mode.is_release() && it.loc == event.loc)) =>
                {
                    self.mark(other, ORDERED);
                }
                Label::Fence { .. } | Label::Create { .. } | Label::Join { .. } => {
                    self.mark(other, ORDERED);
                    // It comes after all the others.
                    return;
                }
                Label::Read { .. } | Label::Write { .. } | silent!() => {}
            }
        }
        self.reach_creator(graph, event.id.thread);
    }

    fn reach_all(&mut self, graph: &ExecutionGraph, thread: ThreadId, to: u32) {
        let from = self.all[thread.as_usize()];
        if from < to {
            self.all[thread.as_usize()] = to;
            for &ev in &graph.thread(thread).events()[from as usize..to as usize] {
                self.mark(ev, ORDERED);
            }
        }
        self.reach_creator(graph, thread);
    }

    fn reach_creator(&mut self, graph: &ExecutionGraph, thread: ThreadId) {
        let creator = graph.thread(thread).creator;
        if creator.is_some() {
            self.mark(creator, ORDERED);
        }
    }

    /// deps | rfi, deps = data | ctrl | addr;po? | casdep | [Rex];po.
    fn expand_chain(&mut self, linked: &impl Linked, ev: Ev) {
        let graph = linked.graph();
        let event = graph.event(ev);
        let follow = |fences: &mut Fences, before: Ev| {
            let is_read = graph.event(before).label.is_read();
            fences.mark(before, if is_read { ORDERED | CHAIN } else { CHAIN });
        };
        for need in linked.needs(ev).filter(|need| need.is(DEPS)) {
            follow(self, need.event);
        }
        for &earlier in &graph.thread(event.id.thread).events()[..event.id.index as usize] {
            for need in linked.needs(earlier).filter(|need| need.is(Need::ADDR)) {
                follow(self, need.event);
            }
            if is_exclusive_read(graph, earlier) {
                follow(self, earlier);
            }
        }
        if event.rf.is_some() && graph.event(event.rf).id.thread == event.id.thread {
            follow(self, event.rf);
        }
    }

    /// psc = [Fsc];hb;eco;hb;[Fsc], back from its end.
    fn reach_psc(&mut self, graph: &ExecutionGraph, fence: Ev) {
        for loc in (0..graph.location_count() as u32).map(Loc) {
            let accesses = || {
                let writes = graph.co(loc).iter().copied();
                let all = writes.flat_map(|write| std::iter::once(write).chain(graph.readers(write, loc)));
                graph.readers(Ev::INIT, loc).chain(all)
            };
            let below = accesses().filter(|&access| graph.clock_covers(HB, fence, access));
            let latest = below.map(|access| eco_rank(graph, access)).max().unwrap_or(0);
            for access in accesses().filter(|&access| eco_rank(graph, access) < latest) {
                self.reach_fences(graph, access);
            }
        }
    }

    /// The last SC fence of each thread that is hb-before an event.
    fn reach_fences(&mut self, graph: &ExecutionGraph, event: Ev) {
        for (at, thread) in graph.threads().iter().enumerate() {
            let below = &thread.events()[..graph.clock(HB, event)[at] as usize];
            if let Some(&fence) = below.iter().rfind(|&&ev| is_sc_fence(graph, ev)) {
                self.mark(fence, ORDERED);
            }
        }
    }
}
