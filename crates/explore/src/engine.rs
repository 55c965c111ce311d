//! The search: every consistent execution graph exactly once, in linear memory.
//!
//! Source: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial
//! order reduction", POPL 2022. A graph grows by the next event of the scheduled thread. A read tries
//! every source there is; a write, besides every place in co, *revisits* older reads that are not in
//! its prefix: the events that came after the read and are not needed by the write are thrown away
//! and the read takes its value from the write. A revisit is made only from the one graph in which
//! everything that is thrown away had been chosen canonically, so that no graph is reached twice.
//!
//! Instead of recursing, the search keeps a stack of [`Frame`]s, each an event with its untried
//! choices. Going back undoes the newest events; a revisit works on a copy in pooled memory, and the
//! graph it came from waits on a stack. Nothing is allocated in the steady state.
//!
//! Deviations from the paper: RMWs are two events and may conflict until the second one is placed
//! (`canonical` and `places` see to that); the canonical choice is the model's.

use crate::Options;
use crate::buffering::{Detector, Live, tag_before};
use crate::error::Error;
use crate::estimate::Descent;
use crate::history::{Created, History, Next, Tag};
use crate::known::Tracking;
use crate::memory;
use crate::mixed;
use crate::schedule::{Schedule, tag_of};
use crate::seed::Sown;
use crate::visit::{Execution, Statistics, Visit, Visitor};
use porf_consistency::{Architecture, HappensBefore, MemoryModel, race};
use porf_event::{BlockReason, Label, ThreadId, Value};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_interp::{FaultKind, Interpreter};
use porf_ir::Program;
use std::ops::ControlFlow;

pub(crate) struct Engine<'p, M: MemoryModel> {
    pub history: History<'p>,
    model: M,
    schedule: Schedule,
    /// The graph that is being extended.
    pub graph: ExecutionGraph,
    /// Graphs that wait for the revisits that came from them.
    pub waiting: Vec<ExecutionGraph>,
    pool: Vec<ExecutionGraph>,
    pub frames: Vec<Frame>,
    /// Untried choices of all frames.
    pub choices: Vec<u32>,
    /// The threads that run from the start.
    roots: Vec<Tag>,
    /// There is nothing to extend: the next thing is to go back.
    pub seen: bool,
    map: Vec<Ev>,
    /// Blocked executions are shown even if they tell nothing.
    pub all_blocked: bool,
    /// Follow one choice at random instead of all.
    pub descent: Option<Descent>,
    /// Whether there are executions that this search does not build.
    pub detector: Detector<M>,
    pub statistics: Statistics,
}

/// An event of a graph with choices that have not been tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub kind: Kind,
    pub event: Ev,
    /// Where its choices begin; they are taken from the end.
    pub start: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sources of a read.
    Read,
    /// Values of a choice.
    Choice,
    /// Places of a write, above the reads it may revisit (which have [`REVISIT`] set).
    Write,
    /// Places of the write that made this copy, and the read that it revisits.
    Revisit { read: Ev },
}

/// Marks a choice of a write that is a read to revisit, not a place.
pub(crate) const REVISIT: u32 = 1 << 31;

/// Events between two looks at the clock.
pub(crate) const WATCH: u64 = 4096;

/// Events of an execution before the search gives up on it.
const LONGEST: Ev = Ev(1 << 15);

impl<'p, M: MemoryModel + Default> Engine<'p, M> {
    pub fn new(program: &'p Program, options: &Options, created: Created) -> Result<Self, Error> {
        let interp = Interpreter::new(program).unroll(options.unroll);
        let tracking = match M::ARCHITECTURE {
            None => Tracking::Never,
            // Its checker hardly ever needs them.
            Some(Architecture::Imm) => Tracking::Asked,
            Some(_) => Tracking::Always,
        };
        let mut engine = Engine {
            history: History::new(interp, tracking, created, options.memory),
            model: options.model(),
            schedule: options.schedule,
            graph: ExecutionGraph::new(M::Hb::CLOCKS),
            waiting: Vec::new(),
            pool: Vec::new(),
            frames: Vec::new(),
            choices: Vec::new(),
            roots: Vec::new(),
            seen: false,
            map: Vec::new(),
            all_blocked: options.all_blocked,
            descent: None,
            detector: Detector::new(),
            statistics: Statistics::default(),
        };
        for thread in (0..interp.program().threads.len()).map(|t| ThreadId(t as u16)) {
            let tag = engine.history.start(thread)?;
            engine.roots.push(tag);
        }
        engine.reset_graph();
        Ok(engine)
    }
}

impl<'p, M: MemoryModel> Engine<'p, M> {
    /// Begins again.
    pub fn forget(&mut self) {
        self.frames.clear();
        self.choices.clear();
        self.waiting.clear();
        self.seen = false;
        self.reset_graph();
    }

    /// What is left for the search with dependency prefixes.
    pub fn sown(self) -> Sown<'p> {
        Sown { seeds: self.detector.seeds.list, history: self.history, roots: self.roots }
    }

    /// Makes the graph the empty one.
    pub fn reset_graph(&mut self) {
        self.graph = ExecutionGraph::new(M::Hb::CLOCKS);
        for (thread, tag) in self.roots.iter().enumerate() {
            self.graph.add_thread(ThreadId(thread as u16), Ev::INIT, tag.0);
        }
    }

    /// Runs to the end, or until the visitor has seen enough; then it can be run on.
    pub fn run(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.graph.is_empty() && self.frames.is_empty() && !self.seen {
            for at in 0..self.graph.threads().len() {
                if self.look_for_fault(tag_of(&self.graph, at), visitor).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        loop {
            if !self.seen && self.extend(visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.history.is_large() {
                self.prune();
            }
            if self.model.gave_up() {
                return Err(Error::Undecided);
            }
            self.seen = false;
            match self.go_back(visitor)? {
                Back::Next => {}
                Back::Done => return Ok(ControlFlow::Continue(())),
                Back::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// Forgets the thread histories that no graph has.
    #[cold]
    fn prune(&mut self) {
        let graphs = self.waiting.iter().chain([&self.graph]);
        let tags = graphs.flat_map(|graph| graph.all().map(|event| Tag(graph.event(event).tag)));
        self.history.prune(tags.chain(self.roots.iter().copied()).chain(self.detector.seeds.tags()));
    }

    /// Adds events, each with its first choice, until no thread can move or a choice fails.
    fn extend(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        loop {
            let Some(thread) = self.schedule.next(&self.graph, &self.history, M::SEES_CO) else {
                return Ok(self.leaf(visitor));
            };
            let tag = tag_of(&self.graph, thread.as_usize());
            let node = self.history.node(tag);
            let (Next::Emit(label), loc) = (&node.next, node.loc) else {
                unreachable!("a thread that can move has an event")
            };
            let label = *label;
            if loc != Loc::NONE && self.overlaps(loc) {
                return Err(mixed::error(self, tag, loc));
            }
            if self.statistics.events % WATCH == WATCH - 1 && self.watch(visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.statistics.events += 1;
            let start = self.choices.len() as u32;
            let kind = match label {
                Label::Read { .. } => {
                    let event = self.add_event(thread, label, loc, tag);
                    let live = Live { graph: &self.graph, history: &self.history };
                    self.model.sources(&live, event, &mut self.choices);
                    Kind::Read
                }
                Label::Write { .. } => {
                    let after = self.history.child(tag, 0)?;
                    let event = self.add_event(thread, label, loc, after);
                    let live = Live { graph: &self.graph, history: &self.history };
                    let Statistics { executions, blocked, .. } = self.statistics;
                    self.detector.look(&live, event, executions + blocked);
                    self.find_revisits(event);
                    let live = Live { graph: &self.graph, history: &self.history };
                    self.model.places(&live, event, &mut self.choices);
                    Kind::Write
                }
                Label::Choice { options, .. } => {
                    // A store-conditional whose address was read: what depends on it is not known if it fails.
                    self.detector.found |= M::ARCHITECTURE.is_some() && !self.history.is_certain(tag);
                    self.add_event(thread, label, loc, tag);
                    self.choices.extend((0..options).rev());
                    Kind::Choice
                }
                Label::Create { .. } => {
                    let root = self.add_create(thread, tag)?;
                    // The new thread may be wrong before its first event.
                    if self.look_for_fault(root, visitor).is_break() || self.arrived(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                _ => {
                    let after = self.history.child(tag, 0)?;
                    self.add_event(thread, label, loc, after);
                    if self.arrived(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
            };
            if let Some(descent) = &mut self.descent {
                descent.choose(&mut self.choices, start as usize);
            }
            self.frames.push(Frame { kind, event: self.graph.newest(), start });
            match self.try_choices(visitor)? {
                Tried::Applied => {}
                Tried::Exhausted => return Ok(ControlFlow::Continue(())),
                Tried::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// Now and then: is there still time, and does the execution come to an end?
    #[cold]
    fn watch(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.graph.newest() > LONGEST {
            return Err(Error::Limit(format!(
                "an execution of more than {} events (does a loop end?)",
                LONGEST.0
            )));
        }
        Ok(visitor.visit(Visit::Working(&self.execution(false))))
    }

    /// Whether the graph has an access that overlaps the cell `loc` in part.
    fn overlaps(&self, loc: Loc) -> bool {
        self.history.overlapping(loc).iter().any(|&other| self.is_used(other))
    }

    /// Whether the graph has an access to a cell.
    pub fn is_used(&self, loc: Loc) -> bool {
        loc.as_usize() < self.graph.location_count()
            && (!self.graph.co(loc).is_empty() || self.graph.readers(Ev::INIT, loc).next().is_some())
    }

    fn add_event(&mut self, thread: ThreadId, label: Label, loc: Loc, tag: Tag) -> Ev {
        let event = self.add_without_clocks(thread, label, loc, tag);
        if !label.is_read() {
            M::Hb::update(&mut self.graph, event);
        }
        event
    }

    pub fn add_without_clocks(&mut self, thread: ThreadId, label: Label, loc: Loc, tag: Tag) -> Ev {
        if loc != Loc::NONE && loc.as_usize() >= self.graph.location_count() {
            for known in self.graph.location_count()..=loc.as_usize() {
                self.graph.name_location(Loc(known as u32), self.history.cells()[known].location);
            }
        }
        self.graph.add(thread, label, loc, tag.0)
    }

    pub fn add_create(&mut self, thread: ThreadId, tag: Tag) -> Result<Tag, Error> {
        let index = self.graph.thread(thread).events().len() as u32;
        let child = self.history.created_id(thread, index)?;
        let root = self.history.created(tag, child)?;
        let after = self.history.child(tag, Value::from(child.0))?;
        let event = self.add_event(thread, Label::Create { child }, Loc::NONE, after);
        self.graph.add_thread(child, event, root.0);
        Ok(root)
    }

    /// What is wrong in the present graph, in the end or because of its newest event.
    pub fn look_around(&mut self, visitor: &mut impl Visitor) {
        let _ = self.arrived(visitor);
        for at in 0..self.graph.threads().len() {
            let _ = self.look_for_fault(tag_of(&self.graph, at), visitor);
        }
        if self.schedule.next(&self.graph, &self.history, M::SEES_CO).is_none() {
            let _ = self.leaf(visitor);
        }
    }

    /// No thread can move.
    fn leaf(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        #[cfg(debug_assertions)]
        self.validate();
        self.seen = true;
        let complete = (0..self.graph.threads().len()).all(|at| {
            !self.graph.threads()[at].is_started() || self.history.is_finished(tag_of(&self.graph, at))
        });
        if complete {
            self.statistics.executions += 1;
            visitor.visit(Visit::Complete(&self.execution(false)))
        } else {
            self.statistics.blocked += 1;
            let for_ever = self.waits_for_ever();
            visitor.visit(Visit::Blocked(&self.execution(for_ever)))
        }
    }

    fn execution(&self, for_ever: bool) -> Execution<'_, 'p> {
        let racy = M::Hb::RACES.then_some(M::Hb::HB);
        Execution {
            graph: &self.graph,
            history: &self.history,
            sees_co: M::SEES_CO,
            racy,
            for_ever,
            flags: &[],
        }
    }

    /// Whether all that waiting threads have read can be the last write of its location, at once.
    fn waits_for_ever(&mut self) -> bool {
        let mut last = Vec::new();
        let Some(reads) = self.execution(true).awaited() else { return false };
        last.extend(reads.into_iter().map(|read| (self.graph.event(read).loc, self.graph.rf(read))));
        self.model.may_all_be_last(&self.graph, &last)
    }

    /// Undoes events down to the last one with an untried choice and tries that.
    fn go_back(&mut self, visitor: &mut impl Visitor) -> Result<Back, Error> {
        loop {
            let Some(&frame) = self.frames.last() else { return Ok(Back::Done) };
            while self.graph.newest() > frame.event {
                self.graph.remove_last();
            }
            match self.try_choices(visitor)? {
                Tried::Applied => return Ok(Back::Next),
                Tried::Stop => return Ok(Back::Stop),
                Tried::Exhausted => {}
            }
            if let Kind::Revisit { .. } = frame.kind {
                self.leave_copy();
            } else {
                self.frames.pop();
                self.graph.remove_last();
            }
        }
    }

    /// Returns from a copy, whose frame is the last, to the graph it came from.
    fn leave_copy(&mut self) {
        self.frames.pop();
        let parent = self.waiting.pop().unwrap_or_else(|| unreachable!("a copy has a parent"));
        self.pool.push(std::mem::replace(&mut self.graph, parent));
    }

    /// Takes choices of the top frame until one gives a consistent graph.
    fn try_choices(&mut self, visitor: &mut impl Visitor) -> Result<Tried, Error> {
        let frame = *self.frames.last().unwrap_or_else(|| unreachable!("called with a frame"));
        while self.choices.len() as u32 > frame.start {
            let choice = self.choices.pop().unwrap_or_else(|| unreachable!("there is one"));
            let consistent = match frame.kind {
                Kind::Read => {
                    self.read_from(frame.event, Ev(choice))?;
                    self.allows(frame.event)
                }
                Kind::Choice => {
                    let before = self.tag_before(frame.event);
                    let after = self.history.child(before, Value::from(choice))?;
                    let label = self.history.node(after).label;
                    self.graph.set_label(frame.event, label, after.0);
                    true
                }
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
                    self.unplace(frame.event);
                    self.graph.place(frame.event, choice);
                    self.allows(frame.event)
                }
                Kind::Revisit { read } => {
                    if self.graph.rf(read).is_some() {
                        self.forget_source(read);
                    }
                    self.unplace(frame.event);
                    self.graph.place(frame.event, choice);
                    self.allows(frame.event) && self.admits(read, frame.event) && {
                        self.read_from(read, frame.event)?;
                        self.allows(read)
                    }
                }
            };
            if consistent {
                #[cfg(debug_assertions)]
                self.validate();
                if self.arrived(visitor).is_break() {
                    return Ok(Tried::Stop);
                }
                if frame.kind != Kind::Read || !self.is_hopeless(frame.event)? {
                    return Ok(Tried::Applied);
                }
            }
        }
        Ok(Tried::Exhausted)
    }

    /// Whether a new read blocks its thread, at once or after fences, and can never be revisited, because it
    /// did not take the co-last write. All that follows would be blocked. Nothing depends on the read: what
    /// else goes wrong there goes wrong too where it takes the co-last write; and for ever waits only who has
    /// seen that.
    #[inline]
    fn is_hopeless(&mut self, read: Ev) -> Result<bool, Error> {
        let event = self.graph.event(read);
        if !M::SEES_CO || self.all_blocked || event.rf == self.graph.co_max(event.loc) {
            return Ok(false);
        }
        let mut tag = Tag(event.tag);
        while let Next::Emit(Label::Fence { .. }) = self.history.node(tag).next {
            tag = self.history.child(tag, 0)?;
        }
        let blocks = matches!(
            self.history.node(tag).next,
            Next::Blocked(BlockReason::Assume | BlockReason::Spin | BlockReason::Lock)
        );
        Ok(blocks && tag.ready() == crate::history::Ready::No)
    }

    #[inline]
    fn allows(&mut self, event: Ev) -> bool {
        let live = Live { graph: &self.graph, history: &self.history };
        let consistent = self.model.allows(&live, event);
        self.model.arrange(&mut self.graph);
        consistent
    }

    #[inline]
    fn admits(&mut self, read: Ev, write: Ev) -> bool {
        let live = Live { graph: &self.graph, history: &self.history };
        self.model.admits(&live, read, write)
    }

    fn unplace(&mut self, write: Ev) {
        if self.graph.event(write).co != ExecutionGraph::UNPLACED {
            self.graph.unplace(write);
        }
    }

    fn read_from(&mut self, read: Ev, source: Ev) -> Result<(), Error> {
        let before = self.tag_before(read);
        let value = self.value_of(source, self.graph.event(read).loc);
        let after = self.history.child(before, value)?;
        let label = self.history.node(after).label;
        self.graph.set_rf(read, source, label, after.0);
        M::Hb::update(&mut self.graph, read);
        Ok(())
    }

    /// The state of the thread just before an event.
    pub fn tag_before(&self, event: Ev) -> Tag {
        tag_before(&self.graph, event)
    }

    /// Makes a read as it was before its source was known.
    fn forget_source(&mut self, read: Ev) {
        let Next::Emit(label) = self.history.node(self.tag_before(read)).next else {
            unreachable!("it was emitted")
        };
        self.graph.forget_rf(read, label);
    }

    fn value_of(&self, write: Ev, loc: Loc) -> Value {
        match self.graph.event(write).label {
            Label::Write { value, .. } => value,
            _ => self.history.cells()[loc.as_usize()].initial,
        }
    }

    /// Collects the reads that the new write may revisit: from the newest event back, as long as all
    /// that would be thrown away was chosen canonically.
    fn find_revisits(&mut self, write: Ev) {
        let graph = &self.graph;
        let loc = graph.event(write).loc;
        // The oldest read that reads from something thrown away.
        let mut oldest_reader = Ev::NONE;
        let limit = self.rival(write);
        for a in graph.all().rev().skip(1) {
            if graph.in_prefix(a, write) {
                continue;
            }
            if !self.model.canonical(graph, a, write) {
                break;
            }
            let event = graph.event(a);
            if event.label.is_read() && event.loc == loc && oldest_reader >= a && a < limit {
                self.choices.push(a.0 | REVISIT);
            }
            if event.revisited.is_some() && graph.rf(event.revisited) == a {
                oldest_reader = oldest_reader.min(event.revisited);
            }
        }
    }

    /// If another read-modify-write has the same source, only a revisit that throws its write away can
    /// be consistent: that write, or a bound that is none.
    fn rival(&self, write: Ev) -> Ev {
        let pair = self.graph.event(write).pair;
        if !pair.is_some() || self.is_split(write, pair) {
            return Ev::NONE;
        }
        let source = self.graph.rf(pair);
        let loc = self.graph.event(write).loc;
        let rival = |&&other: &&Ev| {
            let pair = self.graph.event(other).pair;
            pair.is_some() && self.graph.rf(pair) == source
        };
        if M::SEES_CO {
            let next = self.graph.co(loc).get(self.graph.event(source).co as usize);
            next.filter(rival).copied().unwrap_or(Ev::NONE)
        } else {
            self.graph.co(loc).iter().find(rival).copied().unwrap_or(Ev::NONE)
        }
    }

    /// Whether the thread itself writes between the halves of a read-modify-write: then others may, on some
    /// machines.
    fn is_split(&self, write: Ev, read: Ev) -> bool {
        let (from, to) = (self.graph.event(read).id.index, self.graph.event(write).id);
        let between = &self.graph.thread(to.thread).events()[from as usize + 1..to.index as usize];
        let loc = self.graph.event(write).loc;
        between.iter().any(|&ev| self.graph.event(ev).label.is_write() && self.graph.event(ev).loc == loc)
    }

    /// Makes the copy in which `read` reads from `write`, on top of the present graph, with a frame
    /// for the places of the write. Whether there is one.
    fn revisit(&mut self, write: Ev, read: Ev) -> bool {
        let mut copy = self.pool.pop().unwrap_or_else(|| ExecutionGraph::new(M::Hb::CLOCKS));
        self.graph.revisit_into(read, write, &mut copy, &mut self.map);
        let (new_write, new_read) = (self.map[write.as_usize()], self.map[read.as_usize()]);
        let start = self.choices.len() as u32;
        copy.set_revisited(new_write, new_read);
        self.waiting.push(std::mem::replace(&mut self.graph, copy));
        self.forget_source(new_read);
        let live = Live { graph: &self.graph, history: &self.history };
        self.model.places(&live, new_write, &mut self.choices);
        if self.choices.len() as u32 == start {
            let parent = self.waiting.pop().unwrap_or_else(|| unreachable!("just pushed"));
            self.pool.push(std::mem::replace(&mut self.graph, parent));
            return false;
        }
        if let Some(descent) = &mut self.descent {
            descent.choose(&mut self.choices, start as usize);
        }
        self.statistics.revisits += 1;
        self.frames.push(Frame { kind: Kind::Revisit { read: new_read }, event: new_write, start });
        true
    }

    /// A consistent graph was reached: does something go wrong in it?
    #[inline]
    fn arrived(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let newest = self.graph.newest();
        let read = match self.frames.last() {
            Some(Frame { kind: Kind::Revisit { read }, event, .. }) if *event == newest => *read,
            _ => Ev::NONE,
        };
        for event in [newest, read] {
            if !event.is_some() {
                continue;
            }
            if self.history.has_allocations()
                && let Some(error) =
                    memory::check(&self.graph, event, &|a, b| self.graph.clock_covers(M::Hb::HB, b, a))
                && !(error.kind == FaultKind::Uninitialised
                    && self.history.only_moves(self.tag_before(event)))
            {
                let fault = self.history.fault(self.tag_before(event), error.kind, error.message);
                let execution = self.execution(false);
                visitor.visit(Visit::Memory(&execution, &fault, event, error.other))?;
            }
            if M::Hb::RACES
                && let Some(other) = race::<M::Hb>(&self.graph, event)
            {
                let execution = self.execution(false);
                visitor.visit(Visit::Race(&execution, other, event))?;
            }
            // What a wrong value leads to comes after what makes it wrong.
            self.look_for_fault(Tag(self.graph.event(event).tag), visitor)?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn look_for_fault(&mut self, tag: Tag, visitor: &mut impl Visitor) -> ControlFlow<()> {
        if tag.ready() == crate::history::Ready::No
            && let Next::Fault(fault) = &self.history.node(tag).next
        {
            let execution = self.execution(false);
            return visitor.visit(Visit::Fault(&execution, fault));
        }
        ControlFlow::Continue(())
    }

    #[cfg(debug_assertions)]
    fn validate(&self) {
        // What goes wrong does so in small graphs too, and this is quadratic over a search.
        if self.graph.newest() > Ev(64) {
            return;
        }
        let initial = |loc: Loc| self.history.cells()[loc.as_usize()].initial;
        assert_eq!(porf_graph::validate(&self.graph, initial), Ok(()));
    }
}

enum Tried {
    Applied,
    Exhausted,
    Stop,
}

enum Back {
    Next,
    Done,
    Stop,
}
