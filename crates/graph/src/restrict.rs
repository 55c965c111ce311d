//! Copying part of a graph into another one.

use crate::graph::is_plain;
use crate::{Ev, ExecutionGraph, Thread};
use porf_event::Label;

impl ExecutionGraph {
    /// Makes `out` the restriction of `self` to the events that `keep` accepts, in the same insertion
    /// order, using the memory that `out` has. `map` receives old positions → new ones.
    ///
    /// Clocks are copied: `keep` must be closed under whatever they count. A kept read whose source is
    /// not kept, and the read `forget`, lose their source; its clocks are then the caller's business.
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
            if is_plain(&event.label) {
                out.locations[event.loc.as_usize()].plain += 1;
            }
            if let Label::Create { child } = event.label {
                out.threads[child.as_usize()].creator = new;
            }
            out.events.push(event);
            let slot = self.slot(0, old);
            out.clocks.extend_from_slice(&self.clocks[slot..slot + self.kinds * self.stride]);
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

    /// Makes this the empty graph with the threads that run from the start, and the locations, of `like`.
    fn clear_for(&mut self, like: &ExecutionGraph) {
        self.kinds = like.kinds;
        self.stride = like.stride;
        self.events.truncate(1);
        self.clocks.clear();
        self.clocks.resize(self.kinds * self.stride, 0);
        self.threads.truncate(like.threads.len());
        for (at, from) in like.threads.iter().enumerate() {
            let creator = if from.creator == Ev::INIT { Ev::INIT } else { Ev::NONE };
            match self.threads.get_mut(at) {
                Some(thread) => {
                    thread.events.clear();
                    thread.creator = creator;
                    thread.tag = from.tag;
                }
                None => self.threads.push(Thread { events: Vec::new(), creator, tag: from.tag }),
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
        }
        self.locations.truncate(like.locations.len());
    }
}
