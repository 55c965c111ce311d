//! Several workers on one search.
//!
//! Each worker has an engine of its own. One that has nothing to do says so; another one gives away
//! half of the untried choices of its oldest event, where the largest part of its search is left.
//! Nothing else is shared but the numbers of created threads, so that counts do not depend on the
//! number of workers.

use crate::engine::Engine;
use crate::error::Error;
use crate::history::Created;
use crate::rest::merged;
use crate::search::Policy;
use crate::seed::Sown;
use crate::task::Task;
use crate::visit::{Visit, Visitor};
use crate::{Options, Statistics};
use porf_consistency::MemoryModel;
use porf_ir::Program;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What all workers share.
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// How many workers wait for a task.
    hungry: AtomicUsize,
    stop: AtomicBool,
    /// A visitor has seen enough.
    broken: AtomicBool,
    /// A worker has come across load buffering, and does not know where all of it begins.
    buffering: AtomicBool,
}

/// What came of it.
pub(crate) struct Outcome<'p> {
    pub statistics: Statistics,
    /// What is left if a visitor broke off.
    pub tasks: Vec<Task>,
    pub broken: bool,
    /// There may be executions with cycles in po | rf, which this search does not build.
    pub buffering: bool,
    /// Where these begin; `None` if that is not known of all.
    pub sown: Option<Vec<Sown<'p>>>,
}

impl Outcome<'_> {
    /// Where executions with cycles begin, as plain data.
    pub fn sources(&self) -> Option<Vec<(u64, Task)>> {
        let of_all = self.sown.as_ref()?.iter().flat_map(|sown| sown.sources.iter().cloned());
        merged(Vec::new(), of_all.collect())
    }
}

struct Queue {
    tasks: Vec<Task>,
    idle: usize,
    error: Option<Error>,
}

/// Searches all of `tasks` (the whole program if there are none).
pub(crate) fn run<'p, M: MemoryModel + Default, V: Visitor + Send>(
    program: &'p Program,
    options: &Options,
    tasks: Vec<Task>,
    created: &Created,
    visitors: &mut [V],
) -> Result<Outcome<'p>, Error> {
    let fresh = tasks.is_empty();
    let jobs = visitors.len();
    let shared = Shared {
        queue: Mutex::new(Queue { tasks, idle: 0, error: None }),
        changed: Condvar::new(),
        hungry: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        broken: AtomicBool::new(false),
        buffering: AtomicBool::new(false),
    };
    let mut total = Statistics::default();
    let mut rest = Vec::new();
    let mut sown = Vec::new();
    std::thread::scope(|scope| {
        let shared = &shared;
        let workers: Vec<_> = visitors
            .iter_mut()
            .enumerate()
            .map(|(number, visitor)| {
                let first = fresh && number == 0;
                scope.spawn(move || {
                    let _guard = OnPanic(shared);
                    let result = work::<M, V>(program, options, created, visitor, shared, first, jobs);
                    result.unwrap_or_else(|error| {
                        shared.give_up(Some(error));
                        (Statistics::default(), Vec::new(), None)
                    })
                })
            })
            .collect();
        for worker in workers {
            let (statistics, tasks, seeds) =
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            total.add(&statistics);
            rest.extend(tasks);
            sown.extend(seeds);
        }
    });
    let queue = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    rest.extend(queue.tasks);
    match queue.error {
        Some(error) => Err(error),
        None => Ok(Outcome {
            statistics: total,
            tasks: rest,
            broken: shared.broken.into_inner(),
            buffering: shared.buffering.load(Ordering::Relaxed) || !sown.is_empty(),
            sown: (!shared.buffering.into_inner()).then_some(sown),
        }),
    }
}

/// What one worker did, what it leaves, and the seeds that it came across.
type Work<'p> = (Statistics, Vec<Task>, Option<Sown<'p>>);

fn work<'p, M: MemoryModel + Default, V: Visitor>(
    program: &'p Program,
    options: &Options,
    created: &Created,
    visitor: &mut V,
    shared: &Shared,
    first: bool,
    jobs: usize,
) -> Result<Work<'p>, Error> {
    let mut engine = Engine::<M>::new(program, options, created.clone())?;
    let mut has_work = first;
    loop {
        if !has_work {
            match shared.take(jobs) {
                Some(task) => engine.load(&task)?,
                None => return Ok(done(engine, Vec::new())),
            }
        }
        has_work = false;
        loop {
            let mut watched = |visit: Visit<'_, '_>| {
                let leaf = matches!(visit, Visit::Complete(_) | Visit::Blocked(_));
                let between = matches!(visit, Visit::Working(_));
                if visitor.visit(visit).is_break() {
                    shared.broken.store(true, Ordering::Relaxed);
                    shared.give_up(None);
                }
                let interrupted = shared.stop.load(Ordering::Relaxed)
                    || (leaf && shared.hungry.load(Ordering::Relaxed) > 0);
                if interrupted && (leaf || between) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let ended = engine.run(&mut watched)?;
            if engine.detector.found {
                shared.buffering.store(true, Ordering::Relaxed);
            }
            match ended {
                ControlFlow::Continue(()) => break,
                ControlFlow::Break(()) if shared.stop.load(Ordering::Relaxed) => {
                    let tasks = engine.take_tasks();
                    return Ok(done(engine, tasks));
                }
                ControlFlow::Break(()) => {
                    if let Some(task) = engine.split_half() {
                        shared.put(task);
                    }
                }
            }
        }
    }
}

fn done<M: MemoryModel>(engine: Engine<'_, M>, tasks: Vec<Task>) -> Work<'_> {
    let statistics = engine.trail.statistics;
    let sown = engine.sown();
    (statistics, tasks, (!sown.seeds.is_empty()).then_some(sown))
}

/// Lets the others go if a worker panics.
struct OnPanic<'s>(&'s Shared);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.give_up(None);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, task: Task) {
        let mut queue = self.lock();
        queue.tasks.push(task);
        // One task feeds one worker.
        let waiting = queue.idle.saturating_sub(queue.tasks.len());
        self.hungry.store(waiting, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Waits for a task; `None` when there will be none.
    fn take(&self, jobs: usize) -> Option<Task> {
        let mut queue = self.lock();
        queue.idle += 1;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(task) = queue.tasks.pop() {
                queue.idle -= 1;
                self.hungry.store(queue.idle.saturating_sub(queue.tasks.len()), Ordering::Relaxed);
                return Some(task);
            }
            if queue.idle == jobs {
                self.stop.store(true, Ordering::Relaxed);
                self.changed.notify_all();
                return None;
            }
            self.hungry.store(queue.idle.saturating_sub(queue.tasks.len()), Ordering::Relaxed);
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_up(&self, error: Option<Error>) {
        let mut queue = self.lock();
        if queue.error.is_none() {
            queue.error = error;
        }
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}
