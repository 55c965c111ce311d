//! ARMv8 and RISC-V on graphs whose threads may have holes: the whole graph is checked, as bit rows.
//!
//! Source: `models/armv8.cat` and `models/riscv.cat`. The local orders are those of the main search
//! ([`LocalOrder`]), and creating and joining threads orders as it does there.
//!
//! Limits: the cat file decides graphs of more than 128 events. Cost: quadratic in the length of threads.

use crate::cat::Cat;
use crate::checker::{Checker, Initial};
use crate::imm::{MOST, Row, at, bit, is_acyclic};
use crate::labels::{no_access, silent};
use crate::local::{LocalOrder, before, downwards, is_access, is_amo};
use crate::order::Architecture;
use crate::ordered_before::between;
use porf_cat::Diagnostic;
use porf_event::Label;
use porf_graph::{Ev, ExecutionGraph, Linked, Words};
use std::marker::PhantomData;

/// A machine by its local order, on graphs with holes.
pub struct WithHoles<O> {
    cat: Cat<'static>,
    /// What each event comes after in the order within its thread, by position.
    before_in_thread: Vec<Words>,
    /// What is before each event in ob.
    ob: Vec<Row>,
    order: PhantomData<O>,
}

impl<O: LocalOrder> Default for WithHoles<O> {
    fn default() -> Self {
        let cat = Cat::new(O::model(), O::DIALECT, Some(O::ARCHITECTURE));
        WithHoles { cat, before_in_thread: Vec::new(), ob: Vec::new(), order: PhantomData }
    }
}

impl<O: LocalOrder> Checker for WithHoles<O> {
    fn architecture(&self) -> Option<Architecture> {
        Some(O::ARCHITECTURE)
    }

    fn consistent(
        &mut self,
        linked: &impl Linked,
        initial: Initial<'_>,
        changed: Ev,
    ) -> Result<bool, Diagnostic> {
        let graph = linked.graph();
        if graph.len() > MOST {
            return self.cat.consistent(linked, initial, changed);
        }
        if !is_coherent(graph) || !is_atomic::<O>(graph) {
            return Ok(false);
        }
        self.local(linked);
        self.communication(graph);
        if O::AMO_IS_ONE {
            self.unite(graph);
        }
        Ok(is_acyclic(&self.ob))
    }
}

impl<O: LocalOrder> WithHoles<O> {
    /// The order within threads, and that of creating and joining them.
    fn local(&mut self, linked: &impl Linked) {
        let graph = linked.graph();
        self.before_in_thread.clear();
        self.before_in_thread.resize(graph.len(), Words::new());
        self.ob.clear();
        self.ob.resize(graph.len() - 1, 0);
        for thread in graph.threads() {
            let events = thread.events();
            let mut earlier = match thread.creator {
                creator if creator.is_some() && creator != Ev::INIT => bit(creator),
                _ => 0,
            };
            let created = earlier;
            for (index, &ev) in events.iter().enumerate() {
                let mut row = created;
                match graph.event(ev).label {
                    Label::Create { .. } => row = earlier,
                    Label::Join { child } => {
                        let child = graph.thread(child);
                        row = child.events().iter().fold(earlier, |row, &ev| row | bit(ev));
                        if child.creator.is_some() && child.creator != Ev::INIT {
                            row |= bit(child.creator);
                        }
                    }
                    Label::Read { .. } | Label::Write { .. } => {
                        let before_in_thread =
                            O::find(linked, ev, &|ev| &self.before_in_thread[ev.as_usize()]);
                        let set = downwards(before(&before_in_thread, index as u32));
                        row = set.fold(row, |row, at| row | bit(events[at as usize]));
                        if graph.rf(ev).is_some() {
                            O::by_source(linked, ev, &mut |ev| row |= bit(ev));
                        }
                        self.before_in_thread[ev.as_usize()] = before_in_thread;
                    }
                    Label::Fence { .. } | silent!() => {}
                }
                self.ob[at(ev)] = row;
                earlier |= bit(ev);
            }
        }
    }

    /// rfe, co and fr. What of these is within a thread is in the local order, as long as it is coherent.
    fn communication(&mut self, graph: &ExecutionGraph) {
        for ev in graph.all() {
            let event = graph.event(ev);
            match event.label {
                Label::Read { .. }
                    if event.rf != Ev::INIT && graph.event(event.rf).id.thread != event.id.thread =>
                {
                    self.ob[at(ev)] |= bit(event.rf);
                }
                Label::Write { .. } => {
                    let overwritten = match event.co {
                        1 => Ev::INIT,
                        place => graph.co(event.loc)[place as usize - 2],
                    };
                    let mut row = graph.readers(overwritten, event.loc).fold(0, |row, read| row | bit(read));
                    if overwritten != Ev::INIT {
                        row |= bit(overwritten);
                    }
                    self.ob[at(ev)] |= row;
                }
                Label::Read { .. } | no_access!() => {}
            }
        }
    }

    /// Makes the two halves of an atomic operation one.
    fn unite(&mut self, graph: &ExecutionGraph) {
        for write in graph.all() {
            let (label, read) = (graph.event(write).label, graph.event(write).pair);
            if !read.is_some() || !is_amo(&label) {
                continue;
            }
            for row in &mut self.ob {
                if *row & bit(write) != 0 {
                    *row = *row & !bit(write) | bit(read);
                }
            }
            self.ob[at(read)] |= std::mem::take(&mut self.ob[at(write)]);
            self.ob[at(read)] &= !bit(read);
        }
    }
}

/// acyclic po-loc | rf | co | fr: the accesses of each thread go up in co.
fn is_coherent(graph: &ExecutionGraph) -> bool {
    graph.threads().iter().all(|thread| {
        let events = thread.events();
        let accesses = events.iter().enumerate().filter(|(_, ev)| is_access(graph, **ev));
        accesses.clone().all(|(index, &ev)| {
            let this = graph.event(ev);
            let same = |ev: &&Ev| is_access(graph, **ev) && graph.event(**ev).loc == this.loc;
            let Some(&last) = events[..index].iter().rfind(same) else { return true };
            let other = graph.event(last);
            let place = if other.label.is_write() { other.co } else { graph.event(other.rf).co };
            if this.label.is_write() { place < this.co } else { place <= graph.event(this.rf).co }
        })
    })
}

fn is_atomic<O: LocalOrder>(graph: &ExecutionGraph) -> bool {
    graph.all().map(|write| graph.event(write)).filter(|event| event.pair.is_some()).all(|event| {
        let source = graph.event(graph.rf(event.pair)).co;
        // What is read is older than what is written: the graph is coherent.
        let (others, own) = between(graph, event.id.thread, event.loc, source, event.co);
        O::is_atomic(others, own)
    })
}
