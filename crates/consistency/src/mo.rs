//! The equivalence that sees co: execution graphs.
//!
//! For every model here the choices of a new event are an upper range of co: from the last write
//! that the event must not be before (its *floor*). The canonical choice is the co-last one.

use crate::hb::{HappensBefore, Porf};
use crate::labels::{has_first_value, no_access};
use crate::order::Architecture;
use crate::{Choice, MemoryModel, psc};
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Memo};
use std::marker::PhantomData;

/// A model whose choices are the upper part of co.
pub trait Floor: Default {
    /// How happens-before is kept in the clocks of the graph.
    type Hb: HappensBefore;
    /// What it keeps of program order, if that is not all.
    const ARCHITECTURE: Option<Architecture> = None;

    /// The greatest place in co that a read must not read from before, or a write be placed before.
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32;

    /// What the floor cannot tell.
    #[inline]
    fn allows(&mut self, _linked: &impl Linked, _event: Ev) -> bool {
        true
    }
}

/// Each execution graph (po, rf, co) once.
#[derive(Clone, Debug, Default)]
pub struct Mo<F>(F);

impl<F: Floor> MemoryModel for Mo<F> {
    type Hb = F::Hb;
    const SEES_CO: bool = true;
    const ARCHITECTURE: Option<Architecture> = F::ARCHITECTURE;

    #[inline]
    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let floor = self.0.floor(graph, read);
        sources_from(graph, read, floor, out);
    }

    #[inline]
    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let co = graph.co(graph.event(write).loc);
        // ATOM: nothing comes between the source of a read-modify-write and its write.
        let splits =
            |place: u32| co.get(place as usize - 1).is_some_and(|&next| graph.event(next).pair.is_some());
        let pair = graph.event(write).pair;
        if pair.is_some() {
            let place = graph.event(graph.rf(pair)).co + 1;
            // The co-last place is always possible.
            if !splits(place) && (place as usize > co.len() || place > self.0.floor(graph, write)) {
                out.push(Choice::Place(place));
            }
        } else {
            let floor = self.0.floor(graph, write);
            let places = (floor + 1..=co.len() as u32 + 1).rev().filter(|&place| !splits(place));
            out.extend(places.map(Choice::Place));
        }
    }

    #[inline]
    fn admits(&mut self, linked: &impl Memo, read: Ev, write: Ev) -> bool {
        let graph = linked.graph();
        let place = graph.event(write).co;
        place as usize == graph.co(graph.event(read).loc).len() || self.0.floor(graph, read) <= place
    }

    #[inline]
    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        self.0.allows(linked, event)
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        graph.co_max(loc) == write
    }

    #[inline]
    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        is_co_last_of(graph, a, w)
    }
}

/// Whether `a` has the co-last choice among what is older than it or what `w` needs.
#[inline]
pub(crate) fn is_co_last_of(graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
    let event = graph.event(a);
    let source = match event.label {
        Label::Read { .. } => event.rf,
        Label::Write { .. } => a,
        no_access!() => return has_first_value(event),
    };
    let there = |b: Ev| b <= a || graph.needs(w, b);
    if !there(source) {
        return false;
    }
    let after = graph.event(source).co as usize;
    !graph.co(event.loc)[after..].iter().any(|&b| there(b))
}

/// The sources of a read that are not before a place in co, its floor.
#[inline]
pub(crate) fn sources_from(graph: &ExecutionGraph, read: Ev, floor: u32, out: &mut Vec<Choice>) {
    let co = graph.co(graph.event(read).loc);
    out.extend(co[(floor as usize).saturating_sub(1)..].iter().rev().map(|&write| Choice::Source(write)));
    if floor == 0 {
        out.push(Choice::Source(Ev::INIT));
    }
}

/// Release/acquire: hb = (po ∪ rf)+, irreflexive hb;eco, ATOM.
#[derive(Clone, Debug, Default)]
pub struct Ra;

impl Floor for Ra {
    type Hb = Porf;

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        coherence_floor::<Porf>(graph, event)
    }
}

/// RC11 for programs without SC accesses and fences.
#[derive(Clone, Debug, Default)]
pub struct Rc11Weak<H>(PhantomData<H>);

impl<H: HappensBefore + Default> Floor for Rc11Weak<H> {
    type Hb = H;

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        coherence_floor::<H>(graph, event)
    }
}

/// RC11 with SC accesses and fences.
#[derive(Clone, Debug, Default)]
pub struct Rc11<H> {
    psc: psc::Psc,
    hb: PhantomData<H>,
}

impl<H: HappensBefore + Default> Floor for Rc11<H> {
    type Hb = H;

    #[inline]
    fn floor(&mut self, graph: &ExecutionGraph, event: Ev) -> u32 {
        coherence_floor::<H>(graph, event)
    }

    #[inline]
    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        self.psc.allows(linked.graph(), event)
    }
}

/// COHERENCE, irreflexive hb;eco: the co-last write that, or a read of which, happens before `event`.
#[inline]
pub(crate) fn coherence_floor<H: HappensBefore>(graph: &ExecutionGraph, event: Ev) -> u32 {
    let loc = graph.event(event).loc;
    let co = graph.co(loc);
    // The event itself has no clock yet if it is a read.
    let before = graph.po_pred(event);
    if before == Ev::INIT {
        return 0;
    }
    for (at, &write) in co.iter().enumerate().rev() {
        if graph.clock_covers(H::HB, before, write)
            || graph.readers(write, loc).any(|read| graph.clock_covers(H::HB, before, read))
        {
            return at as u32 + 1;
        }
    }
    0
}
