//! The policy of the search with dependency prefixes: graphs with holes.

use crate::error::Error;
use crate::facts::Tracking;
use crate::history::{Created, History, Next, Ready, Tag};
use crate::memory;
use crate::mixed;
use crate::prefix::Prefix;
use crate::schedule::{Schedule, join_is_ready, tag_of};
use crate::search::{Frame, Policy, Trail, Tried, Upcoming};
use crate::seed::{Described, Seed, Sown, describe, tags};
use crate::split::has_split;
use crate::visit::{Execution, Visit, Visitor};
use porf_cat::Diagnostic;
use porf_consistency::{Architecture, Checker, Choice};
use porf_event::{EventId, FenceMode, Label, RmwKind, ThreadId};
use porf_graph::{CanonicalKey, Ev, ExecutionGraph, Loc, Partial};
use porf_interp::Interpreter;
use porf_ir::layout;
use std::collections::HashSet;
use std::ops::ControlFlow;

pub(crate) struct Weaver<'p, C> {
    pub trail: Trail<'p, Partial>,
    pub checker: C,
    /// Old positions of events to those in a copy.
    map: Vec<Ev>,
    /// Of the newest write.
    prefix: Prefix,
    /// Graphs that revisits led to.
    visited: HashSet<Vec<Described>>,
    /// Executions that were shown.
    shown: HashSet<CanonicalKey>,
    /// Seeds that are still to be gone on from, the last one first.
    seeds: Vec<Seed>,
    /// The newest event of the present seed: nothing up to it is revisited.
    base: Ev,
}

impl<'p, C: Checker> Weaver<'p, C> {
    pub fn new(
        interp: Interpreter<'p>,
        created: Created,
        checker: C,
        schedule: Schedule,
        memory: Option<usize>,
    ) -> Result<Self, Error> {
        let history = History::new(interp, Tracking::Always, created, memory);
        let mut weaver = Weaver::with(history, Vec::new(), checker, schedule);
        let Trail { history, roots, now, .. } = &mut weaver.trail;
        for thread in (0..interp.program().threads.len()).map(|t| ThreadId(t as u16)) {
            let tag = history.start(thread)?;
            roots.push(tag);
            now.add_thread(thread, Ev::INIT, tag.0);
        }
        Ok(weaver)
    }

    fn with(history: History<'p>, roots: Vec<Tag>, checker: C, schedule: Schedule) -> Self {
        let trail = Trail { roots, ..Trail::new(history, schedule, Partial::default()) };
        Weaver {
            trail,
            checker,
            map: Vec::new(),
            prefix: Prefix::default(),
            visited: HashSet::new(),
            shown: HashSet::new(),
            seeds: Vec::new(),
            base: Ev::INIT,
        }
    }

    /// For all executions that have one of the seeds.
    pub fn from_seeds(sown: Sown<'p>, checker: C, schedule: Schedule) -> Self {
        let mut seeds = sown.seeds;
        seeds.reverse();
        Weaver { seeds, ..Weaver::with(sown.history, sown.roots, checker, schedule) }
    }

    /// Runs through all seeds, or until the visitor has seen enough.
    pub fn run_seeds(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        while let Some(seed) = self.seeds.pop() {
            if self.run_from(seed, visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn run_from(&mut self, seed: Seed, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        let Seed { partial, write, read } = seed;
        self.base = partial.graph.newest();
        // What was seen from another seed was gone on from with other things to revisit.
        self.visited.clear();
        // It is as a copy of an empty graph.
        let trail = &mut self.trail;
        trail.waiting.push(Partial::default());
        trail.now = partial;
        trail.seen = false;
        trail.frames.push(Frame { event: write, revisited: read, start: 0 });
        self.add_places(write, read);
        match self.try_choices(visitor)? {
            Tried::Applied => self.run(visitor),
            Tried::Stop => Ok(ControlFlow::Break(())),
            Tried::Exhausted => {
                self.trail.frames.pop();
                self.trail.leave_copy();
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}

impl<'p, C: Checker> Policy<'p> for Weaver<'p, C> {
    type Graph = Partial;

    fn trail(&self) -> &Trail<'p, Partial> {
        &self.trail
    }

    fn trail_mut(&mut self) -> &mut Trail<'p, Partial> {
        &mut self.trail
    }

    /// Which thread goes next: one that is inside an instruction of several events (the one whose read is
    /// newest), or the scheduled one.
    fn next_thread(&self) -> Option<ThreadId> {
        let graph = self.graph();
        let mut pending: Option<(Ev, ThreadId)> = None;
        for at in 0..graph.threads().len() {
            let thread = ThreadId(at as u16);
            let tag = tag_of(graph, at);
            if tag.ready() == Ready::No
                || (tag.ready() == Ready::Join && !join_is_ready(graph, &self.trail.history, tag))
            {
                continue;
            }
            let settled = self.trail.now.settled(thread) as usize;
            let events = graph.threads()[at].events();
            let mid = (tag.ready() == Ready::Mid && settled > 0).then(|| events[settled - 1]);
            let behind = events[settled..].iter().copied().filter(|&ev| self.wants_write(ev));
            if let Some(newest) = mid.into_iter().chain(behind).max()
                && pending.is_none_or(|(other, _)| newest > other)
            {
                pending = Some((newest, thread));
            }
        }
        match pending {
            Some((_, thread)) => Some(thread),
            None => self.trail.schedule.choose(graph, &self.trail.history, true),
        }
    }

    fn add_read(&mut self, next: Upcoming) -> Result<(), Error> {
        let event = self.insert(next);
        let Trail { now, choices, .. } = &mut self.trail;
        let co = now.graph.co(now.graph.event(event).loc);
        // The co-latest one is tried first.
        choices.extend([Ev::INIT].into_iter().chain(co.iter().copied()).map(Choice::Source));
        Ok(())
    }

    fn add_write(&mut self, next: Upcoming) -> Result<(), Error> {
        let event = self.insert(next);
        self.forward(next.thread)?;
        if self.checker.architecture() == Some(Architecture::Armv8) && has_split(self.graph(), event) {
            let what = "a store between a load-linked and its store-conditional, to the same address";
            return Err(Error::Unsupported(what.into()));
        }
        self.prefix.mark_below(&self.trail.now, self.checker.architecture(), event);
        self.check_early_reads(event)?;
        let start = self.trail.choices.len();
        self.find_revisits(event);
        if self.prefix.split && self.trail.choices.len() > start {
            let what = "load buffering past a read-modify-write that depends on what comes later";
            return Err(Error::Unsupported(what.into()));
        }
        self.add_places(event, Ev::NONE);
        Ok(())
    }

    fn add_choice(&mut self, next: Upcoming) -> Result<(), Error> {
        if !self.trail.history.is_certain(next.tag) {
            return Err(Error::Unsupported("a store-conditional whose address was read".into()));
        }
        self.insert(next);
        Ok(())
    }

    fn add_create(&mut self, next: Upcoming, _: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        let index = self.trail.now.settled(next.thread);
        let child = self.trail.history.created_id(next.thread, index)?;
        let root = self.trail.history.created(next.tag, child)?;
        let event = self.insert(Upcoming { label: Label::Create { child }, ..next });
        self.forward(next.thread)?;
        self.trail.now.add_thread(child, event, root.0);
        Ok(ControlFlow::Continue(()))
    }

    fn add_other(&mut self, next: Upcoming) -> Result<bool, Error> {
        let event = self.insert(next);
        self.forward(next.thread)?;
        // A fence may order what is behind a hole; the end of a critical section what is before it.
        let Label::Fence { mode, .. } = next.label else { return Ok(true) };
        if self.is_inside(event) || mode == FenceMode::RcuUnlock {
            return self.consistent_now(event);
        }
        Ok(true)
    }

    fn take_source(&mut self, read: Ev, source: Ev) -> Result<bool, Error> {
        self.read_from(read, source)?;
        let consistent = self.consistent_now(read)?;
        let graph = self.graph();
        if !consistent && graph.co_max(graph.event(read).loc) == source {
            self.check_extensible(read)?;
        }
        Ok(consistent)
    }

    fn take_place(&mut self, write: Ev, place: u32) -> Result<bool, Error> {
        self.trail.now.graph.place(write, place);
        let consistent = self.consistent_now(write)?;
        let event = self.graph().event(write);
        if !consistent && !event.pair.is_some() && place as usize == self.graph().co(event.loc).len() {
            self.check_extensible(write)?;
        }
        Ok(consistent)
    }

    fn take_value(&mut self, event: Ev, value: u32) -> Result<(), Error> {
        let Label::Choice { options, .. } = self.graph().event(event).label else {
            unreachable!("it is a choice")
        };
        let EventId { thread, index } = self.graph().event(event).id;
        self.trail.now.graph.set_label(event, Label::Choice { options, chosen: value }, 0);
        self.trail.now.settle(thread, index);
        self.forward(thread)
    }

    fn take_revisit(&mut self, write: Ev, read: Ev, place: u32) -> Result<bool, Error> {
        self.trail.now.graph.place(write, place);
        if read != write {
            self.read_from(read, write)?;
        }
        Ok(self.consistent_now(write)? && self.is_new())
    }

    fn restricted(&mut self, write: Ev, read: Ev) -> (Partial, Ev, Ev) {
        // Other writes have come and gone since the revisits were collected.
        self.prefix.mark_below(&self.trail.now, self.checker.architecture(), write);
        let mut copy = self.trail.pool.pop().unwrap_or_default();
        let below = &self.prefix.below;
        if self.graph().event(read).loc != self.graph().event(write).loc {
            // A later event of the access reads there. What the first one reads was chosen without the write: the access is
            // thrown away, and made again when the write is there.
            let keep = |ev: Ev| ev < read || ev == write || below[ev.as_usize()];
            self.trail.now.restrict_into(keep, Ev::NONE, &mut copy, &mut self.map);
            let write = self.map[write.as_usize()];
            return (copy, write, write);
        }
        let keep = |ev: Ev| ev <= read || ev == write || below[ev.as_usize()];
        self.trail.now.restrict_into(keep, read, &mut copy, &mut self.map);
        (copy, self.map[write.as_usize()], self.map[read.as_usize()])
    }

    /// The co-latest one is tried first.
    fn add_places(&mut self, write: Ev, _: Ev) {
        let Trail { now, choices, .. } = &mut self.trail;
        let graph = &now.graph;
        let event = graph.event(write);
        let co = graph.co(event.loc);
        let places = if event.pair.is_some() {
            // ATOM: only own earlier writes may come between the source and the write.
            let after = graph.event(graph.rf(event.pair)).co;
            let is_own = |&&other: &&Ev| {
                let id = graph.event(other).id;
                id.thread == event.id.thread && id.index < event.id.index
            };
            let between = co[after as usize..].iter().take_while(is_own).count() as u32;
            after + 1..=after + 1 + between
        } else {
            1..=co.len() as u32 + 1
        };
        choices.extend(places.map(Choice::Place));
    }

    fn is_needed(&self, event: Ev, _: Ev) -> bool {
        self.prefix.below[event.as_usize()]
    }

    /// Whatever was chosen for it: what a seed begins with excepted.
    fn may_throw_away(&mut self, event: Ev, _: Ev) -> bool {
        event > self.base
    }

    fn may_read_at(&self, event: Ev, loc: Loc) -> bool {
        let graph = self.graph();
        if !graph.event(event).label.is_read() || self.trail.now.links(event).continues {
            return false;
        }
        let EventId { thread, index } = graph.event(event).id;
        let later = &graph.thread(thread).events()[index as usize + 1..];
        let rest = later.iter().take_while(|&&ev| self.trail.now.links(ev).continues);
        std::iter::once(&event).chain(rest).any(|&ev| graph.event(ev).loc == loc)
    }

    /// The other half of its instruction: of several reads the last one, for any of them may be revisited.
    fn falls_with(&self, event: Ev) -> Ev {
        let event = self.graph().event(event);
        if event.label.rmw() == RmwKind::Exclusive || !event.pair.is_some() {
            return Ev::NONE;
        }
        let EventId { thread, index } = self.graph().event(event.pair).id;
        let later = &self.graph().thread(thread).events()[index as usize + 1..];
        later
            .iter()
            .take_while(|&&ev| self.trail.now.links(ev).continues)
            .last()
            .copied()
            .unwrap_or(event.pair)
    }

    fn begin(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        self.arrived(visitor)
    }

    /// Reports what threads did wrong, unless some events are only believed in.
    fn arrived(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let graph = self.graph();
        let faulty = |at: usize| {
            let tag = tag_of(graph, at);
            graph.threads()[at].is_started()
                && tag.ready() == Ready::No
                && matches!(self.trail.history.node(tag).next, Next::Fault(_))
        };
        let Some(at) = (0..graph.threads().len()).find(|&at| faulty(at)) else {
            return ControlFlow::Continue(());
        };
        if self.trail.now.has_holes() {
            return ControlFlow::Continue(());
        }
        let Next::Fault(fault) = &self.trail.history.node(tag_of(graph, at)).next else {
            unreachable!("found")
        };
        visitor.visit(Visit::Fault(&self.execution(false, &[]), fault))
    }

    fn leaf(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.trail.now.has_holes() {
            return self.check_holes().map(|()| ControlFlow::Continue(()));
        }
        if !self.shown.insert(CanonicalKey::of(self.graph(), true)) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.check_memory(visitor)?.is_break() || self.arrived(visitor).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for (a, b) in self.checker.races(&self.trail.now).map_err(diagnosed)? {
            if visitor.visit(Visit::Race(&self.execution(false, &[]), a, b)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if self.trail.is_complete() {
            self.trail.statistics.executions += 1;
            let cells = self.trail.history.cells();
            let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
            let flags = self.checker.flags(&self.trail.now, &initial).map_err(diagnosed)?;
            Ok(visitor.visit(Visit::Complete(&self.execution(false, &flags))))
        } else {
            self.trail.statistics.blocked += 1;
            let graph = self.graph();
            let is_last = |(loc, write): (Loc, Ev)| graph.co_max(loc) == write;
            let awaited = self.execution(true, &[]).awaited();
            let for_ever = awaited.is_some_and(|writes| writes.into_iter().all(is_last));
            Ok(visitor.visit(Visit::Blocked(&self.execution(for_ever, &[]))))
        }
    }

    fn watch(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        Ok(visitor.visit(Visit::Working(&self.execution(false, &[]))))
    }

    fn check(&self) -> Result<(), Error> {
        if self.trail.history.refused.get() {
            return Err(Error::Unsupported("a store that only an `if` that is over holds back".into()));
        }
        Ok(())
    }

    #[cold]
    fn prune(&mut self) {
        let Trail { now, waiting, roots, history, .. } = &mut self.trail;
        let seeds = self.seeds.iter().map(|seed| &seed.partial);
        let named = waiting.iter().chain([&*now]).chain(seeds).flat_map(tags);
        history.prune(named.chain(roots.iter().copied()));
    }

    fn overlap(&self, next: Upcoming) -> Error {
        if self.checker.architecture() == Some(Architecture::Lkmm) {
            let cell = self.trail.history.cells()[next.loc.as_usize()];
            let name = self.trail.history.interp.program().name_of(cell.location.0, cell.size);
            // `Documentation/litmus-tests.txt` of the model: "Multiple access sizes … are not supported".
            let what = "accesses of different sizes that overlap, which the kernel's model does not support";
            return Error::Unsupported(format!("{what}, at {name}"));
        }
        let before = |event: Ev| Tag(self.trail.now.links(event).before);
        mixed::error(&self.trail, before, self.checker.architecture(), next.tag, next.loc)
    }

    #[cfg(debug_assertions)]
    fn validate(&self) {
        let initial = |loc: Loc| self.trail.history.cells()[loc.as_usize()].initial;
        assert_eq!(porf_graph::validate_partial(&self.trail.now, initial), Ok(()));
    }
}

impl<'p, C: Checker> Weaver<'p, C> {
    fn graph(&self) -> &ExecutionGraph {
        &self.trail.now.graph
    }

    fn insert(&mut self, next: Upcoming) -> Ev {
        let links = self.links(next.thread, next.tag);
        self.trail.name_locations(next.loc);
        self.trail.now.insert(next.thread, next.label, next.loc, links)
    }

    /// Whether an event stands before others of its thread.
    fn is_inside(&self, event: Ev) -> bool {
        let EventId { thread, index } = self.graph().event(event).id;
        (index as usize) + 1 < self.graph().thread(thread).events().len()
    }

    /// Whether an event behind a hole is the read of a read-modify-write whose write is missing.
    fn wants_write(&self, ev: Ev) -> bool {
        let Label::Read { rmw, value, .. } = self.graph().event(ev).label else { return false };
        let wants = match rmw {
            RmwKind::Lock(_) => rmw.is_pair() && value == 0,
            RmwKind::Exclusive => false,
            _ => rmw.is_pair(),
        };
        wants && self.graph().write_of(ev).is_none()
    }

    /// Refuses a write whose prefix may hold less than it says, if a read could be revisited because of that.
    fn check_early_reads(&mut self, write: Ev) -> Result<(), Error> {
        if !self.prefix.early {
            return Ok(());
        }
        let graph = self.graph();
        let loc = graph.event(write).loc;
        let read_here = |ev: &Ev| {
            let event = graph.event(*ev);
            event.label.is_read() && event.loc == loc && *ev > self.base
        };
        let reads: Vec<Ev> = graph.all().filter(read_here).collect();
        let Weaver { prefix, trail, checker, .. } = self;
        let architecture = checker.architecture();
        if reads.into_iter().any(|read| prefix.is_doubtful(&trail.now, architecture, write, read)) {
            let what = "load buffering where a thread reads early what it wrote itself, or past a \
                        read-modify-write that compares with what is read later";
            return Err(Error::Unsupported(what.into()));
        }
        Ok(())
    }

    /// Looks at every access to allocated memory: no thread can move, and there are no holes.
    fn check_memory(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        let graph = self.graph();
        let concerned = |label: Label| match label {
            Label::Free { .. } => true,
            _ => label.access().is_some_and(|access| layout::allocation(access.location.0).is_some()),
        };
        if !self.trail.history.has_allocations() || !graph.all().any(|ev| concerned(graph.event(ev).label)) {
            return Ok(ControlFlow::Continue(()));
        }
        let Weaver { checker, trail, .. } = self;
        let (partial, history) = (&trail.now, &trail.history);
        let cells = history.cells();
        let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
        let hb = checker.happens_before(partial, &initial).map_err(diagnosed)?;
        let graph = self.graph();
        // What is on a cycle is before itself: that tells nothing, but for the order of one thread.
        let before = |a: Ev, b: Ev| match (graph.event(a).id, graph.event(b).id) {
            (a, b) if a.thread == b.thread => a.index < b.index,
            _ => hb.contains(a.as_usize(), b.as_usize()) && !hb.contains(b.as_usize(), a.as_usize()),
        };
        // Of an access and what frees its memory, the access is what is wrong.
        let is_free = |ev: &Ev| matches!(graph.event(*ev).label, Label::Free { .. });
        for event in graph.all().filter(|ev| !is_free(ev)).chain(graph.all().filter(is_free)) {
            let state_before = |event: Ev| Tag(self.trail.now.links(event).before);
            let tag = state_before(event);
            for error in memory::check(graph, event, &before) {
                if memory::is_excused(graph, &self.trail.history, &error, event, state_before) {
                    continue;
                }
                let fault = self.trail.history.fault(tag, error.kind, error.message);
                let execution = self.execution(false, &[]);
                if visitor.visit(Visit::Memory(&execution, &fault, event, error.other)).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A thread ended before events that it should have come to: that is no execution.
    fn check_holes(&self) -> Result<(), Error> {
        let graph = self.graph();
        for (at, thread) in graph.threads().iter().enumerate() {
            let settled = self.trail.now.settled(ThreadId(at as u16)) as usize;
            if settled < thread.events().len() && self.trail.history.is_finished(tag_of(graph, at)) {
                let event = graph.event(thread.events()[settled]);
                let message = format!("a dependency that is not tracked: {} is never reached", event.label);
                return Err(Error::Unsupported(message));
            }
        }
        Ok(())
    }

    fn execution<'e>(&'e self, for_ever: bool, flags: &'e [String]) -> Execution<'e, 'p> {
        Execution {
            graph: self.graph(),
            history: &self.trail.history,
            sees_co: true,
            racy: None,
            for_ever,
            flags,
        }
    }

    /// The co-last choice of an event that is last in its thread was refused: this is not a model for a
    /// search that adds one event after the other.
    fn check_extensible(&self, event: Ev) -> Result<(), Error> {
        // A later event of an access has its place by those before it.
        if self.is_inside(event) || self.trail.now.has_holes() || self.trail.now.links(event).continues {
            return Ok(());
        }
        let label = self.graph().event(event).label;
        let message = "a model that forbids a thread to go on whatever it does next";
        Err(Error::Unsupported(format!("{message} (at {label})")))
    }

    /// The read takes its value from `source`, and its thread goes on with it.
    fn read_from(&mut self, read: Ev, source: Ev) -> Result<(), Error> {
        let event = *self.graph().event(read);
        let value = self.trail.value_of(source, event.loc);
        let EventId { thread, index } = event.id;
        // Behind a hole the thread is not known, but the event is.
        let label = self.label_behind(read, value);
        self.trail.now.graph.set_rf(read, source, label, 0);
        let settled = self.trail.now.settled(thread);
        self.trail.now.settle(thread, index.min(settled));
        if index <= settled {
            self.forward(thread)?;
        }
        Ok(())
    }

    fn consistent_now(&mut self, changed: Ev) -> Result<bool, Error> {
        let Weaver { checker, trail, .. } = self;
        let cells = trail.history.cells();
        let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
        checker.consistent(&trail.now, &initial, changed).map_err(diagnosed)
    }

    /// Whether no such graph was seen before.
    fn is_new(&mut self) -> bool {
        self.visited.insert(describe(&self.trail.now))
    }
}

fn diagnosed(diagnostic: Diagnostic) -> Error {
    // What is not in a cat file has no line.
    Error::Unsupported(match diagnostic.location.line {
        0 => format!("{} under {}", diagnostic.message, diagnostic.location.file),
        _ => diagnostic.to_string(),
    })
}
