//! Frames, choices, revisits: as in [`engine`](crate::engine), on graphs with holes.

use super::choices::{is_split, places, sources};
use crate::engine::{Frame, Kind, REVISIT, WATCH};
use crate::error::Error;
use crate::history::{Created, History, Next, Ready, Tag};
use crate::known::Tracking;
use crate::memory;
use crate::prefix::Prefix;
use crate::schedule::{Schedule, join_is_ready, tag_of};
use crate::seed::{Described, Seed, Sown, describe, tags};
use crate::visit::{Execution, Statistics, Visit, Visitor};
use porf_cat::Diagnostic;
use porf_consistency::{Architecture, Checker};
use porf_event::{EventId, FenceMode, Label, RmwKind, ThreadId, Value};
use porf_graph::{CanonicalKey, Ev, ExecutionGraph, Links, Loc, Partial};
use porf_interp::{FaultKind, Interpreter};
use porf_ir::layout;
use std::collections::HashSet;
use std::ops::ControlFlow;

pub(crate) struct Weaver<'p, C> {
    pub history: History<'p>,
    pub checker: C,
    schedule: Schedule,
    pub(super) partial: Partial,
    /// Graphs that wait for the revisits that came from them.
    waiting: Vec<Partial>,
    pool: Vec<Partial>,
    frames: Vec<Frame>,
    choices: Vec<u32>,
    roots: Vec<Tag>,
    seen: bool,
    map: Vec<Ev>,
    /// Of the newest write.
    pub(super) prefix: Prefix,
    /// Graphs that revisits led to.
    visited: HashSet<Vec<Described>>,
    /// Executions that were shown.
    shown: HashSet<CanonicalKey>,
    /// Seeds that are still to be gone on from, the last one first.
    seeds: Vec<Seed>,
    /// The newest event of the present seed: nothing up to it is revisited.
    base: Ev,
    pub statistics: Statistics,
}

enum Tried {
    Applied,
    Exhausted,
    Stop,
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
        for thread in (0..interp.program().threads.len()).map(|t| ThreadId(t as u16)) {
            let tag = weaver.history.start(thread)?;
            weaver.roots.push(tag);
            weaver.partial.add_thread(thread, Ev::INIT, tag.0);
        }
        Ok(weaver)
    }

    fn with(history: History<'p>, roots: Vec<Tag>, checker: C, schedule: Schedule) -> Self {
        Weaver {
            history,
            checker,
            schedule,
            partial: Partial::default(),
            waiting: Vec::new(),
            pool: Vec::new(),
            frames: Vec::new(),
            choices: Vec::new(),
            roots,
            seen: false,
            map: Vec::new(),
            prefix: Prefix::default(),
            visited: HashSet::new(),
            shown: HashSet::new(),
            seeds: Vec::new(),
            base: Ev::INIT,
            statistics: Statistics::default(),
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
        self.choices.extend(places(&partial, write).into_iter().rev());
        // It is as a copy of an empty graph.
        self.waiting.push(Partial::default());
        self.partial = partial;
        self.seen = false;
        self.frames.push(Frame { kind: Kind::Revisit { read }, event: write, start: 0 });
        match self.try_choices(visitor)? {
            Tried::Applied => self.run(visitor),
            Tried::Stop => Ok(ControlFlow::Break(())),
            Tried::Exhausted => {
                self.leave_copy();
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Runs to the end, or until the visitor has seen enough.
    pub fn run(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.partial.graph.is_empty() && self.look_for_faults(visitor).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        loop {
            if !self.seen && self.extend(visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.history.is_large() {
                self.prune();
            }
            if self.history.refused.get() {
                return Err(Error::Unsupported("a store that only an `if` that is over holds back".into()));
            }
            self.seen = false;
            if self.frames.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            match self.go_back(visitor)? {
                Tried::Applied => {}
                Tried::Exhausted => return Ok(ControlFlow::Continue(())),
                Tried::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// Forgets the thread histories that no graph has.
    #[cold]
    fn prune(&mut self) {
        let seeds = self.seeds.iter().map(|seed| &seed.partial);
        let named = self.waiting.iter().chain([&self.partial]).chain(seeds).flat_map(tags);
        self.history.prune(named.chain(self.roots.iter().copied()));
    }

    /// Adds events, each with its first choice, until no thread can move or a choice fails.
    fn extend(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        loop {
            let Some(thread) = self.next_thread() else { return self.leaf(visitor) };
            let tag = tag_of(&self.partial.graph, thread.as_usize());
            let node = self.history.node(tag);
            let (Next::Emit(label), loc) = (&node.next, node.loc) else {
                unreachable!("a thread that can move has an event")
            };
            let label = *label;
            if loc != Loc::NONE && self.overlaps(loc) {
                let cell = self.history.cells()[loc.as_usize()];
                let name = self.history.interp.program().name_of(cell.location.0, cell.size);
                return Err(Error::Unsupported(format!(
                    "accesses of different sizes that overlap at {name}"
                )));
            }
            if self.statistics.events % WATCH == WATCH - 1
                && visitor.visit(Visit::Working(&self.execution(false, &[]))).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
            self.statistics.events += 1;
            let start = self.choices.len() as u32;
            if matches!(label, Label::Choice { .. }) && !self.history.is_certain(tag) {
                let what = "a store-conditional whose address was read".to_string();
                return Err(Error::Unsupported(what));
            }
            let links = self.links(thread, tag);
            let kind = match label {
                Label::Read { .. } => {
                    let event = self.insert(thread, label, loc, links);
                    self.choices.extend(sources(&self.partial, event).into_iter().rev().map(|ev| ev.0));
                    Kind::Read
                }
                Label::Write { .. } => {
                    let event = self.insert(thread, label, loc, links);
                    self.forward(thread)?;
                    if self.checker.architecture() == Some(Architecture::Armv8)
                        && is_split(&self.partial.graph, event)
                    {
                        let what =
                            "a store between a load-linked and its store-conditional, to the same address";
                        return Err(Error::Unsupported(what.into()));
                    }
                    self.find_revisits(event)?;
                    self.choices.extend(places(&self.partial, event).into_iter().rev());
                    Kind::Write
                }
                Label::Choice { options, .. } => {
                    self.insert(thread, label, loc, links);
                    self.choices.extend((0..options).rev());
                    Kind::Choice
                }
                Label::Create { .. } => {
                    let index = self.partial.settled(thread);
                    let child = self.history.created_id(thread, index)?;
                    let root = self.history.created(tag, child)?;
                    let event = self.insert(thread, Label::Create { child }, loc, links);
                    self.forward(thread)?;
                    self.partial.add_thread(child, event, root.0);
                    if self.look_for_faults(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                _ => {
                    let event = self.insert(thread, label, loc, links);
                    self.forward(thread)?;
                    // A fence may order what is behind a hole; the end of a critical section what is before it.
                    let ends_section = matches!(label, Label::Fence { mode: FenceMode::RcuUnlock, .. });
                    if matches!(label, Label::Fence { .. })
                        && (self.is_inside(event) || ends_section)
                        && !self.consistent_now(event)?
                    {
                        return Ok(ControlFlow::Continue(()));
                    }
                    if self.look_for_faults(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
            };
            self.frames.push(Frame { kind, event: self.partial.graph.newest(), start });
            match self.try_choices(visitor)? {
                Tried::Applied => {}
                Tried::Exhausted => return Ok(ControlFlow::Continue(())),
                Tried::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    pub(super) fn insert(&mut self, thread: ThreadId, label: Label, loc: Loc, links: Links) -> Ev {
        if loc != Loc::NONE {
            for known in self.partial.graph.location_count()..=loc.as_usize() {
                let location = self.history.cells()[known].location;
                self.partial.name_location(Loc(known as u32), location);
            }
        }
        self.partial.insert(thread, label, loc, links)
    }

    /// Whether an event stands before others of its thread.
    fn is_inside(&self, event: Ev) -> bool {
        let EventId { thread, index } = self.partial.graph.event(event).id;
        (index as usize) + 1 < self.partial.graph.thread(thread).events().len()
    }

    /// Whether the graph has an access that overlaps the cell `loc` in part.
    fn overlaps(&self, loc: Loc) -> bool {
        let graph = &self.partial.graph;
        self.history.overlapping(loc).iter().any(|&other| {
            other.as_usize() < graph.location_count()
                && (!graph.co(other).is_empty() || graph.readers(Ev::INIT, other).next().is_some())
        })
    }

    /// Which thread goes next: one that is inside an instruction of several events (the one whose read is
    /// newest), or the scheduled one.
    fn next_thread(&self) -> Option<ThreadId> {
        let graph = &self.partial.graph;
        let mut pending: Option<(Ev, ThreadId)> = None;
        for at in 0..graph.threads().len() {
            let thread = ThreadId(at as u16);
            let tag = tag_of(graph, at);
            if tag.ready() == Ready::No
                || (tag.ready() == Ready::Join && !join_is_ready(graph, &self.history, tag))
            {
                continue;
            }
            let settled = self.partial.settled(thread) as usize;
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
            None => self.schedule.next(graph, &self.history, true),
        }
    }

    /// Whether an event behind a hole is the read of a read-modify-write whose write is missing.
    fn wants_write(&self, ev: Ev) -> bool {
        let Label::Read { rmw, value, .. } = self.partial.graph.event(ev).label else { return false };
        let wants = match rmw {
            RmwKind::Lock(_) => rmw.is_pair() && value == 0,
            RmwKind::Exclusive => false,
            _ => rmw.is_pair(),
        };
        wants && self.partial.graph.write_of(ev).is_none()
    }

    /// No thread can move.
    fn leaf(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        #[cfg(debug_assertions)]
        self.validate();
        self.seen = true;
        if self.partial.has_holes() {
            return self.check_holes().map(|()| ControlFlow::Continue(()));
        }
        if !self.shown.insert(CanonicalKey::of(&self.partial.graph, true)) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.check_memory(visitor)?.is_break() || self.look_for_faults(visitor).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let graph = &self.partial.graph;
        let complete = (0..graph.threads().len())
            .all(|at| !graph.threads()[at].is_started() || self.history.is_finished(tag_of(graph, at)));
        if let Some((a, b)) = self.checker.race(&self.partial).map_err(diagnosed)?
            && visitor.visit(Visit::Race(&self.execution(false, &[]), a, b)).is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        let cells = self.history.cells();
        let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
        if complete {
            self.statistics.executions += 1;
            let flags = self.checker.flags(&self.partial, &initial).map_err(diagnosed)?;
            Ok(visitor.visit(Visit::Complete(&self.execution(false, &flags))))
        } else {
            self.statistics.blocked += 1;
            let newest = |read: Ev| graph.co_max(graph.event(read).loc) == graph.rf(read);
            let awaited = self.execution(true, &[]).awaited();
            let for_ever = awaited.is_some_and(|reads| reads.into_iter().all(newest));
            Ok(visitor.visit(Visit::Blocked(&self.execution(for_ever, &[]))))
        }
    }

    /// Looks at every access to allocated memory: no thread can move, and there are no holes.
    fn check_memory(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        let graph = &self.partial.graph;
        let concerned = |label: Label| match label {
            Label::Free { .. } => true,
            _ => label.access().is_some_and(|access| layout::allocation(access.location.0).is_some()),
        };
        if !self.history.has_allocations() || !graph.all().any(|ev| concerned(graph.event(ev).label)) {
            return Ok(ControlFlow::Continue(()));
        }
        let Weaver { checker, partial, history, .. } = self;
        let cells = history.cells();
        let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
        let hb = checker.happens_before(partial, &initial).map_err(diagnosed)?;
        let graph = &self.partial.graph;
        // What is on a cycle is before itself: that tells nothing, but for the order of one thread.
        let before = |a: Ev, b: Ev| match (graph.event(a).id, graph.event(b).id) {
            (a, b) if a.thread == b.thread => a.index < b.index,
            _ => hb.contains(a.as_usize(), b.as_usize()) && !hb.contains(b.as_usize(), a.as_usize()),
        };
        // Of an access and what frees its memory, the access is what is wrong.
        let is_free = |ev: &Ev| matches!(graph.event(*ev).label, Label::Free { .. });
        for event in graph.all().filter(|ev| !is_free(ev)).chain(graph.all().filter(is_free)) {
            let tag = Tag(self.partial.links(event).before);
            if let Some(error) = memory::check(graph, event, &before)
                && !(error.kind == FaultKind::Uninitialised && self.history.only_moves(tag))
            {
                let fault = self.history.fault(tag, error.kind, error.message);
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
        let graph = &self.partial.graph;
        for (at, thread) in graph.threads().iter().enumerate() {
            let settled = self.partial.settled(ThreadId(at as u16)) as usize;
            if settled < thread.events().len() && self.history.is_finished(tag_of(graph, at)) {
                let event = graph.event(thread.events()[settled]);
                let message = format!("a dependency that is not tracked: {} is never reached", event.label);
                return Err(Error::Unsupported(message));
            }
        }
        Ok(())
    }

    fn execution<'e>(&'e self, for_ever: bool, flags: &'e [String]) -> Execution<'e, 'p> {
        Execution {
            graph: &self.partial.graph,
            history: &self.history,
            sees_co: true,
            racy: None,
            for_ever,
            flags,
        }
    }

    /// Undoes events down to the last one with an untried choice and tries that.
    fn go_back(&mut self, visitor: &mut impl Visitor) -> Result<Tried, Error> {
        loop {
            let Some(&frame) = self.frames.last() else { return Ok(Tried::Exhausted) };
            while self.partial.graph.newest() > frame.event {
                self.partial.remove_last();
            }
            match self.try_choices(visitor)? {
                Tried::Exhausted => {}
                tried => return Ok(tried),
            }
            if let Kind::Revisit { .. } = frame.kind {
                self.leave_copy();
            } else {
                self.frames.pop();
                self.partial.remove_last();
            }
        }
    }

    /// Returns from a copy, whose frame is the last, to the graph it came from.
    fn leave_copy(&mut self) {
        self.frames.pop();
        let parent = self.waiting.pop().unwrap_or_else(|| unreachable!("a copy has a parent"));
        self.pool.push(std::mem::replace(&mut self.partial, parent));
    }

    /// Takes choices of the top frame until one gives a consistent graph.
    fn try_choices(&mut self, visitor: &mut impl Visitor) -> Result<Tried, Error> {
        let frame = *self.frames.last().unwrap_or_else(|| unreachable!("called with a frame"));
        while self.choices.len() as u32 > frame.start {
            let choice = self.choices.pop().unwrap_or_else(|| unreachable!("there is one"));
            let consistent = match frame.kind {
                Kind::Read => {
                    let consistent = self.choose(frame.event, choice)?;
                    let graph = &self.partial.graph;
                    if !consistent && graph.co_max(graph.event(frame.event).loc) == Ev(choice) {
                        self.check_extensible(frame.event)?;
                    }
                    consistent
                }
                Kind::Choice => self.choose(frame.event, choice)?,
                Kind::Write if choice & REVISIT != 0 => {
                    self.unplace(frame.event);
                    if self.revisit(frame.event, Ev(choice & !REVISIT)) {
                        match self.try_choices(visitor)? {
                            Tried::Exhausted => self.leave_copy(),
                            tried => return Ok(tried),
                        }
                    }
                    false
                }
                Kind::Write => {
                    let consistent = self.choose(frame.event, choice)?;
                    let event = self.partial.graph.event(frame.event);
                    if !consistent
                        && !event.pair.is_some()
                        && choice as usize == self.partial.graph.co(event.loc).len()
                    {
                        self.check_extensible(frame.event)?;
                    }
                    consistent
                }
                Kind::Revisit { read } => {
                    self.unplace(frame.event);
                    self.partial.graph.place(frame.event, choice);
                    self.read_from(read, frame.event)?;
                    self.consistent_now(frame.event)? && self.is_new()
                }
            };
            if consistent {
                #[cfg(debug_assertions)]
                self.validate();
                return Ok(match self.look_for_faults(visitor) {
                    ControlFlow::Continue(()) => Tried::Applied,
                    ControlFlow::Break(()) => Tried::Stop,
                });
            }
        }
        Ok(Tried::Exhausted)
    }

    /// The co-last choice of an event that is last in its thread was refused: this is not a model for a
    /// search that adds one event after the other.
    fn check_extensible(&self, event: Ev) -> Result<(), Error> {
        if self.is_inside(event) || self.partial.has_holes() {
            return Ok(());
        }
        let label = self.partial.graph.event(event).label;
        let message = "a model that forbids a thread to go on whatever it does next";
        Err(Error::Unsupported(format!("{message} (at {label})")))
    }

    pub(super) fn unplace(&mut self, write: Ev) {
        if self.partial.graph.event(write).co != ExecutionGraph::UNPLACED {
            self.partial.graph.unplace(write);
        }
    }

    /// The read takes its value from `source`, and its thread goes on with it.
    pub(super) fn read_from(&mut self, read: Ev, source: Ev) -> Result<(), Error> {
        let event = *self.partial.graph.event(read);
        let value = self.value_of(source, event.loc);
        let EventId { thread, index } = event.id;
        // Behind a hole the thread is not known, but the event is.
        let label = self.label_behind(read, value);
        self.partial.graph.set_rf(read, source, label, 0);
        let settled = self.partial.settled(thread);
        self.partial.settle(thread, index.min(settled));
        if index <= settled {
            self.forward(thread)?;
        }
        Ok(())
    }

    fn value_of(&self, write: Ev, loc: Loc) -> Value {
        match self.partial.graph.event(write).label {
            Label::Write { value, .. } => value,
            _ => self.history.cells()[loc.as_usize()].initial,
        }
    }

    pub(super) fn consistent_now(&mut self, changed: Ev) -> Result<bool, Error> {
        let Weaver { checker, partial, history, .. } = self;
        let cells = history.cells();
        let initial = |loc: Loc| (cells[loc.as_usize()].size, cells[loc.as_usize()].initial);
        checker.consistent(partial, &initial, changed).map_err(diagnosed)
    }

    /// Collects the reads that the new write may revisit.
    fn find_revisits(&mut self, write: Ev) -> Result<(), Error> {
        self.prefix.mark(&self.partial, self.checker.architecture(), write);
        let loc = self.partial.graph.event(write).loc;
        if self.prefix.early {
            let read_here = |ev: &Ev| {
                let event = self.partial.graph.event(*ev);
                event.label.is_read() && event.loc == loc && *ev > self.base
            };
            let reads: Vec<Ev> = self.partial.graph.all().filter(read_here).collect();
            let Weaver { prefix, partial, checker, .. } = self;
            let architecture = checker.architecture();
            if reads.into_iter().any(|read| prefix.is_doubtful(partial, architecture, write, read)) {
                let what = "load buffering where a thread reads early what it wrote itself, or past a \
                            read-modify-write that compares with what is read later";
                return Err(Error::Unsupported(what.into()));
            }
        }
        let start = self.choices.len();
        // The oldest event that would lose its source, or the other half of its instruction.
        let mut oldest = Ev::NONE;
        for a in self.partial.graph.all().rev().skip(1).take_while(|&a| a > self.base) {
            if self.prefix.below[a.as_usize()] {
                continue;
            }
            let event = self.partial.graph.event(a);
            if event.label.is_read() && event.loc == loc && oldest >= a {
                self.choices.push(a.0 | REVISIT);
            }
            if event.revisited.is_some() && self.partial.graph.rf(event.revisited) == a {
                oldest = oldest.min(event.revisited);
            }
            if event.pair.is_some() && event.label.rmw() != RmwKind::Exclusive {
                oldest = oldest.min(event.pair);
            }
        }
        if self.prefix.split && self.choices.len() > start {
            let what = "load buffering past a read-modify-write that depends on what comes later";
            return Err(Error::Unsupported(what.into()));
        }
        Ok(())
    }

    /// Whether no such graph was seen before.
    fn is_new(&mut self) -> bool {
        self.visited.insert(describe(&self.partial))
    }

    /// Makes the copy in which `read` reads from `write`, on top of the present graph, with a frame
    /// for the places of the write. Whether there is one.
    fn revisit(&mut self, write: Ev, read: Ev) -> bool {
        // Other writes have come and gone since the revisits were collected.
        self.prefix.mark(&self.partial, self.checker.architecture(), write);
        let mut copy = self.pool.pop().unwrap_or_default();
        let below = &self.prefix.below;
        let keep = |ev: Ev| ev <= read || ev == write || below[ev.as_usize()];
        self.partial.restrict_into(keep, read, &mut copy, &mut self.map);
        let (new_write, new_read) = (self.map[write.as_usize()], self.map[read.as_usize()]);
        copy.graph.set_revisited(new_write, new_read);
        let start = self.choices.len() as u32;
        self.choices.extend(places(&copy, new_write).into_iter().rev());
        self.waiting.push(std::mem::replace(&mut self.partial, copy));
        self.statistics.revisits += 1;
        self.frames.push(Frame { kind: Kind::Revisit { read: new_read }, event: new_write, start });
        true
    }

    /// Reports what threads did wrong, unless some events are only believed in.
    fn look_for_faults(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let graph = &self.partial.graph;
        let faulty = |at: usize| {
            let tag = tag_of(graph, at);
            graph.threads()[at].is_started()
                && tag.ready() == Ready::No
                && matches!(self.history.node(tag).next, Next::Fault(_))
        };
        let Some(at) = (0..graph.threads().len()).find(|&at| faulty(at)) else {
            return ControlFlow::Continue(());
        };
        if self.partial.has_holes() {
            return ControlFlow::Continue(());
        }
        let Next::Fault(fault) = &self.history.node(tag_of(graph, at)).next else { unreachable!("found") };
        visitor.visit(Visit::Fault(&self.execution(false, &[]), fault))
    }

    #[cfg(debug_assertions)]
    fn validate(&self) {
        let initial = |loc: Loc| self.history.cells()[loc.as_usize()].initial;
        assert_eq!(porf_graph::validate_partial(&self.partial, initial), Ok(()));
    }
}

fn diagnosed(diagnostic: Diagnostic) -> Error {
    // What is not in a cat file has no line.
    Error::Unsupported(match diagnostic.line {
        0 => format!("{} under {}", diagnostic.message, diagnostic.file),
        _ => diagnostic.to_string(),
    })
}
