//! Execution graphs whose threads may have holes, with dependencies.
//!
//! Models that keep only dependencies in order restrict a graph to sets that are not closed under po.
//! Then a thread can have events whose po-predecessors are missing. The first events of a thread, up to
//! the first hole, are *settled*: the thread was run up to them. The events behind the hole wait until it
//! is filled. Until then each of them is known by what it needs and by its [site](Links::site), which
//! tells where it stands among the new events. New events go in before the waiting ones. So the
//! [`EventId`]s of a thread are its present positions, without gaps, and change while holes are filled.
//!
//! Clocks are not kept: no function here may ask for porf.

use crate::graph::{LocationState, Thread};
use crate::{Ev, Event, ExecutionGraph, Loc, Need};
use porf_event::{EventId, Label, Location, ThreadId, no_access, silent};
use smallvec::SmallVec;

/// An execution graph, what its events need, and how far each thread is settled.
#[derive(Clone, Debug)]
pub struct Partial {
    /// The graph, whose clocks mean nothing.
    pub graph: ExecutionGraph,
    links: Vec<Links>,
    settled: Vec<u32>,
}

/// What an event depends on, beside its source.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Events of the same thread, in no order.
    pub needs: SmallVec<[Need; 4]>,
    /// What tells the event from all others of its thread, whatever is missing before it.
    pub site: u64,
    /// For the owner: the state of the thread that wanted the event.
    pub before: u32,
    /// For a read: whether its ordering, and whether a write follows it, depends on the value that it reads
    /// (a compare-and-swap).
    pub conditional: bool,
    /// Whether it is a later event of the same access as the event before it.
    pub continues: bool,
}

impl Default for Partial {
    fn default() -> Partial {
        Partial { graph: ExecutionGraph::new(1), links: vec![Links::default()], settled: Vec::new() }
    }
}

impl Partial {
    /// A whole execution: no thread has holes.
    pub fn whole(graph: &ExecutionGraph, links: impl FnMut(Ev) -> Links) -> Partial {
        let settled = graph.threads.iter().map(|thread| thread.events.len() as u32).collect();
        let links = std::iter::once(Links::default()).chain(graph.all().map(links)).collect();
        Partial { graph: graph.clone(), links, settled }
    }

    /// A thread, as in [`ExecutionGraph::add_thread`].
    pub fn add_thread(&mut self, thread: ThreadId, creator: Ev, tag: u32) {
        self.graph.add_thread(thread, creator, tag);
        self.settled.resize(self.graph.threads.len(), 0);
        self.settled[thread.as_usize()] = 0;
    }

    /// What an event depends on.
    #[inline]
    pub fn links(&self, event: Ev) -> &Links {
        &self.links[event.as_usize()]
    }

    /// How many of a thread's events stand before its first hole.
    #[inline]
    pub fn settled(&self, thread: ThreadId) -> u32 {
        self.settled[thread.as_usize()]
    }

    /// Whether some thread has events behind a hole.
    pub fn has_holes(&self) -> bool {
        self.graph
            .threads
            .iter()
            .zip(&self.settled)
            .any(|(thread, &settled)| settled < thread.events.len() as u32)
    }

    /// Makes the first `settled` events of a thread its settled ones.
    pub fn settle(&mut self, thread: ThreadId, settled: u32) {
        self.settled[thread.as_usize()] = settled;
        let at = thread.as_usize();
        self.graph.now[at] = self.graph.now_after(at, settled as usize);
    }

    /// Puts an event at the first hole of its thread, or at its end. It is not settled yet, a read has no
    /// source, a write no place.
    pub fn insert(&mut self, thread: ThreadId, label: Label, loc: Loc, links: Links) -> Ev {
        let graph = &mut self.graph;
        let new = Ev(graph.events.len() as u32);
        let index = self.settled[thread.as_usize()];
        let of = &mut graph.threads[thread.as_usize()];
        of.events.insert(index as usize, new);
        for &later in &of.events[index as usize + 1..] {
            graph.events[later.as_usize()].id.index += 1;
        }
        let pair = match label {
            Label::Write { rmw, .. } if rmw.is_pair() => graph.find_pair(thread, index, &label),
            Label::Read { .. } | Label::Write { .. } | no_access!() => Ev::NONE,
        };
        graph.events.push(Event { pair, ..Event::new(EventId::new(thread, index), label, loc) });
        graph.list_if_rare(new);
        if loc != Loc::NONE {
            graph.note_access(thread, loc, &label);
        }
        graph.clocks.resize(graph.clocks.len() + graph.shape.width(), Default::default());
        self.links.push(links);
        new
    }

    /// Removes the newest event, with what depends on it; the thread is settled up to where it stood.
    pub fn remove_last(&mut self) {
        let last = self.graph.newest();
        let EventId { thread, index } = self.graph.events[last.as_usize()].id;
        let graph = &mut self.graph;
        let event = graph.events[last.as_usize()];
        match event.label {
            Label::Read { .. } if event.rf.is_some() => graph.clear_rf(last),
            Label::Write { .. } if event.co != ExecutionGraph::UNPLACED => graph.unplace(last),
            Label::Create { child } => graph.stop_thread(child),
            Label::Read { .. } | Label::Write { .. } => {}
            silent!() | Label::Fence { .. } | Label::Join { .. } => {}
        }
        if last == graph.last_rare {
            graph.last_rare = event.next_reader;
        }
        if event.label.is_plain() {
            graph.locations[event.loc.as_usize()].plain -= 1;
        }
        let of = &mut graph.threads[thread.as_usize()];
        of.events.remove(index as usize);
        for &later in &of.events[index as usize..] {
            graph.events[later.as_usize()].id.index -= 1;
        }
        graph.events.pop();
        graph.clocks.truncate(graph.clocks.len() - graph.shape.width());
        self.links.pop();
        self.settle(thread, index);
    }

    /// The thread comes to the event in state `before` and leaves it in state `after`.
    pub fn set_tags(&mut self, event: Ev, before: u32, after: u32) {
        self.links[event.as_usize()].before = before;
        self.graph.events[event.as_usize()].tag = after;
    }

    /// Copies the events that `keep` wants into `out`, in the same order; positions change as `map` says
    /// afterwards. Reads that lose their source, and `forget`, have none. A thread is settled up to its
    /// first event that is not kept, or that is `forget`.
    pub fn restrict_into(&self, keep: impl Fn(Ev) -> bool, forget: Ev, out: &mut Partial, map: &mut Vec<Ev>) {
        out.clear_for(self);
        map.clear();
        map.push(Ev::INIT);
        for old in self.graph.all() {
            if !keep(old) {
                map.push(Ev::NONE);
                continue;
            }
            let new = Ev(out.graph.events.len() as u32);
            map.push(new);
            let event = self.graph.events[old.as_usize()];
            if event.label.is_plain() {
                out.graph.locations[event.loc.as_usize()].plain += 1;
            }
            if let Label::Create { child } = event.label {
                out.graph.threads[child.as_usize()].creator = new;
            }
            out.graph.events.push(event);
            out.links.push(self.links[old.as_usize()].clone());
        }
        let width = out.graph.shape.width();
        out.graph.clocks.resize(out.graph.events.len() * width, Default::default());
        self.copy_threads(forget, out, map);
        self.translate(forget, out, map);
        for (from, to) in self.graph.locations.iter().zip(&mut out.graph.locations) {
            for write in &from.co {
                let new = map[write.as_usize()];
                if new.is_some() {
                    to.co.push(new);
                    out.graph.events[new.as_usize()].co = to.co.len() as u32;
                }
            }
        }
    }

    fn copy_threads(&self, forget: Ev, out: &mut Partial, map: &[Ev]) {
        for (at, from) in self.graph.threads.iter().enumerate() {
            let mut whole = true;
            let mut settled = 0;
            for (position, &old) in from.events.iter().enumerate() {
                let new = map[old.as_usize()];
                whole &= new.is_some() && old != forget && (position as u32) < self.settled[at];
                if new.is_some() {
                    out.graph.events[new.as_usize()].id.index = out.graph.threads[at].events.len() as u32;
                    out.graph.threads[at].events.push(new);
                }
                settled += u32::from(whole);
            }
            out.settle(ThreadId(at as u16), settled);
        }
    }

    /// Links between events, which may be newer than what links to them.
    fn translate(&self, forget: Ev, out: &mut Partial, map: &[Ev]) {
        if forget.is_some() {
            out.graph.events[map[forget.as_usize()].as_usize()].rf = Ev::NONE;
        }
        for at in 1..out.graph.events.len() {
            let event = &mut out.graph.events[at];
            event.first_reader = Ev::NONE;
            event.next_reader = Ev::NONE;
            event.co = ExecutionGraph::UNPLACED;
            for link in [&mut event.pair, &mut event.revisited, &mut event.rf] {
                if link.is_some() {
                    *link = map[link.as_usize()];
                }
            }
            for need in &mut out.links[at].needs {
                need.event = map[need.event.as_usize()];
            }
            out.graph.list_if_rare(Ev(at as u32));
        }
        for at in 1..out.graph.events.len() as u32 {
            let Event { rf, loc, .. } = out.graph.events[at as usize];
            if rf.is_some() {
                let head = out.graph.reader_head(rf, loc);
                let next = std::mem::replace(head, Ev(at));
                out.graph.events[at as usize].next_reader = next;
            }
        }
    }

    /// Makes this the empty graph with the threads that run from the start, and the locations, of `like`.
    fn clear_for(&mut self, like: &Partial) {
        self.graph.clear_for(&like.graph);
        self.links.truncate(1);
        self.settled.clear();
        self.settled.resize(like.graph.threads.len(), 0);
    }
}

/// What must hold of a graph whose threads have holes: threads list their events, sources have the value
/// and the location of their reads, places in co are right, and what an event needs stands before it.
pub fn validate(partial: &Partial, initial: impl Fn(Loc) -> u64) -> Result<(), String> {
    let graph = &partial.graph;
    let listed: usize = graph.threads.iter().map(|thread| thread.events.len()).sum();
    if listed + 1 != graph.len() {
        return Err(format!("{listed} events in threads, {} in all", graph.len() - 1));
    }
    for (number, thread) in graph.threads.iter().enumerate() {
        for (index, &ev) in thread.events.iter().enumerate() {
            if graph.event(ev).id != EventId::new(ThreadId(number as u16), index as u32) {
                return Err(format!("{} stands at T{number}.{index}", graph.event(ev).id));
            }
        }
    }
    for ev in graph.all() {
        let event = graph.event(ev);
        for need in &partial.links[ev.as_usize()].needs {
            if !need.event.is_some() || graph.event(need.event).id >= event.id {
                return Err(format!("{} needs what is not before it", event.id));
            }
        }
        if let (Label::Read { value, .. }, true) = (event.label, event.rf.is_some()) {
            let written = if event.rf == Ev::INIT {
                initial(event.loc)
            } else {
                graph.event(event.rf).label.value().unwrap_or(0)
            };
            if written != value || graph.readers(event.rf, event.loc).filter(|&r| r == ev).count() != 1 {
                return Err(format!("{} reads {value}, its source wrote {written}", event.id));
            }
        }
    }
    for (loc, LocationState { co, .. }) in graph.locations.iter().enumerate() {
        for (at, &write) in co.iter().enumerate() {
            let event = graph.event(write);
            if event.co as usize != at + 1 || event.loc != Loc(loc as u32) {
                return Err(format!("{} stands in co where it does not belong", event.id));
            }
        }
    }
    Ok(())
}

impl Partial {
    /// Makes `loc` stand for `location`.
    pub fn name_location(&mut self, loc: Loc, location: Location) {
        self.graph.name_location(loc, location);
    }

    /// The threads, as they are in the graph.
    pub fn threads(&self) -> &[Thread] {
        &self.graph.threads
    }
}
