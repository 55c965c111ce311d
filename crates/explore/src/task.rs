//! Parts of the search as plain data: to hand to another worker, or to keep in a file.
//!
//! A [`Task`] is an execution graph in insertion order, with what its threads were told, and the
//! untried choices of its newest event. Tasks share nothing; whoever loads one and searches it to the
//! end has seen exactly the executions that the search it came from will not see any more.

use crate::engine::Engine;
use crate::error::Error;
use crate::history::{Next, Tag, answer};
use crate::locks::Path;
use crate::schedule::tag_of;
use crate::search::{Frame, Trail};
use crate::visit::Visitor;
use porf_consistency::{Choice, MemoryModel};
use porf_event::{Label, ThreadId, Value, wide};
use porf_graph::{Ev, ExecutionGraph};
use serde::{Deserialize, Serialize};

/// A graph and the untried choices of its newest event; without choices, the graph is to be extended.
///
/// The default is the whole search: the empty graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    events: Vec<TaskEvent>,
    choices: Vec<TaskChoice>,
    /// The read that the newest event, a write, revisits in this graph.
    revisited: Option<u32>,
    /// The values of 16 bytes that answers stand for, by number, low and high half: a read may come before its write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wide: Vec<(Value, u64, u64)>,
    /// Where threads take turns at locks: all that is left of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Path>,
}

/// Positions are those in insertion order; 0 is the initial write. In files a row of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
struct TaskEvent {
    thread: u16,
    /// What the thread was told.
    answer: Value,
    rf: Option<u32>,
    revisited: Option<u32>,
    co: Option<u32>,
}

type Row = (u16, Value, Option<u32>, Option<u32>, Option<u32>);

impl From<Row> for TaskEvent {
    fn from((thread, answer, rf, revisited, co): Row) -> TaskEvent {
        TaskEvent { thread, answer, rf, revisited, co }
    }
}

impl From<TaskEvent> for Row {
    fn from(event: TaskEvent) -> Row {
        (event.thread, event.answer, event.rf, event.revisited, event.co)
    }
}

/// A [`Choice`], with events by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TaskChoice {
    Source(u32),
    Place(u32),
    Value(u32),
    Revisit(u32),
    Thread(u16),
}

impl From<Choice> for TaskChoice {
    fn from(choice: Choice) -> TaskChoice {
        match choice {
            Choice::Source(source) => TaskChoice::Source(source.0),
            Choice::Place(place) => TaskChoice::Place(place),
            Choice::Value(value) => TaskChoice::Value(value),
            Choice::Revisit(read) => TaskChoice::Revisit(read.0),
            Choice::Thread(thread) => TaskChoice::Thread(thread.0),
        }
    }
}

impl From<TaskChoice> for Choice {
    fn from(choice: TaskChoice) -> Choice {
        match choice {
            TaskChoice::Source(source) => Choice::Source(Ev(source)),
            TaskChoice::Place(place) => Choice::Place(place),
            TaskChoice::Value(value) => Choice::Value(value),
            TaskChoice::Revisit(read) => Choice::Revisit(Ev(read)),
            TaskChoice::Thread(thread) => Choice::Thread(ThreadId(thread)),
        }
    }
}

impl Task {
    /// How many events its graph has.
    pub(crate) fn size(&self) -> usize {
        self.events.len()
    }

    /// How many untried choices it has.
    pub(crate) fn choices(&self) -> usize {
        self.choices.len()
    }

    /// The part that takes one of its choices.
    pub(crate) fn only(&self, choice: usize) -> Task {
        Task { choices: vec![self.choices[choice]], ..self.clone() }
    }

    /// About how many events its graph has once its first choice is made: a revisit throws away what is newer than
    /// the read.
    pub(crate) fn size_after(&self) -> usize {
        match self.choices.first() {
            Some(TaskChoice::Revisit(read)) => *read as usize,
            _ => self.size(),
        }
    }

    /// Gives away half of its untried choices, if it has several.
    pub fn halve(&mut self) -> Option<Task> {
        if self.choices.len() < 2 {
            return None;
        }
        let choices = self.choices.split_off(self.choices.len() / 2);
        Some(Task { choices, ..self.clone() })
    }

    /// A graph that is to be extended.
    pub(crate) fn of(graph: &ExecutionGraph) -> Task {
        Task::with_choices(graph, graph.newest(), Ev::NONE, &[])
    }

    /// A graph that is to be extended, from its events in order: thread, answer, and the position of the source of a
    /// read, or the place of a write.
    pub(crate) fn in_order(events: Vec<(ThreadId, Value, Option<u32>, Option<u32>)>) -> Task {
        let event = |(thread, answer, rf, co): (ThreadId, Value, Option<u32>, Option<u32>)| TaskEvent {
            thread: thread.0,
            answer,
            rf,
            revisited: None,
            co,
        };
        Task { events: events.into_iter().map(event).collect(), ..Task::default() }
    }

    /// A graph up to `last`, which has some choices; in a copy, `revisited` is the read that takes its value from it.
    fn with_choices(graph: &ExecutionGraph, last: Ev, revisited: Ev, choices: &[Choice]) -> Task {
        // Neither has a read with untried choices a source, nor such a write a place.
        let (open, unplaced) = match choices.first() {
            Some(Choice::Source(_)) => (last, false),
            Some(Choice::Place(_) | Choice::Revisit(_)) => (revisited, true),
            Some(Choice::Value(_) | Choice::Thread(_)) | None => (Ev::NONE, false),
        };
        let position = |ev: Ev| ev.is_some().then_some(ev.0);
        let (mut events, mut wide) = (Vec::new(), Vec::new());
        for ev in graph.all().take_while(|&ev| ev <= last) {
            let event = graph.event(ev);
            let placed =
                event.label.is_write() && event.co != ExecutionGraph::UNPLACED && !(unplaced && ev == last);
            // Later writes of the graph are not part of the task: places count those that are.
            let co = placed.then(|| {
                let before = &graph.co(event.loc)[..event.co as usize - 1];
                let skipped = |&&w: &&Ev| w > last || (unplaced && w == last);
                event.co - before.iter().filter(skipped).count() as u32
            });
            let rf = if ev == open { None } else { position(event.rf) };
            let answer = answer(&event.label);
            if event.label.access().is_some_and(|access| access.size > 8)
                && let Some(value) = wide::value(answer)
            {
                wide.push((answer, value as u64, (value >> 64) as u64));
            }
            events.push(TaskEvent {
                thread: event.id.thread.0,
                answer,
                rf,
                revisited: position(event.revisited),
                co,
            });
        }
        let choices = choices.iter().map(|&choice| choice.into()).collect();
        Task { events, choices, revisited: position(revisited), wide, path: None }
    }

    /// A graph up to `last`, with what is left of the search in which threads take turns at locks.
    pub(crate) fn along(graph: &ExecutionGraph, last: Ev, path: Path) -> Task {
        Task { path: Some(path), ..Task::with_choices(graph, last, Ev::NONE, &[]) }
    }
}

impl<M: MemoryModel> Engine<'_, M> {
    /// All that is left to do, taken away from this search; call it between executions.
    pub fn take_tasks(&mut self) -> Vec<Task> {
        if self.locks.is_some() {
            return self.take_path().into_iter().collect();
        }
        let mut tasks = Vec::new();
        // Broken off before the end of an execution.
        if !self.trail.seen {
            tasks.push(Task::of(&self.trail.now));
        }
        while let Some(task) = self.split(usize::MAX) {
            tasks.push(task);
        }
        tasks
    }

    /// Takes half of the untried choices of the oldest event that has any.
    pub fn split_half(&mut self) -> Option<Task> {
        // A turn at a lock may get further choices later.
        if self.locks.is_some() {
            return None;
        }
        let (_, count) = self.oldest()?;
        self.split(count.div_ceil(2))
    }

    /// The oldest frame with untried choices, and how many.
    fn oldest(&self) -> Option<(usize, usize)> {
        (0..self.trail.frames.len()).find_map(|at| {
            let count = self.choices_of(at).len();
            (count > 0).then_some((at, count))
        })
    }

    fn choices_of(&self, frame: usize) -> std::ops::Range<usize> {
        let next = self.trail.frames.get(frame + 1);
        let end = next.map_or(self.trail.choices.len(), |next| next.start as usize);
        self.trail.frames[frame].start as usize..end
    }

    fn split(&mut self, most: usize) -> Option<Task> {
        let (at, count) = self.oldest()?;
        let take = count.min(most);
        let Trail { now, waiting, frames, choices, .. } = &mut self.trail;
        let Frame { event, revisited, start } = frames[at];
        let taken: Vec<Choice> = choices.drain(start as usize..start as usize + take).collect();
        for later in &mut frames[at + 1..] {
            later.start -= take as u32;
        }
        let copies = frames[..=at].iter().filter(|frame| frame.is_copy()).count();
        let graph = waiting.get(copies).unwrap_or(now);
        Some(Task::with_choices(graph, event, revisited, &taken))
    }

    /// Makes a task what this search has to do, which must have nothing to do.
    pub fn load(&mut self, task: &Task) -> Result<(), Error> {
        debug_assert!(self.trail.waiting.is_empty());
        self.forget();
        for &(number, low, high) in &task.wide {
            if !wide::learn(number, u128::from(low) | u128::from(high) << 64) {
                return Err(Error::Unsupported("two values of 16 bytes that have one number".into()));
            }
        }
        for event in &task.events {
            self.replay(event)?;
        }
        self.link(task);
        if let Some(path) = &task.path {
            return self.follow(path);
        }
        self.settle();
        if !task.choices.is_empty() {
            self.trail.seen = true;
            let revisited = task.revisited.map_or(Ev::NONE, Ev);
            if revisited.is_some() {
                // A copy returns to the graph that it came from: here to nothing.
                let parent = self.empty_graph();
                self.trail.waiting.push(parent);
            }
            self.trail.push_frame(revisited, 0);
            self.trail.choices.extend(task.choices.iter().map(|&choice| Choice::from(choice)));
        }
        Ok(())
    }

    /// Loads a graph and shows once more what is wrong in it.
    pub fn show_again(&mut self, task: &Task, visitor: &mut impl Visitor) -> Result<(), Error> {
        // Nothing follows: nobody takes turns.
        self.locks = None;
        self.load(task)?;
        let graph = &self.trail.now;
        let newest = graph.newest();
        let read = graph.event(newest).revisited;
        if read.is_some() && graph.rf(read) == newest {
            self.trail.push_frame(read, 0);
        }
        self.look_around(visitor)
    }

    /// Adds the next event of a thread as it was.
    fn replay(&mut self, event: &TaskEvent) -> Result<(), Error> {
        let thread = ThreadId(event.thread);
        let tag = tag_of(&self.trail.now, thread.as_usize());
        let node = self.trail.history.node(tag);
        let (Next::Emit(label), loc) = (&node.next, node.loc) else {
            return Err(Error::Unsupported("the task belongs to another program".into()));
        };
        let label = *label;
        match label {
            Label::Create { .. } => {
                self.create(thread, tag)?;
            }
            // A read that has no source yet keeps its label.
            Label::Read { .. } if event.rf.is_none() => {
                self.add_without_clocks(thread, label, loc, Tag(0));
            }
            _ => {
                let after = self.trail.history.child(tag, event.answer)?;
                let settled = self.trail.history.node(after).label;
                self.add_without_clocks(thread, settled, loc, after);
            }
        }
        Ok(())
    }

    /// Restores sources and places.
    fn link(&mut self, task: &Task) {
        let mut writes: Vec<(u32, Ev)> = Vec::new();
        for (at, event) in task.events.iter().enumerate() {
            let ev = Ev(at as u32 + 1);
            if let Some(source) = event.rf {
                let (label, tag) = (self.trail.now.event(ev).label, self.trail.now.event(ev).tag);
                self.trail.now.set_rf(ev, Ev(source), label, tag);
            }
            if let Some(read) = event.revisited {
                self.trail.now.set_revisited(ev, Ev(read));
            }
            if let Some(place) = event.co {
                writes.push((place, ev));
            }
        }
        writes.sort_unstable();
        for (place, ev) in writes {
            self.trail.now.place(ev, place);
        }
    }

    /// Computes all clocks. Sources may be newer than their reads: in an order that respects porf.
    fn settle(&mut self) {
        let mut done = vec![false; self.trail.now.len()];
        done[0] = true;
        for ev in self.trail.now.all() {
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
            let event = *self.trail.now.event(top);
            let mut before = vec![self.trail.now.po_pred(top)];
            if event.rf.is_some() {
                before.push(event.rf);
            }
            if let Label::Join { child } = event.label {
                before.extend(self.trail.now.thread_end(child));
            }
            if self.symmetry.is_some() {
                before.extend(Some(self.twins().needed(top)).filter(|ev| ev.is_some()));
            }
            before.retain(|ev| !done[ev.as_usize()]);
            if before.is_empty() {
                self.trail.now.update_porf(top);
                if !event.label.is_read() || event.rf.is_some() {
                    self.update_clocks(top);
                }
                done[top.as_usize()] = true;
                work.pop();
            } else {
                work.extend(before);
            }
        }
    }
}
