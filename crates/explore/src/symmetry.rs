//! Interchangeable threads: of executions that differ by a permutation of them, one is visited.
//!
//! Source: Kokologiannakis, Marmanis, Vafeiadis, "SPORE: combining symmetry and partial order reduction", PLDI
//! 2024. There the program says which threads are symmetric; here it is found out ([`Engine::find_twin`]).
//!
//! Threads that begin alike do alike as long as they are answered alike. What a thread chose is a sequence of
//! keys: of a read the place of its source in co, of a write its own place, of an open choice the value. Keys
//! belong to what a thread did, not to its number, so that a permutation of threads permutes the sequences. The one
//! execution of all permutations that is visited has them in ascending lexical order: of two *twins*, neighbours in
//! the order of their numbers, the second has the greater key where they differ first. (Threads that cannot be
//! compared there, because the event is about memory of their own, stay as they are: more than one is visited.)
//!
//! TruSt stays complete because
//! - the canonical choice is the greatest key: the second twin, which comes later, can always make it;
//! - an event of the second twin needs the event of the first one with the same index, as long as they chose alike
//!   ([`Twins::needed`]). It is added after it, and not kept without it by a revisit. So the first twin never has to choose
//!   below what the second one has.
//!
//! This makes po ∪ rf ∪ {partners} the order of prefixes, which must have no cycle in what is to be visited. There
//! is one where the first twin reads from a write after the second one's read, in porf. Then the exchanged execution
//! is visited instead: the second twin may always read from what is after the first one's read. With happens-before
//! less than porf that write may be before the other in co, and three or more threads can then have more than one
//! order that counts as ascending.
//!
//! A thread that joins one of several interchangeable threads that it has not created ends the search: it begins
//! anew without this reduction ([`Error::Without`]).
//!
//! Cost: a clock more for each event of programs that have twins, nothing otherwise.

use crate::engine::Engine;
use crate::error::Error;
use crate::history::{History, Next, Ready, Tag};
use crate::schedule::tag_of;
use crate::search::{Policy, Upcoming};
use porf_consistency::{Choice, MemoryModel};
use porf_event::{Label, Location, RmwKind, ThreadId, Value};
use porf_graph::{Ev, Event, ExecutionGraph};
use porf_ir::{Function, Instr, Program, Reg, ThreadEntry, layout};

/// How far a thread that creates others is followed.
const FAR: usize = 1 << 10;

/// What of a program can be symmetric.
pub(crate) struct Symmetry {
    /// By function: whether no thread that runs it can tell which one it is.
    anonymous: Vec<bool>,
    /// By function: whether its first parameter is ever looked at.
    uses_argument: Vec<bool>,
    /// The twins of threads that run from the start.
    pub roots: Vec<Option<ThreadId>>,
}

impl Symmetry {
    /// `None` if nothing is.
    pub fn of(program: &Program) -> Option<Symmetry> {
        let anonymous = anonymous(program);
        let code = || program.functions.iter().flat_map(|function| &function.code);
        let joins = code().any(|instr| matches!(instr, Instr::Join { .. }));
        let alike = |a: &ThreadEntry, b: &ThreadEntry| {
            (a.function, &a.registers) == (b.function, &b.registers) && anonymous[a.function.0 as usize]
        };
        let threads = &program.threads;
        let twin = |at: usize| threads[..at].iter().rposition(|other| !joins && alike(other, &threads[at]));
        let roots: Vec<_> = (0..threads.len()).map(|at| twin(at).map(|twin| ThreadId(twin as u16))).collect();
        let creates = code().any(|instr| matches!(instr, Instr::Create { .. } | Instr::CreatePointer { .. }));
        (creates || roots.iter().any(Option::is_some)).then_some(Symmetry {
            anonymous,
            uses_argument: program.functions.iter().map(uses_argument).collect(),
            roots,
        })
    }
}

fn uses_argument(function: &Function) -> bool {
    let mut used = false;
    function.code.iter().for_each(|instr| instr.visit_registers(|register| used |= register == Reg(0)));
    used
}

/// The functions in which, and in what they call, nothing depends on the number of the thread.
fn anonymous(program: &Program) -> Vec<bool> {
    let mut anonymous: Vec<bool> =
        program.functions.iter().map(|function| !function.code.iter().any(tells_thread)).collect();
    loop {
        let calls_other = |instr: &Instr| match instr {
            Instr::Call { function, .. } => !anonymous[function.0 as usize],
            _ => false,
        };
        let tells: Vec<usize> = (0..anonymous.len())
            .filter(|&at| anonymous[at] && program.functions[at].code.iter().any(calls_other))
            .collect();
        if tells.is_empty() {
            return anonymous;
        }
        tells.into_iter().for_each(|at| anonymous[at] = false);
    }
}

/// Whether the number of the thread, or one that is made of it, may come to light: it is the handle of the thread
/// and part of the addresses of what it allocates and of the numbers of threads that it creates. (It is also part of
/// the addresses of variables that only the thread itself sees, which C says nothing about.)
fn tells_thread(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::ThreadSelf { .. }
            | Instr::Create { .. }
            | Instr::CreatePointer { .. }
            | Instr::Join { .. }
            | Instr::Alloc { .. }
            | Instr::ThreadLocalAddress { .. }
            | Instr::CallPointer { .. }
            | Instr::ExitProcess
            | Instr::Print { .. }
            | Instr::Format { .. }
    )
}

/// A graph with interchangeable threads.
#[derive(Clone, Copy)]
pub(crate) struct Twins<'g> {
    pub graph: &'g ExecutionGraph,
    /// Whether threads that come to a barrier are not ordered.
    pub unordered: bool,
}

impl Twins<'_> {
    /// Whether two events with the same index of threads that chose alike before are the same choice.
    fn is_same(self, a: Ev, b: Ev) -> bool {
        let graph = self.graph;
        let (a, b) = (graph.event(a), graph.event(b));
        match (a.label, b.label) {
            // Nobody sees in which order threads come to a barrier.
            (Label::Read { rmw: RmwKind::Barrier, .. }, Label::Read { rmw: RmwKind::Barrier, .. })
            | (Label::Write { rmw: RmwKind::Barrier, .. }, Label::Write { rmw: RmwKind::Barrier, .. })
                if self.unordered =>
            {
                a.loc == b.loc
            }
            (Label::Read { .. }, Label::Read { .. }) => a.loc == b.loc && a.rf == b.rf && a.rf.is_some(),
            (Label::Write { .. }, _) => false,
            (one, other) => one == other,
        }
    }

    /// Whether the first `count` events of two threads, which have as many, are the same choices.
    fn are_alike(self, one: ThreadId, other: ThreadId, count: usize) -> bool {
        let graph = self.graph;
        let (one, other) = (graph.thread(one).events(), graph.thread(other).events());
        one.len() >= count
            && std::iter::zip(&one[..count], &other[..count]).all(|(&one, &other)| self.is_same(one, other))
    }

    /// The event of the first twin that stands beside an event of the second one; [`Ev::NONE`] if they had chosen
    /// differently before.
    pub fn partner(self, event: Ev) -> Ev {
        let graph = self.graph;
        let id = graph.event(event).id;
        let Some(twin) = graph.thread(id.thread).twin else { return Ev::NONE };
        let at = id.index as usize;
        match graph.thread(twin).events().get(at) {
            Some(&beside) if self.are_alike(twin, id.thread, at) => beside,
            _ => Ev::NONE,
        }
    }

    /// What an event needs for the sake of its twin: the instruction that its partner begins. The write of a
    /// read-modify-write has its place by what was read, so that it cannot be left out and be added anew as any other
    /// event can.
    pub fn needed(self, event: Ev) -> Ev {
        let graph = self.graph;
        let mut last = self.partner(event);
        if last.is_some() {
            let Event { id, .. } = graph.event(last);
            let mut later = graph.thread(id.thread).events()[id.index as usize + 1..].iter();
            while Tag(graph.event(last).tag).ready() == Ready::Mid
                && let Some(&next) = later.next()
            {
                last = next;
            }
        }
        last
    }

    /// The first twin, as long as a thread has done no less and nothing else.
    pub fn first_to_move(self, thread: ThreadId) -> ThreadId {
        let graph = self.graph;
        let mut first = thread;
        while let Some(twin) = graph.thread(first).twin {
            let count = graph.thread(first).events().len();
            if graph.thread(twin).events().len() != count || !self.are_alike(twin, first, count) {
                break;
            }
            first = twin;
        }
        first
    }

    /// Takes away the choices of the newest event, from `start` on, that another order of the twins makes.
    pub fn restrict(self, choices: &mut Vec<Choice>, start: usize) {
        let graph = self.graph;
        let event = graph.newest();
        let beside = self.partner(event);
        if !beside.is_some() {
            return;
        }
        let mut kept = start;
        for at in start..choices.len() {
            let keeps = match choices[at] {
                Choice::Source(source) => self.may_read(event, beside, source),
                Choice::Place(place) => {
                    let (this, that) = (graph.event(event), graph.event(beside));
                    !that.label.is_write() || this.loc != that.loc || place > that.co
                }
                Choice::Value(value) => match graph.event(beside).label {
                    Label::Choice { chosen, .. } => value <= chosen,
                    _ => true,
                },
                Choice::Revisit(_) | Choice::Thread(_) => true,
            };
            if keeps {
                choices[kept] = choices[at];
                kept += 1;
            }
        }
        choices.truncate(kept);
    }

    /// Whether a read may take its value from `source`, as far as its twin is concerned.
    pub fn may_read(self, read: Ev, beside: Ev, source: Ev) -> bool {
        let graph = self.graph;
        if !beside.is_some() {
            return true;
        }
        let (this, that): (&Event, &Event) = (graph.event(read), graph.event(beside));
        if !that.label.is_read() || this.loc != that.loc {
            return true;
        }
        if source == that.rf {
            // Two read-modify-writes with one source.
            let next = graph.thread(that.id.thread).events().get(that.id.index as usize + 1);
            return next.is_none_or(|&next| graph.event(next).pair != beside);
        }
        graph.event(source).co > graph.event(that.rf).co || graph.in_prefix(beside, source)
    }

    /// How many executions the graph is one of, up to the order of interchangeable threads.
    pub fn permutations(self) -> u64 {
        let graph = self.graph;
        let mut all = 1u64;
        // Of each thread: how many twins it is the last of, and how many of these did exactly the same.
        let mut rows: Vec<(u64, u64)> = Vec::with_capacity(graph.threads().len());
        for (at, thread) in graph.threads().iter().enumerate() {
            let row = match thread.twin.filter(|_| thread.is_started()) {
                Some(twin) => {
                    let (twins, same) = rows[twin.as_usize()];
                    let count = thread.events().len();
                    let is_same = graph.thread(twin).events().len() == count
                        && self.are_alike(twin, ThreadId(at as u16), count);
                    let same = if is_same { same + 1 } else { 1 };
                    all = all.saturating_mul(twins + 1) / same;
                    (twins + 1, same)
                }
                None => (1, 1),
            };
            rows.push(row);
        }
        all
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    #[inline]
    pub fn twins(&self) -> Twins<'_> {
        Twins { graph: &self.trail.now, unordered: self.barriers.is_some() }
    }

    /// An earlier thread that the newest one is interchangeable with: it begins with the same function and argument
    /// (or does not look at that), nothing there depends on numbers of threads, and their creator does nothing but
    /// create threads between starting the two, and nothing but create and join threads between joining them.
    pub fn find_twin(&mut self, creator: ThreadId, before: Tag) -> Result<Option<ThreadId>, Error> {
        let Some(symmetry) = &self.symmetry else { return Ok(None) };
        let Engine { trail, .. } = &self;
        let (graph, history) = (&trail.now, &trail.history);
        let Some((function, argument)) = history.interp.created(history.state(before)) else {
            return Ok(None);
        };
        if !symmetry.anonymous[function.0 as usize] {
            return Ok(None);
        }
        let events = graph.thread(creator).events();
        let Some(Label::Create { child }) = events.last().map(|&ev| graph.event(ev).label) else {
            return Ok(None);
        };
        let created = events.iter().rev().skip(1).map_while(|&ev| match graph.event(ev).label {
            Label::Create { child } => Some(child),
            _ => None,
        });
        let root = |other: ThreadId| Tag(graph.thread(other).tag);
        let begins_so = |&other: &ThreadId| match symmetry.uses_argument[function.0 as usize] {
            true => history.root(other, function, argument) == Some(root(other)),
            false => history.state(root(other)).places().last().is_some_and(|(begun, _)| begun == function),
        };
        let Some(twin) = created.into_iter().find(begins_so) else { return Ok(None) };
        let (index, after) = (events.len() as u32, tag_of(graph, creator.as_usize()));
        let together = joins_together(&mut self.trail.history, creator, (index, after), [twin, child])?;
        Ok(together.then_some(twin))
    }

    /// Whether a thread is about to join an interchangeable one that it has not created: what it does then may depend
    /// on which one that is.
    pub fn joins_stranger(&self, thread: ThreadId) -> bool {
        let graph = &self.trail.now;
        let tag = tag_of(graph, thread.as_usize());
        let Next::Emit(Label::Join { child }) = self.trail.history.node(tag).next else { return false };
        let threads = graph.threads();
        let Some(joined) = threads.get(child.as_usize()).filter(|joined| joined.is_started()) else {
            return false;
        };
        let is_twin = joined.twin.is_some() || threads.iter().any(|other| other.twin == Some(child));
        is_twin && graph.event(joined.creator).id.thread != thread
    }

    /// Whether a thread that has not created `thread`, which just became interchangeable, joins it.
    pub fn is_joined(&self, thread: ThreadId) -> bool {
        let graph = &self.trail.now;
        let creator = graph.event(graph.thread(thread).creator).id.thread;
        let joins = |ev: Ev| {
            let event = graph.event(ev);
            event.label == Label::Join { child: thread } && event.id.thread != creator
        };
        let started = (0..graph.threads().len()).filter(|&at| graph.threads()[at].is_started());
        graph.all().any(joins) || { started }.any(|at| self.joins_stranger(ThreadId(at as u16)))
    }

    /// Runs the first thread alone as far as it goes: whether it creates threads that are interchangeable.
    pub fn finds_twins(&mut self) -> Result<bool, Error> {
        let thread = ThreadId(0);
        for _ in 0..FAR {
            let tag = tag_of(&self.trail.now, 0);
            if !matches!(tag.ready(), Ready::Yes | Ready::Mid | Ready::Await) {
                break;
            }
            let node = self.trail.history.node(tag);
            let (&Next::Emit(label), loc) = (&node.next, node.loc) else { break };
            if label.access().is_some() && self.trail.overlaps(loc) {
                break;
            }
            let next = Upcoming { thread, tag, label, loc };
            match label {
                Label::Create { .. } => {
                    self.create(thread, tag)?;
                }
                Label::Read { .. } => {
                    let read = self.add_event(next, tag);
                    let last = self.trail.now.co_max(loc);
                    self.read_from(read, last)?;
                }
                Label::Write { .. } => {
                    let after = self.trail.history.child(tag, 0)?;
                    let write = self.add_event(next, after);
                    let place = self.trail.now.co(loc).len() as u32 + 1;
                    self.trail.now.place(write, place);
                }
                Label::Choice { .. } => {
                    let choice = self.add_event(next, tag);
                    self.take_value(choice, 0)?;
                }
                _ => {
                    self.add_other(next)?;
                }
            }
        }
        let found = self.trail.now.threads().iter().any(|thread| thread.twin.is_some());
        self.reset_graph();
        Ok(found)
    }
}

/// Whether the next event reads what one of two threads returned.
fn reads_result(next: &Next, both: [ThreadId; 2]) -> bool {
    let Next::Emit(label @ Label::Read { .. }) = next else { return false };
    let is_result = |thread: ThreadId| label.location() == Some(Location(layout::result_cell(thread)));
    both.into_iter().any(is_result)
}

/// Whether a thread, which is followed from a state on, joins both of two threads or none, with nothing in between
/// that others could notice, whatever they do.
fn joins_together(
    history: &mut History<'_>,
    thread: ThreadId,
    (mut index, mut tag): (u32, Tag),
    both: [ThreadId; 2],
) -> Result<bool, Error> {
    let mut joined = 0;
    for _ in 0..FAR {
        let answer = match history.node(tag).next {
            Next::Finished => return Ok(joined == 0),
            Next::Emit(Label::Join { child }) => {
                joined += usize::from(both.contains(&child));
                if joined == both.len() {
                    let after = history.child(tag, 0)?;
                    return Ok(!reads_result(&history.node(after).next, both));
                }
                0
            }
            Next::Emit(Label::Create { .. }) => Value::from(history.created_id(thread, index)?.0),
            Next::Emit(
                Label::Write { .. } | Label::Fence { .. } | Label::Alloc { .. } | Label::Free { .. },
            ) if joined == 0 => 0,
            Next::Emit(_) | Next::Blocked(_) | Next::Fault(_) => return Ok(false),
        };
        tag = history.child(tag, answer)?;
        index += 1;
    }
    Ok(false)
}
