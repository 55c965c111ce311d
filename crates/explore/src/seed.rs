//! Where load buffering begins: a write, a read before it in po | rf that it does not hang on, and what the two
//! hang on, cut out of an execution.
//!
//! With the read taking its value from the write this is the smallest part of an execution in which po | rf has
//! a cycle: nothing of it changes in the executions that have it. `docs/hardware.md` tells why every execution with
//! a cycle has such a part, and why the main search comes across it.

use crate::buffering::{Live, tag_before};
use crate::history::{History, Tag};
use crate::prefix::Prefix;
use porf_event::Label;
use porf_graph::{Ev, Linked, Links, Partial};
use std::collections::HashSet;

pub(crate) struct Seed {
    /// Neither has the read a source nor the write a place.
    pub partial: Partial,
    pub write: Ev,
    pub read: Ev,
}

/// The seeds that a search came across, with its thread histories, and the beginnings of its threads.
pub(crate) struct Sown<'p> {
    pub seeds: Vec<Seed>,
    pub history: History<'p>,
    pub roots: Vec<Tag>,
}

/// Each once.
#[derive(Default)]
pub(crate) struct Seeds {
    pub list: Vec<Seed>,
    known: HashSet<(Vec<Described>, Name)>,
}

/// More than that would take too much memory.
const MOST: usize = 100_000;

impl Seeds {
    /// Takes the seed of a read and the newest write; `marked` says what they hang on. Whether there was room for it.
    pub fn add(&mut self, live: &Live<'_, '_>, marked: &Prefix, write: Ev, read: Ev) -> bool {
        let keep = |ev: Ev| marked.below[ev.as_usize()];
        let whole =
            Partial::whole(live.graph, |ev| if keep(ev) { links(live, ev) } else { Links::default() });
        let (mut partial, mut map) = (Partial::default(), Vec::new());
        whole.restrict_into(keep, read, &mut partial, &mut map);
        let (write, read) = (map[write.as_usize()], map[read.as_usize()]);
        if self.known.insert((describe(&partial), name(&partial, read))) {
            self.list.push(Seed { partial, write, read });
        }
        self.list.len() < MOST
    }

    /// The thread histories that they have.
    pub fn tags(&self) -> impl Iterator<Item = Tag> + '_ {
        self.list.iter().flat_map(|seed| tags(&seed.partial))
    }
}

fn links(live: &Live<'_, '_>, event: Ev) -> Links {
    let before = tag_before(live.graph, event);
    Links {
        needs: live.needs(event).collect(),
        site: live.history.site(before),
        before: before.0,
        conditional: live.is_conditional(event),
    }
}

/// The thread histories that a graph has.
pub(crate) fn tags(partial: &Partial) -> impl Iterator<Item = Tag> + '_ {
    let of = |event: Ev| [partial.graph.event(event).tag, partial.links(event).before];
    partial.graph.all().flat_map(of).map(Tag)
}

/// A thread and a site.
pub(crate) type Name = (u16, u64);
/// An event by name, with its source and its place in co.
pub(crate) type Described = (Name, Label, Name, u32);

fn name(partial: &Partial, ev: Ev) -> Name {
    (partial.graph.event(ev).id.thread.0, partial.links(ev).site)
}

/// Equal of graphs with holes that are the same.
pub(crate) fn describe(partial: &Partial) -> Vec<Described> {
    let describe = |ev: Ev| {
        let event = partial.graph.event(ev);
        let rf =
            if event.rf.is_some() && event.rf != Ev::INIT { name(partial, event.rf) } else { (u16::MAX, 0) };
        // Without a source a read is what it was when it had one.
        let is_open = event.label.is_read() && !event.rf.is_some();
        (name(partial, ev), if is_open { Label::Init } else { event.label }, rf, event.co)
    };
    let mut all: Vec<Described> = partial.graph.all().map(describe).collect();
    all.sort_unstable_by_key(|(name, ..)| *name);
    all
}
