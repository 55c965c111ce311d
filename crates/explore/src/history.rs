//! What each thread has been told so far, as a tree: no prefix is interpreted twice.
//!
//! A thread's state is a function of the answers it was given. A [`Node`] is a thread after a
//! sequence of answers; the edge to a child is the next answer. Events of an execution graph carry
//! the node that their thread reached with them, so that backtracking, copying and revisiting a graph
//! never run the interpreter; only an answer that was never given before does.
//!
//! Cost: a few nanoseconds for an answer seen before; one run to the next event otherwise. The tree
//! has one node per distinct history of a thread, not per execution. Past a limit, histories that no
//! graph of the search has are forgotten ([`History::prune`]): what is needed again is one run away
//! from what was kept.

use crate::error::Error;
use crate::facts::{Facts, Tracking};
use crate::reduce::{Awaits, Reduction, Retries, Watched};
use porf_event::{BlockReason, Label, Location, RmwKind, ThreadId, Value};
use porf_graph::Loc;
use porf_interp::{Fault, FaultKind, Interpreter, Step, ThreadState};
use porf_ir::{FunctionId, layout};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};

/// A thread after some answers: an index into the tree, and what it can do next, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(pub u32);

/// What a thread can do next, as far as a scheduler cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ready {
    /// Finished, blocked or at a fault.
    No = 0,
    Yes = 1,
    /// If the thread that it waits for has finished.
    Join = 2,
    /// If as many threads have come to a barrier as it waits for.
    Barrier = 3,
    /// Inside an instruction of several events: the next one comes first.
    Mid = 4,
    /// The next event is a read that may have to wait for a value: others go first.
    Await = 5,
}

#[derive(Clone, Debug)]
pub(crate) enum Next {
    Emit(Label),
    Finished,
    Blocked(BlockReason),
    Fault(Fault),
}

pub(crate) struct Node {
    children: SmallVec<[(Value, Tag); 2]>,
    /// `None` of a beginning.
    pub parent: Option<Tag>,
    /// The event that led here, with the answer in it.
    pub label: Label,
    pub next: Next,
    /// The location of the next event.
    pub loc: Loc,
    /// Of a thread that waits: the index of the first event that it would repeat, where the state does not say.
    pub since: Option<u32>,
    /// Of a thread that waits at a barrier: what the counter must be for it to go on.
    pub until: Value,
    /// Of a thread that a reduction ended: which.
    pub ended_by: Option<Reduction>,
    /// How many iterations without effect the thread has made because others may have seen them.
    pub seen: u16,
    /// Where the thread is, as a number ([`ThreadState::whereabouts`]), if it matters whether it comes back there.
    pub place: u32,
}

pub(crate) struct History<'p> {
    pub interp: Interpreter<'p>,
    nodes: Vec<Node>,
    /// Beside the nodes; `None` if the node is free.
    states: Vec<Option<ThreadState>>,
    tracking: Tracking,
    /// Beside the nodes; empty if dependencies are not tracked.
    facts: Vec<Facts>,
    /// Whether dependencies were asked for that nobody can tell.
    pub refused: Cell<bool>,
    free: Vec<u32>,
    /// About how many bytes there are, and how many there may be.
    pub size: Cell<usize>,
    limit: usize,
    roots: HashMap<(ThreadId, FunctionId, Value), Tag>,
    locations: HashMap<(u64, u8), Loc>,
    cells: Vec<Place>,
    /// For each cell, those that it overlaps in part.
    overlaps: Vec<SmallVec<[Loc; 1]>>,
    /// All cells by address.
    by_address: BTreeMap<(u64, u8), Loc>,
    created: Created,
    /// Who was the first to join a thread, and whether others join it too.
    joiners: HashMap<ThreadId, ThreadId>,
    rival_joins: bool,
    /// Whether a thread was at an atomic access to a part of a word.
    pub atomic_parts: bool,
    /// Beside the nodes; empty if own nodes of threads are not watched.
    watched: Vec<Watched>,
    /// Where retries are left out, what tells them.
    pub retries: Option<Retries<'p>>,
    /// Whether threads at a barrier are not scheduled before they can go on.
    pub barriers: bool,
    /// Where threads that may have to wait go last, what tells them.
    pub awaits: Option<Awaits<'p>>,
}

/// How far a counter of arrivals is followed.
const MOST_ARRIVALS: u64 = 1 << 12;

/// How many bytes of thread states are kept, unless told otherwise.
const LIMIT: usize = 24 << 20;

/// How many threads there may be. The clocks of an event have a number for each of them, so that a graph needs
/// threads times events: some hundred megabytes. Addresses of C programs have room for fewer.
const MOST_THREADS: usize = 2048;

/// The numbers of created threads, by the event that creates them: the same for all workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Created(Arc<Mutex<HashMap<(ThreadId, u32), ThreadId>>>);

impl Created {
    /// In the order of the numbers: the creating thread and the index of its event.
    pub fn list(&self) -> Vec<(u16, u32)> {
        let created = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<_> = created.iter().map(|((thread, index), id)| (id.0, thread.0, *index)).collect();
        list.sort_unstable();
        list.into_iter().map(|(_, thread, index)| (thread, index)).collect()
    }

    /// Takes over the rest of a list, if it begins as this one. Whether it does.
    pub fn grow_to(&self, first: usize, list: &[(u16, u32)]) -> bool {
        let known = self.list();
        if !list.starts_with(&known) {
            return false;
        }
        let mut created = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, &(thread, index)) in list.iter().enumerate().skip(known.len()) {
            created.insert((ThreadId(thread), index), ThreadId((first + at) as u16));
        }
        true
    }

    pub fn from_list(first: usize, list: &[(u16, u32)]) -> Created {
        let number = |at: usize| ThreadId((first + at) as u16);
        let entries =
            list.iter().enumerate().map(|(at, &(thread, index))| ((ThreadId(thread), index), number(at)));
        Created(Arc::new(Mutex::new(entries.collect())))
    }
}

/// A location that some thread has touched or wants to touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub location: Location,
    pub size: u8,
    pub initial: Value,
}

/// What a thread was told at an event.
pub(crate) fn answer(label: &Label) -> Value {
    match label {
        Label::Read { value, .. } => *value,
        Label::Choice { chosen, .. } => Value::from(*chosen),
        Label::Create { child } => Value::from(child.0),
        Label::Init
        | Label::Write { .. }
        | Label::Fence { .. }
        | Label::Join { .. }
        | Label::End
        | Label::Alloc { .. }
        | Label::Free { .. }
        | Label::Block { .. } => 0,
    }
}

/// Whether a thread that arrived at a barrier asks whether it may go on.
fn departs(arrival: &Label, asked: &Label) -> bool {
    matches!(arrival, Label::Write { rmw: RmwKind::Barrier, .. })
        && matches!(asked, Label::Read { rmw: RmwKind::None, .. })
        && arrival.access() == asked.access()
}

/// What a history costs, about.
fn bytes(state: &ThreadState) -> usize {
    size_of::<Node>() + size_of::<ThreadState>() + state.heap_bytes()
}

impl Tag {
    fn new(node: usize, ready: Ready) -> Tag {
        Tag((node as u32) << 3 | ready as u32)
    }

    pub fn node(self) -> usize {
        (self.0 >> 3) as usize
    }

    #[inline]
    pub fn ready(self) -> Ready {
        match self.0 & 7 {
            0 => Ready::No,
            1 => Ready::Yes,
            2 => Ready::Join,
            3 => Ready::Barrier,
            4 => Ready::Mid,
            _ => Ready::Await,
        }
    }

    /// Whether one of several threads, whose tags were joined by "or", may be [`Ready::Mid`] or [`Ready::Await`].
    #[inline]
    pub fn may_be_special(all: u32) -> bool {
        all & Ready::Mid as u32 & Ready::Await as u32 != 0
    }
}

impl<'p> History<'p> {
    pub fn new(
        interp: Interpreter<'p>,
        tracking: Tracking,
        created: Created,
        limit: Option<usize>,
    ) -> History<'p> {
        History {
            interp: interp.track_dependencies(tracking == Tracking::Always),
            nodes: Vec::new(),
            states: Vec::new(),
            tracking,
            facts: Vec::new(),
            refused: Cell::new(false),
            free: Vec::new(),
            size: Cell::new(0),
            limit: limit.unwrap_or(LIMIT),
            roots: HashMap::new(),
            locations: HashMap::new(),
            cells: Vec::new(),
            overlaps: Vec::new(),
            by_address: BTreeMap::new(),
            created,
            joiners: HashMap::new(),
            rival_joins: false,
            atomic_parts: false,
            watched: Vec::new(),
            retries: None,
            barriers: false,
            awaits: None,
        }
    }

    /// The beginning of one of the threads that run from the start.
    pub fn start(&mut self, thread: ThreadId) -> Result<Tag, Error> {
        let state = self.beginner().start(thread);
        self.push(None, Label::Init, state)
    }

    /// Of a beginning dependencies are known, so that they can be found out of all that follows.
    fn beginner(&self) -> Interpreter<'p> {
        self.interp.track_dependencies(self.tracking != Tracking::Never)
    }

    #[inline]
    pub fn node(&self, tag: Tag) -> &Node {
        &self.nodes[tag.node()]
    }

    pub fn state(&self, tag: Tag) -> &ThreadState {
        self.states[tag.node()].as_ref().unwrap_or_else(|| unreachable!("a graph has it"))
    }

    /// Whether it is time to [`prune`](Self::prune).
    #[inline]
    pub fn is_large(&self) -> bool {
        self.size.get() > self.limit
    }

    /// Forgets all histories but those that are named, with all their beginnings, and roots.
    pub fn prune(&mut self, named: impl Iterator<Item = Tag>) {
        let mut live = vec![false; self.nodes.len()];
        for tag in named.chain(self.roots.values().copied()) {
            live[tag.node()] = true;
        }
        let mut size = 0;
        for at in 0..self.nodes.len() {
            let Some(state) = &self.states[at] else { continue };
            if live[at] {
                size += bytes(state) + self.facts.get(at).map_or(0, Facts::bytes);
                self.nodes[at].children.retain(|(_, child)| live[child.node()]);
            } else {
                self.states[at] = None;
                self.nodes[at] = Node {
                    children: SmallVec::new(),
                    parent: None,
                    label: Label::Init,
                    next: Next::Finished,
                    loc: Loc::NONE,
                    since: None,
                    until: 0,
                    ended_by: None,
                    seen: 0,
                    place: 0,
                };
                if let Some(known) = self.facts.get_mut(at) {
                    *known = Facts::default();
                }
                self.free.push(at as u32);
            }
        }
        if let Some(known) = &mut self.retries {
            known.looked.clear();
            known.attempts.clear();
        }
        // What is in use cannot be forgotten: leave room for as much again.
        self.limit = self.limit.max(2 * size);
        self.size.set(size);
    }

    pub fn cells(&self) -> &[Place] {
        &self.cells
    }

    /// The thread after the next event was answered.
    #[inline]
    pub fn child(&mut self, tag: Tag, answer: Value) -> Result<Tag, Error> {
        for &(seen, child) in &self.nodes[tag.node()].children {
            if seen == answer {
                return Ok(child);
            }
        }
        self.grow(tag, answer)
    }

    /// The same, if that was asked before.
    pub fn known_child(&self, tag: Tag, answer: Value) -> Option<Tag> {
        self.node(tag).children.iter().find(|(seen, _)| *seen == answer).map(|(_, child)| *child)
    }

    #[cold]
    fn grow(&mut self, tag: Tag, answer: Value) -> Result<Tag, Error> {
        let mut state = self.state(tag).clone();
        let Next::Emit(label) = self.nodes[tag.node()].next else {
            unreachable!("only an event is answered")
        };
        let label = self.interp.settle(&state, label, answer);
        self.interp.deliver(&mut state, answer);
        let mut child = self.push(Some(tag), label, state)?;
        if self.retries.is_some() {
            if self.has_own_nodes() {
                self.watch_own_nodes(child);
            }
            child = self.cut_short(child)?;
        }
        self.nodes[tag.node()].children.push((answer, child));
        Ok(child)
    }

    /// The number of the thread that event `index` of `parent` starts: always the same.
    pub fn created_id(&mut self, parent: ThreadId, index: u32) -> Result<ThreadId, Error> {
        let program = self.interp.program();
        let mut created = self.created.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = program.threads.len();
        let next = first + created.len();
        if let Some(&child) = created.get(&(parent, index)) {
            return Ok(child);
        }
        let most = if program.image.is_some() { layout::MAX_THREADS as usize } else { MOST_THREADS };
        if next >= most {
            return Err(Error::Limit(format!(
                "more than {most} threads (does a loop that creates them end?)"
            )));
        }
        created.insert((parent, index), ThreadId(next as u16));
        drop(created);
        self.look_at_thread_count()?;
        Ok(ThreadId(next as u16))
    }

    /// How many threads there are, in all executions so far.
    pub fn thread_count(&self) -> usize {
        let created = self.created.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.interp.program().threads.len() + created.len()
    }

    /// Who starts the threads that do not run from the beginning: see [`Created::list`].
    pub fn created_list(&self) -> Vec<(u16, u32)> {
        self.created.list()
    }

    /// The beginning of thread `child`, which a thread is about to start.
    pub fn created(&mut self, tag: Tag, child: ThreadId) -> Result<Tag, Error> {
        let (function, argument) =
            self.interp.created(self.state(tag)).unwrap_or_else(|| unreachable!("asked at a Create only"));
        if let Some(&root) = self.roots.get(&(child, function, argument)) {
            return Ok(root);
        }
        let state = self.beginner().start_function(child, function, argument);
        let root = self.push(None, Label::Init, state)?;
        self.roots.insert((child, function, argument), root);
        Ok(root)
    }

    /// The thread does not go on from here, because of a reduction; `since` is what it would repeat.
    pub fn end(&mut self, tag: Tag, by: Reduction, reason: BlockReason, since: Option<u32>) -> Tag {
        let node = &mut self.nodes[tag.node()];
        (node.next, node.since, node.ended_by) = (Next::Blocked(reason), since, Some(by));
        Tag::new(tag.node(), Ready::No)
    }

    /// The thread goes on, although it has made an iteration without effect: others may have seen that.
    pub fn go_on(&mut self, tag: Tag) {
        self.nodes[tag.node()].seen += 1;
    }

    /// What is known of the thread's own objects.
    #[inline]
    pub fn watched(&self, tag: Tag) -> Watched {
        self.watched.get(tag.node()).copied().unwrap_or_default()
    }

    /// Sets that.
    pub fn set_watched(&mut self, tag: Tag, watched: Watched) {
        self.watched.resize(self.nodes.len(), Watched::default());
        self.watched[tag.node()] = watched;
    }

    /// Of a thread that waits in a loop: the index of the first event of the iteration that it would repeat.
    pub fn waits_since(&self, tag: Tag) -> Option<u32> {
        self.node(tag).since.or_else(|| self.state(tag).waits_since(self.interp.program()))
    }

    /// The beginning of a created thread, if it is known.
    pub fn root(&self, thread: ThreadId, function: FunctionId, argument: Value) -> Option<Tag> {
        self.roots.get(&(thread, function, argument)).copied()
    }

    pub fn is_finished(&self, tag: Tag) -> bool {
        tag.ready() == Ready::No && matches!(self.node(tag).next, Next::Finished)
    }

    /// The history without its last answer, and that.
    pub fn parent(&self, tag: Tag) -> Option<(Tag, Value)> {
        let parent = self.node(tag).parent?;
        let (answer, _) = self.node(parent).children.iter().find(|(_, child)| *child == tag)?;
        Some((parent, *answer))
    }

    fn push(&mut self, parent: Option<Tag>, label: Label, mut state: ThreadState) -> Result<Tag, Error> {
        let next = match self.interp.run(&mut state) {
            Step::Emit(label) => Next::Emit(label),
            Step::Finished => Next::Finished,
            Step::Blocked(reason) => Next::Blocked(reason),
            Step::Fault(fault) => Next::Fault(fault),
        };
        let mut loc = Loc::NONE;
        let mut next = next;
        let mut until = 0;
        let ready = match &next {
            Next::Emit(asked) => {
                if let Label::Join { child } = *asked
                    && (label == *asked || self.has_joined(parent, child))
                {
                    let message = "join of a thread that was joined before".to_string();
                    next = Next::Fault(self.fault_in(&state, FaultKind::Lock, message));
                } else if let Some(access) = asked.access() {
                    self.atomic_parts |= self.has_words() && !asked.is_plain() && self.interp.is_part(&state);
                    match self.locate(access.location, access.size)? {
                        Some(found) => loc = found,
                        None => next = Next::Fault(self.bad_address(&state, access.location)),
                    }
                }
                match &next {
                    Next::Fault(_) => Ready::No,
                    Next::Emit(Label::Join { child }) => {
                        let joiner = *self.joiners.entry(*child).or_insert(state.thread());
                        self.rival_joins |= joiner != state.thread();
                        Ready::Join
                    }
                    _ if state.is_mid_instruction() => Ready::Mid,
                    Next::Emit(asked) if self.barriers && departs(&label, asked) => {
                        match self.goes_on_at(&state, &label) {
                            Some(count) => {
                                until = count;
                                Ready::Barrier
                            }
                            None => Ready::Yes,
                        }
                    }
                    Next::Emit(Label::Read { .. }) if self.may_wait(&state) => Ready::Await,
                    Next::Emit(read) if self.awaits.is_some() && self.may_fail(read, loc) => Ready::Await,
                    Next::Emit(Label::Read { .. }) if self.may_retry(parent, &state, loc) => Ready::Await,
                    _ => Ready::Yes,
                }
            }
            _ => Ready::No,
        };
        if self.nodes.len() >= 1 << 29 {
            return Err(Error::Limit("more than 2^29 thread histories".into()));
        }
        let known = match self.tracking {
            Tracking::Never => None,
            tracking => Some(Facts::new(&self.interp, tracking, &mut state)),
        };
        let size = bytes(&state) + known.as_ref().map_or(0, Facts::bytes);
        self.size.set(self.size.get() + size);
        let seen = parent.map_or(0, |parent| self.node(parent).seen);
        let place = if self.retries.is_some() { state.whereabouts() } else { 0 };
        let children = SmallVec::new();
        let node =
            Node { children, parent, label, next, loc, since: None, until, ended_by: None, seen, place };
        let at = match self.free.pop() {
            Some(at) => at as usize,
            None => {
                self.nodes.push(node);
                self.states.push(Some(state));
                self.facts.extend(known);
                return Ok(Tag::new(self.nodes.len() - 1, ready));
            }
        };
        self.nodes[at] = node;
        self.states[at] = Some(state);
        if let Some(watched) = self.watched.get_mut(at) {
            *watched = Watched::default();
        }
        if let Some(known) = known {
            self.facts[at] = known;
        }
        Ok(Tag::new(at, ready))
    }

    /// The first count of arrivals, from that of its own on, with which a thread at a barrier goes on.
    fn goes_on_at(&self, state: &ThreadState, arrival: &Label) -> Option<Value> {
        let own = arrival.value()?;
        (own..own + MOST_ARRIVALS).find(|&count| {
            let mut state = state.clone();
            self.interp.deliver(&mut state, count);
            self.interp.run(&mut state) != Step::Blocked(BlockReason::Spin)
        })
    }

    #[inline]
    pub fn facts(&self, tag: Tag) -> &Facts {
        &self.facts[tag.node()]
    }

    /// Whether the next event of the thread is a read that only moves bytes to another place.
    pub fn only_moves(&self, tag: Tag) -> bool {
        let place = self.state(tag).place();
        place.is_some_and(|(function, at)| self.interp.program().function(function).is_move(at))
    }

    /// Whether the next event of the thread only fetches the rest of the word that it writes a part of.
    pub fn only_fetches(&self, tag: Tag) -> bool {
        self.has_words() && self.interp.only_fetches(self.state(tag))
    }

    /// Whether the next event of the thread is a later one of an access of several events.
    pub fn continues_access(&self, tag: Tag) -> bool {
        let interp = &self.interp;
        !interp.program().bounds.is_empty() && interp.continues_access(self.state(tag))
    }

    /// Whether words of memory are accessed in whole and in part.
    #[inline]
    pub fn has_words(&self) -> bool {
        !self.interp.program().words.is_empty()
    }

    /// Whether the next events of two threads touch a byte in common, where events stand for whole words.
    pub fn touch(&self, a: Tag, b: Tag) -> bool {
        self.interp.touch(self.state(a), self.state(b))
    }

    /// A fault of the thread at `tag`, in the instruction that it is at.
    pub fn fault(&self, tag: Tag, kind: FaultKind, message: String) -> Fault {
        self.fault_in(self.state(tag), kind, message)
    }

    fn fault_in(&self, state: &ThreadState, kind: FaultKind, message: String) -> Fault {
        let program = self.interp.program();
        Fault { kind, message, span: state.span(program), stack: state.stack(program) }
    }

    /// Whether a thread has joined another one up to here.
    fn has_joined(&self, mut tag: Option<Tag>, child: ThreadId) -> bool {
        while let Some(Node { parent, label, .. }) = tag.map(|tag| self.node(tag)) {
            if *label == (Label::Join { child }) {
                return true;
            }
            tag = *parent;
        }
        false
    }

    fn bad_address(&self, state: &ThreadState, location: Location) -> Fault {
        let message = format!("access to {:#x}, which is no variable", location.0);
        self.fault_in(state, FaultKind::BadAddress, message)
    }

    /// Whether two threads join the same one, in some execution or in different ones.
    #[inline]
    pub fn has_rival_joins(&self) -> bool {
        self.rival_joins
    }

    /// Whether the program has memory that comes and goes.
    #[inline]
    pub fn has_allocations(&self) -> bool {
        self.interp.program().image.is_some()
    }

    /// The cells that share some but not all bytes with a cell.
    #[inline]
    pub fn overlapping(&self, loc: Loc) -> &[Loc] {
        &self.overlaps[loc.as_usize()]
    }

    /// The dense number of a location; `None` if there is nothing there.
    ///
    /// Cells that overlap are told apart here; no execution may use both.
    pub fn locate(&mut self, location: Location, size: u8) -> Result<Option<Loc>, Error> {
        if let Some(&loc) = self.locations.get(&(location.0, size)) {
            return Ok(Some(loc));
        }
        let program = self.interp.program();
        let end = location.0 + u64::from(size);
        // The interpreter knows where the memory of a C program is.
        if program.image.is_none() {
            let Some(global) = program.global_at(location.0) else { return Ok(None) };
            if end > global.address + global.size.max(1) {
                return Ok(None);
            }
        }
        let loc = Loc(self.cells.len() as u32);
        let near = self.by_address.range((location.0.saturating_sub(15), 0)..(end, 0));
        let overlapping: SmallVec<[Loc; 1]> = near
            .filter(|((start, size), _)| *start + u64::from(*size) > location.0)
            .map(|(_, other)| *other)
            .collect();
        for other in &overlapping {
            self.overlaps[other.as_usize()].push(loc);
        }
        self.overlaps.push(overlapping);
        let initial = program.initial_value(location.0, size);
        self.cells.push(Place { location, size, initial });
        self.locations.insert((location.0, size), loc);
        self.by_address.insert((location.0, size), loc);
        Ok(Some(loc))
    }
}
