//! What goes wrong in a graph because of its newest event: memory errors, races, joins, faults of a thread.

use crate::engine::Engine;
use crate::history::{Next, Ready, Tag};
use crate::memory;
use crate::search::Trail;
use crate::visit::{Visit, Visitor};
use porf_consistency::{HappensBefore, MemoryModel, may_race, races};
use porf_event::{Label, ThreadId};
use porf_graph::{Ev, ExecutionGraph};
use porf_interp::FaultKind;
use std::ops::ControlFlow;

impl<M: MemoryModel> Engine<'_, M> {
    /// Whether something goes wrong because of an event.
    #[inline]
    pub fn look_at(&mut self, event: Ev, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let Trail { now: graph, history, .. } = &self.trail;
        if history.has_allocations() && memory::concerns(&graph.event(event).label) {
            for error in memory::check(graph, event, &|a, b| graph.clock_covers(M::Hb::HB, b, a)) {
                if memory::is_excused(graph, history, &error, event, |event| self.tag_before(event)) {
                    continue;
                }
                let fault = history.fault(self.tag_before(event), error.kind, error.message);
                visitor.visit(Visit::Memory(&self.execution(false), &fault, event, error.other))?;
            }
        }
        if M::Hb::RACES && may_race(graph, event) {
            for other in races::<M::Hb>(graph, event) {
                if history.has_words() && !history.touch(self.tag_before(event), self.tag_before(other)) {
                    continue;
                }
                visitor.visit(Visit::Race(&self.execution(false), other, event))?;
            }
        }
        if let Label::Join { child } = graph.event(event).label
            && history.has_rival_joins()
            && let Some(first) = graph.all().find(|&other| other < event && joins(graph, other, child))
        {
            let message = "join of a thread that was joined before".to_string();
            let fault = history.fault(self.tag_before(event), FaultKind::Lock, message);
            visitor.visit(Visit::Memory(&self.execution(false), &fault, event, first))?;
        }
        // What a wrong value leads to comes after what makes it wrong.
        self.look_for_fault(Tag(graph.event(event).tag), visitor)
    }

    #[inline]
    pub fn look_for_fault(&self, tag: Tag, visitor: &mut impl Visitor) -> ControlFlow<()> {
        if tag.ready() == Ready::No
            && let Next::Fault(fault) = &self.trail.history.node(tag).next
        {
            return visitor.visit(Visit::Fault(&self.execution(false), fault));
        }
        ControlFlow::Continue(())
    }
}

/// Whether an event waits for a thread to end.
fn joins(graph: &ExecutionGraph, event: Ev, thread: ThreadId) -> bool {
    graph.event(event).label == Label::Join { child: thread }
}
