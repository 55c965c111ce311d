//! Load buffering, noticed where it would begin.
//!
//! The main search builds executions in which po | rf has no cycle. Models that do not keep program order
//! allow others: a write may be read by a read that is before it in po | rf, unless it depends on that read
//! or is ordered after it. When such a write comes, the search takes note; if it never does, there is no
//! such execution. Otherwise the search with dependency prefixes ([`weave`](crate::weave)) goes through the
//! program once more, for the executions with cycles only. Why that is enough is told in `docs/hardware.md`.

use crate::history::{History, Tag};
use crate::prefix::Prefix;
use crate::visit::{Statistics, Visit, Visitor};
use porf_consistency::{HappensBefore, MemoryModel};
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Need};
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// An execution graph and the histories of its threads, which know dependencies.
pub(crate) struct Live<'g, 'p> {
    pub graph: &'g ExecutionGraph,
    pub history: &'g History<'p>,
}

impl Linked for Live<'_, '_> {
    #[inline]
    fn graph(&self) -> &ExecutionGraph {
        self.graph
    }

    fn needs(&self, event: Ev) -> impl Iterator<Item = Need> + '_ {
        let events = self.graph.thread(self.graph.event(event).id.thread).events();
        let needs = self.history.hangs(tag_before(self.graph, event)).needs.iter();
        needs.map(|&(index, kinds)| Need::new(events[index as usize], kinds))
    }

    fn is_conditional(&self, event: Ev) -> bool {
        self.history.hangs(tag_before(self.graph, event)).conditional
    }
}

/// The state of the thread just before an event.
#[inline]
pub(crate) fn tag_before(graph: &ExecutionGraph, event: Ev) -> Tag {
    let id = graph.event(event).id;
    let thread = graph.thread(id.thread);
    match id.index.checked_sub(1) {
        Some(index) => Tag(graph.event(thread.events()[index as usize]).tag),
        None => Tag(thread.tag),
    }
}

/// Looks for writes that could be read by something before them.
pub(crate) struct Detector<M> {
    pub found: bool,
    prefix: Prefix,
    model: PhantomData<M>,
}

impl<M: MemoryModel> Detector<M> {
    pub fn new() -> Detector<M> {
        Detector { found: false, prefix: Prefix::default(), model: PhantomData }
    }

    /// Looks at a write that has just been added.
    #[inline]
    pub fn look(&mut self, live: &Live<'_, '_>, write: Ev) {
        if M::ARCHITECTURE.is_none() || self.found {
            return;
        }
        let graph = live.graph;
        let loc = graph.event(write).loc;
        let mut marked = false;
        for read in reads(graph, loc) {
            if is_candidate::<M>(graph, read, write) {
                if !marked {
                    self.prefix.mark(live, M::ARCHITECTURE, write);
                    marked = true;
                }
                if !self.prefix.below[read.as_usize()]
                    || self.prefix.is_doubtful(live, M::ARCHITECTURE, write, read)
                {
                    self.found = true;
                    return;
                }
            }
        }
    }
}

fn reads(graph: &ExecutionGraph, loc: Loc) -> impl Iterator<Item = Ev> + '_ {
    let sources = std::iter::once(Ev::INIT).chain(graph.co(loc).iter().copied());
    sources.flat_map(move |source| graph.readers(source, loc))
}

/// Whether a read is before a write in po | rf, so that it is not revisited, and could read from it all
/// the same. What happens before the write, or is before it in its own thread, cannot: coherence.
#[inline]
fn is_candidate<M: MemoryModel>(graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
    graph.in_prefix(read, write)
        && graph.event(read).id.thread != graph.event(write).id.thread
        && (M::Hb::HB == ExecutionGraph::PORF || !graph.clock_covers(M::Hb::HB, write, read))
}

/// Shows only executions in which po | rf has a cycle.
pub(crate) struct Cyclic<'v, V> {
    visitor: &'v mut V,
    /// Shows the others too.
    pub all: bool,
    /// How much was there, and how much of it has been shown before.
    pub seen: u64,
    before: u64,
    /// Of what was shown now.
    pub statistics: Statistics,
}

impl<'v, V: Visitor> Cyclic<'v, V> {
    pub fn new(visitor: &'v mut V, before: u64) -> Self {
        Cyclic { visitor, all: false, seen: 0, before, statistics: Statistics::default() }
    }
}

impl<V: Visitor> Visitor for Cyclic<'_, V> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        let working = matches!(visit, Visit::Working(_));
        if !working && !self.all && !has_cycle(visit.execution().graph) {
            return ControlFlow::Continue(());
        }
        self.seen += u64::from(!working);
        if self.seen < self.before || (!working && self.seen == self.before) {
            return ControlFlow::Continue(());
        }
        match visit {
            Visit::Complete(_) => self.statistics.executions += 1,
            Visit::Blocked(_) => self.statistics.blocked += 1,
            _ => {}
        }
        self.visitor.visit(visit)
    }
}

/// Whether po | rf, with creation and joining of threads, has a cycle.
fn has_cycle(graph: &ExecutionGraph) -> bool {
    // Per thread: how many of its events can be put in an order.
    let mut done = vec![0; graph.threads().len()];
    let is_done = |done: &[usize], ev: Ev| {
        let id = graph.event(ev).id;
        ev == Ev::INIT || (id.index as usize) < done[id.thread.as_usize()]
    };
    loop {
        let mut moved = false;
        for (at, thread) in graph.threads().iter().enumerate() {
            while let Some(&ev) = thread.events().get(done[at]) {
                let ready = match graph.event(ev).label {
                    Label::Read { .. } => is_done(&done, graph.rf(ev)),
                    Label::Join { child } => done[child.as_usize()] == graph.thread(child).events().len(),
                    _ => true,
                };
                if !ready || !(thread.creator.is_some() && is_done(&done, thread.creator)) {
                    break;
                }
                done[at] += 1;
                moved = true;
            }
        }
        if !moved {
            let all = graph.threads().iter().map(|thread| thread.events().len());
            return !all.eq(done.iter().copied());
        }
    }
}
