//! Executions that end because some thread waits for what cannot come any more.

use crate::Execution;
use crate::history::Next;
use crate::schedule::tag_of;
use porf_event::{BlockReason, Label, ThreadId};
use porf_graph::Ev;

/// Why and where the threads of a blocked execution wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Each thread that cannot go on, and the event that it waits at, if any.
    pub threads: Vec<(ThreadId, Waiting, Option<Ev>)>,
}

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
        if self.for_ever { self.waiting() } else { None }
    }

    /// The reads that threads wait to see change, if the execution ends because of such threads.
    pub(crate) fn awaited(&self) -> Option<Vec<Ev>> {
        let mut awaited = Vec::new();
        for (thread, _, last) in self.waiting()?.threads {
            let Some(last) = last else { continue };
            let Some(since) = self.state(thread).waits_since(self.history.interp.program()) else {
                awaited.push(last);
                continue;
            };
            let events = &self.graph.thread(thread).events()[since as usize..];
            awaited.extend(events.iter().copied().filter(|&e| self.graph.event(e).label.is_read()));
        }
        Some(awaited)
    }

    fn waiting(&self) -> Option<Stuck> {
        let mut threads = Vec::new();
        for at in 0..self.graph.threads().len() {
            let thread = ThreadId(at as u16);
            if !self.graph.threads()[at].creator.is_some() {
                continue;
            }
            match &self.history.node(tag_of(self.graph, at)).next {
                // The process is over: whoever still waits need not.
                Next::Finished if self.state(thread).ends_process() => return None,
                Next::Finished => {}
                Next::Emit(Label::Join { .. }) => threads.push((thread, Waiting::Join, None)),
                Next::Blocked(BlockReason::Lock) => {
                    threads.push((thread, Waiting::Lock, Some(self.waits_at(thread)?)));
                }
                Next::Blocked(BlockReason::Spin) => {
                    let kind = match self.state(thread).waits_since(self.history.interp.program()) {
                        Some(_) => Waiting::Loop,
                        None => Waiting::Lock,
                    };
                    threads.push((thread, kind, Some(self.waits_at(thread)?)));
                }
                _ => return None,
            }
        }
        // Somebody must wait for something other than a thread.
        threads.iter().any(|(_, waiting, _)| *waiting != Waiting::Join).then_some(Stuck { threads })
    }

    /// The last read of a thread.
    fn waits_at(&self, thread: ThreadId) -> Option<Ev> {
        let events = self.graph.thread(thread).events();
        events.iter().copied().rfind(|&event| self.graph.event(event).label.is_read())
    }
}
