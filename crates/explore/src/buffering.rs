//! Load buffering, noticed where it would begin.
//!
//! The main search builds executions in which po | rf has no cycle. Models that do not keep program order
//! allow others: a write may be read by a read that is before it in po | rf, unless it depends on that read
//! or is ordered after it. When the search adds such a write, it cuts out what the two depend on
//! ([`seed`](crate::seed)). If it never adds one, there is no such execution. Otherwise the search with
//! dependency prefixes ([`weave`](crate::weave)) continues from the seeds. If a seed cannot be cut out, it
//! searches the whole program. `docs/hardware.md` says why that is enough.

use crate::history::{History, Tag};
use crate::prefix::{Below, Covered, Ordered, Prefix};
use crate::rest::marked;
use crate::seed::{Seeds, depend, ways};
use crate::split::has_split;
use crate::visit::{Statistics, Visit, Visitor};
use porf_consistency::{Architecture, HappensBefore, KeptOrder, MemoryModel};
use porf_event::Label;
use porf_graph::{CanonicalKey, Ev, ExecutionGraph, Linked, Loc, Memo, Need, Words};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// An execution graph and the histories of its threads, which know dependencies.
pub(crate) struct WithHistory<'g, 'p> {
    pub graph: &'g ExecutionGraph,
    pub history: &'g History<'p>,
}

impl Linked for WithHistory<'_, '_> {
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

impl Memo for WithHistory<'_, '_> {
    #[inline]
    fn memo(&self, event: Ev, variant: usize, find: impl FnOnce() -> Words) -> &[u64] {
        self.history.hangs(tag_before(self.graph, event)).local_order[variant].get_or_init(find)
    }
}

impl Ordered for WithHistory<'_, '_> {
    fn before(&self, architecture: Architecture, event: Ev, found: &mut dyn FnMut(Ev)) {
        // Elsewhere it may depend on what comes later: an AMO of RISC-V is one operation.
        if architecture != Architecture::Imm {
            return architecture.before(self, event, found);
        }
        let this = self.graph.event(event);
        let order = self.history.order(Tag(this.tag), || {
            let mut order = Vec::new();
            architecture.before(self, event, &mut |ev| order.push(self.graph.event(ev).id.index));
            order.into_boxed_slice()
        });
        let events = self.graph.thread(this.id.thread).events();
        order.iter().for_each(|&index| found(events[index as usize]));
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
    /// Where executions with cycles begin.
    pub seeds: Seeds,
    /// There may be more of them than those tell.
    pub found: bool,
    prefix: Prefix,
    model: PhantomData<M>,
}

/// The events of its own thread that are below an event, no matter what the reads read.
#[inline]
fn covered<'h>(
    graph: &ExecutionGraph,
    history: &'h History<'_>,
    architecture: Architecture,
    event: Ev,
) -> &'h Covered {
    match history.below(Tag(graph.event(event).tag)).get() {
        Some(below) => &below.full,
        None => find_below(graph, history, architecture, event),
    }
}

/// Finds it out for all events of the thread in their order: each depends on those before it.
#[cold]
fn find_below<'h>(
    graph: &ExecutionGraph,
    history: &'h History<'_>,
    architecture: Architecture,
    event: Ev,
) -> &'h Covered {
    let id = graph.event(event).id;
    let events = &graph.thread(id.thread).events()[..=id.index as usize];
    let of = |ev: Ev| history.below(Tag(graph.event(ev).tag));
    let known = events.iter().rposition(|&ev| of(ev).get().is_some()).map_or(0, |at| at + 1);
    for &ev in &events[known..] {
        let below = |ev: Ev| &**of(ev).get().unwrap_or_else(|| unreachable!("events are taken in order"));
        let found = Below::new(&WithHistory { graph, history }, architecture, ev, &below);
        of(ev).get_or_init(|| Box::new(found));
    }
    &of(event).get().unwrap_or_else(|| unreachable!("the last of them")).full
}

impl<M: MemoryModel> Detector<M> {
    pub fn new() -> Detector<M> {
        Detector { seeds: Seeds::default(), found: false, prefix: Prefix::default(), model: PhantomData }
    }

    /// Looks at a write that has just been added, after so many executions.
    #[inline]
    pub fn look(&mut self, live: &WithHistory<'_, '_>, write: Ev, executions: u64) {
        let Some(architecture) = M::ARCHITECTURE else { return };
        if self.found {
            return;
        }
        self.look_at(live, architecture, write);
        // An execution with many cycles has many seeds and is found from each of them. It is then better to
        // search the whole program again. The same holds if a history could not be followed.
        let seeds = self.seeds.list.len() as u64;
        self.found |= live.history.refused.get() || seeds > (executions / 16).clamp(FEW, MOST);
        if self.found {
            self.seeds.clear();
        }
    }

    #[inline]
    fn look_at(&mut self, live: &WithHistory<'_, '_>, architecture: Architecture, write: Ev) {
        let graph = live.graph;
        let chain = chain(graph, write);
        let mut marked = false;
        let mut seeds: SmallVec<[Ev; 4]> = SmallVec::new();
        for read in reads(graph, graph.event(write).loc) {
            if is_candidate::<M>(graph, read, write)
                && !is_in(graph, &chain, read)
                && !is_surely_below(live, architecture, read, write, &mut { STEPS })
            {
                if !marked {
                    self.prefix.mark_below(live, M::ARCHITECTURE, write);
                    marked = true;
                }
                if !self.prefix.below[read.as_usize()] {
                    seeds.push(read);
                } else if self.prefix.is_doubtful(live, M::ARCHITECTURE, write, read) {
                    self.found = true;
                    return;
                }
            }
        }
        for read in seeds {
            if !self.sow(live, architecture, write, read) {
                self.found = true;
                return;
            }
        }
    }

    /// Cuts out where a read could read from a write, once for each way from the one to the other; without a way
    /// where there is none or too many, or one changes with what is read. Whether that can be done.
    fn sow(&mut self, live: &WithHistory<'_, '_>, architecture: Architecture, write: Ev, read: Ev) -> bool {
        let Detector { prefix, seeds, .. } = self;
        let graph = live.graph;
        // What the second search refuses is left to it.
        let is_refused = |prefix: &Prefix| {
            let kept = |ev: Ev| prefix.below[ev.as_usize()] && graph.event(ev).label.is_write();
            prefix.split
                || (architecture == Architecture::Armv8
                    && graph.all().any(|ev| kept(ev) && has_split(graph, ev)))
        };
        let (mut some, mut fits, mut all) = (false, true, true);
        let known = ways(graph, read, write, &mut |way| {
            some = true;
            let mut events: SmallVec<[Ev; 9]> = SmallVec::from_slice(way);
            events.push(write);
            prefix.mark_with(live, M::ARCHITECTURE, &events, read);
            // What depends on the read is something else if it reads something else.
            if depend(live, &prefix.below, read) {
                fits = false;
            } else if is_refused(prefix) {
                all = false;
            } else {
                seeds.add(live, prefix, write, read);
            }
        });
        if !(some && fits && known) {
            prefix.mark_with(live, M::ARCHITECTURE, &[write], read);
            all = all && !is_refused(prefix);
            seeds.add(live, prefix, write, read);
        }
        all
    }

    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.seeds.clear();
        self.found = false;
    }

    /// Whether there may be executions with cycles in po | rf.
    pub fn is_found(&self) -> bool {
        self.found || !self.seeds.list.is_empty()
    }
}

/// The places in co of the read-modify-writes that a write, not placed yet, is the next of. Only as far as they
/// follow each other: on Arm others may write between the halves of one.
#[inline]
fn chain(graph: &ExecutionGraph, write: Ev) -> Range<u32> {
    let source = |write: Ev| {
        let pair = graph.event(write).pair;
        pair.is_some().then(|| graph.rf(pair))
    };
    let Some(last) = source(write) else { return 0..0 };
    let mut first = last;
    while let Some(before) = source(first).filter(|&it| graph.event(it).co + 1 == graph.event(first).co) {
        first = before;
    }
    graph.event(first).co + 1..graph.event(last).co + 1
}

/// Whether a read belongs to one of a chain of read-modify-writes: what is after it needs it.
#[inline]
fn is_in(graph: &ExecutionGraph, chain: &Range<u32>, read: Ev) -> bool {
    !chain.is_empty() && graph.write_of(read).is_some_and(|write| chain.contains(&graph.event(write).co))
}

/// The search continues from up to `FEW` seeds always and from more than `MOST` never: each needs some kilobytes.
const FEW: u64 = 200;
const MOST: u64 = 20_000;

/// How many threads are visited before the whole prefix is computed.
const STEPS: u32 = 32;

/// Whether a read that is before an event in po | rf is below it by dependencies and order of the threads on
/// the way that hold whatever is read.
fn is_surely_below(
    live: &WithHistory<'_, '_>,
    architecture: Architecture,
    read: Ev,
    event: Ev,
    steps: &mut u32,
) -> bool {
    let graph = live.graph;
    let (from, to) = (graph.event(read).id, graph.event(event).id);
    let Covered { until, later } = covered(graph, live.history, architecture, event);
    if from.thread == to.thread {
        return from.index < *until || later.contains(from.index);
    }
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    let events = graph.thread(to.thread).events();
    let mut is_below = |source: Ev| {
        graph.in_prefix(read, source) && is_surely_below(live, architecture, read, source, steps)
    };
    let creator = graph.thread(to.thread).creator;
    let first = (0..*until).rev().map(|index| events[index as usize]);
    later.iter().any(|index| is_below(source(graph, events[index as usize])))
        || first.take_while(|&ev| graph.in_prefix(read, ev)).any(|ev| is_below(source(graph, ev)))
        || (creator.is_some() && is_below(creator))
}

/// What an event of a thread takes from another: [`Ev::INIT`] if nothing.
fn source(graph: &ExecutionGraph, event: Ev) -> Ev {
    let this = graph.event(event);
    match this.label {
        Label::Read { .. } if graph.event(this.rf).id.thread != this.id.thread => this.rf,
        Label::Join { child } => graph.thread_end(child).unwrap_or(Ev::INIT),
        _ => Ev::INIT,
    }
}

fn reads(graph: &ExecutionGraph, loc: Loc) -> impl Iterator<Item = Ev> + '_ {
    let sources = std::iter::once(Ev::INIT).chain(graph.co(loc).iter().copied());
    sources.flat_map(move |source| graph.readers(source, loc))
}

/// Whether a read is before a write in po | rf, so that it is not revisited, and could still read from it.
/// Coherence excludes a read that happens before the write, or is before it in the same thread.
#[inline]
fn is_candidate<M: MemoryModel>(graph: &ExecutionGraph, read: Ev, write: Ev) -> bool {
    graph.in_prefix(read, write)
        && graph.event(read).id.thread != graph.event(write).id.thread
        && (M::Hb::HB == ExecutionGraph::PORF || !graph.clock_covers(M::Hb::HB, write, read))
}

/// Shows only executions in which po | rf has a cycle, and none that was shown before.
pub(crate) struct Cyclic<'v, V> {
    visitor: &'v mut V,
    /// Shows the others too.
    pub all: bool,
    /// What was shown, by a hash of its key that says whether it is blocked.
    pub shown: HashSet<u64>,
    /// Counts of what was shown now.
    pub statistics: Statistics,
}

impl<'v, V: Visitor> Cyclic<'v, V> {
    pub fn new(visitor: &'v mut V, shown: HashSet<u64>) -> Self {
        Cyclic { visitor, all: false, shown, statistics: Statistics::default() }
    }
}

impl<V: Visitor> Visitor for Cyclic<'_, V> {
    fn visit(&mut self, visit: Visit<'_, '_>) -> ControlFlow<()> {
        // What cannot be gone on with is told wherever it is met.
        let always = match visit {
            Visit::Working(_) => true,
            Visit::Fault(_, fault) => fault.kind.is_limit(),
            _ => self.all,
        };
        let Some(execution) = visit.execution() else { return self.visitor.visit(visit) };
        let graph = execution.graph;
        if !always && !has_cycle(graph) {
            return ControlFlow::Continue(());
        }
        let blocked = matches!(visit, Visit::Blocked(_));
        if (blocked || matches!(visit, Visit::Complete(_)))
            && !self.shown.insert(marked(hash(graph), blocked))
        {
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

/// The same for the same execution, also in another run.
fn hash(graph: &ExecutionGraph) -> u64 {
    let mut hasher = DefaultHasher::new();
    CanonicalKey::of(graph, true).hash(&mut hasher);
    hasher.finish()
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
                if !(ready && thread.creator.is_some() && is_done(&done, thread.creator)) {
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
