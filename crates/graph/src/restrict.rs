//! Copying part of a graph into another one.
//!
//! A search that goes back to an earlier point keeps some events and drops others in between. Cost: linear in
//! the graph; no allocation once `out` has grown.

use crate::{Ev, Event, ExecutionGraph, Thread};
use porf_event::Label;

impl ExecutionGraph {
    /// Makes `out` the restriction of `self` to the events that `keep` accepts, in the same insertion
    /// order, using the memory that `out` has. `map` receives old positions → new ones.
    ///
    /// Clocks are copied: `keep` must be closed under whatever they count. A kept read whose source is
    /// not kept, and the read `forget`, lose their source; the caller then computes their clocks.
    pub fn restrict_into(
        &self,
        keep: impl Fn(Ev) -> bool,
        forget: Ev,
        out: &mut ExecutionGraph,
        map: &mut Vec<Ev>,
    ) {
        out.clear_for(self);
        map.clear();
        map.push(Ev::INIT);
        for old in self.all() {
            if !keep(old) {
                map.push(Ev::NONE);
                continue;
            }
            let new = Ev(out.events.len() as u32);
            map.push(new);
            let event = self.events[old.as_usize()];
            let thread = &mut out.threads[event.id.thread.as_usize()];
            while thread.events.len() < event.id.index as usize {
                thread.events.push(Ev::NONE);
            }
            // Holes are filled in any order.
            match thread.events.get_mut(event.id.index as usize) {
                Some(hole) => *hole = new,
                None => thread.events.push(new),
            }
            if event.label.is_plain() {
                out.locations[event.loc.as_usize()].plain += 1;
            }
            if let Label::Create { child } = event.label {
                out.threads[child.as_usize()].creator = new;
            }
            out.events.push(event);
            let slot = self.slot(0, old);
            out.clocks.extend_from_slice(&self.clocks[slot..slot + self.shape.width()]);
        }
        for at in 0..out.threads.len() {
            out.now[at] = out.now_after(at, out.threads[at].events.len());
        }
        // Sources may be newer than their reads, so that they are translated now.
        for at in 1..out.events.len() {
            let event = &mut out.events[at];
            event.first_reader = Ev::NONE;
            event.next_reader = Ev::NONE;
            for link in [&mut event.pair, &mut event.revisited] {
                if link.is_some() {
                    *link = map[link.as_usize()];
                }
            }
            out.list_if_rare(Ev(at as u32));
        }
        if forget.is_some() {
            out.events[map[forget.as_usize()].as_usize()].rf = Ev::NONE;
        }
        for at in 1..out.events.len() as u32 {
            let event = out.events[at as usize];
            if event.rf.is_some() {
                let source = map[event.rf.as_usize()];
                out.events[at as usize].rf = source;
                if source.is_some() {
                    let head = if source == Ev::INIT {
                        &mut out.locations[event.loc.as_usize()].init_reader
                    } else {
                        &mut out.events[source.as_usize()].first_reader
                    };
                    let next = std::mem::replace(head, Ev(at));
                    out.events[at as usize].next_reader = next;
                }
            }
        }
        for (from, to) in self.locations.iter().zip(&mut out.locations) {
            for write in &from.co {
                let new = map[write.as_usize()];
                if new.is_some() {
                    to.co.push(new);
                    out.events[new.as_usize()].co = to.co.len() as u32;
                }
            }
        }
    }

    /// [`restrict_into`](Self::restrict_into) for the case that matters: keeps what is no newer than
    /// `read`, what `write`, the newest event, needs, and `write`. `read` loses its source.
    ///
    /// No kept read but `read` may have a source that is not kept.
    pub fn revisit_into(&self, read: Ev, write: Ev, out: &mut ExecutionGraph, map: &mut Vec<Ev>) {
        let block = read.as_usize() + 1;
        out.shape = self.shape;
        out.events.clear();
        out.events.extend_from_slice(&self.events[..block]);
        out.clocks.clear();
        out.clocks.extend_from_slice(&self.clocks[..self.slot(0, Ev(block as u32))]);
        map.clear();
        map.extend((0..block as u32).map(Ev));
        self.copy_threads(read, out);
        self.copy_locations(out);
        // Readers are listed newest first: those that are not in the block are in front.
        for newer in read.as_usize()..self.events.len() {
            let Event { rf: source, loc, .. } = self.events[newer];
            if source <= read {
                let head = out.reader_head(source, loc);
                while head.is_some() && *head >= read {
                    *head = self.events[head.as_usize()].next_reader;
                }
            }
        }
        out.events[read.as_usize()].rf = Ev::NONE;
        out.last_rare = self.rare_before(read);
        for old in (block as u32..self.events.len() as u32).map(Ev) {
            let event = &self.events[old.as_usize()];
            if old != write && !self.needs(write, old) {
                map.push(Ev::NONE);
                if event.label.is_plain() {
                    out.locations[event.loc.as_usize()].plain -= 1;
                }
                continue;
            }
            let mut event = *event;
            let new = Ev(out.events.len() as u32);
            map.push(new);
            event.first_reader = Ev::NONE;
            event.next_reader = Ev::NONE;
            if event.pair.is_some() {
                event.pair = map[event.pair.as_usize()];
            }
            if event.rf.is_some() {
                // A source that is newer than its read comes with its own link, below.
                let source = if event.rf < old { map[event.rf.as_usize()] } else { Ev::NONE };
                event.rf = source;
                if source == Ev::INIT {
                    let head = &mut out.locations[event.loc.as_usize()].init_reader;
                    event.next_reader = std::mem::replace(head, new);
                } else if source.is_some() {
                    let head = &mut out.events[source.as_usize()].first_reader;
                    event.next_reader = std::mem::replace(head, new);
                }
            }
            if event.revisited.is_some() {
                let target = map[event.revisited.as_usize()];
                if target.is_some() && self.events[event.revisited.as_usize()].rf == old && target != read {
                    out.events[target.as_usize()].rf = new;
                    out.events[target.as_usize()].next_reader = Ev::NONE;
                    event.first_reader = target;
                }
                event.revisited = target;
            }
            if let Label::Create { child } = event.label {
                let child = child.as_usize();
                out.threads[child].creator = new;
                out.now[child] = out.threads[child].tag;
            }
            let thread = event.id.thread.as_usize();
            out.threads[thread].events.push(new);
            out.now[thread] = event.tag;
            out.events.push(event);
            out.list_if_rare(new);
            let slot = self.slot(0, old);
            out.clocks.extend_from_slice(&self.clocks[slot..slot + self.shape.width()]);
        }
        for (from, to) in self.locations.iter().zip(&mut out.locations) {
            to.co.clear();
            // Up to the first newer write all is as it was.
            let same = from.co.iter().position(|&write| write > read).unwrap_or(from.co.len());
            to.co.extend_from_slice(&from.co[..same]);
            for write in &from.co[same..] {
                let new = map[write.as_usize()];
                if new.is_some() {
                    to.co.push(new);
                    out.events[new.as_usize()].co = to.co.len() as u32;
                }
            }
        }
    }

    /// The threads with their events no newer than `last`.
    fn copy_threads(&self, last: Ev, out: &mut ExecutionGraph) {
        out.threads.truncate(self.threads.len());
        out.now.clear();
        for (at, from) in self.threads.iter().enumerate() {
            if at == out.threads.len() {
                out.threads.push(Thread::new(Ev::NONE, 0));
            }
            let to = &mut out.threads[at];
            let kept = from.events.iter().rposition(|&ev| ev <= last).map_or(0, |at| at + 1);
            to.events.clear();
            to.events.extend_from_slice(&from.events[..kept]);
            to.tag = from.tag;
            to.twin = from.twin;
            to.creator = if from.creator.is_some() && from.creator > last { Ev::NONE } else { from.creator };
            out.now.push(match to.events.last() {
                Some(last) => self.events[last.as_usize()].tag,
                None if to.is_started() => from.tag,
                None => 0,
            });
        }
    }

    fn copy_locations(&self, out: &mut ExecutionGraph) {
        out.locations.truncate(self.locations.len());
        for (at, from) in self.locations.iter().enumerate() {
            if at == out.locations.len() {
                out.name_location(crate::Loc(at as u32), from.location);
            }
            let to = &mut out.locations[at];
            to.location = from.location;
            to.plain = from.plain;
            (to.thread, to.shared) = (from.thread, from.shared);
            to.init_reader = from.init_reader;
        }
    }

    /// Makes this the empty graph with the threads that run from the start, and the locations, of `like`.
    pub(crate) fn clear_for(&mut self, like: &ExecutionGraph) {
        self.shape = like.shape;
        self.last_rare = Ev::NONE;
        self.events.truncate(1);
        self.clocks.clear();
        self.clocks.resize(self.shape.width(), Default::default());
        self.threads.truncate(like.threads.len());
        self.now.clear();
        for (at, from) in like.threads.iter().enumerate() {
            let creator = if from.creator == Ev::INIT { Ev::INIT } else { Ev::NONE };
            self.now.push(if creator.is_some() { from.tag } else { 0 });
            match self.threads.get_mut(at) {
                Some(thread) => {
                    thread.events.clear();
                    thread.creator = creator;
                    thread.tag = from.tag;
                    thread.twin = from.twin;
                }
                None => self.threads.push(Thread { twin: from.twin, ..Thread::new(creator, from.tag) }),
            }
        }
        for (at, from) in like.locations.iter().enumerate() {
            if at == self.locations.len() {
                self.name_location(crate::Loc(at as u32), from.location);
            }
            let to = &mut self.locations[at];
            to.location = from.location;
            to.co.clear();
            to.init_reader = Ev::NONE;
            to.plain = 0;
            (to.thread, to.shared) = (from.thread, from.shared);
        }
        self.locations.truncate(like.locations.len());
    }
}
