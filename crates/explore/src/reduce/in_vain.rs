//! Reads that wait in vain: a new write would let a blocked read go on, and nothing that comes later will.
//!
//! The write revisits the read, or leaves it where it is. Then a later write may revisit it. But mostly none can: what
//! follows needs the new write, which is co-after what the read took, and only what has the co-last choice is
//! revisited or thrown away (`canonical`). All these executions end blocked, by an outdated read, and tell nothing.
//!
//! Source: Kokologiannakis, Marmanis, Vafeiadis, "Unblocking dynamic partial order reduction", CAV 2023, give the
//! blocked read its new source in place, and do not visit the graph in which it stays. Deviation: here the revisit is
//! made as any other, and the rest is left out only where this is known to lose nothing.
//!
//! Why nothing is lost: say a read `r` of `s` is blocked, and the new write `w` comes after `s` in co. All other
//! threads have ended or are blocked, too, or come to a read with which they are blocked unless it takes `w` or what
//! follows it. So the first write from here on that revisits anything, `v` and what it revisits `a`, needs `w`. It does
//! not come to `r`, nor to what is older: `r` has not the co-last choice, as `w` is there. So `a` is newer than `r`,
//! and reads from `v`, which is newer than `a`. Any later write either needs `v`, and with it `w`, and the same holds;
//! or it does not come to `a`, whose source would not be there. So `r` stays as it is. What else goes wrong beside it
//! goes wrong also where `r` takes the co-last write.
//!
//! A thread may also come to a read-modify-write of what another one has updated, with a write that `s` needs. That
//! one would have to be thrown away, and `s` with it; `s` is newer than `r`, which it revisited, so `r` would not have
//! the co-last choice.
//!
//! Cost: nothing where a write revisits no blocked read; otherwise a look at each waiting thread with each write of
//! the location that it is at.

use crate::buffering::WithHistory;
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{Next, Ready, Tag};
use crate::schedule::{join_is_ready, tag_of};
use crate::search::{Growing, Policy, Trail, Upcoming};
use porf_consistency::{Choice, MemoryModel};
use porf_event::{BlockReason, Label, RmwKind, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Loc};
use smallvec::SmallVec;

/// How often more a thread is followed that reads the same location again.
const MORE: u32 = 1;

impl<M: MemoryModel> Engine<'_, M> {
    /// Takes places of a new write away that make a blocked read wait in vain. The reads are those of the choices from
    /// `first` to `places`; the places come after them.
    #[cold]
    pub fn leave_out_in_vain(&mut self, write: Ev, first: usize, places: usize) -> Result<(), Error> {
        let is_sound = M::SEES_CO && M::ARCHITECTURE.is_none() && self.barriers.is_none();
        if !is_sound || self.all_blocked || self.trail.history.awaits.is_none() {
            return Ok(());
        }
        for at in first..places {
            let Choice::Revisit(read) = self.trail.choices[at] else { continue };
            if self.stays_blocked(write, read)? {
                let graph = &self.trail.now;
                // Those before its source are not meant.
                let source = graph.event(graph.rf(read)).co;
                let choices = &mut self.trail.choices;
                let mut kept = places;
                for at in places..choices.len() {
                    if matches!(choices[at], Choice::Place(place) if place <= source) {
                        choices.swap(kept, at);
                        kept += 1;
                    }
                }
                choices.truncate(kept);
            }
        }
        Ok(())
    }

    /// Whether a blocked read stays so if a new write comes after its source in co.
    fn stays_blocked(&mut self, write: Ev, read: Ev) -> Result<bool, Error> {
        let waits = [BlockReason::Assume, BlockReason::Spin, BlockReason::Lock, BlockReason::Retry];
        let graph = &self.trail.now;
        let (source, thread) = (graph.rf(read), graph.event(read).id.thread);
        let tag = tag_of(graph, thread.as_usize());
        let is_blocked = tag == Tag(graph.event(read).tag)
            && matches!(self.trail.history.node(tag).next, Next::Blocked(reason) if waits.contains(&reason));
        if !is_blocked {
            return Ok(false);
        }
        let writer = graph.event(write).id.thread;
        // What updated a write and cannot be thrown away: what revisited the blocked read needs it.
        let is_taken = |graph: &ExecutionGraph, loc: Loc, old: Ev| {
            let next = graph.co(loc).get(graph.event(old).co as usize);
            let updates = |next: Ev| {
                let pair = graph.event(next).pair;
                pair.is_some() && graph.rf(pair) == old && graph.needs(source, next)
            };
            source > read && next.is_some_and(|&next| updates(next))
        };
        for at in (0..graph.threads().len()).filter(|&at| at != thread.as_usize() && at != writer.as_usize())
        {
            let (graph, history) = (&self.trail.now, &self.trail.history);
            let tag = tag_of(graph, at);
            let needs_write = match tag.ready() {
                Ready::No => true,
                Ready::Join => !join_is_ready(graph, history, tag),
                Ready::Await => {
                    let sources = self.sources_of(ThreadId(at as u16), tag)?;
                    self.waits_for_new(tag, &sources, &is_taken, MORE)?
                }
                Ready::Yes | Ready::Barrier | Ready::Mid => false,
            };
            if !needs_write {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a thread that comes to a read may take now.
    fn sources_of(&mut self, thread: ThreadId, tag: Tag) -> Result<SmallVec<[Ev; 8]>, Error> {
        let node = self.trail.history.node(tag);
        let (Next::Emit(label), loc) = (&node.next, node.loc) else { return Ok(SmallVec::new()) };
        let next = Upcoming { thread, tag, label: *label, loc };
        if loc != Loc::NONE && self.trail.overlaps(loc) {
            return Err(self.overlap(next));
        }
        let start = self.trail.choices.len();
        let event = self.add_event(next, tag);
        let Trail { now: graph, history, choices, .. } = &mut self.trail;
        self.model.sources(&WithHistory { graph, history }, event, choices);
        graph.undo();
        let sources = choices.drain(start..).filter_map(|choice| match choice {
            Choice::Source(source) => Some(source),
            _ => None,
        });
        Ok(sources.collect())
    }

    /// Whether a thread writes nothing with any of these sources: it is blocked, at once or when it has read the same
    /// location again, or cannot update what it has read.
    fn waits_for_new(
        &mut self,
        tag: Tag,
        sources: &[Ev],
        is_taken: &dyn Fn(&ExecutionGraph, Loc, Ev) -> bool,
        more: u32,
    ) -> Result<bool, Error> {
        let loc = self.trail.history.node(tag).loc;
        for &source in sources {
            let value = self.trail.value_of(source, loc);
            let after = self.trail.history.child(tag, value)?;
            let node = self.trail.history.node(after);
            let is_lost = match node.next {
                Next::Emit(Label::Write { rmw, .. })
                    if rmw != RmwKind::None && after.ready() == Ready::Mid =>
                {
                    is_taken(&self.trail.now, loc, source)
                }
                Next::Emit(Label::Read { .. }) if more > 0 && node.loc == loc => {
                    self.waits_for_new(after, sources, is_taken, more - 1)?
                }
                _ => self.comes_to_block(after)?,
            };
            if !is_lost {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
