//! Shows the visitor what the search came to: the graph of the interleaving that led there.

use super::{Move, NOBODY, Stop, Values, shown};
use crate::error::Error;
use crate::history::{Next, Ready, Tag};
use crate::mixed;
use crate::task::Task;
use crate::visit::{Visit, Visitor};
use porf_event::{BlockReason, Label, ThreadId, Value};
use porf_graph::Loc;

impl Values<'_> {
    /// Looks at what the newest event led to: a fault of its thread, or, if the state made it suspect, more.
    #[inline]
    pub(super) fn look(
        &mut self,
        tag: Tag,
        is_suspect: bool,
        visitor: &mut impl Visitor,
    ) -> Result<(), Stop> {
        let is_fault = tag.ready() == Ready::No && matches!(self.history().node(tag).next, Next::Fault(_));
        if is_suspect {
            self.load(None)?;
            let newest = self.engine.trail.now.newest();
            return shown(self.engine.look_at(newest, visitor));
        }
        if is_fault && self.wrong.insert(tag.0) {
            self.load(None)?;
            return shown(self.engine.look_for_fault(tag, visitor));
        }
        Ok(())
    }

    /// Nobody can move: threads that only wait read what there is, and the execution is over.
    pub(super) fn leaf(&mut self, visitor: &mut impl Visitor) -> Result<(), Stop> {
        for thread in 0..self.now.threads.len() {
            loop {
                let tag = self.now.threads[thread];
                let goes_on = tag != NOBODY
                    && match self.history().node(tag).next {
                        Next::Emit(Label::Join { .. }) => false,
                        Next::Emit(_) => true,
                        _ => false,
                    };
                if !goes_on {
                    break;
                }
                self.step(Move { thread, chosen: None }, visitor)?;
            }
        }
        let is_over = |tag: &Tag| *tag == NOBODY || self.history().is_finished(*tag);
        let is_complete = self.now.threads.iter().all(is_over);
        self.statistics.atomic_parts |= self.history().atomic_parts;
        if is_complete {
            self.statistics.executions += 1;
            self.load(None)?;
            return shown(visitor.visit(Visit::Complete(&self.engine.execution(false))));
        }
        self.statistics.blocked += 1;
        let since = self.waiting_since();
        self.load(Some(&since))?;
        let for_ever = self.engine.waits_for_ever();
        shown(visitor.visit(Visit::Blocked(&self.engine.execution(for_ever))))
    }

    /// For each thread that waits, the index of the first event that it would repeat.
    ///
    /// It would read the same again. So these events may as well come last, after all that others write.
    fn waiting_since(&self) -> Vec<u32> {
        let since = |tag: &Tag| {
            if *tag == NOBODY
                || !matches!(
                    self.history().node(*tag).next,
                    Next::Blocked(BlockReason::Spin | BlockReason::Lock)
                )
            {
                return u32::MAX;
            }
            self.history().waits_since(*tag).unwrap_or_else(|| {
                let mut at = *tag;
                while !self.history().node(at).label.is_read() {
                    let Some(parent) = self.history().node(at).parent else { return u32::MAX };
                    at = parent;
                }
                self.known(at).length - 1
            })
        };
        self.now.threads.iter().map(since).collect()
    }

    /// Makes the graph of the present interleaving. With `since`, the events of each thread from an index on come last,
    /// if the threads are told the same then.
    pub(super) fn load(&mut self, since: Option<&[u32]>) -> Result<(), Error> {
        let task = match since.and_then(|since| self.order(Some(since))) {
            Some(task) => task,
            None => self.order(None).unwrap_or_else(|| unreachable!("it was just made")),
        };
        self.engine.load(&task)
    }

    /// The trail as a graph: each read takes the last write, which is at the end of co.
    fn order(&self, since: Option<&[u32]>) -> Option<Task> {
        let history = self.history();
        let roots = &self.engine.trail.roots;
        let mut threads: Vec<Option<Tag>> = roots.iter().map(|root| Some(*root)).collect();
        threads.resize(self.now.threads.len(), None);
        let mut lengths = vec![0; threads.len()];
        let mut is_late = |thread: ThreadId| {
            let length = &mut lengths[thread.as_usize()];
            *length += 1;
            since.is_some_and(|since| *length > since[thread.as_usize()])
        };
        let (late, soon): (Vec<_>, Vec<_>) =
            self.trail.iter().copied().partition(|(thread, _)| is_late(*thread));
        let mut last: Vec<(u32, u32, Option<Value>)> = vec![(0, 0, None); history.cells().len()];
        let mut events = Vec::with_capacity(self.trail.len());
        for (at, (thread, answer)) in soon.into_iter().chain(late).enumerate() {
            let tag = threads.get(thread.as_usize()).copied().flatten()?;
            let node = history.node(tag);
            let Next::Emit(label) = node.next else { return None };
            let cell = last.get_mut(node.loc.as_usize());
            let (mut rf, mut co) = (None, None);
            match (label, cell) {
                (Label::Read { .. }, Some((source, _, value))) => {
                    let initial = || history.cells()[node.loc.as_usize()].initial;
                    if value.unwrap_or_else(initial) != answer {
                        return None;
                    }
                    rf = Some(*source);
                }
                (Label::Write { value, .. }, Some(cell)) => {
                    *cell = (at as u32 + 1, cell.1 + 1, Some(value));
                    co = Some(cell.1);
                }
                (Label::Create { .. }, _) => {
                    let child = ThreadId(answer as u16);
                    let (function, argument) = history.interp.created(history.state(tag))?;
                    threads[child.as_usize()] = history.root(child, function, argument);
                }
                _ => {}
            }
            threads[thread.as_usize()] = history.known_child(tag, answer);
            events.push((thread, answer, rf, co));
        }
        Some(Task::in_order(events))
    }

    /// If the execution has accesses that overlap the next one of a thread in part: the error that says so.
    #[cold]
    pub(super) fn find_overlap(&mut self, tag: Tag, loc: Loc) -> Result<(), Error> {
        self.load(None)?;
        let trail = &self.engine.trail;
        if !trail.overlaps(loc) {
            return Ok(());
        }
        Err(mixed::error(trail, |event| self.engine.tag_before(event), None, tag, loc))
    }
}
