//! Sequential consistency up to values: of all executions in which every read gets the same values, one.
//!
//! Claim: under sc, each class of complete executions that agree on what every thread was told (the values of its
//! reads, and open choices) and on final memory is shown once. What goes wrong in some execution, and threads that
//! wait for ever, are found.
//!
//! Source: the aim is that of Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman, "Stateless model checking under a
//! reads-value-from equivalence", CAV 2021. They build graphs, and ask for each whether some interleaving gives these
//! values; that search goes through states: how far each thread is, and what memory holds. Here these states are
//! what is searched, once for the whole program. So this is no stateless search: all states are kept ([`store`]).
//!
//! Deviations: they also tell classes by the causal order of events, so that they have more of them.
//!
//! - A state is the history of each thread, a node of the tree of [`History`](crate::history), and the contents of
//!   memory. Interleavings that lead to one state go on in the same way, so that it is visited once. No state comes
//!   back in an execution, because histories grow. So a thread that need not move now is not forgotten either (the
//!   ignoring problem of reductions with state matching).
//! - Not all threads need to move in a state ([`Values::choose`]). A set of threads is enough if no other thread can
//!   ever touch what their next events touch, in conflict with them: a persistent set (Godefroid, "Partial-Order
//!   Methods for the Verification of Concurrent Systems", LNCS 1032, 1996). If that is one thread, it moves at once,
//!   and the state is not kept. What threads may touch is learned ([`reach`]).
//! - A thread that would block with what it reads now (a lock that is taken, a loop that waits, an assumption that
//!   fails) waits. It reads when nobody can move any more.
//! - A read-modify-write is one step.
//!
//! Memory errors: an access and a free that po ∪ rf does not order are both possible after the events that they need,
//! so that in some state either may come first, and the access after the free is seen. Addresses that no thread got
//! from an allocation are not looked for before that.
//!
//! Limits: C programs without load-exclusive, [`MOST_THREADS`] threads. No reductions, no tasks for other workers.
//!
//! Cost: see [`store`] for a state. For each class the graph of an execution is built.

mod reach;
mod show;
mod store;

use crate::engine::Engine;
use crate::error::Error;
use crate::history::{Created, History, Next, Ready, Tag};
use crate::visit::{Statistics, Visit, Visitor};
use crate::{Options, Reductions};
use porf_consistency::{Closure, Mo, Sc};
use porf_event::{BlockReason, Dialect, EventId, Label, ThreadId, Value};
use porf_graph::Loc;
use porf_ir::{Instr, Program, layout};
use reach::Reach;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use store::{Memories, Table, UNTOUCHED};

/// Sets of threads are words.
const MOST_THREADS: usize = 64;
/// Events of an execution before the search gives up on it.
const LONGEST: usize = 1 << 15;
/// Events between two looks at the clock.
const WATCH: u64 = 4096;
/// Beginnings before what threads may touch is no longer told from event to event.
const PATIENCE: u32 = 16;

/// The history of a thread that was not started.
const NOBODY: Tag = Tag(u32::MAX);

/// A search.
struct Values<'p> {
    /// Has the tree of histories, and builds the graphs that are shown.
    engine: Engine<'p, Mo<Closure<Sc>>>,
    /// Of each history that was met: beside the nodes.
    known: Vec<Option<Known>>,
    reach: Reach,
    /// The objects whose memory comes and goes, by the event that makes them.
    objects: HashMap<EventId, usize>,
    memories: Memories,
    states: Table,
    /// Who started each thread.
    creators: Vec<Option<usize>>,
    /// The present state.
    now: State,
    /// The events that led to it, with what the threads were told.
    trail: Vec<(ThreadId, Value)>,
    frames: Vec<Frame>,
    moves: Vec<Move>,
    /// Histories with a fault that was shown.
    wrong: HashSet<u32>,
    statistics: Statistics,
}

#[derive(Clone, Default)]
struct State {
    threads: Vec<Tag>,
    memory: u32,
}

/// What is known of a history.
#[derive(Clone, Copy)]
struct Known {
    /// How many events it has.
    length: u32,
    /// The threads that were joined in it.
    joined: u64,
}

/// A state with moves that were not tried.
struct Frame {
    state: u32,
    trail: usize,
    /// Where its moves begin; they are taken from the end.
    start: usize,
}

/// Who moves, and what it chooses.
#[derive(Clone, Copy)]
struct Move {
    thread: usize,
    chosen: Option<u32>,
}

/// Where an event touches memory.
#[derive(Clone, Copy, Default)]
struct Footprint {
    /// A place, and whether it is written.
    places: [Option<(usize, bool)>; 2],
}

/// Why the search stops.
enum Stop {
    /// The visitor has seen enough.
    Enough,
    /// With what is known by now it must begin again.
    Again,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

fn shown(flow: ControlFlow<()>) -> Result<(), Stop> {
    if flow.is_break() { Err(Stop::Enough) } else { Ok(()) }
}

/// Explores the classes of executions of a program under sc.
pub(crate) fn explore(
    program: &Program,
    options: &Options,
    visitor: &mut impl Visitor,
) -> Result<Statistics, Error> {
    check(program)?;
    let options = Options { reductions: Reductions::NONE, ..*options };
    let mut search = Values::new(program, &options)?;
    let mut begun = 0;
    loop {
        match search.run(visitor) {
            Ok(()) | Err(Stop::Enough) => return Ok(search.statistics),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Again) => {
                begun += u32::from(search.reach.stale);
                search.reach.impatient = begun >= PATIENCE;
                let _ = visitor.visit(Visit::Anew(&program.cuts));
            }
        }
    }
}

fn check(program: &Program) -> Result<(), Error> {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    let is_exclusive =
        |instr: &Instr| matches!(instr, Instr::LoadExclusive { .. } | Instr::StoreExclusive { .. });
    if program.dialect != Dialect::C || code.any(is_exclusive) {
        return Err(Error::Unsupported("a program in another language than C, up to values".into()));
    }
    Ok(())
}

impl<'p> Values<'p> {
    fn new(program: &'p Program, options: &Options) -> Result<Values<'p>, Error> {
        Ok(Values {
            engine: Engine::new(program, options, Created::default())?,
            known: Vec::new(),
            reach: Reach::default(),
            objects: HashMap::new(),
            memories: Memories::new(0),
            states: Table::new(0),
            creators: Vec::new(),
            now: State::default(),
            trail: Vec::new(),
            frames: Vec::new(),
            moves: Vec::new(),
            wrong: HashSet::new(),
            statistics: Statistics::default(),
        })
    }

    #[inline]
    fn history(&self) -> &History<'p> {
        &self.engine.trail.history
    }

    fn history_mut(&mut self) -> &mut History<'p> {
        &mut self.engine.trail.history
    }

    /// One search from the beginning.
    fn run(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        self.begin(visitor)?;
        self.settle(visitor)?;
        self.enter(visitor)?;
        while let Some(&Frame { state, trail, start }) = self.frames.last() {
            if self.moves.len() == start {
                self.frames.pop();
                continue;
            }
            let Some(next) = self.moves.pop() else { unreachable!("there is one") };
            let row = self.states.row(state);
            let width = self.now.threads.len();
            self.now.threads.iter_mut().zip(&row[..width]).for_each(|(tag, number)| *tag = Tag(*number));
            self.now.memory = row[width];
            self.trail.truncate(trail);
            self.step(next, visitor)?;
            self.settle(visitor)?;
            self.enter(visitor)?;
        }
        // What the last execution ended with may be news.
        if self.reach.stale { Err(Stop::Again) } else { Ok(()) }
    }

    fn begin(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        let width = self.history().thread_count();
        if width > MOST_THREADS {
            let message = format!("more than {MOST_THREADS} threads, up to values");
            return Err(Error::Unsupported(message).into());
        }
        self.reach.begin_again();
        self.memories = Memories::new(self.reach.places());
        self.states = Table::new(width + 1);
        self.trail.clear();
        self.frames.clear();
        self.moves.clear();
        self.wrong.clear();
        self.statistics = Statistics::default();
        let roots = self.engine.trail.roots.clone();
        self.creators = vec![None; roots.len()];
        self.creators
            .extend(self.history().created_list().iter().map(|(thread, _)| Some(usize::from(*thread))));
        self.now = State { threads: vec![NOBODY; width], memory: UNTOUCHED };
        for (thread, root) in roots.into_iter().enumerate() {
            self.start(thread, root, visitor)?;
        }
        Ok(())
    }

    /// Begins a thread.
    fn start(&mut self, thread: usize, root: Tag, visitor: &mut impl Visitor) -> Result<(), Stop> {
        if thread >= self.now.threads.len() {
            return Err(Stop::Again);
        }
        self.now.threads[thread] = root;
        self.meet(thread, root, Known { length: 0, joined: 0 });
        self.look(root, false, visitor)
    }

    /// A thread has come to a history.
    fn meet(&mut self, thread: usize, tag: Tag, known: Known) {
        if self.known.len() <= tag.node() {
            self.known.resize(tag.node() + 1, None);
        }
        if self.known[tag.node()].is_some() {
            return;
        }
        self.known[tag.node()] = Some(known);
        for (place, writes) in self.footprint(tag).places.into_iter().flatten() {
            self.reach.note(place, thread, writes, known.joined, known.length);
        }
    }

    fn known(&self, tag: Tag) -> Known {
        self.known[tag.node()].unwrap_or_else(|| unreachable!("it was met"))
    }

    /// What the next event of a thread touches.
    fn footprint(&mut self, tag: Tag) -> Footprint {
        let node = self.history().node(tag);
        let Next::Emit(label) = node.next else { return Footprint::default() };
        let (cell, address) = match label {
            Label::Read { access, rmw, .. } => (Some((node.loc, rmw.is_pair())), Some(access.location.0)),
            Label::Write { access, .. } => (Some((node.loc, true)), Some(access.location.0)),
            Label::Free { location } => (None, Some(location.0)),
            _ => (None, None),
        };
        let object = address.and_then(layout::allocation).map(|made| (self.place_of(made), cell.is_none()));
        Footprint { places: [cell.map(|(loc, writes)| (cell_place(loc), writes)), object] }
    }

    /// The place that stands for the life of an object.
    fn place_of(&mut self, made: EventId) -> usize {
        let count = self.objects.len();
        2 * *self.objects.entry(made).or_insert(count) + 1
    }

    /// Lets threads move that need not be tried in another order, until there are none.
    fn settle(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        'again: loop {
            for thread in 0..self.now.threads.len() {
                if self.may_go_first(thread)? {
                    self.step(Move { thread, chosen: None }, visitor)?;
                    continue 'again;
                }
            }
            return Ok(());
        }
    }

    /// Whether a thread can move, and no other one can ever disturb that.
    fn may_go_first(&mut self, thread: usize) -> Result<bool, Error> {
        let tag = self.now.threads[thread];
        if tag == NOBODY || tag.ready() == Ready::No {
            return Ok(false);
        }
        match self.history().node(tag).next {
            Next::Emit(Label::Choice { .. }) => return Ok(false),
            // One thread is in the middle of an instruction.
            _ if self.middle().is_some() => return Ok(false),
            Next::Emit(Label::Read { .. } | Label::Write { .. } | Label::Free { .. }) => {}
            Next::Emit(Label::Join { child }) => return Ok(self.has_ended(child)),
            _ => return Ok(true),
        }
        let footprint = self.footprint(tag);
        let others = (0..self.now.threads.len()).filter(|other| *other != thread);
        if others.into_iter().any(|other| self.may_meet(thread, footprint, other))
            || !self.can_move(thread)?
        {
            return Ok(false);
        }
        self.rely(footprint, 1 << thread);
        Ok(true)
    }

    /// The thread that is in the middle of an instruction: at a choice.
    fn middle(&self) -> Option<usize> {
        self.now.threads.iter().position(|tag| *tag != NOBODY && tag.ready() == Ready::Mid)
    }

    fn has_ended(&self, child: ThreadId) -> bool {
        let tag = self.now.threads.get(child.as_usize()).copied().unwrap_or(NOBODY);
        tag != NOBODY && self.history().is_finished(tag)
    }

    /// Whether `other` may come, before `thread` moves, to what that touches next.
    fn may_meet(&self, thread: usize, footprint: Footprint, other: usize) -> bool {
        let Some(from) = self.future(thread, other) else { return false };
        let mut places = footprint.places.into_iter().flatten();
        places.any(|(place, writes)| self.reach.meets(place, writes, thread, other, from))
    }

    /// The index of the next event of `other`; `None` if it has none before `thread` moves.
    fn future(&self, thread: usize, other: usize) -> Option<u32> {
        let tag = self.now.threads[other];
        if tag != NOBODY {
            return (tag.ready() != Ready::No).then(|| self.known(tag).length);
        }
        let mut creator = other;
        while self.now.threads[creator] == NOBODY {
            creator = self.creators.get(creator).copied().flatten()?;
        }
        (creator != thread && self.now.threads[creator].ready() != Ready::No).then_some(0)
    }

    /// Relies on that threads outside of a set do not meet a footprint.
    fn rely(&mut self, footprint: Footprint, set: u64) {
        for (place, _) in footprint.places.into_iter().flatten() {
            for other in (0..self.now.threads.len()).filter(|other| set >> other & 1 == 0) {
                let tag = self.now.threads[other];
                let from = if tag == NOBODY { 0 } else { self.known(tag).length };
                if tag == NOBODY || tag.ready() != Ready::No {
                    self.reach.rely(place, other, from);
                }
            }
        }
    }

    /// Whether a thread has an event that it need not wait with.
    fn can_move(&mut self, thread: usize) -> Result<bool, Error> {
        let tag = self.now.threads[thread];
        if tag == NOBODY || tag.ready() == Ready::No {
            return Ok(false);
        }
        let node = self.history().node(tag);
        Ok(match node.next {
            Next::Emit(Label::Join { child }) => self.has_ended(child),
            Next::Emit(Label::Read { .. }) => !self.would_block(tag)?,
            Next::Emit(_) => true,
            _ => false,
        })
    }

    /// Whether a thread blocks, and changes nothing before that, if it reads now.
    fn would_block(&mut self, tag: Tag) -> Result<bool, Error> {
        let loc = self.history().node(tag).loc;
        let now = self.value_at(loc);
        let mut tag = self.history_mut().child(tag, now)?;
        loop {
            tag = match self.history().node(tag).next {
                Next::Emit(Label::Write { value, .. }) if tag.ready() == Ready::Mid && value == now => {
                    self.history_mut().child(tag, 0)?
                }
                Next::Emit(Label::Fence { .. }) => self.history_mut().child(tag, 0)?,
                Next::Blocked(
                    BlockReason::Spin | BlockReason::Lock | BlockReason::Retry | BlockReason::Assume,
                ) => return Ok(true),
                _ => return Ok(false),
            };
        }
    }

    /// What memory holds in a cell.
    fn value_at(&self, loc: Loc) -> Value {
        let written = self.memories.get(self.now.memory, cell_place(loc));
        written.unwrap_or_else(|| self.history().cells()[loc.as_usize()].initial)
    }

    /// A thread makes its next event, and those of the same instruction.
    fn step(&mut self, next: Move, visitor: &mut impl Visitor) -> Result<(), Stop> {
        let mut chosen = next.chosen;
        loop {
            self.event(next.thread, chosen.take(), visitor)?;
            let tag = self.now.threads[next.thread];
            if tag.ready() != Ready::Mid
                || matches!(self.history().node(tag).next, Next::Emit(Label::Choice { .. }))
            {
                return Ok(());
            }
        }
    }

    /// A thread makes one event.
    fn event(&mut self, thread: usize, chosen: Option<u32>, visitor: &mut impl Visitor) -> Result<(), Stop> {
        let tag = self.now.threads[thread];
        let node = self.history().node(tag);
        let (Next::Emit(label), loc) = (&node.next, node.loc) else {
            unreachable!("a thread that can move has an event")
        };
        let (label, id) = (*label, ThreadId(thread as u16));
        self.watch(visitor)?;
        if loc != Loc::NONE && !self.history().overlapping(loc).is_empty() {
            self.find_overlap(tag, loc)?;
        }
        let Known { length, mut joined } = self.known(tag);
        // Whether the graph must be looked at.
        let mut is_suspect = false;
        let mut child = None;
        let answer = match label {
            Label::Read { .. } => {
                is_suspect = self.is_suspect(&label, loc);
                self.value_at(loc)
            }
            Label::Write { value, access, .. } => {
                is_suspect = self.is_suspect(&label, loc);
                let initial = self.history().cells()[loc.as_usize()].initial;
                // Whether it was written counts only where reading it would be an error otherwise.
                let changes = value != initial || layout::starts_uninitialised(access.location.0);
                self.write(cell_place(loc), changes.then_some(value))?;
                0
            }
            Label::Create { .. } => {
                let new = self.history_mut().created_id(id, length)?;
                child = Some((new, self.history_mut().created(tag, new)?));
                Value::from(new.0)
            }
            Label::Join { child } => {
                is_suspect = self.history().has_rival_joins();
                if child.as_usize() < MOST_THREADS {
                    joined |= 1u64 << child.0;
                }
                0
            }
            Label::Alloc { location, size } => {
                if let Some(made) = layout::allocation(location.0) {
                    let place = self.place_of(made);
                    self.write(place, Some(layout::offset(location.0) << 32 | size))?;
                }
                0
            }
            Label::Free { location } => {
                is_suspect = self.is_suspect(&label, loc);
                if let (false, Some(made)) = (is_suspect, layout::allocation(location.0)) {
                    let place = self.place_of(made);
                    self.write(place, None)?;
                }
                0
            }
            Label::Choice { .. } => Value::from(chosen.unwrap_or(0)),
            Label::Init | Label::Fence { .. } | Label::End | Label::Block { .. } => 0,
        };
        let after = self.history_mut().child(tag, answer)?;
        self.trail.push((id, answer));
        self.now.threads[thread] = after;
        self.meet(thread, after, Known { length: length + 1, joined });
        self.look(after, is_suspect, visitor)?;
        if let Some((child, root)) = child {
            self.start(child.as_usize(), root, visitor)?;
        }
        Ok(())
    }

    fn write(&mut self, place: usize, value: Option<Value>) -> Result<(), Stop> {
        if place >= self.memories.places() {
            // There is more memory than was known.
            self.reach.know(place);
            return Err(Stop::Again);
        }
        self.now.memory = self.memories.set(self.now.memory, place, value);
        Ok(())
    }

    /// Whether an access to allocated memory, or a free, may be wrong in the present state.
    fn is_suspect(&mut self, label: &Label, loc: Loc) -> bool {
        let (address, size) = match *label {
            Label::Read { access, .. } | Label::Write { access, .. } => {
                (access.location.0, u64::from(access.size))
            }
            Label::Free { location } => (location.0, 0),
            _ => return false,
        };
        let Some(made) = layout::allocation(address) else { return matches!(label, Label::Free { .. }) };
        let place = self.place_of(made);
        // An object that was freed is as one that was never there.
        let Some(object) = self.memories.get(self.now.memory, place) else { return true };
        let (start, length) = (object >> 32, object & u64::from(u32::MAX));
        let offset = layout::offset(address);
        if matches!(label, Label::Free { .. }) {
            return offset != start;
        }
        let is_new = || self.memories.get(self.now.memory, cell_place(loc)).is_none();
        offset < start
            || offset + size > start + length
            || (label.is_read() && layout::starts_uninitialised(address) && is_new())
    }

    fn watch(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        self.statistics.events += 1;
        if self.statistics.events.is_multiple_of(WATCH) {
            if self.trail.len() > LONGEST {
                let message = format!("an execution of more than {LONGEST} events (does a loop end?)");
                return Err(Error::Limit(message).into());
            }
            shown(visitor.visit(Visit::Working(&self.engine.execution(false))))?;
        }
        Ok(())
    }

    /// Comes to a state in which nobody moves by itself.
    fn enter(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        let mut row: smallvec::SmallVec<[u32; 16]> = self.now.threads.iter().map(|tag| tag.0).collect();
        row.push(self.now.memory);
        let new = self.states.insert(&row);
        if let Some(state) = new {
            self.statistics.states += 1;
            let start = self.moves.len();
            self.choose()?;
            if self.moves.len() > start {
                self.frames.push(Frame { state, trail: self.trail.len(), start });
                return Ok(());
            }
        }
        // The end of a way: what was learned on it counts from here on.
        if self.reach.stale {
            return Err(Stop::Again);
        }
        if new.is_some() { self.leaf(visitor) } else { Ok(()) }
    }

    /// Finds the moves that are to be tried: those of a persistent set of threads, as small as they come.
    fn choose(&mut self) -> Result<(), Error> {
        let is_open = |tag: Tag| match self.history().node(tag).next {
            Next::Emit(Label::Choice { options, .. }) => Some(options),
            _ => None,
        };
        // In the middle of an instruction nobody else moves. What a thread chooses for itself disturbs nobody.
        let started = (0..self.now.threads.len()).filter(|thread| self.now.threads[*thread] != NOBODY);
        let open = self
            .middle()
            .or_else(|| started.into_iter().find(|thread| is_open(self.now.threads[*thread]).is_some()));
        if let Some(thread) = open
            && let Some(options) = is_open(self.now.threads[thread])
        {
            self.moves.extend((0..options).rev().map(|option| Move { thread, chosen: Some(option) }));
            return Ok(());
        }
        let mut able = 0u64;
        for thread in 0..self.now.threads.len() {
            able |= u64::from(self.can_move(thread)?) << thread;
        }
        let mut best = able;
        let mut set = u64::MAX;
        for thread in members(able) {
            let closed = self.closure(thread);
            if (closed & able).count_ones() < best.count_ones() {
                (best, set) = (closed & able, closed);
            }
        }
        if set != u64::MAX {
            for thread in members(set) {
                let tag = self.now.threads[thread];
                if tag != NOBODY {
                    let footprint = self.footprint(tag);
                    self.rely(footprint, set);
                }
            }
        }
        self.moves.extend(members(best).map(|thread| Move { thread, chosen: None }));
        Ok(())
    }

    /// The smallest persistent set with a thread.
    fn closure(&mut self, thread: usize) -> u64 {
        let mut set = 1u64 << thread;
        let mut work = vec![thread];
        while let Some(thread) = work.pop() {
            let tag = self.now.threads[thread];
            let mut more = 0u64;
            if tag == NOBODY {
                if let Some(creator) = self.creators.get(thread).copied().flatten() {
                    more |= 1 << creator;
                }
            } else if let Next::Emit(Label::Join { child }) = self.history().node(tag).next {
                // Whoever must end for it to move.
                if child.as_usize() < self.now.threads.len() && !self.has_ended(child) {
                    more |= 1 << child.0;
                }
            } else {
                let footprint = self.footprint(tag);
                for other in (0..self.now.threads.len()).filter(|other| set >> other & 1 == 0) {
                    more |= u64::from(self.may_meet(thread, footprint, other)) << other;
                }
            }
            work.extend(members(more & !set));
            set |= more;
        }
        set
    }
}

/// The place of a cell.
fn cell_place(loc: Loc) -> usize {
    2 * loc.as_usize()
}

fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..MOST_THREADS).filter(move |thread| set >> thread & 1 == 1)
}
