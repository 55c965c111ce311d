//! The order of SC, SRA, TSO or PSO as a relation, for a co that need not be total.
//!
//! [`Closure`](crate::Closure) asks where a new event may be, given a total co. Here co grows pair by pair. What does
//! not depend on co is there from the start. A pair (w, w') of co orders w before w' and, where fr is part of the
//! order, the reads of w before w'. Coherence is checked elsewhere: see [`MoSearch`](crate::mo_search::MoSearch).
//!
//! Cost: quadratic in the events of a thread to build.

use crate::closure::{Order, is_strong};
use crate::labels::silent;
use crate::mo_search::{Ends, MoConstraint};
use crate::reach::Reach;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Loc};
use std::marker::PhantomData;

#[derive(Clone, Debug, Default)]
pub struct GlobalOrder<O> {
    reach: Reach,
    order: PhantomData<O>,
}

impl<O: Order + Clone> MoConstraint for GlobalOrder<O> {
    type Before = O::Before;

    fn build(&mut self, graph: &ExecutionGraph, there: &impl Fn(Ev) -> bool) -> bool {
        self.reach.reset(graph.all().filter(|&e| there(e) && is_ordered(graph, e)));
        let events = self.reach.events().to_vec();
        events.iter().all(|&e| {
            let mut before = self.reach.empty_set();
            self.reach.mark(&mut before, |a| a != e && comes_before::<O>(graph, a, e));
            self.reach.add(&before, &self.only(e))
        })
    }

    fn ends(&self, graph: &ExecutionGraph, loc: Loc, write: Ev, there: &impl Fn(Ev) -> bool) -> Ends {
        let mut ends = Ends { from: self.only(write), to: self.only(write), ..Ends::default() };
        if O::FR {
            for read in graph.readers(write, loc).filter(|&read| there(read)) {
                self.reach.mark(&mut ends.from, |e| e == read);
            }
        }
        ends
    }

    fn order(&mut self, earlier: &Ends, later: &Ends) -> bool {
        // The read of a read-modify-write is before its own write in any case.
        self.reach.add(&earlier.from, &later.to)
    }
}

impl<O> GlobalOrder<O> {
    /// The set of one event, or none if it is the initial write.
    fn only(&self, event: Ev) -> Vec<u64> {
        let mut set = self.reach.empty_set();
        self.reach.mark(&mut set, |e| e == event);
        set
    }
}

/// Whether the order has to do with an event; a read has its source.
fn is_ordered(graph: &ExecutionGraph, event: Ev) -> bool {
    match graph.event(event).label {
        Label::Read { .. } => graph.rf(event).is_some(),
        Label::Write { .. } | Label::Fence { .. } | Label::Create { .. } | Label::Join { .. } => true,
        silent!() => false,
    }
}

/// Whether `a` comes before `b` directly, whatever co is.
fn comes_before<O: Order>(graph: &ExecutionGraph, a: Ev, b: Ev) -> bool {
    let (one, two) = (graph.event(a), graph.event(b));
    if one.id.thread == two.id.thread {
        return one.id.index < two.id.index && is_kept::<O>(graph, a, b);
    }
    let is_source = two.label.is_read() && graph.rf(b) == a;
    let is_joined = matches!(two.label, Label::Join { child } if child == one.id.thread);
    is_source || is_joined || graph.thread(two.id.thread).creator == a
}

/// Whether the order of an event and a later one of its thread is kept: ppo.
fn is_kept<O: Order>(graph: &ExecutionGraph, a: Ev, b: Ev) -> bool {
    let (one, two) = (graph.event(a), graph.event(b));
    if is_strong(graph, a) || O::READ_IS_LATE {
        return true;
    }
    match two.label {
        Label::Read { .. } => false,
        Label::Write { .. } if O::WRITE_IS_LATE || two.pair.is_some() || one.loc == two.loc => true,
        Label::Write { .. } => {
            let between = one.id.index as usize + 1..two.id.index as usize;
            graph.thread(one.id.thread).events()[between].iter().any(|&e| {
                e.is_some() && matches!(graph.event(e).label, Label::Fence { mode, .. } if mode.is_release())
            })
        }
        Label::Create { .. } | Label::Join { .. } => true,
        Label::Fence { mode, .. } => mode.is_full(),
        silent!() => false,
    }
}
