//! The search machine: a graph grows, goes back, and is revisited.
//!
//! Source: Kokologiannakis, Marmanis, Gladstein, Vafeiadis, "Truly stateless, optimal dynamic partial
//! order reduction", POPL 2022. A graph grows by the next event of the scheduled thread. A read tries
//! every source there is; a write, besides every place in co, *revisits* older reads that are not in
//! its prefix: the events that came after the read and are not needed by the write are thrown away
//! and the read takes its value from the write.
//!
//! Instead of recursing, the search keeps a stack of [`Frame`]s, each an event with its untried
//! [`Choice`]s. Going back undoes the newest events; a revisit works on a copy in pooled memory, and the
//! graph it came from waits on a stack. Nothing is allocated in the steady state.
//!
//! What a prefix is, which revisits are made and how a model is asked is a [`Policy`]. There are two:
//! - [`engine`](crate::engine): prefixes in po ∪ rf. A revisit is made only from the one graph in which
//!   everything that is thrown away was chosen canonically, so that no graph is reached twice.
//! - [`weave`](crate::weave): prefixes of dependencies. Threads have holes, and what was reached is remembered.

mod trail;

pub(crate) use trail::{Frame, Growing, Trail};

use crate::error::Error;
use crate::history::{Next, Ready, Tag};
use crate::schedule::tag_of;
use crate::visit::Visitor;
use porf_consistency::Choice;
use porf_event::{Label, ThreadId};
use porf_graph::{Ev, Loc};
use std::ops::ControlFlow;

/// Events between two looks at the clock.
const WATCH: u64 = 4096;
/// About how many bytes may be taken between two looks at the memory.
const TAKEN: usize = 64 << 20;

/// The next event of a thread.
#[derive(Clone, Copy)]
pub(crate) struct Upcoming {
    pub thread: ThreadId,
    /// The state of the thread before it.
    pub tag: Tag,
    pub label: Label,
    pub loc: Loc,
}

/// What came of trying choices.
pub(crate) enum Tried {
    /// One gives a consistent graph.
    Applied,
    /// None is left.
    Exhausted,
    /// The visitor has seen enough.
    Stop,
}

/// What makes a search out of the machine.
pub(crate) trait Policy<'p>: Sized {
    type Graph: Growing;

    fn trail(&self) -> &Trail<'p, Self::Graph>;
    fn trail_mut(&mut self) -> &mut Trail<'p, Self::Graph>;

    /// Which thread goes next, if any can.
    fn next_thread(&self) -> Option<ThreadId>;

    /// Whether threads take turns at locks.
    #[inline]
    fn takes_turns(&self) -> bool {
        false
    }

    /// A thread is about to move, where threads take turns or where it may have to wait; which one shall.
    fn turn_of(&mut self, thread: ThreadId) -> Result<ThreadId, Error> {
        Ok(thread)
    }

    /// Adds a read and its sources.
    fn add_read(&mut self, next: Upcoming) -> Result<(), Error>;

    /// Adds a write, the reads that it may revisit and its places.
    fn add_write(&mut self, next: Upcoming) -> Result<(), Error>;

    /// Adds an open choice of the program. Its values are added by the machine.
    fn add_choice(&mut self, next: Upcoming) -> Result<(), Error>;

    /// Adds the creation of a thread, and the thread.
    fn add_create(&mut self, next: Upcoming, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error>;

    /// Adds an event that has no choices. Whether the graph is consistent then.
    fn add_other(&mut self, next: Upcoming) -> Result<bool, Error>;

    /// Gives a read a source. Whether the graph is consistent then.
    fn take_source(&mut self, read: Ev, source: Ev) -> Result<bool, Error>;

    /// Gives a write, which has none, a place. Whether the graph is consistent then.
    fn take_place(&mut self, write: Ev, place: u32) -> Result<bool, Error>;

    /// Gives an open choice a value.
    fn take_value(&mut self, event: Ev, value: u32) -> Result<(), Error>;

    /// Puts the next event of another thread, which takes a lock, in the place of the newest one. Whether it may.
    fn take_turn(&mut self, _event: Ev, _thread: ThreadId) -> Result<bool, Error> {
        unreachable!("the search does not choose between threads")
    }

    /// In a copy, gives a write a place and makes a read take its value from it. Whether the graph is consistent.
    fn take_revisit(&mut self, write: Ev, read: Ev, place: u32) -> Result<bool, Error>;

    /// Makes the graph without what is thrown away when `read` takes its value from `write`; where the two are in it. If
    /// the read is thrown away too, it is the write.
    fn restricted(&mut self, write: Ev, read: Ev) -> (Self::Graph, Ev, Ev);

    /// Adds the places of the write in a copy; `read` has no source there.
    fn add_places(&mut self, write: Ev, read: Ev);

    /// Whether an event belongs to the prefix of a write.
    fn is_needed(&self, event: Ev, write: Ev) -> bool;

    /// Whether `event` may be thrown away for the sake of `write`.
    fn may_throw_away(&mut self, event: Ev, write: Ev) -> bool;

    /// The oldest event that cannot stay without `event`, beside the read that `event` revisited.
    #[inline]
    fn falls_with(&self, _event: Ev) -> Ev {
        Ev::NONE
    }

    /// Whether an event reads a location, or is the first one of an access that does.
    #[inline]
    fn may_read_at(&self, event: Ev, loc: Loc) -> bool {
        let event = self.trail().graph().event(event);
        event.label.is_read() && event.loc == loc
    }

    /// Only reads older than this can be revisited by a write.
    #[inline]
    fn revisits_before(&self, _write: Ev) -> Ev {
        Ev::NONE
    }

    /// No read older than this can be revisited by a write, nor one that is not older than `before`.
    #[inline]
    fn revisits_from(&self, _write: Ev, _before: Ev) -> Ev {
        Ev::INIT
    }

    /// Whether a new read, which took a source, leads to nothing that has to be shown.
    #[inline]
    fn is_hopeless(&mut self, _read: Ev) -> Result<bool, Error> {
        Ok(false)
    }

    /// Leaves out some of the choices from `start` on.
    #[inline]
    fn narrow(&mut self, _start: u32) {}

    /// Nothing has been done: is something wrong already?
    fn begin(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()>;

    /// A consistent graph was reached: does something go wrong in it?
    fn arrived(&mut self, visitor: &mut impl Visitor) -> ControlFlow<()>;

    /// No thread can move.
    fn leaf(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error>;

    /// Now and then: is there still time, and does the execution come to an end?
    fn watch(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error>;

    /// Between two executions: whether what was found so far can be relied on.
    fn check(&self) -> Result<(), Error>;

    /// Forgets the thread histories that no graph has.
    fn prune(&mut self);

    /// The next access of a thread overlaps others in part.
    fn overlap(&self, next: Upcoming) -> Error;

    #[cfg(debug_assertions)]
    fn validate(&self);

    /// Runs to the end, or until the visitor has seen enough; then it can be run on.
    fn run(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        if self.trail().is_new() && self.begin(visitor).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        loop {
            if !self.trail().seen && self.extend(visitor)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.trail().history.is_large() {
                self.prune();
            }
            self.check()?;
            self.trail_mut().seen = false;
            match self.go_back(visitor)? {
                Tried::Applied => {}
                Tried::Exhausted => return Ok(ControlFlow::Continue(())),
                Tried::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// Adds events, each with its first choice, until no thread can move or a choice fails.
    fn extend(&mut self, visitor: &mut impl Visitor) -> Result<ControlFlow<()>, Error> {
        loop {
            let Some(thread) = self.next_thread() else {
                #[cfg(debug_assertions)]
                self.validate();
                self.trail_mut().seen = true;
                return self.leaf(visitor);
            };
            let mut thread = thread;
            let mut tag = tag_of(self.trail().graph(), thread.as_usize());
            if tag.ready() == Ready::Await || self.takes_turns() {
                thread = self.turn_of(thread)?;
                tag = tag_of(self.trail().graph(), thread.as_usize());
            }
            let trail = self.trail_mut();
            let node = trail.history.node(tag);
            let (Next::Emit(label), loc) = (&node.next, node.loc) else {
                unreachable!("a thread that can move has an event")
            };
            let next = Upcoming { thread, tag, label: *label, loc };
            if loc != Loc::NONE && trail.overlaps(loc) {
                return Err(self.overlap(next));
            }
            if trail.statistics.events % WATCH == WATCH - 1 || trail.taken() > TAKEN {
                trail.watched();
                if self.watch(visitor)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            let trail = self.trail_mut();
            trail.statistics.events += 1;
            let start = trail.choices.len() as u32;
            match next.label {
                Label::Read { .. } => self.add_read(next)?,
                Label::Write { .. } => self.add_write(next)?,
                Label::Choice { options, .. } => {
                    self.add_choice(next)?;
                    self.trail_mut().choices.extend((0..options).rev().map(Choice::Value));
                }
                Label::Create { .. } => {
                    if self.add_create(next, visitor)?.is_break() || self.arrived(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                Label::Init
                | Label::Fence { .. }
                | Label::Join { .. }
                | Label::End
                | Label::Alloc { .. }
                | Label::Free { .. }
                | Label::Block { .. } => {
                    if !self.add_other(next)? {
                        return Ok(ControlFlow::Continue(()));
                    }
                    if self.arrived(visitor).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
            }
            self.narrow(start);
            self.trail_mut().push_frame(Ev::NONE, start);
            match self.try_choices(visitor)? {
                Tried::Applied => {}
                Tried::Exhausted => return Ok(ControlFlow::Continue(())),
                Tried::Stop => return Ok(ControlFlow::Break(())),
            }
        }
    }

    /// Undoes events down to the last one with an untried choice and tries that.
    fn go_back(&mut self, visitor: &mut impl Visitor) -> Result<Tried, Error> {
        loop {
            let trail = self.trail_mut();
            let Some(&frame) = trail.frames.last() else { return Ok(Tried::Exhausted) };
            trail.undo_to(frame.event);
            match self.try_choices(visitor)? {
                Tried::Exhausted => {}
                tried => return Ok(tried),
            }
            let trail = self.trail_mut();
            trail.frames.pop();
            if frame.is_copy() {
                trail.leave_copy();
            } else {
                trail.now.undo();
            }
        }
    }

    /// Takes choices of the top frame until one gives a consistent graph.
    fn try_choices(&mut self, visitor: &mut impl Visitor) -> Result<Tried, Error> {
        let frame = *self.trail().frames.last().unwrap_or_else(|| unreachable!("called with a frame"));
        while self.trail().choices.len() as u32 > frame.start {
            let choice = self.trail_mut().choices.pop().unwrap_or_else(|| unreachable!("there is one"));
            let is_consistent = match choice {
                Choice::Source(source) => self.take_source(frame.event, source)?,
                Choice::Value(value) => {
                    self.take_value(frame.event, value)?;
                    true
                }
                Choice::Thread(thread) => self.take_turn(frame.event, thread)?,
                Choice::Place(place) => {
                    self.trail_mut().unplace(frame.event);
                    if frame.is_copy() {
                        self.take_revisit(frame.event, frame.revisited, place)?
                    } else {
                        self.take_place(frame.event, place)?
                    }
                }
                Choice::Revisit(read) => {
                    self.trail_mut().unplace(frame.event);
                    if self.revisit(frame.event, read) {
                        match self.try_choices(visitor)? {
                            Tried::Exhausted => {
                                self.trail_mut().frames.pop();
                                self.trail_mut().leave_copy();
                            }
                            tried => return Ok(tried),
                        }
                    }
                    false
                }
            };
            if is_consistent {
                #[cfg(debug_assertions)]
                self.validate();
                if self.arrived(visitor).is_break() {
                    return Ok(Tried::Stop);
                }
                if !matches!(choice, Choice::Source(_)) || !self.is_hopeless(frame.event)? {
                    return Ok(Tried::Applied);
                }
            }
        }
        Ok(Tried::Exhausted)
    }

    /// Collects the reads that the new write may revisit: from the newest event back, as long as all that would
    /// be thrown away may be.
    fn find_revisits(&mut self, write: Ev) {
        let loc = self.trail().graph().event(write).loc;
        // The oldest event that would lose its source, or what else it cannot be without.
        let mut oldest = Ev::NONE;
        let limit = self.revisits_before(write);
        let from = self.revisits_from(write, limit);
        for a in self.trail().graph().all().rev().skip(1) {
            if a < from {
                break;
            }
            if self.is_needed(a, write) {
                continue;
            }
            if !self.may_throw_away(a, write) {
                break;
            }
            if oldest >= a && a < limit && self.may_read_at(a, loc) {
                self.trail_mut().choices.push(Choice::Revisit(a));
            }
            let graph = self.trail().graph();
            let event = graph.event(a);
            if event.revisited.is_some() && graph.rf(event.revisited) == a {
                oldest = oldest.min(event.revisited);
            }
            oldest = oldest.min(self.falls_with(a));
        }
    }

    /// Makes the copy in which `read` reads from `write`, on top of the present graph, with a frame
    /// for the places of the write. Whether there is one.
    fn revisit(&mut self, write: Ev, read: Ev) -> bool {
        let (mut copy, write, read) = self.restricted(write, read);
        copy.graph_mut().set_revisited(write, read);
        let trail = self.trail_mut();
        let start = trail.choices.len() as u32;
        trail.enter_copy(copy);
        self.add_places(write, read);
        if self.trail().choices.len() as u32 == start {
            self.trail_mut().leave_copy();
            return false;
        }
        self.narrow(start);
        let trail = self.trail_mut();
        trail.statistics.revisits += 1;
        trail.push_frame(read, start);
        true
    }
}
