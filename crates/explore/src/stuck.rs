//! Executions that end because some thread waits for what cannot come any more.

use crate::Execution;
use crate::history::{Next, Ready};
use crate::schedule::tag_of;
use porf_event::{BlockReason, Label, LockKind, RmwKind, ThreadId};
use porf_graph::{Ev, Loc};

/// Why and where the threads of a blocked execution wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Each thread that cannot go on, and the event that it waits at, if any.
    pub threads: Vec<(ThreadId, Waiting, Option<Ev>)>,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// For a lock, a semaphore or a signal.
    Lock,
    /// In a loop.
    Loop,
    /// For a thread to end.
    Join,
}

impl Execution<'_, '_> {
    /// Whether the threads of this blocked execution wait for ever: what each of them read last is
    /// the newest there is, and nobody is left to write anything newer. An execution that was cut off
    /// (an assumption, a bound) says nothing.
    pub fn stuck(&self) -> Option<Stuck> {
        if self.for_ever && !self.is_over() { self.waiting() } else { None }
    }

    /// Whether the process is over, while threads are left that would wait for ever. They need not any more.
    pub fn leaves_threads(&self) -> bool {
        self.for_ever && self.is_over()
    }

    /// Whether the first thread has ended, and with it the process.
    fn is_over(&self) -> bool {
        (0..self.graph.threads().len()).any(|at| {
            self.graph.threads()[at].is_started()
                && self.history.is_finished(tag_of(self.graph, at))
                && self.state(ThreadId(at as u16)).ends_process()
        })
    }

    /// The writes that waiting threads would read again and again, if the execution ends because of such
    /// threads: they wait for ever if each of these can be the last one of its location. Where co is known, a
    /// write that is not the last one is enough to know that they do not.
    pub(crate) fn awaited(&self) -> Option<Vec<(Loc, Ev)>> {
        let mut awaited = Vec::new();
        let mut any = false;
        for at in 0..self.graph.threads().len() {
            let Some((_, last)) = self.waits(at)? else { continue };
            any = true;
            let Some(last) = last else { continue };
            let tag = tag_of(self.graph, at);
            // Nobody is left who could come to the barrier.
            if tag.ready() == Ready::Barrier {
                continue;
            }
            let Some(since) = self.history.waits_since(tag) else {
                awaited.push(self.read_again(last)?);
                continue;
            };
            for &event in &self.graph.threads()[at].events()[since as usize..] {
                match self.graph.event(event).label {
                    // It gave the lock back: another one may have it, or nobody.
                    Label::Read { rmw: RmwKind::Lock(LockKind::Acquire), .. }
                        if self.graph.write_of(event).is_some() => {}
                    // The same with a flag.
                    Label::Read { value: 0, .. }
                        if self.graph.write_of(event).is_some()
                            && self.history.is_flag(self.graph.event(event).loc) => {}
                    // What it reads of its own variables it has stored there itself.
                    Label::Read { .. }
                        if self.history.owns(ThreadId(at as u16), self.graph.event(event).loc) => {}
                    Label::Read { .. } if self.history.counting(self.graph.event(event).loc).is_some() => {
                        self.finds_the_same(event)?;
                    }
                    Label::Read { .. } => awaited.push(self.read_again(event)?),
                    // Next time it may go another way.
                    Label::Choice { .. } => return None,
                    Label::Init
                    | Label::Write { .. }
                    | Label::Fence { .. }
                    | Label::Create { .. }
                    | Label::Join { .. }
                    | Label::End
                    | Label::Alloc { .. }
                    | Label::Free { .. }
                    | Label::Block { .. } => {}
                }
            }
        }
        any.then_some(awaited)
    }

    /// The write that a read of a waiting thread would read next time, if nothing else came; `None` if it is known
    /// not to be the last one.
    ///
    /// A read-modify-write of an iteration without effect writes what was there. So do those of other waiting
    /// threads, which may come after it: all of them see the same value.
    fn read_again(&self, read: Ev) -> Option<(Loc, Ev)> {
        let graph = self.graph;
        let event = graph.event(read);
        let value = event.label.value();
        let keeps = |&write: &Ev| graph.event(write).label.value() == value;
        let mut last = graph.rf(read);
        let mut next = graph.write_of(read).filter(keeps);
        while let Some(write) = next {
            last = write;
            next = graph.readers(write, event.loc).find_map(|read| graph.write_of(read)).filter(keeps);
        }
        (!self.sees_co || graph.co_max(event.loc) == last).then_some((event.loc, last))
    }

    /// Of a read of a counter by a waiting thread: `None` unless it would find next time what it found, but for what
    /// other threads would take back: see [`counters`](crate::reduce).
    fn finds_the_same(&self, read: Ev) -> Option<()> {
        let graph = self.graph;
        let event = graph.event(read);
        let counting = self.history.counting(event.loc)?;
        let mut added: Vec<(ThreadId, u64)> = Vec::new();
        let (mut last, mut value) = (graph.rf(read), event.label.value()?);
        while let Some(write) = graph.readers(last, event.loc).find_map(|read| graph.write_of(read)) {
            let new = graph.event(write).label.value()?;
            let thread = graph.event(write).id.thread;
            match added.iter_mut().find(|(other, _)| *other == thread) {
                Some((_, sum)) => *sum = sum.wrapping_add(new.wrapping_sub(value)),
                None => added.push((thread, new.wrapping_sub(value))),
            }
            (last, value) = (write, new);
        }
        let own = event.id.thread;
        added.iter().all(|(thread, sum)| *thread == own || counting.is_step(*sum)).then_some(())
    }

    fn waiting(&self) -> Option<Stuck> {
        let mut threads = Vec::new();
        for at in 0..self.graph.threads().len() {
            if let Some((waiting, last)) = self.waits(at)? {
                threads.push((ThreadId(at as u16), waiting, last));
            }
        }
        (!threads.is_empty()).then_some(Stuck { threads })
    }

    /// What a thread waits for, and its last read; `Some(None)` if it has ended. `None` if the execution is not
    /// one of those that end because threads wait.
    #[expect(clippy::option_option, reason = "read with `?` by who goes through all threads")]
    fn waits(&self, at: usize) -> Option<Option<(Waiting, Option<Ev>)>> {
        let tag = tag_of(self.graph, at);
        if !self.graph.threads()[at].is_started() {
            return Some(None);
        }
        let waiting = match &self.history.node(tag).next {
            Next::Finished => return Some(None),
            Next::Emit(_) if tag.ready() == Ready::Barrier => Waiting::Lock,
            Next::Emit(Label::Join { .. }) => return Some(Some((Waiting::Join, None))),
            Next::Blocked(BlockReason::Lock) => Waiting::Lock,
            Next::Blocked(BlockReason::Spin) if self.history.waits_since(tag).is_some() => Waiting::Loop,
            Next::Blocked(BlockReason::Spin) => Waiting::Lock,
            _ => return None,
        };
        Some(Some((waiting, Some(self.waits_at(ThreadId(at as u16))?))))
    }

    /// The last read of a thread.
    fn waits_at(&self, thread: ThreadId) -> Option<Ev> {
        let events = self.graph.thread(thread).events();
        events.iter().copied().rfind(|&event| self.graph.event(event).label.is_read())
    }
}
