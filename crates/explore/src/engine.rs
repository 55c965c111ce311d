//! The main search: every consistent execution graph exactly once, in linear memory.
//!
//! Source: TruSt (see [`search`](crate::search)). The prefix of an event is what is before it in po ∪ rf, and a
//! revisit is made only from the one graph in which everything that is thrown away had been chosen
//! canonically, so that no graph is reached twice.
//!
//! Deviations from the paper: RMWs are two events and may conflict until the second one is placed
//! (`canonical` and `places` see to that); the canonical choice is the model's.

use crate::Options;
use crate::barrier::{self, Barriers};
use crate::buffering::{Detector, WithHistory, tag_before};
use crate::error::Error;
use crate::facts::Tracking;
use crate::history::{Created, History, Next, Ready, Tag};
use crate::locks::Locks;
use crate::mixed;
use crate::reduce::Reduction;
use crate::schedule::tag_of;
use crate::search::{Frame, Policy, Trail, Upcoming};
use crate::seed::{Seeds, Sown};
use crate::split::is_split;
use crate::symmetry::{Symmetry, Twins};
use crate::task::Task;
use crate::visit::{Execution, Visit, Visitor};
use porf_consistency::{Architecture, Choice, HappensBefore, MemoryModel};
use porf_event::{BlockReason, Label, RmwKind, ThreadId, Value};
use porf_graph::{Ev, Event, ExecutionGraph, Loc};
use porf_interp::Interpreter;
use porf_ir::Program;
use std::ops::ControlFlow;

pub(crate) struct Engine<'p, M: MemoryModel> {
    pub trail: Trail<'p, ExecutionGraph>,
    pub model: M,
    /// Old positions of events to those in a copy.
    map: Vec<Ev>,
    /// Blocked executions are shown even if they tell nothing.
    pub all_blocked: bool,
    /// Whether there are executions that this search does not build.
    pub detector: Detector<M>,
    /// What may be symmetric, if that is asked for. It is where the graph has needs beyond porf.
    pub symmetry: Option<Symmetry>,
    /// It turned out that threads are not interchangeable.
    is_asymmetric: bool,
    /// Whether stores to own nodes are told from others, and whether one of them was seen too early.
    has_own_nodes: bool,
    is_seen: bool,
    /// Whether there are counters, and what turned out to be wrong about them, or about owners.
    has_counters: bool,
    /// Whether there are variables with an owner.
    has_owners: bool,
    pub wrong_guess: Option<Error>,
    /// Barriers, if the threads that come to them are not to be ordered.
    pub barriers: Option<Barriers>,
    /// Critical sections, if those that do not conflict are not to be ordered.
    pub locks: Option<Locks>,
}

/// Fewer events than this are gone through sooner than it is found out which of them matter.
const SMALL: usize = 64;
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
        let mut history = History::new(interp, tracking, created, options.memory);
        history.reduce(options, tracking);
        history.await_last(options.reductions, tracking);
        let has_own_nodes = history.has_own_nodes();
        let known = history.retries.as_ref();
        let has_owners = known.is_some_and(|known| known.flags.iter().any(|flag| flag.owner.is_some()));
        let has_counters = history.retries.as_ref().is_some_and(|known| !known.counting.is_empty());
        let mut engine = Engine {
            trail: Trail::new(history, options.schedule, ExecutionGraph::new(M::Hb::CLOCKS)),
            model: options.model(),
            map: Vec::new(),
            all_blocked: options.all_blocked,
            detector: Detector::new(),
            symmetry: None,
            is_asymmetric: false,
            has_own_nodes,
            is_seen: false,
            has_counters,
            has_owners,
            wrong_guess: None,
            barriers: None,
            locks: None,
        };
        // Other equivalences and the search with dependency prefixes take them for what they are.
        if options.reductions.has(Reduction::Barriers) && M::SEES_CO && M::ARCHITECTURE.is_none() {
            engine.barriers = Barriers::of(program);
            engine.trail.history.barriers = engine.barriers.is_some();
        }
        for thread in (0..interp.program().threads.len()).map(|t| ThreadId(t as u16)) {
            let tag = engine.trail.history.start(thread)?;
            engine.trail.roots.push(tag);
        }
        engine.reset_graph();
        // Other equivalences and searches that follow do not tell threads by co.
        if options.reductions.has(Reduction::Symmetry) && M::SEES_CO && M::ARCHITECTURE.is_none() {
            engine.symmetry = Symmetry::of(program);
        }
        if has_owners
            && engine.symmetry.as_ref().is_some_and(|symmetry| {
                let twins =
                    symmetry.roots.iter().enumerate().filter_map(|(at, twin)| twin.map(|twin| (at, twin)));
                twins
                    .into_iter()
                    .any(|(at, twin)| engine.is_owner(twin) || engine.is_owner(ThreadId(at as u16)))
            })
        {
            engine.symmetry = None;
        }
        if let Some(known) = &mut engine.trail.history.retries {
            known.alike = engine.symmetry.is_some();
        }
        if let Some(symmetry) = &engine.symmetry {
            let is_there = symmetry.roots.iter().any(Option::is_some) || engine.finds_twins()?;
            if !is_there {
                engine.symmetry = None;
            }
            engine.reset_graph();
        }
        // Threads that are told by the order in which they take a lock would not be interchangeable.
        let fits = M::SEES_CO && M::ARCHITECTURE.is_none() && engine.symmetry.is_none();
        if options.reductions.has(Reduction::Locks) && options.reductions.has(Reduction::Awaits) && fits {
            engine.locks = Locks::of(program, options.locks);
            engine.reset_graph();
        }
        Ok(engine)
    }
}

impl<'p, M: MemoryModel> Policy<'p> for Engine<'p, M> {
    type Graph = ExecutionGraph;

    #[inline]
    fn trail(&self) -> &Trail<'p, ExecutionGraph> {
        &self.trail
    }

    #[inline]
    fn trail_mut(&mut self) -> &mut Trail<'p, ExecutionGraph> {
        &mut self.trail
    }

    #[inline]
    fn next_thread(&self) -> Option<ThreadId> {
        let Trail { now: graph, history, schedule, .. } = &self.trail;
        if graph.has_needs() {
            return self.next_with_needs();
        }
        schedule.next(graph, history, M::SEES_CO)
    }

    #[inline]
    fn takes_turns(&self) -> bool {
        self.locks.is_some()
    }

    fn turn_of(&mut self, thread: ThreadId) -> Result<ThreadId, Error> {
        if self.locks.is_some() { self.next_turn(thread) } else { self.who_need_not_wait(thread) }
    }

    fn take_turn(&mut self, event: Ev, thread: ThreadId) -> Result<bool, Error> {
        self.change_turn(event, thread)
    }

    #[inline]
    fn add_read(&mut self, next: Upcoming) -> Result<(), Error> {
        let event = self.add_event(next, next.tag);
        if self.synchronises() && self.read_synchronising(next, event)? {
            return Ok(());
        }
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        self.model.sources(&WithHistory { graph, history }, event, choices);
        Ok(())
    }

    #[inline]
    fn add_write(&mut self, next: Upcoming) -> Result<(), Error> {
        let after = self.trail.history.child(next.tag, 0)?;
        let event = self.add_event(next, after);
        if self.synchronises() && self.write_synchronising(next, event)? {
            return Ok(());
        }
        let Trail { now: graph, history, statistics, .. } = &self.trail;
        self.detector.look(
            &WithHistory { graph, history },
            event,
            statistics.executions + statistics.blocked,
        );
        let start = self.trail.choices.len();
        self.find_revisits(event);
        let revisits = self.trail.choices.len();
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        self.model.places(&WithHistory { graph, history }, event, choices);
        if let Some(blocked) =
            self.trail.choices[start..revisits].iter().position(|choice| self.releases(choice))
        {
            self.leave_out_in_vain(event, start + blocked, revisits)?;
            self.release_first(start + blocked);
        }
        Ok(())
    }

    fn add_choice(&mut self, next: Upcoming) -> Result<(), Error> {
        // A store-conditional whose address was read: what depends on it is not known if it fails.
        self.detector.found |= M::ARCHITECTURE.is_some() && !self.trail.history.is_certain(next.tag);
        self.add_event(next, next.tag);
        Ok(())
    }

    fn add_create(&mut self, next: Upcoming, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        let root = self.create(next.thread, next.tag)?;
        // The new thread may be wrong before its first event.
        Ok(self.look_for_fault(root, visitor))
    }

    #[inline]
    fn add_other(&mut self, next: Upcoming) -> Result<bool, Error> {
        let after = self.trail.history.child(next.tag, 0)?;
        self.add_event(next, after);
        Ok(true)
    }

    #[inline]
    fn take_source(&mut self, read: Ev, source: Ev) -> Result<bool, Error> {
        self.read_from(read, source)?;
        Ok(self.allows(read))
    }

    #[inline]
    fn take_place(&mut self, write: Ev, place: u32) -> Result<bool, Error> {
        self.trail.now.place(write, place);
        Ok(self.allows(write))
    }

    fn take_value(&mut self, event: Ev, value: u32) -> Result<(), Error> {
        let before = self.tag_before(event);
        let after = self.trail.history.child(before, Value::from(value))?;
        let label = self.trail.history.node(after).label;
        self.trail.now.set_label(event, label, after.0);
        if self.locks.is_some() {
            self.choose_again(event);
        }
        Ok(())
    }

    #[inline]
    fn take_revisit(&mut self, write: Ev, read: Ev, place: u32) -> Result<bool, Error> {
        if self.trail.now.rf(read).is_some() {
            self.forget_source(read);
        }
        self.trail.now.place(write, place);
        if !self.allows(write) || !self.admits(read, write) {
            return Ok(false);
        }
        if self.symmetry.is_some() {
            let twins = self.twins();
            if !twins.may_read(read, twins.partner(read), write) {
                return Ok(false);
            }
        }
        self.read_from(read, write)?;
        Ok(self.allows(read))
    }

    #[inline]
    fn restricted(&mut self, write: Ev, read: Ev) -> (ExecutionGraph, Ev, Ev) {
        let mut copy = self.trail.pool.pop().unwrap_or_else(|| self.empty_graph());
        self.trail.now.revisit_into(read, write, &mut copy, &mut self.map);
        (copy, self.map[write.as_usize()], self.map[read.as_usize()])
    }

    #[inline]
    fn add_places(&mut self, write: Ev, read: Ev) {
        self.forget_source(read);
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        self.model.places(&WithHistory { graph, history }, write, choices);
    }

    #[inline]
    fn is_needed(&self, event: Ev, write: Ev) -> bool {
        self.trail.now.needs(write, event)
    }

    #[inline]
    fn may_throw_away(&mut self, event: Ev, write: Ev) -> bool {
        // Who comes to a barrier has no choice.
        (self.barriers.is_some() && barrier::is_at_barrier(&self.trail.now, event))
            || self.model.canonical(&self.trail.now, event, write)
    }

    /// If another read-modify-write has the same source, only a revisit that throws its write away can
    /// be consistent.
    #[inline]
    fn revisits_before(&self, write: Ev) -> Ev {
        let graph = &self.trail.now;
        let Event { pair, loc, .. } = *graph.event(write);
        if !pair.is_some() || is_split(graph, write) {
            return Ev::NONE;
        }
        let source = graph.rf(pair);
        let is_rival = |&&other: &&Ev| {
            let pair = graph.event(other).pair;
            pair.is_some() && graph.rf(pair) == source
        };
        if M::SEES_CO {
            let next = graph.co(loc).get(graph.event(source).co as usize);
            next.filter(is_rival).copied().unwrap_or(Ev::NONE)
        } else {
            graph.co(loc).iter().find(is_rival).copied().unwrap_or(Ev::NONE)
        }
    }

    /// The oldest read of the location that the write does not need. Where many threads work on different
    /// locations there is none, and what else there is need not be gone through.
    #[inline]
    fn revisits_from(&self, write: Ev, before: Ev) -> Ev {
        let graph = &self.trail.now;
        let loc = graph.event(write).loc;
        // A small graph is gone through at once; so is one where most of it happens at this location.
        if graph.len() < SMALL || graph.co(loc).len() * 8 > graph.len() {
            return Ev::INIT;
        }
        let mut oldest = Ev::NONE;
        for &source in [Ev::INIT].iter().chain(graph.co(loc)) {
            for read in graph.readers(source, loc) {
                if read < oldest && read < before && !graph.needs(write, read) {
                    oldest = read;
                }
            }
        }
        oldest
    }

    /// Whether a new read blocks its thread, at once or after fences, and can never be revisited, because it
    /// did not take the co-last write. All that follows would be blocked. Nothing depends on the read: what
    /// else goes wrong there goes wrong too where it takes the co-last write; and only a thread that has read that
    /// waits for ever. The same holds if nobody can move any more, and nobody waits for ever.
    #[inline]
    fn is_hopeless(&mut self, read: Ev) -> Result<bool, Error> {
        let graph = &self.trail.now;
        let event = graph.event(read);
        if self.all_blocked {
            return Ok(false);
        }
        if !M::SEES_CO || event.rf == graph.co_max(event.loc) {
            let tag = Tag(event.tag);
            return Ok(tag.ready() == Ready::No && self.tells_nothing(tag));
        }
        self.comes_to_block(Tag(event.tag))
    }

    #[inline]
    fn narrow(&mut self, start: u32) {
        if self.symmetry.is_some() {
            let twins = Twins { graph: &self.trail.now, unordered: self.barriers.is_some() };
            twins.restrict(&mut self.trail.choices, start as usize);
        }
    }

    fn begin(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        for at in 0..self.trail.now.threads().len() {
            self.look_for_fault(tag_of(&self.trail.now, at), visitor)?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn arrived(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let newest = self.trail.now.newest();
        if self.has_own_nodes {
            self.is_seen |= self.is_seen_too_early(newest);
        }
        if self.has_counters {
            self.look_at_counters(newest);
        }
        if self.has_owners {
            self.look_at_owner(newest);
        }
        self.look_at(newest, visitor)?;
        match self.trail.frames.last() {
            Some(&Frame { event, revisited, .. }) if event == newest && revisited.is_some() => {
                if self.has_counters {
                    self.look_at_counters(revisited);
                }
                if self.has_owners {
                    self.look_at_owner(revisited);
                }
                self.look_at(revisited, visitor)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn leaf(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        self.trail.statistics.atomic_parts |= self.trail.history.atomic_parts;
        // What is shown of a wrong guess may be wrong.
        if let Some(error) = self.wrong_guess.take() {
            return Err(error);
        }
        if self.locks.is_some() {
            self.is_protected()?;
            self.end_turns()?;
        }
        if self.trail.is_complete() {
            self.trail.statistics.executions += 1;
            if self.symmetry.is_some() {
                let others = self.twins().permutations() - 1;
                self.trail.statistics.reduced.count(Reduction::Symmetry, others);
            }
            Ok(visitor.visit(Visit::Complete(&self.execution(false))))
        } else {
            self.trail.statistics.blocked += 1;
            self.trail.count_reductions();
            let for_ever = self.waits_for_ever();
            Ok(visitor.visit(Visit::Blocked(&self.execution(for_ever))))
        }
    }

    #[cold]
    fn watch(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.trail.now.newest() > LONGEST {
            return Err(Error::Limit(format!(
                "an execution of more than {} events (does a loop end?)",
                LONGEST.0
            )));
        }
        Ok(visitor.visit(Visit::Working(&self.execution(false))))
    }

    #[inline]
    fn check(&self) -> Result<(), Error> {
        if self.is_asymmetric {
            return Err(Error::Without(Reduction::Symmetry));
        }
        if self.is_seen {
            return Err(Error::Without(Reduction::OwnNodes));
        }
        if let Some(error) = &self.wrong_guess {
            return Err(error.clone());
        }
        // The search for cycles in po | rf tells executions by co.
        let is_unknown = !M::SEES_CO && M::ARCHITECTURE.is_some() && self.detector.is_found();
        if self.model.gave_up() || is_unknown { Err(Error::Undecided) } else { Ok(()) }
    }

    #[cold]
    fn prune(&mut self) {
        let Trail { now, waiting, roots, history, .. } = &mut self.trail;
        let graphs = waiting.iter().chain([&*now]);
        let tags = graphs.flat_map(|graph| graph.all().map(|event| Tag(graph.event(event).tag)));
        history.prune(tags.chain(roots.iter().copied()).chain(self.detector.seeds.tags()));
    }

    #[cold]
    fn overlap(&self, next: Upcoming) -> Error {
        let before = |event: Ev| self.tag_before(event);
        mixed::error(&self.trail, before, M::ARCHITECTURE, next.tag, next.loc)
    }

    #[cfg(debug_assertions)]
    fn validate(&self) {
        // What goes wrong does so in small graphs too, and this is quadratic over a search.
        if self.trail.now.newest() > Ev(64) {
            return;
        }
        let initial = |loc: Loc| self.trail.history.cells()[loc.as_usize()].initial;
        assert_eq!(porf_graph::validate(&self.trail.now, initial), Ok(()));
    }
}

impl<'p, M: MemoryModel> Engine<'p, M> {
    /// Begins again.
    pub fn forget(&mut self) {
        self.trail.frames.clear();
        self.trail.choices.clear();
        self.trail.waiting.clear();
        self.trail.seen = false;
        self.reset_graph();
    }

    /// Cuts seeds out of graphs once more. Whether that can be done with all.
    pub fn sow_again(&mut self, sources: &[(u64, Task)]) -> Result<bool, Error> {
        for (_, source) in sources {
            self.forget();
            self.load(source)?;
            let Trail { now: graph, history, .. } = &self.trail;
            self.detector.look(&WithHistory { graph, history }, graph.newest(), u64::MAX);
        }
        self.forget();
        Ok(!self.detector.found)
    }

    /// What is left for the search with dependency prefixes.
    pub fn sown(self) -> Sown<'p> {
        let Trail { history, roots, .. } = self.trail;
        let Seeds { list: seeds, sources, .. } = self.detector.seeds;
        Sown { seeds, sources, history, roots }
    }

    /// Makes the graph the empty one.
    pub fn reset_graph(&mut self) {
        self.trail.now = self.empty_graph();
        if let Some(locks) = &mut self.locks {
            locks.forget();
        }
        for (thread, tag) in self.trail.roots.iter().enumerate() {
            let thread = ThreadId(thread as u16);
            self.trail.now.add_thread(thread, Ev::INIT, tag.0);
            if let Some(symmetry) = &self.symmetry {
                self.trail.now.set_twin(thread, symmetry.roots[thread.as_usize()]);
            }
        }
    }

    pub fn empty_graph(&self) -> ExecutionGraph {
        if self.symmetry.is_some() || self.locks.is_some() {
            ExecutionGraph::with_needs(M::Hb::CLOCKS)
        } else {
            ExecutionGraph::new(M::Hb::CLOCKS)
        }
    }

    #[inline]
    pub fn add_event(&mut self, next: Upcoming, tag: Tag) -> Ev {
        let event = self.add_without_clocks(next.thread, next.label, next.loc, tag);
        if !next.label.is_read() {
            self.update_clocks(event);
        }
        event
    }

    /// Computes the clocks of an event that has its source, porf being up to date.
    #[inline]
    pub fn update_clocks(&mut self, event: Ev) {
        M::Hb::update(&mut self.trail.now, event);
        if self.trail.now.has_needs() {
            self.update_needs(event);
        }
    }

    /// Whether barriers or locks are more than the accesses that they are made of.
    #[inline]
    fn synchronises(&self) -> bool {
        self.barriers.is_some() || self.locks.is_some()
    }

    // Out of line, so that a search without these does not have their code in its way.

    #[cold]
    fn next_with_needs(&self) -> Option<ThreadId> {
        let Trail { now: graph, history, schedule, .. } = &self.trail;
        if self.locks.is_some() {
            return schedule.next_beside_locks(graph, history, M::SEES_CO);
        }
        let next = schedule.next(graph, history, M::SEES_CO)?;
        Some(if self.symmetry.is_some() { self.twins().first_to_move(next) } else { next })
    }

    #[cold]
    fn update_needs(&mut self, event: Ev) {
        if self.symmetry.is_some() {
            let also = self.twins().needed(event);
            self.trail.now.update_needs(event, also);
            let thread = self.trail.now.event(event).id.thread;
            self.is_asymmetric |= self.joins_stranger(thread);
        } else if self.locks.is_some() {
            self.update_section_needs(event);
        }
    }

    /// Adds the source of a new read, if that has to do with barriers, or where critical sections are not ordered.
    /// Whether it has been done.
    #[cold]
    fn read_synchronising(&mut self, next: Upcoming, event: Ev) -> Result<bool, Error> {
        if self.barriers.is_some() && self.read_at_barrier(next, event)? {
            return Ok(true);
        }
        if self.locks.is_some() {
            self.read_beside_locks(next, event)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The same for the place of a new write.
    #[cold]
    fn write_synchronising(&mut self, next: Upcoming, event: Ev) -> Result<bool, Error> {
        if self.barriers.is_some() && self.write_at_barrier(next, event)? {
            self.trail.statistics.reduced.count(Reduction::Barriers, 1);
            return Ok(true);
        }
        if self.locks.is_some() {
            self.write_beside_locks(next, event)?;
            return Ok(true);
        }
        Ok(false)
    }

    #[inline]
    pub fn add_without_clocks(&mut self, thread: ThreadId, label: Label, loc: Loc, tag: Tag) -> Ev {
        self.trail.name_locations(loc);
        self.trail.now.add(thread, label, loc, tag.0)
    }

    /// Adds the creation of a thread; how the thread begins.
    pub fn create(&mut self, thread: ThreadId, tag: Tag) -> Result<Tag, Error> {
        let index = self.trail.now.thread(thread).events().len() as u32;
        let child = self.trail.history.created_id(thread, index)?;
        let root = self.trail.history.created(tag, child)?;
        let after = self.trail.history.child(tag, Value::from(child.0))?;
        let next = Upcoming { thread, tag, label: Label::Create { child }, loc: Loc::NONE };
        let event = self.add_event(next, after);
        self.trail.now.add_thread(child, event, root.0);
        if self.symmetry.is_some() {
            let twin = self.find_twin(thread, tag)?;
            self.trail.now.set_twin(child, twin);
            self.is_asymmetric |= self.joins_stranger(child)
                || twin.is_some_and(|twin| {
                    self.is_joined(twin) || self.has_owners && (self.is_owner(twin) || self.is_owner(child))
                });
        }
        Ok(root)
    }

    /// Lets the revisits that may free a blocked thread be tried first: a search that is not seen to its end
    /// should see executions that end. The first of them is the choice at `first`; the last one is tried first.
    #[cold]
    fn release_first(&mut self, first: usize) {
        let mut choices = std::mem::take(&mut self.trail.choices);
        choices[first..].sort_by_key(|choice| self.releases(choice));
        self.trail.choices = choices;
    }

    /// Whether a choice is a revisit that may free a blocked thread.
    #[inline]
    pub fn releases(&self, choice: &Choice) -> bool {
        let Choice::Revisit(read) = *choice else { return false };
        let graph = &self.trail.now;
        let tag = tag_of(graph, graph.event(read).id.thread.as_usize());
        tag == Tag(graph.event(read).tag) && tag.ready() == Ready::No
    }

    /// What is wrong in the present graph, in the end or because of its newest event.
    pub fn look_around(&mut self, visitor: &mut impl Visitor) -> Result<(), Error> {
        let _ = self.arrived(visitor);
        for at in 0..self.trail.now.threads().len() {
            let _ = self.look_for_fault(tag_of(&self.trail.now, at), visitor);
        }
        if self.next_thread().is_none() {
            let _ = self.leaf(visitor)?;
        }
        Ok(())
    }

    pub fn execution(&self, for_ever: bool) -> Execution<'_, 'p> {
        let racy = M::Hb::RACES.then_some(M::Hb::HB);
        Execution {
            graph: &self.trail.now,
            history: &self.trail.history,
            sees_co: M::SEES_CO,
            racy,
            for_ever,
            flags: &[],
        }
    }

    /// Whether an execution ends with a thread that comes to `tag` and waits there, or need not go on, and none of its
    /// threads waits for ever or went on to a bound.
    #[cold]
    fn tells_nothing(&mut self, tag: Tag) -> bool {
        let Trail { now: graph, history, .. } = &self.trail;
        let waits = |tag: Tag| {
            matches!(history.node(tag).next, Next::Blocked(BlockReason::Retry | BlockReason::Spin))
        };
        let may_tell = |at: usize| {
            let tag = tag_of(graph, at);
            let is_over = matches!(history.node(tag).next, Next::Finished | Next::Emit(Label::Join { .. }))
                && !history.state(tag).ends_process();
            graph.threads()[at].is_started() && !is_over && !waits(tag)
        };
        if self.locks.is_some()
            || !waits(tag)
            || self.next_thread().is_some()
            || (0..graph.threads().len()).any(may_tell)
            || self.waits_for_ever()
        {
            return false;
        }
        self.trail.count_reductions();
        true
    }

    /// Whether all that waiting threads would read again can be the last write of its location, at once.
    pub fn waits_for_ever(&mut self) -> bool {
        let Some(awaited) = self.execution(true).awaited() else { return false };
        self.model.may_all_be_last(&self.trail.now, &awaited)
    }

    #[inline]
    fn allows(&mut self, event: Ev) -> bool {
        let Trail { now: graph, history, .. } = &mut self.trail;
        let consistent = self.model.allows(&WithHistory { graph, history }, event);
        self.model.arrange(graph);
        consistent
    }

    #[inline]
    fn admits(&mut self, read: Ev, write: Ev) -> bool {
        let Trail { now: graph, history, .. } = &self.trail;
        self.model.admits(&WithHistory { graph, history }, read, write)
    }

    #[inline]
    pub fn read_from(&mut self, read: Ev, source: Ev) -> Result<(), Error> {
        let before = self.tag_before(read);
        let value = self.trail.value_of(source, self.trail.now.event(read).loc);
        let after = self.trail.history.child(before, value)?;
        let label = self.trail.history.node(after).label;
        self.trail.now.set_rf(read, source, label, after.0);
        self.update_clocks(read);
        Ok(())
    }

    /// Whether a thread is blocked, at once or after fences, and not by a bound.
    #[inline]
    pub fn comes_to_block(&mut self, mut tag: Tag) -> Result<bool, Error> {
        let history = &mut self.trail.history;
        loop {
            tag = match history.node(tag).next {
                Next::Emit(Label::Fence { .. }) => history.child(tag, 0)?,
                Next::Emit(Label::Write { rmw: RmwKind::None, .. }) if self.has_own_nodes => {
                    let after = history.child(tag, 0)?;
                    if !history.is_own_store(after, tag) {
                        break;
                    }
                    after
                }
                _ => break,
            };
        }
        let blocks = matches!(
            history.node(tag).next,
            Next::Blocked(BlockReason::Assume | BlockReason::Spin | BlockReason::Lock | BlockReason::Retry)
        );
        Ok(blocks && tag.ready() == Ready::No)
    }

    /// The state of the thread just before an event.
    #[inline]
    pub fn tag_before(&self, event: Ev) -> Tag {
        tag_before(&self.trail.now, event)
    }

    /// Makes a read as it was before its source was known.
    #[inline]
    fn forget_source(&mut self, read: Ev) {
        let Next::Emit(label) = self.trail.history.node(self.tag_before(read)).next else {
            unreachable!("it was emitted")
        };
        self.trail.now.forget_rf(read, label);
    }
}
