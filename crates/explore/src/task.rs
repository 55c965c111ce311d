//! Parts of the search as plain data: to hand to another worker, or to keep in a file.
//!
//! A [`Task`] is an execution graph in insertion order, with what its threads were told, and the
//! untried choices of its newest event. Tasks share nothing; whoever loads one and searches it to the
//! end has seen exactly the executions that the search it came from will not see any more.

use crate::engine::{Engine, Frame, Kind};
use crate::error::Error;
use crate::history::{Next, Tag};
use crate::schedule::tag_of;
use crate::visit::Visitor;
use porf_consistency::{HappensBefore, MemoryModel};
use porf_event::{Label, ThreadId, Value};
use porf_graph::{Ev, ExecutionGraph};
use serde::{Deserialize, Serialize};

/// A graph and the untried choices of its newest event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    events: Vec<TaskEvent>,
    /// What the choices are of; `None`: the graph is to be extended.
    kind: Option<TaskKind>,
    choices: Vec<u32>,
}

/// Positions are those in insertion order; 0 is the initial write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TaskEvent {
    thread: u16,
    /// What the thread was told.
    answer: Value,
    rf: Option<u32>,
    revisited: Option<u32>,
    co: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum TaskKind {
    Read,
    Choice,
    Write,
    Revisit { read: u32 },
}

impl Task {
    pub(crate) fn of(graph: &ExecutionGraph, frame: Option<&Frame>, choices: Vec<u32>) -> Task {
        let last = frame.map_or(graph.newest(), |frame| frame.event);
        let open = match frame.map(|frame| frame.kind) {
            Some(Kind::Revisit { read }) => read,
            Some(Kind::Read) => last,
            _ => Ev::NONE,
        };
        let unplaced = frame.is_some_and(|frame| matches!(frame.kind, Kind::Write | Kind::Revisit { .. }));
        let position = |ev: Ev| ev.is_some().then_some(ev.0);
        let mut events = Vec::new();
        for ev in graph.all().take_while(|&ev| ev <= last) {
            let event = graph.event(ev);
            let answer = match event.label {
                Label::Read { value, .. } => value,
                Label::Choice { chosen, .. } => Value::from(chosen),
                Label::Create { child } => Value::from(child.0),
                _ => 0,
            };
            let placed =
                event.label.is_write() && event.co != ExecutionGraph::UNPLACED && !(unplaced && ev == last);
            // Later writes of the graph are not part of the task: places count those that are.
            let co = placed.then(|| {
                let before = &graph.co(event.loc)[..event.co as usize - 1];
                let skipped = |&&w: &&Ev| w > last || (unplaced && w == last);
                event.co - before.iter().filter(skipped).count() as u32
            });
            let rf = if ev == open { None } else { position(event.rf) };
            events.push(TaskEvent {
                thread: event.id.thread.0,
                answer,
                rf,
                revisited: position(event.revisited),
                co,
            });
        }
        let kind = frame.map(|frame| match frame.kind {
            Kind::Read => TaskKind::Read,
            Kind::Choice => TaskKind::Choice,
            Kind::Write => TaskKind::Write,
            Kind::Revisit { read } => TaskKind::Revisit { read: read.0 },
        });
        Task { events, kind, choices }
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// All that is left to do, taken away from this search; call it between executions.
    pub fn take_tasks(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        // Broken off before the end of an execution.
        if !self.seen {
            tasks.push(Task::of(&self.graph, None, Vec::new()));
        }
        while let Some(task) = self.split(usize::MAX) {
            tasks.push(task);
        }
        tasks
    }

    /// Takes half of the untried choices of the oldest event that has any.
    pub fn split_half(&mut self) -> Option<Task> {
        let (_, count) = self.oldest()?;
        self.split(count.div_ceil(2))
    }

    /// The oldest frame with untried choices, and how many.
    fn oldest(&self) -> Option<(usize, usize)> {
        (0..self.frames.len()).find_map(|at| {
            let count = self.choices_of(at).len();
            (count > 0).then_some((at, count))
        })
    }

    fn choices_of(&self, frame: usize) -> std::ops::Range<usize> {
        let end = self.frames.get(frame + 1).map_or(self.choices.len(), |next| next.start as usize);
        self.frames[frame].start as usize..end
    }

    fn split(&mut self, most: usize) -> Option<Task> {
        let (at, count) = self.oldest()?;
        let take = count.min(most);
        let start = self.frames[at].start as usize;
        let choices: Vec<u32> = self.choices.drain(start..start + take).collect();
        for later in &mut self.frames[at + 1..] {
            later.start -= take as u32;
        }
        let copies =
            self.frames[..=at].iter().filter(|frame| matches!(frame.kind, Kind::Revisit { .. })).count();
        let graph = self.waiting.get(copies).unwrap_or(&self.graph);
        Some(Task::of(graph, Some(&self.frames[at]), choices))
    }

    /// Makes a task what this search has to do, which must have nothing to do.
    pub fn load(&mut self, task: &Task) -> Result<(), Error> {
        self.reset_graph();
        self.frames.clear();
        self.choices.clear();
        debug_assert!(self.waiting.is_empty());
        for event in &task.events {
            self.replay(event)?;
        }
        self.link(task);
        self.seen = task.kind.is_some();
        if let Some(kind) = task.kind {
            let kind = match kind {
                TaskKind::Read => Kind::Read,
                TaskKind::Choice => Kind::Choice,
                TaskKind::Write => Kind::Write,
                TaskKind::Revisit { read } => Kind::Revisit { read: Ev(read) },
            };
            if let Kind::Revisit { .. } = kind {
                // A copy returns to the graph that it came from: here to nothing.
                self.waiting.push(ExecutionGraph::new(M::Hb::CLOCKS));
            }
            self.frames.push(Frame { kind, event: self.graph.newest(), start: 0 });
            self.choices.extend_from_slice(&task.choices);
        }
        Ok(())
    }

    /// Loads a graph and shows once more what is wrong in it.
    pub fn show_again(&mut self, task: &Task, visitor: &mut impl Visitor) -> Result<(), Error> {
        self.load(task)?;
        let newest = self.graph.newest();
        let read = self.graph.event(newest).revisited;
        if read.is_some() && self.graph.rf(read) == newest {
            self.frames.push(Frame { kind: Kind::Revisit { read }, event: newest, start: 0 });
        }
        self.look_around(visitor);
        Ok(())
    }

    /// Adds the next event of a thread as it was.
    fn replay(&mut self, event: &TaskEvent) -> Result<(), Error> {
        let thread = ThreadId(event.thread);
        let tag = tag_of(&self.graph, thread.as_usize());
        let node = self.history.node(tag);
        let (Next::Emit(label), loc) = (&node.next, node.loc) else {
            return Err(Error::Unsupported("the task belongs to another program".into()));
        };
        let label = *label;
        match label {
            Label::Create { .. } => {
                self.add_create(thread, tag)?;
            }
            // A read that has no source yet keeps its label.
            Label::Read { .. } if event.rf.is_none() => {
                self.add_without_clocks(thread, label, loc, Tag(0));
            }
            _ => {
                let after = self.history.child(tag, event.answer)?;
                let settled = self.history.node(after).label;
                self.add_without_clocks(thread, settled, loc, after);
            }
        }
        Ok(())
    }

    /// Restores sources, places and clocks.
    fn link(&mut self, task: &Task) {
        let mut writes: Vec<(u32, Ev)> = Vec::new();
        for (at, event) in task.events.iter().enumerate() {
            let ev = Ev(at as u32 + 1);
            if let Some(source) = event.rf {
                let (label, tag) = (self.graph.event(ev).label, self.graph.event(ev).tag);
                self.graph.set_rf(ev, Ev(source), label, tag);
            }
            if let Some(read) = event.revisited {
                self.graph.set_revisited(ev, Ev(read));
            }
            if let Some(place) = event.co {
                writes.push((place, ev));
            }
        }
        writes.sort_unstable();
        for (place, ev) in writes {
            self.graph.place(ev, place);
        }
        // Sources may be newer than their reads: clocks in an order that respects porf.
        let mut done = vec![false; self.graph.len()];
        done[0] = true;
        for ev in self.graph.all() {
            self.settle_clocks(ev, &mut done);
        }
    }

    fn settle_clocks(&mut self, ev: Ev, done: &mut [bool]) {
        let mut work = vec![ev];
        while let Some(&top) = work.last() {
            if done[top.as_usize()] {
                work.pop();
                continue;
            }
            let event = *self.graph.event(top);
            let mut before = vec![self.graph.po_pred(top)];
            if event.rf.is_some() {
                before.push(event.rf);
            }
            if let Label::Join { child } = event.label {
                before.extend(self.graph.thread_end(child));
            }
            before.retain(|ev| !done[ev.as_usize()]);
            if before.is_empty() {
                self.graph.update_porf(top);
                if !event.label.is_read() || event.rf.is_some() {
                    M::Hb::update(&mut self.graph, top);
                }
                done[top.as_usize()] = true;
                work.pop();
            } else {
                work.extend(before);
            }
        }
    }
}
