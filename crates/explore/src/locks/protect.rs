//! Whether accesses are protected by locks, and what an event needs.
//!
//! A new access must come after every conflicting one: because of what its thread needs before it, or because both are
//! made under a lock that is the same. In the second case the access needs the end of the other section. It is enough to
//! look at the last write and the reads of it, because these needed what was there before. The words of locks may be
//! used in another way only before or after all that take the lock. Giving memory back counts as a write to all of it.

use crate::barrier::is_at_barrier;
use crate::engine::Engine;
use crate::locks::{Locks, WITHOUT, gives_back, release_after, takes};
use crate::memory;
use porf_consistency::MemoryModel;
use porf_event::{Label, LockKind, RmwKind};
use porf_graph::{Ev, ExecutionGraph, Loc};
use porf_ir::layout;
use smallvec::SmallVec;

/// What an event needs.
#[derive(Default)]
struct Needs {
    events: SmallVec<[Ev; 4]>,
    /// The locks that see to that, and an open one that would have to.
    guards: SmallVec<[Loc; 4]>,
    open: Option<Loc>,
}

impl<M: MemoryModel> Engine<'_, M> {
    /// Computes what an event needs, and notes if it is not protected.
    pub fn update_section_needs(&mut self, event: Ev) {
        let Some(locks) = &mut self.locks else { return };
        let graph = &mut self.trail.now;
        let mut needs = Needs::default();
        let barriers = self.barriers.is_some();
        if !locks.find_needs(graph, event, barriers, &mut needs) {
            locks.wrong.get_or_insert(WITHOUT);
        }
        needs.guards.iter().for_each(|&lock| locks.guard(graph, lock));
        if let Some(lock) = needs.open {
            locks.order(graph, lock);
        }
        let waits = barriers && is_at_barrier(graph, event);
        locks.look_at_held(graph, event, waits);
        graph.update_needs_of(event, needs.events);
        debug_assert!(self.trail.now.needs(event, event));
    }
}

impl Locks {
    /// Collects what an event needs beside its thread. Whether it is protected.
    fn find_needs(&self, graph: &ExecutionGraph, event: Ev, barriers: bool, needs: &mut Needs) -> bool {
        let this = graph.event(event);
        match this.label {
            Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. } => {
                for turn in &self.turns {
                    let keeps = turn.event < event && turn.lock == this.loc && turn.step.keeps_lock;
                    needs.events.extend(keeps.then(|| release_after(graph, turn.event, turn.lock)).flatten());
                }
                let is_other = |e: Ev| !matches!(graph.event(e).label.rmw(), RmwKind::Lock(_));
                let others = accesses(graph, this.loc).filter(|&e| e != event && is_other(e));
                self.may_touch(graph, event, this.loc, needs)
                    && others.into_iter().all(|e| is_before(graph, event, e))
            }
            Label::Read { rmw: RmwKind::Lock(_), .. } => false,
            Label::Write { rmw: RmwKind::Lock(_), .. } => self.may_touch(graph, event, this.loc, needs),
            Label::Read { .. } if barriers && is_at_barrier(graph, event) => {
                needs.events.push(this.rf);
                true
            }
            Label::Write { rmw: RmwKind::Barrier, .. } if barriers => true,
            Label::Read { .. } => {
                self.follows(graph, event, this.rf, needs) && self.may_use(graph, event, this.loc, needs)
            }
            Label::Write { .. } => {
                let last = match this.co {
                    ExecutionGraph::UNPLACED => graph.co_max(this.loc),
                    1 => Ev::INIT,
                    place => graph.co(this.loc)[place as usize - 2],
                };
                self.follows(graph, event, last, needs)
                    && graph.readers(last, this.loc).all(|read| self.follows(graph, event, read, needs))
                    && self.may_use(graph, event, this.loc, needs)
            }
            Label::Free { location } => {
                let freed = layout::allocation(location.0);
                let touches = |e: &Ev| {
                    let label = graph.event(*e).label;
                    label.location().is_some_and(|location| layout::allocation(location.0) == freed)
                };
                graph
                    .all()
                    .filter(|&e| e != event)
                    .filter(touches)
                    .all(|e| self.follows(graph, event, e, needs))
            }
            _ => true,
        }
    }

    /// Whether an access that has nothing to do with locks may be made to a cell.
    fn may_use(&self, graph: &ExecutionGraph, event: Ev, loc: Loc, needs: &mut Needs) -> bool {
        let is_lock = self.words.contains(&loc);
        let is_fine =
            !is_lock || accesses(graph, loc).filter(|&e| e != event).all(|e| is_before(graph, event, e));
        is_fine && self.may_touch(graph, event, loc, needs)
    }

    /// Whether memory that is given back is not touched at the same time.
    fn may_touch(&self, graph: &ExecutionGraph, event: Ev, loc: Loc, needs: &mut Needs) -> bool {
        let Some(allocation) = layout::allocation(graph.location(loc).0).filter(|_| self.frees) else {
            return true;
        };
        memory::frees(graph, allocation).all(|free| self.follows(graph, event, free, needs))
    }

    /// Whether `event` comes after `other` for certain. Adds the ends of the sections that make it so.
    fn follows(&self, graph: &ExecutionGraph, event: Ev, other: Ev, needs: &mut Needs) -> bool {
        if is_before(graph, event, other) {
            return true;
        }
        let own = held(graph, event);
        let (mut is_any, mut open) = (false, None);
        for lock in held(graph, other).into_iter().filter(|lock| own.contains(lock)) {
            if self.is_open(graph, lock) {
                open = Some(lock);
                continue;
            }
            let Some(end) = release_after(graph, other, lock) else { return false };
            needs.events.push(end);
            needs.guards.push(lock);
            is_any = true;
        }
        if !is_any && open.is_some() {
            needs.open = open;
            return true;
        }
        is_any
    }
}

/// All writes of a location, and all reads that have a source.
fn accesses(graph: &ExecutionGraph, loc: Loc) -> impl Iterator<Item = Ev> + '_ {
    let writes = graph.co(loc).iter().copied();
    std::iter::once(Ev::INIT)
        .chain(writes.clone())
        .flat_map(move |write| graph.readers(write, loc))
        .chain(writes)
}

/// Whether the thread of `event` needed `other` before.
fn is_before(graph: &ExecutionGraph, event: Ev, other: Ev) -> bool {
    other == Ev::INIT
        || graph.event(other).id.thread == graph.event(event).id.thread
        || graph.needs(graph.po_pred(event), other)
}

/// The locks that the thread of an event has before it.
pub(super) fn held(graph: &ExecutionGraph, event: Ev) -> SmallVec<[Loc; 4]> {
    let id = graph.event(event).id;
    let mut held = SmallVec::new();
    for &earlier in &graph.thread(id.thread).events()[..id.index as usize] {
        let loc = graph.event(earlier).loc;
        if takes(graph, earlier) {
            held.push(loc);
        } else if gives_back(graph, earlier) {
            held.retain(|lock| *lock != loc);
        }
    }
    held
}
