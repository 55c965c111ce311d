//! The models of machines on executions in which po | rf has no cycle, by their cat text.
//!
//! All of them imply coherence within a thread and atomicity. All of them allow the co-last choice to an event
//! that is last in po | rf. These three facts save evaluations. [`Cat`] decides the rest.
//!
//! Cost: one evaluation of the model for every choice that is not the co-last one.

use crate::cat::Cat;
use crate::checker::Checker;
use crate::closure::own_floor;
use crate::hb::Porf;
use crate::labels::place;
use crate::mo::{is_co_last_of, sources_from};
use crate::order::Architecture;
use crate::{Choice, MemoryModel};
use porf_cat::CatModel;
use porf_event::Dialect;
use porf_graph::{Ev, ExecutionGraph, Linked, Loc, Memo};
use porf_model::Model;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// A machine whose model is shipped.
pub trait MachineModel: Default {
    /// What it keeps of program order.
    const ARCHITECTURE: Architecture;
    /// The language of its programs.
    const DIALECT: Dialect;
    /// Its model.
    fn model() -> &'static CatModel;
}

macro_rules! machine {
    ($name:ident, $dialect:ident) => {
        #[doc = concat!("The machine of the model `", stringify!($name), "`.")]
        #[derive(Clone, Debug, Default)]
        pub struct $name;

        impl MachineModel for $name {
            const ARCHITECTURE: Architecture = Architecture::$name;
            const DIALECT: Dialect = Dialect::$dialect;

            fn model() -> &'static CatModel {
                static MODEL: OnceLock<CatModel> = OnceLock::new();
                MODEL.get_or_init(|| CatModel::shipped(Model::$name))
            }
        }
    };
}

machine!(Armv8, AArch64);
machine!(Armv7, Arm);
machine!(Power, Ppc);
machine!(Riscv, RiscV);

/// A machine that is checked by its cat text.
pub struct Checked<A> {
    cat: Cat<'static>,
    machine: PhantomData<A>,
}

impl<A: MachineModel> Default for Checked<A> {
    fn default() -> Self {
        let cat = Cat::new(A::model(), A::DIALECT, Some(A::ARCHITECTURE));
        Checked { cat, machine: PhantomData }
    }
}

impl<A: MachineModel> MemoryModel for Checked<A> {
    type Hb = Porf;
    const SEES_CO: bool = true;
    const ARCHITECTURE: Option<Architecture> = Some(A::ARCHITECTURE);

    fn sources(&mut self, linked: &impl Memo, read: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        sources_from(graph, read, own_floor(graph, read), out);
    }

    fn places(&mut self, linked: &impl Memo, write: Ev, out: &mut Vec<Choice>) {
        let graph = linked.graph();
        let event = graph.event(write);
        let co = graph.co(event.loc);
        let is_own = |w: &&Ev| graph.event(**w).id.thread == event.id.thread;
        // Nothing comes between the source and the write of a read-modify-write, unless its own thread writes
        // there too: what may then is left to the cat file.
        let splits = |place: u32| {
            let next = co.get(place as usize - 1).map(|next| graph.event(*next).pair);
            next.is_some_and(|pair| pair.is_some() && graph.event(graph.rf(pair)).co == place - 1)
        };
        let places = if event.pair.is_some() {
            let source = graph.event(graph.rf(event.pair)).co;
            let is_split = co[source as usize..].iter().any(|w| is_own(&w));
            let last = if is_split { co.len() as u32 } else { source };
            source + 1..=last + 1
        } else {
            own_floor(graph, write) + 1..=co.len() as u32 + 1
        };
        out.extend(places.rev().filter(|&place| !splits(place)).map(Choice::Place));
    }

    fn admits(&mut self, _: &impl Memo, _: Ev, _: Ev) -> bool {
        true
    }

    fn allows(&mut self, linked: &impl Linked, event: Ev) -> bool {
        let graph = linked.graph();
        let this = graph.event(event);
        let Some(place) = place(graph, event) else { return true };
        if place as usize == graph.co(this.loc).len() && !this.pair.is_some() {
            return true;
        }
        // A write that revisits a read is asked about when that has its source.
        if graph.all().any(|ev| graph.event(ev).label.is_read() && !graph.rf(ev).is_some()) {
            return true;
        }
        // These models do not look at values.
        let consistent = self.cat.consistent(linked, &|_| (8, 0), event);
        consistent.unwrap_or_else(|diagnostic| unreachable!("a shipped model: {diagnostic}"))
    }

    fn may_be_last(&mut self, graph: &ExecutionGraph, loc: Loc, write: Ev) -> bool {
        graph.co_max(loc) == write
    }

    fn canonical(&mut self, graph: &ExecutionGraph, a: Ev, w: Ev) -> bool {
        is_co_last_of(graph, a, w)
    }
}
