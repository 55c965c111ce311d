//! Which choices would be made first?
//!
//! A choice is canonical if it is the first one, co-latest first, after which the holes that there are
//! can still be filled. Without holes before it the co-latest choice is, as in the main search. With holes
//! the first consistent one need not do: a fence, or another access to the same location, that belongs into
//! the hole may contradict it later, and no graph would be left to come from.

use super::Weaver;
use crate::error::Error;
use crate::history::{Next, Ready};
use crate::schedule::tag_of;
use porf_consistency::Checker;
use porf_event::{EventId, Label, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Partial};

/// How many events may be tried to fill holes, for one question.
const FUEL: u32 = 100_000;

impl<C: Checker> Weaver<'_, C> {
    /// Whether `a` has its canonical choice in the graph of what is older than it or marked as below the
    /// new write.
    pub(super) fn canonical(&mut self, a: Ev) -> Result<bool, Error> {
        let graph = &self.partial.graph;
        let event = *graph.event(a);
        let there = |b: Ev| b < a || self.prefix.below[b.as_usize()];
        let source = match event.label {
            Label::Read { .. } => event.rf,
            // The write of a read-modify-write goes where its read has decided.
            Label::Write { .. } if event.pair.is_some() => return Ok(true),
            Label::Write { .. } | Label::Choice { .. } => a,
            _ => return Ok(true),
        };
        if source != a && !there(source) {
            return Ok(false);
        }
        if self.needs_search(a) {
            return self.is_first(a);
        }
        if let Label::Choice { chosen, .. } = event.label {
            return Ok(chosen == 0);
        }
        let later = &graph.co(event.loc)[graph.event(source).co as usize..];
        Ok(!later.iter().any(|&b| b != a && there(b)))
    }

    /// Whether the co-latest choice may be wrong: `a` goes into a hole, or it could take what the write of
    /// another read-modify-write, which belongs into a hole, will need.
    fn needs_search(&self, a: Ev) -> bool {
        let graph = &self.partial.graph;
        let there = |b: Ev| b < a || self.prefix.below[b.as_usize()];
        let EventId { thread, index } = graph.event(a).id;
        if graph.thread(thread).events()[index as usize + 1..].iter().any(|&b| there(b)) {
            return true;
        }
        let Label::Read { rmw, .. } = graph.event(a).label else { return false };
        rmw.is_pair()
            && graph.threads().iter().enumerate().any(|(at, thread)| {
                let events = thread.events();
                let kept = events.iter().rposition(|&b| there(b)).map_or(0, |last| last + 1);
                let settled = self.partial.settled(ThreadId(at as u16)) as usize;
                kept > settled || events[..kept].iter().any(|&b| !there(b))
            })
    }

    /// Tries the choices of `a` in order.
    fn is_first(&mut self, a: Ev) -> Result<bool, Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut map = std::mem::take(&mut self.scratch_map);
        let below = &self.prefix.below;
        let event = *self.partial.graph.event(a);
        let forget = if event.label.is_read() { a } else { Ev::NONE };
        self.partial.restrict_into(|b| b <= a || below[b.as_usize()], forget, &mut scratch, &mut map);
        let new = map[a.as_usize()];
        let actual = match event.label {
            Label::Read { .. } => map[event.rf.as_usize()].0,
            Label::Choice { chosen, .. } => chosen,
            _ => scratch.graph.event(new).co,
        };
        std::mem::swap(&mut self.partial, &mut scratch);
        let first = self.first_choice(new);
        std::mem::swap(&mut self.partial, &mut scratch);
        self.scratch = scratch;
        self.scratch_map = map;
        Ok(first? == Some(actual))
    }

    /// The first choice of `event`, the newest, after which holes can be filled; if there is none, the
    /// first consistent one.
    fn first_choice(&mut self, event: Ev) -> Result<Option<u32>, Error> {
        let graph = &self.partial.graph;
        let lacks = |ev: Ev| ev != event && graph.event(ev).label.is_read() && !graph.rf(ev).is_some();
        if graph.all().any(lacks) {
            // A source is missing: whatever would be chosen, it would not be this.
            return Ok(None);
        }
        let mut consistent = None;
        for choice in self.all_choices(event) {
            if !self.choose(event, choice)? {
                continue;
            }
            consistent = consistent.or(Some(choice));
            let mut fuel = FUEL;
            if self.fill(&mut fuel)? {
                return Ok(Some(choice));
            }
        }
        Ok(consistent)
    }

    /// The choices that an event has, canonical first.
    fn all_choices(&self, event: Ev) -> Vec<u32> {
        match self.partial.graph.event(event).label {
            Label::Read { .. } => sources(&self.partial, event).into_iter().map(|ev| ev.0).collect(),
            Label::Choice { options, .. } => (0..options).collect(),
            Label::Write { .. } if self.partial.graph.event(event).co == ExecutionGraph::UNPLACED => {
                places(&self.partial, event)
            }
            Label::Write { .. } => {
                (1..=self.partial.graph.co(self.partial.graph.event(event).loc).len() as u32).rev().collect()
            }
            _ => vec![0],
        }
    }

    /// Gives an event a choice. Whether the graph is consistent then.
    pub(super) fn choose(&mut self, event: Ev, choice: u32) -> Result<bool, Error> {
        match self.partial.graph.event(event).label {
            Label::Read { .. } => {
                self.read_from(event, Ev(choice))?;
                self.consistent_now(event)
            }
            Label::Choice { options, .. } => {
                let EventId { thread, index } = self.partial.graph.event(event).id;
                self.partial.graph.set_label(event, Label::Choice { options, chosen: choice }, 0);
                self.partial.settle(thread, index);
                self.forward(thread)?;
                Ok(true)
            }
            Label::Write { .. } => {
                self.unplace(event);
                self.partial.graph.place(event, choice);
                self.consistent_now(event)
            }
            _ => Ok(true),
        }
    }

    /// Whether the holes of the graph, which is left as it is, can be filled.
    fn fill(&mut self, fuel: &mut u32) -> Result<bool, Error> {
        let Some(thread) = self.to_fill() else { return Ok(true) };
        *fuel = fuel.checked_sub(1).ok_or_else(|| Error::Limit("a hole that is too hard to fill".into()))?;
        let tag = tag_of(&self.partial.graph, thread.as_usize());
        let node = self.history.node(tag);
        let (Next::Emit(label), loc) = (&node.next, node.loc) else { unreachable!("it can move") };
        let (label, links) = (*label, self.links(thread, tag));
        let settled = self.partial.settled(thread);
        let event = self.insert(thread, label, loc, links);
        if !matches!(label, Label::Read { .. } | Label::Choice { .. }) {
            self.forward(thread)?;
        }
        let mut found = false;
        for choice in self.all_choices(event) {
            let consistent = match label {
                Label::Fence { .. } => self.consistent_now(event)?,
                _ => self.choose(event, choice)?,
            };
            if consistent && self.fill(fuel)? {
                found = true;
                break;
            }
        }
        self.partial.remove_last();
        self.partial.settle(thread, settled);
        Ok(found)
    }

    /// A thread that has a hole and can go on; one that is inside an instruction comes first.
    fn to_fill(&self) -> Option<ThreadId> {
        let graph = &self.partial.graph;
        let mut found = None;
        for (at, thread) in graph.threads().iter().enumerate() {
            let (id, tag) = (ThreadId(at as u16), tag_of(graph, at));
            // The new write itself is what the holes are filled for.
            if self.target == Some((id, self.history.hangs(tag).site)) {
                continue;
            }
            match tag.ready() {
                Ready::Mid => return Some(id),
                Ready::Yes if (self.partial.settled(id) as usize) < thread.events().len() => {
                    found = found.or(Some(id));
                }
                _ => {}
            }
        }
        found
    }
}

/// All writes that a read could take its value from, co-latest first.
pub(super) fn sources(partial: &Partial, read: Ev) -> Vec<Ev> {
    let co = partial.graph.co(partial.graph.event(read).loc);
    co.iter().rev().copied().chain([Ev::INIT]).collect()
}

/// The places that a write without one could have, co-latest first.
pub(super) fn places(partial: &Partial, write: Ev) -> Vec<u32> {
    let graph = &partial.graph;
    let event = graph.event(write);
    let co = graph.co(event.loc);
    if !event.pair.is_some() {
        return (1..=co.len() as u32 + 1).rev().collect();
    }
    // ATOM: only own earlier writes may come between the source and the write.
    let after = graph.event(graph.rf(event.pair)).co;
    let own = |w: &&Ev| is_before(partial, **w, event.id);
    let between = co[after as usize..].iter().take_while(own).count() as u32;
    (after + 1..=after + 1 + between).rev().collect()
}

fn is_before(partial: &Partial, event: Ev, than: EventId) -> bool {
    let id = partial.graph.event(event).id;
    id.thread == than.thread && id.index < than.index
}
