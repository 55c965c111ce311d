//! Drives a search whose parts are done elsewhere, by workers that may die at any moment.
//!
//! Whoever drives owns the search: all that is left is in the queue, or noted as given to a worker. A report
//! counts if its assignment is still open; the assignment is closed then, so that it counts once. A part whose
//! worker is lost goes back to the queue as it was. What a checkpoint says is therefore true at any time.
//!
//! The queue holds about as many bundles of tasks as there are workers, however large the search is. When
//! a worker has nothing to do, a bundle is split: every second task goes, and half of the choices of the
//! oldest one. When there is none to split, the worker that is busy for the longest gives back what it has.

use super::checkpoint::Saved;
use super::findings::Findings;
use super::job::{Assignment, Job, Left, Outcome, Report, Stopped};
use super::{Request, drive};
use crate::Error;
use porf_explore::{Equivalence, Error as ExploreError, Rest, Statistics, Task, Visit};
use porf_ir::Program;
use porf_verdict::Limit;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The way to the workers.
pub trait Remote: Sync {
    /// The job that all further assignments belong to.
    fn begin(&self, job: &Job) -> Result<(), Error>;
    /// Gives a worker that has nothing to do an assignment.
    fn assign(&self, assignment: &Assignment) -> Result<(), Error>;
    /// Wants the rest of an assignment back.
    fn hurry(&self, id: u64) -> Result<(), Error>;
    /// Waits for a while for something to happen.
    fn next(&self, wait: Duration) -> Event;
    /// How many workers there are.
    fn slots(&self) -> usize;
    /// There will be no more assignments: workers can stop at once.
    fn end(&self);
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// A worker is done with an assignment.
    Report(Box<Report>),
    /// A worker is gone, with its assignment.
    Lost(u64),
    /// A message that makes no sense.
    Broken(String),
    /// Nothing, or something that [`Remote::slots`] tells.
    Nothing,
    /// There is no way to the workers any more.
    Closed,
}

/// How long a worker searches before it gives back what is left; longer if there are many.
const SLICE: Duration = Duration::from_secs(2);
const SLICE_PER_WORKER: Duration = Duration::from_millis(5);
/// No worker is asked for its rest sooner.
const LEAST: Duration = Duration::from_millis(30);
/// Between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);
/// A part that so many workers died of is not tried again.
const MOST_LOSSES: u32 = 10;

/// Tells assignments apart, also those of different searches.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Tasks that stay together, the oldest choices first.
#[derive(Default)]
struct Bundle {
    tasks: Vec<Task>,
    /// How many workers were lost with it.
    losses: u32,
}

struct Open {
    bundle: Bundle,
    since: Instant,
    hurried: bool,
    /// Executions that it may look at.
    quota: u64,
}

struct Gathering<'g, 'a> {
    program: &'g Program,
    request: &'g Request<'a>,
    equivalence: Equivalence,
    findings: &'g mut Findings<'a>,
    remote: &'g dyn Remote,
    total: Statistics,
    /// What is the same for all parts; its tasks are in the queue.
    rest: Rest,
    queue: VecDeque<Bundle>,
    open: BTreeMap<u64, Open>,
    /// Assignments whose reports do not count any more.
    void: HashSet<u64>,
}

/// Searches all tasks of `rest`. Gives all counts, and what is left to do: nothing but the search for load
/// buffering, if it was not ended before.
pub(super) fn gather<'a>(
    program: &Program,
    request: &Request<'a>,
    equivalence: Equivalence,
    findings: &mut Findings<'a>,
    (total, mut rest): (Statistics, Rest),
    remote: &dyn Remote,
) -> Result<(Statistics, Rest), Error> {
    remote.begin(&Job::new(program, request, equivalence, findings.question()))?;
    let tasks = std::mem::take(&mut rest.tasks);
    let mut gathering = Gathering {
        program,
        request,
        equivalence,
        findings,
        remote,
        total,
        rest,
        queue: VecDeque::new(),
        open: BTreeMap::new(),
        void: HashSet::new(),
    };
    if !tasks.is_empty() {
        gathering.queue.push_back(Bundle { tasks, losses: 0 });
    }
    gathering.run()?;
    remote.end();
    let rest = gathering.left();
    Ok((gathering.total, rest))
}

impl Gathering<'_, '_> {
    fn run(&mut self) -> Result<(), Error> {
        let mut saved = Instant::now();
        while !self.is_over() {
            self.feed()?;
            if self.queue.is_empty() && self.open.is_empty() {
                return Ok(());
            }
            match self.remote.next(LOOK) {
                Event::Report(report) => self.take(*report)?,
                Event::Lost(id) => self.lose(id)?,
                Event::Broken(message) => return Err(Error::Input(message)),
                Event::Closed => self.findings.stopped = Some(Limit::Interrupted),
                Event::Nothing => {}
            }
            self.findings.look_at_the_clock();
            if let Some(checkpoint) = self.request.checkpoint
                && saved.elapsed() >= checkpoint.interval
            {
                let fingerprint = Saved::fingerprint(self.program, self.request, self.equivalence);
                Saved::new(fingerprint, &self.total, &self.findings.seen, &self.left())
                    .write(checkpoint.path)?;
                saved = Instant::now();
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.findings.is_over() || (!self.request.all && !self.findings.seen.found.is_empty())
    }

    /// All that is left, also what workers have at the moment.
    fn left(&self) -> Rest {
        let given = self.open.values().map(|open| &open.bundle);
        let bundles = given.chain(&self.queue);
        let mut left = self.rest.clone();
        left.tasks = bundles.flat_map(|bundle| bundle.tasks.iter().cloned()).collect();
        left
    }

    /// Gives workers that have nothing to do something.
    fn feed(&mut self) -> Result<(), Error> {
        let slots = self.remote.slots();
        let mut free = slots.saturating_sub(self.open.len() + self.void.len());
        while free > self.queue.len() {
            let Some(given) = self.queue.iter_mut().find_map(Bundle::split) else { break };
            self.queue.push_back(given);
        }
        let slice = SLICE.max(SLICE_PER_WORKER * slots as u32);
        while free > 0 && !self.queue.is_empty() {
            let quota = self.quota(free as u64);
            if quota == Some(0) {
                return Ok(());
            }
            let Some(bundle) = self.queue.pop_front() else { break };
            let assignment = Assignment {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                milliseconds: slice.as_millis() as u64,
                executions: quota,
                part: self.rest.part(bundle.tasks.clone()),
            };
            self.remote.assign(&assignment)?;
            let quota = quota.unwrap_or(0);
            self.open.insert(assignment.id, Open { bundle, since: Instant::now(), hurried: false, quota });
            free -= 1;
        }
        // Those that are busy for the longest have the lowest numbers.
        let asked = self.open.values().filter(|open| open.hurried).count();
        for (id, open) in &mut self.open {
            if free <= asked {
                break;
            }
            if !open.hurried && open.since.elapsed() >= LEAST {
                self.remote.hurry(*id)?;
                open.hurried = true;
                free -= 1;
            }
        }
        Ok(())
    }

    /// How many executions the next assignment may look at, where they are counted.
    fn quota(&self, free: u64) -> Option<u64> {
        let limit = self.request.budget.executions?;
        let given: u64 = self.open.values().map(|open| open.quota).sum();
        let left = limit.saturating_sub(self.findings.seen.executions + given);
        Some(left.div_ceil(free))
    }

    fn take(&mut self, Report { id, outcome }: Report) -> Result<(), Error> {
        self.void.remove(&id);
        let Some(Open { bundle, .. }) = self.open.remove(&id) else { return Ok(()) };
        match outcome {
            Outcome::Left(left) => self.add(bundle, *left),
            Outcome::Anew(rest) => {
                self.void.extend(std::mem::take(&mut self.open).into_keys());
                for id in &self.void {
                    self.remote.hurry(*id)?;
                }
                let _ = self.findings.visit(Visit::Anew);
                self.total = Statistics::default();
                self.rest = rest;
                let tasks = std::mem::take(&mut self.rest.tasks);
                self.queue = VecDeque::from([Bundle { tasks, losses: 0 }]);
                Ok(())
            }
            Outcome::Undecided => Err(Error::Explore(ExploreError::Undecided)),
            Outcome::Unsupported(message) => Err(Error::Explore(ExploreError::Unsupported(message))),
            Outcome::Limit(message) => Err(Error::Explore(ExploreError::Limit(message))),
        }
    }

    /// Counts what was done of a part, and takes back what is left.
    fn add(&mut self, bundle: Bundle, left: Left) -> Result<(), Error> {
        let Left { statistics, noted, stopped, mut rest } = left;
        if !self.rest.take_back(&rest) {
            self.queue.push_front(bundle);
            return Ok(());
        }
        self.total.add(&statistics);
        if let Some(progress) = self.request.progress {
            progress.executed(statistics.executions);
        }
        drive::note(self.program, self.request, self.equivalence, &self.rest, &noted, self.findings)?;
        match stopped {
            Some(Stopped::Memory(limit_bytes)) => {
                self.findings.stopped = Some(Limit::Memory { limit_bytes });
            }
            Some(Stopped::Other(message)) => self.findings.stopped = Some(Limit::Other(message)),
            Some(Stopped::Unsupported(message)) => self.findings.unsupported = Some(message),
            None => {}
        }
        let tasks = std::mem::take(&mut rest.tasks);
        if !tasks.is_empty() {
            self.queue.push_back(Bundle { tasks, losses: 0 });
        }
        Ok(())
    }

    fn lose(&mut self, id: u64) -> Result<(), Error> {
        self.void.remove(&id);
        let Some(Open { mut bundle, .. }) = self.open.remove(&id) else { return Ok(()) };
        bundle.losses += 1;
        if bundle.losses >= MOST_LOSSES {
            let message = format!("{MOST_LOSSES} workers died of the same part of the search");
            return Err(Error::Input(message));
        }
        self.queue.push_front(bundle);
        Ok(())
    }
}

impl Bundle {
    /// Gives away about half of it.
    fn split(&mut self) -> Option<Bundle> {
        let half = self.tasks.first_mut().and_then(Task::halve);
        let mut given: Vec<Task> = half.into_iter().collect();
        let mut kept = Vec::new();
        for (at, task) in std::mem::take(&mut self.tasks).into_iter().enumerate() {
            if at % 2 == 0 { kept.push(task) } else { given.push(task) }
        }
        self.tasks = kept;
        (!given.is_empty()).then_some(Bundle { tasks: given, losses: self.losses })
    }
}
