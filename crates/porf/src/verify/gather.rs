//! Drives a search whose parts are done elsewhere, by workers that may die at any moment.
//!
//! The process that drives owns the search. Every part that is left is in its queue, or noted as given to a worker.
//! A report counts if its assignment is still open. The assignment is then closed, so the report counts once. A part
//! whose worker is lost goes back to the queue as it was. So a checkpoint is right at any time.
//!
//! The queue holds about as many bundles of tasks as there are workers, however large the search is. When
//! a worker has nothing to do, a bundle is split: every second task goes, and half of the choices of the
//! oldest one. When there is none to split, the worker that is busy for the longest gives back what it has.
//!
//! When the main search is over, the search for executions with cycles in po | rf is handed out, by the places
//! where such executions begin. Its parts are not split. A worker can send executions of this search, but no
//! violations. If it finds one, its part is searched again here.

use super::checkpoint::Saved;
use super::findings::Findings;
use super::job::{Assignment, Job, Left, PartOutcome, Report, Stopped};
use super::{Request, drive};
use crate::Error;
use porf_explore::{Beginning, Equivalence, Error as ExploreError, Rest, Statistics, Task, Visit};
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
    /// Asks for the rest of an assignment back.
    fn hurry(&self, id: u64) -> Result<(), Error>;
    /// Waits for a while for something to happen.
    fn next(&self, wait: Duration) -> RemoteEvent;
    /// How many workers there are.
    fn slots(&self) -> usize;
    /// There will be no more assignments: workers can stop at once.
    fn end(&self);
}

/// Something that happened.
#[derive(Debug)]
pub enum RemoteEvent {
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
const SLICE_PER_WORKER: Duration = Duration::from_millis(10);
/// A worker searches at least this long before it is asked for the rest of its part.
const LEAST: Duration = Duration::from_millis(30);
/// A part of the search for executions with cycles is searched to its end.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// How many such parts there are for each worker.
const PARTS: usize = 8;
/// Between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);
/// A part with which this many workers were lost is not tried again.
const MOST_LOSSES: u32 = 10;

/// Tells assignments apart, also those of different searches.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Tasks that stay together, the oldest choices first.
#[derive(Default)]
struct Bundle {
    tasks: Vec<Task>,
    /// Instead of tasks: where executions with cycles begin.
    beginnings: Vec<Beginning>,
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
    /// The search for executions with cycles has been handed out.
    handed_out: bool,
    /// A worker has come across a violation in such an execution, which is to be found once more here.
    violated: bool,
}

/// Searches all of `rest` that can be handed out. Gives all counts, and what is left to do: nothing but the search
/// for load buffering, or a part of it, if it was not ended before.
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
        handed_out: false,
        violated: false,
    };
    if !tasks.is_empty() {
        gathering.queue.push_back(Bundle { tasks, ..Bundle::default() });
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
                if !self.hand_out_cycles() {
                    return Ok(());
                }
                continue;
            }
            match self.remote.next(LOOK) {
                RemoteEvent::Report(report) => self.take(*report)?,
                RemoteEvent::Lost(id) => self.lose(id)?,
                RemoteEvent::Broken(message) => return Err(Error::Input(message)),
                RemoteEvent::Closed => self.findings.stopped = Some(Limit::Interrupted),
                RemoteEvent::Nothing => {}
            }
            self.findings.look_at_the_clock(self.queue.is_empty() && self.open.is_empty());
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
        self.findings.is_over()
            || self.violated
            || (!self.request.all && !self.findings.seen.found.is_empty())
    }

    /// All that is left, also what workers have at the moment.
    fn left(&self) -> Rest {
        let given = self.open.values().map(|open| &open.bundle);
        let bundles = given.chain(&self.queue);
        // Beginnings leave it when their search counts.
        let mut left = self.rest.clone();
        left.tasks = bundles.flat_map(|bundle| bundle.tasks.iter().cloned()).collect();
        left
    }

    /// Queues the search for executions with cycles, once. Whether there is any, and it is known where it begins.
    fn hand_out_cycles(&mut self) -> bool {
        // One execution may be found by several workers: those of a budget are counted here.
        if std::mem::replace(&mut self.handed_out, true) || self.request.budget.executions.is_some() {
            return false;
        }
        let all = self.rest.beginnings();
        let size = all.len().div_ceil(PARTS * self.remote.slots().max(1)).max(1);
        let bundle = |part: &[Beginning]| Bundle { beginnings: part.to_vec(), ..Bundle::default() };
        self.queue.extend(all.chunks(size).map(bundle));
        !self.queue.is_empty()
    }

    /// Gives work to workers that have none.
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
            let (time, part) = match bundle.beginnings.as_slice() {
                [] => (slice, self.rest.part(bundle.tasks.clone())),
                beginnings => (FOREVER, self.rest.part_from(beginnings)),
            };
            let assignment = Assignment {
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                milliseconds: time.as_millis() as u64,
                executions: quota,
                part,
            };
            self.remote.assign(&assignment)?;
            let quota = quota.unwrap_or(0);
            self.open.insert(assignment.id, Open { bundle, since: Instant::now(), hurried: false, quota });
            free -= 1;
        }
        // The workers that have been busy longest have the lowest numbers.
        let asked = self.open.values().filter(|open| open.hurried).count();
        for (id, open) in &mut self.open {
            if free <= asked {
                break;
            }
            if !open.hurried && open.bundle.beginnings.is_empty() && open.since.elapsed() >= LEAST {
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
            PartOutcome::Left(left) if bundle.beginnings.is_empty() => self.add(bundle, *left),
            PartOutcome::Left(left) => self.add_cycles(bundle, *left),
            PartOutcome::Anew(rest) => {
                self.void.extend(std::mem::take(&mut self.open).into_keys());
                for id in &self.void {
                    self.remote.hurry(*id)?;
                }
                let _ = self.findings.visit(Visit::Anew(rest.cuts()));
                self.total = Statistics::default();
                self.rest = rest;
                let tasks = std::mem::take(&mut self.rest.tasks);
                self.queue = VecDeque::from([Bundle { tasks, ..Bundle::default() }]);
                self.handed_out = false;
                Ok(())
            }
            // The search that follows here will say the same, if it is so.
            _ if !bundle.beginnings.is_empty() => Ok(()),
            PartOutcome::Undecided => Err(Error::Explore(ExploreError::Undecided)),
            PartOutcome::Unsupported(message) => Err(Error::Explore(ExploreError::Unsupported(message))),
            PartOutcome::Limit(message) => Err(Error::Explore(ExploreError::Limit(message))),
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
            self.queue.push_back(Bundle { tasks, ..Bundle::default() });
        }
        Ok(())
    }

    /// Counts the executions with cycles of a part, each once. If anything else came of it, it does not count.
    fn add_cycles(&mut self, bundle: Bundle, left: Left) -> Result<(), Error> {
        let Left { mut noted, stopped, rest, .. } = left;
        let ended = stopped.is_none() && noted.dropped == (0, 0) && rest.beginnings().is_empty();
        if !ended || !noted.violations.is_empty() {
            self.rest.prefer(&bundle.beginnings);
            self.violated |= !self.request.all && !noted.violations.is_empty();
            return Ok(());
        }
        let Some((executions, blocked)) = self.rest.take_cycles(&bundle.beginnings, &rest) else {
            self.queue.push_front(bundle);
            return Ok(());
        };
        let statistics = Statistics { executions, blocked, buffering: true, ..Statistics::default() };
        self.total.add(&statistics);
        if let Some(progress) = self.request.progress {
            progress.executed(executions);
        }
        noted.executions = executions;
        drive::note(self.program, self.request, self.equivalence, &self.rest, &noted, self.findings)
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
    /// Splits off about half of it.
    fn split(&mut self) -> Option<Bundle> {
        let half = self.tasks.first_mut().and_then(Task::halve);
        let mut given: Vec<Task> = half.into_iter().collect();
        let mut kept = Vec::new();
        for (at, task) in std::mem::take(&mut self.tasks).into_iter().enumerate() {
            if at % 2 == 0 { kept.push(task) } else { given.push(task) }
        }
        self.tasks = kept;
        (!given.is_empty()).then_some(Bundle { tasks: given, losses: self.losses, ..Bundle::default() })
    }
}
