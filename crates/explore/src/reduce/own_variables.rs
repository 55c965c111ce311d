//! Variables that only one thread writes: `while (q->cache == 0) q->cache = load(r);`.
//!
//! The iteration stores to shared memory, but leaves there what was there. If no other thread looks, or if those that
//! look cannot tell, the thread waits ([`retries`](super::retries)). Nobody says that a variable is such a one. The
//! first iteration that would be left out if it were makes the search begin anew with that assumption: the variable
//! has an *owner*. The accesses of other threads show whether it has, in every graph; where one does not fit, the
//! search begins once more, with a variable without an owner.
//!
//! - All accesses of other threads come before the owner begins or after it has ended, by who creates and joins
//!   threads. Then the owner alone knows the variable: what it holds in the middle of an iteration does not matter, and
//!   its accesses need not be atomic.
//! - Or other threads read it meanwhile, atomically, but do not write it ([`Owner::read`]). Then an iteration that is
//!   left out may only store what is there, atomically, and the owner has stored that before, no more strongly.
//!
//! Why nothing is lost: take an execution, and leave out such iterations of all threads at once. The stores of the owner
//! to the variable are in co as in po, with those of other threads before or after all of them. Who stays and read from
//! a store that does not takes the last store before it that stays. It holds the same value: if it is the owner, or
//! comes after its end, because the iteration ends with what it began with; if it is another thread, because nothing
//! else was stored. It is consistent: from that store there is a way to the reader already, through co and rf, and the
//! reader synchronises with no more than before, for an earlier store of the same thread that is no stronger releases
//! no more. Everything else is less order. Races with the stores that are left out there are none.
//!
//! If an execution breaks an assumption, take the two accesses that do, and what is before them. Shortened, that is a
//! beginning of an execution that the search visits, and creating and joining threads orders no more there. So the
//! search comes to these accesses, and begins anew.
//!
//! Owners have numbers, so the search begins anew without [`Symmetry`](crate::symmetry) if one is interchangeable with
//! another thread.
//!
//! Limits: six variables in all ([`Flags::MOST`](super::Flags::MOST)), and iterations of [`FAR`] events. Cost: programs
//! with loops pay for a look at the last [`FAR`] events whenever a history is new; where there are owners, each access to
//! their variables looks at those of other threads.

use super::flags::Flag;
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{History, Tag};
use porf_consistency::MemoryModel;
use porf_event::{Label, ReadMode, RmwKind, ThreadId, Value, WriteMode};
use porf_graph::{Ev, ExecutionGraph, Loc};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The only thread that writes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The thread.
    pub thread: u16,
    /// Whether others read the variable meanwhile.
    pub read: bool,
}

/// Iterations with more events are not taken to store to variables with an owner, unless that is known.
pub(super) const FAR: u32 = 48;

/// What an iteration does with variables of its thread, going back.
#[derive(Default)]
pub(super) struct OwnStores {
    /// Whether variables of which nothing is known may have the thread for an owner.
    guesses: bool,
    stored: SmallVec<[OwnStore; 2]>,
    /// Variables that were read as if they had an owner, which must turn out to be stored to.
    read: SmallVec<[Loc; 2]>,
}

/// The stores to one variable.
struct OwnStore {
    loc: Loc,
    /// What is there in the end, and what was there when all that was gone through began, if that is known.
    end: Value,
    begin: Option<Value>,
    /// Whether nothing else was stored, and the weakest of the stores.
    is_same: bool,
    weakest: WriteMode,
}

impl OwnStores {
    /// None so far.
    pub fn new(guesses: bool) -> OwnStores {
        OwnStores { guesses, ..OwnStores::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    fn add(&mut self, loc: Loc, value: Value, mode: WriteMode) {
        match self.stored.iter_mut().find(|known| known.loc == loc) {
            Some(known) => {
                known.begin = None;
                known.is_same &= known.end == value;
                known.weakest = known.weakest.min(mode);
            }
            None => {
                let first = OwnStore { loc, end: value, begin: None, is_same: true, weakest: mode };
                self.stored.push(first);
            }
        }
    }
}

impl History<'_> {
    /// The owner of a variable, if it is known to have one.
    pub fn owner(&self, loc: Loc) -> Option<Owner> {
        self.flag(loc)?.owner
    }

    /// Whether a thread is the owner of a variable.
    pub fn owns(&self, thread: ThreadId, loc: Loc) -> bool {
        self.owner(loc).is_some_and(|owner| owner.thread == thread.0)
    }

    /// Whether the event between two histories is an access of a thread to a variable of its own, which is added to
    /// what an iteration does.
    pub(super) fn is_of_own_variable(&self, after: Tag, before: Tag, own: &mut OwnStores) -> bool {
        let (loc, thread) = (self.node(before).loc, self.state(before).thread());
        let is_known = match self.node(after).label {
            Label::Read { .. } | Label::Write { rmw: RmwKind::None, .. } => match self.flag(loc) {
                Some(_) if self.owns(thread, loc) => true,
                None if own.guesses => false,
                _ => return false,
            },
            _ => return false,
        };
        match self.node(after).label {
            Label::Write { value, mode, .. } => {
                if !is_known && self.is_updated(before, loc) {
                    return false;
                }
                own.add(loc, value, mode);
                true
            }
            Label::Read { value, mode, .. } => match own.stored.iter_mut().find(|known| known.loc == loc) {
                Some(known) => {
                    known.begin = Some(value);
                    true
                }
                None if is_known => true,
                None if mode == ReadMode::Plain => {
                    own.read.push(loc);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Whether a thread updated a variable, as one does that takes a flag.
    fn is_updated(&self, mut tag: Tag, loc: Loc) -> bool {
        for _ in 0..FAR {
            let Some(before) = self.node(tag).parent else { return false };
            if self.node(before).loc == loc
                && matches!(self.node(tag).label, Label::Write { rmw, .. } if rmw != RmwKind::None)
            {
                return true;
            }
            tag = before;
        }
        false
    }

    /// Whether a thread that comes back to where it was at `tag` left in its own variables what was there, and nobody
    /// can tell that it stored it again.
    pub(super) fn leaves_as_it_was(&self, tag: Tag, own: &OwnStores) -> bool {
        let is_kept = |known: &OwnStore| {
            if self.owner(known.loc).is_some_and(|owner| owner.read) {
                let stored_before = self.last_stored(tag, known.loc);
                known.is_same
                    && stored_before.is_some_and(|(value, mode)| {
                        value == known.end && mode <= known.weakest && known.weakest > WriteMode::Plain
                    })
            } else {
                known.begin.or_else(|| self.content(tag, known.loc)) == Some(known.end)
            }
        };
        own.stored.iter().all(is_kept)
            && own.read.iter().all(|loc| own.stored.iter().any(|known| known.loc == *loc))
    }

    /// What a variable of its own holds as far as the thread has been told.
    fn content(&self, mut tag: Tag, loc: Loc) -> Option<Value> {
        loop {
            let before = self.node(tag).parent?;
            if self.node(before).loc == loc
                && let Label::Read { value, .. } | Label::Write { value, .. } = self.node(tag).label
            {
                return Some(value);
            }
            tag = before;
        }
    }

    /// What the thread itself stored last to a variable, and how.
    fn last_stored(&self, mut tag: Tag, loc: Loc) -> Option<(Value, WriteMode)> {
        loop {
            let before = self.node(tag).parent?;
            if self.node(before).loc == loc
                && let Label::Write { value, mode, .. } = self.node(tag).label
            {
                return Some((value, mode));
            }
            tag = before;
        }
    }

    /// The first variable that would have to have the thread for an owner, and is not known to.
    pub(super) fn new_owned(&self, thread: ThreadId, own: &OwnStores) -> Option<Flag> {
        let known = own.stored.iter().find(|known| !self.owns(thread, known.loc))?;
        let cell = self.cells().get(known.loc.as_usize())?;
        Some(Flag {
            address: cell.location.0,
            size: cell.size,
            taken: None,
            counter: None,
            only: None,
            owner: Some(Owner { thread: thread.0, read: false }),
        })
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Begins anew if, because of a new event, a variable has not the owner that it was taken to have.
    pub fn look_at_owner(&mut self, event: Ev) {
        let graph = &self.trail.now;
        let new = graph.event(event);
        if new.label.access().is_none() || self.wrong_guess.is_some() {
            return;
        }
        let Some(flag) = self.trail.history.flag(new.loc) else { return };
        let Some(owner) = flag.owner else { return };
        let thread = ThreadId(owner.thread);
        let sources = [Ev::INIT].iter().chain(graph.co(new.loc));
        let accesses = sources
            .flat_map(|&write| graph.readers(write, new.loc).chain((write != Ev::INIT).then_some(write)));
        let (mut is_written, mut is_read, mut is_owners) = (false, false, false);
        for access in accesses {
            let of = graph.event(access);
            is_owners |= of.id.thread == thread;
            // Of accesses of two other threads nothing is asked.
            let is_new = new.id.thread == thread || access == event;
            if of.id.thread == thread || !is_new || is_apart(graph, access, thread) {
                continue;
            }
            let reads = matches!(of.label, Label::Read { rmw: RmwKind::None | RmwKind::Failed, mode, .. }
                if mode != ReadMode::Plain);
            is_read |= reads;
            is_written |= !reads;
        }
        if is_owners && (is_written || is_read && !owner.read) {
            let owner = (!is_written).then_some(Owner { read: true, ..owner });
            self.wrong_guess = Some(Error::Flag(Flag { owner, ..flag }));
        }
    }

    /// Whether a thread owns a variable.
    pub fn is_owner(&self, thread: ThreadId) -> bool {
        let known = self.trail.history.retries.as_ref();
        let owners = known.into_iter().flat_map(|known| known.flags.iter().filter_map(|flag| flag.owner));
        owners.into_iter().any(|owner| owner.thread == thread.0)
    }
}

/// Whether an event comes before a thread begins, or after it has ended, by who creates and joins threads.
fn is_apart(graph: &ExecutionGraph, event: Ev, thread: ThreadId) -> bool {
    comes_before(graph, event, thread) || comes_after(graph, event, thread)
}

fn comes_before(graph: &ExecutionGraph, event: Ev, thread: ThreadId) -> bool {
    let Some(creator) = creator(graph, thread) else { return false };
    let (id, creator) = (graph.event(event).id, graph.event(creator).id);
    if id.thread == creator.thread {
        return id.index < creator.index;
    }
    has_joined(graph, creator.thread, creator.index, id.thread) || comes_before(graph, event, creator.thread)
}

fn comes_after(graph: &ExecutionGraph, event: Ev, thread: ThreadId) -> bool {
    let id = graph.event(event).id;
    has_joined(graph, id.thread, id.index, thread)
        || creator(graph, id.thread).is_some_and(|creator| comes_after(graph, creator, thread))
}

/// The event that started a thread; `None` if it runs from the beginning.
fn creator(graph: &ExecutionGraph, thread: ThreadId) -> Option<Ev> {
    let creator = graph.threads().get(thread.as_usize())?.creator;
    (creator.is_some() && creator != Ev::INIT).then_some(creator)
}

/// Whether a thread has waited, in its first `events` events, for another one to end, or for one that has.
fn has_joined(graph: &ExecutionGraph, thread: ThreadId, events: u32, other: ThreadId) -> bool {
    let before = &graph.thread(thread).events()[..events as usize];
    before.iter().filter(|event| event.is_some()).any(|&event| match graph.event(event).label {
        Label::Join { child } => {
            child == other || has_joined(graph, child, graph.thread(child).events().len() as u32, other)
        }
        _ => false,
    })
}
