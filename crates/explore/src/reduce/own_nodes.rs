//! Writes to nodes that no other thread has seen yet.
//!
//! `n = malloc(..); do { old = top; n->next = old; } while (!cas(&top, &old, n))`: the iteration that fails writes,
//! but to memory that only its thread knows, and the next iteration writes there again. Such a write does not keep
//! an iteration from being a retry ([`retries`](super::retries)): the states are compared after the write has been
//! made again, so that the node holds the same in both.
//!
//! Which stores these are is a matter of one history: those to an object that the thread allocated, as long as it
//! stored no pointer to it elsewhere and gave none to a new thread. This looks at values, so a pointer in disguise
//! is not noticed; nothing rests on it. What has to hold is asked of every graph: **each such store happens before
//! every access of another thread to its location**, without help of what that access itself reads. Where that
//! fails the search begins anew without this reduction.
//!
//! Why nothing is lost: take an execution in which the thread goes on after the retry, and leave the iteration out,
//! with its stores. No other thread can read from them, for a later store of the thread to the same place, which
//! stays, happens before its read. Nor does one race with them, or a free, for the same reason. If an execution
//! breaks the condition, take the first access to do so, in an order that extends porf: what is before it needs
//! no store that was left out, so the search comes to that access with the stores that stay, and it breaks the
//! condition there too, whatever it reads.
//!
//! Under pso a later store of the thread may overtake, and the clocks do not tell: nothing is done there.
//!
//! Cost: a history more has a few numbers to copy; an access to allocated memory has a look at the writes of its
//! location. Programs without loops or without allocations pay nothing.

use crate::engine::Engine;
use crate::history::{History, Tag};
use crate::search::Trail;
use porf_consistency::{HappensBefore, MemoryModel};
use porf_event::{Label, RmwKind, ThreadId, Value};
use porf_graph::{Ev, Loc};
use porf_ir::layout;
use smallvec::SmallVec;

/// How many objects of a thread are watched at once.
const MOST: usize = 6;

/// What is known of the own nodes of a thread after some answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watched {
    unseen: Unseen,
    /// Whether a store to one of these led here.
    pub own: bool,
}

/// The objects that a thread allocated last and showed nobody, by the index of the allocation.
#[derive(Clone, Copy, Debug)]
struct Unseen([u32; MOST]);

impl Default for Unseen {
    fn default() -> Unseen {
        Unseen([u32::MAX; MOST])
    }
}

impl Unseen {
    fn has(&self, object: u32) -> bool {
        self.0.contains(&object)
    }

    fn add(&mut self, object: u32) {
        self.0.rotate_right(1);
        self.0[0] = object;
    }

    fn remove(&mut self, object: u32) {
        if let Some(at) = self.0.iter().position(|known| *known == object) {
            self.0[at..].rotate_left(1);
            self.0[MOST - 1] = u32::MAX;
        }
    }
}

/// A store: where and what.
pub(crate) type Stored = SmallVec<[(Loc, Value); 2]>;

/// The object of a thread that a value points to, whatever its upper bits say.
fn points_to(value: Value, thread: ThreadId) -> Option<u32> {
    let object = layout::allocation(value & ((1 << 47) - 1))?;
    (object.thread == thread).then_some(object.index)
}

impl History<'_> {
    /// Whether stores to own nodes are told from others.
    #[inline]
    pub fn has_own_nodes(&self) -> bool {
        self.retries.as_ref().is_some_and(|known| known.own_nodes)
    }

    /// Finds out which objects nobody has seen in a new history, and whether a store to one of them led there.
    pub fn watch_own_nodes(&mut self, tag: Tag) {
        let Some(parent) = self.node(tag).parent else { return };
        let (mut unseen, mut own) = (self.watched(parent).unseen, false);
        let thread = self.state(parent).thread();
        match self.node(tag).label {
            Label::Alloc { .. } => unseen.add(self.state(parent).events()),
            Label::Free { location } => {
                points_to(location.0, thread).into_iter().for_each(|object| unseen.remove(object));
            }
            Label::Write { access, rmw, value, .. } => {
                let inside = points_to(access.location.0, thread).filter(|object| unseen.has(*object));
                own = inside.is_some() && rmw == RmwKind::None;
                if let Some(shown) = points_to(value, thread)
                    && inside != Some(shown)
                {
                    unseen.remove(shown);
                }
            }
            Label::Create { .. } => {
                let given = self.interp.created(self.state(parent)).map(|(_, argument)| argument);
                if let Some(shown) = given.and_then(|argument| points_to(argument, thread)) {
                    unseen.remove(shown);
                }
            }
            _ => {}
        }
        self.set_watched(tag, Watched { unseen, own });
    }

    /// Whether a history differs from the one before by a store to an own node, and by nothing else that counts.
    pub fn is_own_store(&self, after: Tag, before: Tag) -> bool {
        self.watched(after).own && self.state(after).effects() <= self.state(before).effects() + 1
    }

    /// What the thread stored last at a location of an own node, if it has done nothing since that others can notice.
    pub fn own_content(&self, tag: Tag, loc: Loc) -> Option<Value> {
        let mut after = tag;
        loop {
            let at = self.node(after).parent?;
            let own = self.is_own_store(after, at);
            if let (true, Label::Write { value, .. }) =
                (own && self.node(at).loc == loc, self.node(after).label)
            {
                return Some(value);
            }
            if !own && self.state(after).effects() != self.state(at).effects() {
                return None;
            }
            after = at;
        }
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Whether, because of a new event, a store to an own node does not happen before an access of another thread.
    pub fn is_seen_too_early(&self, event: Ev) -> bool {
        let Trail { now: graph, history, .. } = &self.trail;
        let new = graph.event(event);
        let Some(object) = new.label.access().and_then(|access| layout::allocation(access.location.0)) else {
            return false;
        };
        let is_own = |write: Ev| history.watched(Tag(graph.event(write).tag)).own;
        let by_owner = |other: Ev| graph.event(other).id.thread == object.thread;
        if by_owner(event) {
            let sources = [Ev::INIT].iter().chain(graph.co(new.loc));
            let mut others = sources
                .flat_map(|&write| graph.readers(write, new.loc).chain((write != Ev::INIT).then_some(write)));
            new.label.is_write() && is_own(event) && others.any(|other| !by_owner(other))
        } else {
            let before = graph.po_pred(event);
            let mut own = graph.co(new.loc).iter().filter(|&&write| by_owner(write) && is_own(write));
            own.any(|&write| !graph.clock_covers(M::Hb::HB, before, write))
        }
    }
}
