//! Where load buffering begins: a write, a read before it in po | rf that it does not depend on, a way from the read
//! to the write, and all that these depend on, cut out of an execution.
//!
//! If the read takes its value from the write, po | rf has a cycle in the seed, and in every execution that
//! contains it. (This needs the way, which is left out if it depends on what the read reads.)
//! `docs/hardware.md` says why every execution with a cycle contains a seed, and why the main search finds it.

use crate::buffering::{WithHistory, tag_before};
use crate::history::{History, Tag};
use crate::prefix::Prefix;
use crate::task::Task;
use porf_event::{Label, ThreadId};
use porf_graph::{Ev, ExecutionGraph, Linked, Links, Partial};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

pub(crate) struct Seed {
    /// The read has no source and the write has no place.
    pub partial: Partial,
    pub write: Ev,
    pub read: Ev,
}

/// The seeds that a search came across, with its thread histories, and the beginnings of its threads.
pub(crate) struct Sown<'p> {
    pub seeds: Vec<Seed>,
    /// The graphs that they were cut out of.
    pub sources: Vec<(u64, Task)>,
    pub history: History<'p>,
    pub roots: Vec<Tag>,
}

/// Each once.
#[derive(Default)]
pub(crate) struct Seeds {
    pub list: Vec<Seed>,
    /// For each, a hash that tells it from others, and the graph that it was cut out of: the write is the newest event.
    pub sources: Vec<(u64, Task)>,
    seen: HashSet<(Vec<Described>, Name)>,
}

impl Seeds {
    /// Takes the seed of a read and the newest write; `marked` says what they depend on.
    pub fn add(&mut self, live: &WithHistory<'_, '_>, marked: &Prefix, write: Ev, read: Ev) {
        let keep = |ev: Ev| marked.below[ev.as_usize()];
        let whole =
            Partial::whole(live.graph, |ev| if keep(ev) { links(live, ev) } else { Links::default() });
        let (mut partial, mut map) = (Partial::default(), Vec::new());
        whole.restrict_into(keep, read, &mut partial, &mut map);
        let (write, read) = (map[write.as_usize()], map[read.as_usize()]);
        let key = (describe(&partial), name(&partial, read));
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        if self.seen.insert(key) {
            self.sources.push((hasher.finish(), Task::of(live.graph)));
            self.list.push(Seed { partial, write, read });
        }
    }

    /// Forgets them: they are too many, or do not tell all.
    pub fn clear(&mut self) {
        *self = Seeds::default();
    }

    /// The thread histories that they have.
    pub fn tags(&self) -> impl Iterator<Item = Tag> + '_ {
        self.list.iter().flat_map(|seed| tags(&seed.partial))
    }
}

fn links(live: &WithHistory<'_, '_>, event: Ev) -> Links {
    let before = tag_before(live.graph, event);
    Links {
        needs: live.needs(event).collect(),
        site: live.history.site(before),
        before: before.0,
        conditional: live.is_conditional(event),
        continues: false,
    }
}

/// Calls `found` with the events of ways from a read to a write in po | rf, these two left out: reads and what they
/// take their values from, for each way that comes into no thread twice. Gives up after some steps; whether it did not.
///
/// A way that comes into a thread twice could have stayed there. Of ways over the creation and joining of threads
/// the events there are left out: what comes later depends on them anyway.
pub(crate) fn ways(graph: &ExecutionGraph, read: Ev, write: Ev, found: &mut impl FnMut(&[Ev])) -> bool {
    let mut ways = Ways { graph, read, way: SmallVec::new(), threads: SmallVec::new(), left: STEPS, found };
    ways.follow(write);
    ways.left > 0
}

/// How many events are looked at.
const STEPS: u32 = 1000;

struct Ways<'g, F> {
    graph: &'g ExecutionGraph,
    read: Ev,
    way: SmallVec<[Ev; 8]>,
    threads: SmallVec<[ThreadId; 8]>,
    left: u32,
    found: &'g mut F,
}

impl<F: FnMut(&[Ev])> Ways<'_, F> {
    /// Goes back from an event of a thread where the way has not been.
    fn follow(&mut self, event: Ev) {
        let graph = self.graph;
        let (from, to) = (graph.event(self.read).id, graph.event(event).id);
        if from.thread == to.thread {
            (self.found)(&self.way);
            return;
        }
        self.threads.push(to.thread);
        let thread = graph.thread(to.thread);
        let mut all = true;
        for &other in thread.events()[..to.index as usize].iter().rev() {
            all = self.left > 0 && graph.in_prefix(self.read, other);
            if !all {
                break;
            }
            self.left -= 1;
            match graph.event(other).label {
                Label::Read { .. } => self.cross(graph.rf(other), &[other, graph.rf(other)]),
                Label::Join { child } => self.cross(graph.thread_end(child).unwrap_or(Ev::INIT), &[]),
                _ => {}
            }
        }
        if all {
            self.cross(thread.creator, &[]);
        }
        self.threads.pop();
    }

    /// Goes on to an event of another thread, by way of some events.
    fn cross(&mut self, event: Ev, by: &[Ev]) {
        let thread = self.graph.event(event).id.thread;
        if event != Ev::INIT && !self.threads.contains(&thread) && self.graph.in_prefix(self.read, event) {
            self.way.extend_from_slice(by);
            self.follow(event);
            self.way.truncate(self.way.len() - by.len());
        }
    }
}

/// Whether one of some events, other than the read itself, depends on a read, by what it reads and is computed from.
pub(crate) fn depend(live: &WithHistory<'_, '_>, events: &[bool], read: Ev) -> bool {
    let mut seen = vec![false; live.graph.len()];
    let mut work: Vec<Ev> = live.graph.all().filter(|&ev| events[ev.as_usize()] && ev != read).collect();
    while let Some(ev) = work.pop() {
        if ev == read {
            return true;
        }
        if std::mem::replace(&mut seen[ev.as_usize()], true) {
            continue;
        }
        let event = live.graph.event(ev);
        work.extend(live.needs(ev).map(|need| need.event));
        work.extend([event.rf, event.pair].into_iter().filter(|it| it.is_some() && *it != Ev::INIT));
    }
    false
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
