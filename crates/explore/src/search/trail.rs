//! The graph of a search, the choices that are still to be tried, and the graphs that wait.

use crate::history::{History, Tag};
use crate::schedule::{Schedule, tag_of};
use crate::visit::Statistics;
use porf_consistency::Choice;
use porf_event::{Label, Value};
use porf_graph::{Ev, ExecutionGraph, Loc, Partial};

/// A graph that grows by one event at a time and loses its newest event again.
pub(crate) trait Growing {
    fn graph(&self) -> &ExecutionGraph;
    fn graph_mut(&mut self) -> &mut ExecutionGraph;
    /// Removes the newest event.
    fn undo(&mut self);
}

impl Growing for ExecutionGraph {
    #[inline]
    fn graph(&self) -> &ExecutionGraph {
        self
    }

    #[inline]
    fn graph_mut(&mut self) -> &mut ExecutionGraph {
        self
    }

    #[inline]
    fn undo(&mut self) {
        self.remove_last();
    }
}

impl Growing for Partial {
    fn graph(&self) -> &ExecutionGraph {
        &self.graph
    }

    fn graph_mut(&mut self) -> &mut ExecutionGraph {
        &mut self.graph
    }

    fn undo(&mut self) {
        self.remove_last();
    }
}

/// An event of a graph with choices that have not been tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub event: Ev,
    /// In a copy that was made for a revisit, `event` is the write, and this the read that takes its value from
    /// it. [`Ev::NONE`] otherwise.
    pub revisited: Ev,
    /// Where its choices begin; they are taken from the end.
    pub start: u32,
}

impl Frame {
    /// Whether the frame is the first of a copy.
    #[inline]
    pub fn is_copy(&self) -> bool {
        self.revisited.is_some()
    }
}

/// What a search has done and what it has still to do.
pub(crate) struct Trail<'p, G> {
    pub history: History<'p>,
    pub schedule: Schedule,
    /// The graph that is being extended.
    pub now: G,
    /// Graphs that wait for the revisits that came from them.
    pub waiting: Vec<G>,
    /// Graphs whose memory can be used again.
    pub pool: Vec<G>,
    pub frames: Vec<Frame>,
    /// Untried choices of all frames.
    pub choices: Vec<Choice>,
    /// The threads that run from the start.
    pub roots: Vec<Tag>,
    /// There is nothing to extend: the next thing is to go back.
    pub seen: bool,
    pub statistics: Statistics,
    /// Since the last look at the memory: bytes of copies that were made; how large the history was then.
    pub copied: usize,
    pub history_was: usize,
}

impl<'p, G: Growing> Trail<'p, G> {
    pub fn new(history: History<'p>, schedule: Schedule, now: G) -> Trail<'p, G> {
        Trail {
            history,
            schedule,
            now,
            waiting: Vec::new(),
            pool: Vec::new(),
            frames: Vec::new(),
            choices: Vec::new(),
            roots: Vec::new(),
            seen: false,
            statistics: Statistics::default(),
            copied: 0,
            history_was: 0,
        }
    }

    /// About how many bytes may have been taken since the last look at the memory.
    #[inline]
    pub fn taken(&self) -> usize {
        self.copied + self.history.size.get().saturating_sub(self.history_was)
    }

    /// The memory is looked at now.
    pub fn watched(&mut self) {
        self.copied = 0;
        self.history_was = self.history.size.get();
    }

    #[inline]
    pub fn graph(&self) -> &ExecutionGraph {
        self.now.graph()
    }

    /// Whether nothing has been done.
    pub fn is_new(&self) -> bool {
        self.graph().is_empty() && self.frames.is_empty() && !self.seen
    }

    /// The newest event has the choices from `start` on.
    #[inline]
    pub fn push_frame(&mut self, revisited: Ev, start: u32) {
        let event = self.graph().newest();
        self.frames.push(Frame { event, revisited, start });
    }

    /// Adds a choice to those of an older event.
    pub fn add_choice_to(&mut self, event: Ev, choice: Choice) {
        let later = self.frames.partition_point(|frame| frame.event <= event);
        let at = self.frames.get(later).map_or(self.choices.len(), |frame| frame.start as usize);
        self.choices.insert(at, choice);
        for frame in &mut self.frames[later..] {
            frame.start += 1;
        }
    }

    /// Undoes events down to the one of the last frame.
    #[inline]
    pub fn undo_to(&mut self, event: Ev) {
        while self.graph().newest() > event {
            self.now.undo();
        }
    }

    /// Goes on with a copy; the present graph waits.
    #[inline]
    pub fn enter_copy(&mut self, copy: G) {
        self.copied += copy.graph().bytes();
        self.waiting.push(std::mem::replace(&mut self.now, copy));
    }

    /// Returns from a copy to the graph it came from.
    #[inline]
    pub fn leave_copy(&mut self) {
        let parent = self.waiting.pop().unwrap_or_else(|| unreachable!("a copy has a parent"));
        self.pool.push(std::mem::replace(&mut self.now, parent));
    }

    #[inline]
    pub fn unplace(&mut self, write: Ev) {
        let graph = self.now.graph_mut();
        if graph.event(write).co != ExecutionGraph::UNPLACED {
            graph.unplace(write);
        }
    }

    /// Gives the graph names for its locations up to one.
    #[inline]
    pub fn name_locations(&mut self, loc: Loc) {
        if loc == Loc::NONE {
            return;
        }
        let graph = self.now.graph_mut();
        for at in graph.location_count()..=loc.as_usize() {
            graph.name_location(Loc(at as u32), self.history.cells()[at].location);
        }
    }

    /// The value that a read of a location gets from a write.
    #[inline]
    pub fn value_of(&self, write: Ev, loc: Loc) -> Value {
        match self.graph().event(write).label {
            Label::Write { value, .. } => value,
            _ => self.history.cells()[loc.as_usize()].initial,
        }
    }

    /// Whether the graph has an access that overlaps a cell in part.
    #[inline]
    pub fn overlaps(&self, loc: Loc) -> bool {
        self.history.overlapping(loc).iter().any(|&other| self.is_used(other))
    }

    /// Whether the graph has an access to a cell.
    pub fn is_used(&self, loc: Loc) -> bool {
        let graph = self.graph();
        loc.as_usize() < graph.location_count()
            && (!graph.co(loc).is_empty() || graph.readers(Ev::INIT, loc).next().is_some())
    }

    /// Whether all threads that were started have finished.
    pub fn is_complete(&self) -> bool {
        let graph = self.graph();
        let has_finished = |at: usize| self.history.is_finished(tag_of(graph, at));
        (0..graph.threads().len()).all(|at| !graph.threads()[at].is_started() || has_finished(at))
    }
}
