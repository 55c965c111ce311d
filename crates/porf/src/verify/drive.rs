//! Long searches: several workers, checkpoints, progress.
//!
//! The search runs in slices. At the end of one every worker stops after its current execution and
//! hands back what it has left to do; that is written to the checkpoint and searched next.

use super::checkpoint::Saved;
use super::findings::Findings;
use super::gather::gather;
use super::seen::Noted;
use super::{Estimate, Request, estimate_compiled};
use crate::Error;
use porf_explore::{Equivalence, Rest, Statistics, Visit, again, explore_parallel};
use porf_ir::Program;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Is told how far a search is.
pub trait Progress: Sync {
    /// The search begins; about so many executions are to be expected.
    fn begin(&self, expected: Option<Estimate>);
    /// So many more complete executions.
    fn executed(&self, executions: u64);
    /// The search is over.
    fn end(&self);
}

/// Executions between two looks at the shared state.
pub(super) const BATCH: u64 = 64;
/// Events for the estimate that progress is measured by.
const ESTIMATE: u64 = 100_000;

/// Runs the search to its end, its budget or its first violation; all counts, also those of earlier
/// runs that a checkpoint speaks of.
pub(super) fn drive<'a>(
    program: &Program,
    request: &Request<'a>,
    equivalence: Equivalence,
    findings: &mut Findings<'a>,
) -> Result<Statistics, Error> {
    let mut total = Statistics::default();
    let mut from = None;
    let fingerprint = Saved::fingerprint(program, request, equivalence);
    if let Some(checkpoint) = request.checkpoint
        && checkpoint.path.exists()
    {
        let saved = Saved::read(checkpoint.path, fingerprint)?;
        total = saved.statistics();
        // A budget is for this run.
        let noted = Noted { executions: 0, ..saved.noted };
        note(program, request, equivalence, &saved.rest, &noted, findings)?;
        from = Some(saved.rest);
    }
    if let Some(progress) = request.progress {
        progress.begin(estimate_compiled(program, request, equivalence, ESTIMATE).ok());
    }
    if let Some(remote) = request.remote {
        let rest = from.take().unwrap_or_else(|| porf_explore::begin(request.model, equivalence));
        let (counted, rest) = gather(program, request, equivalence, findings, (total, rest), remote)?;
        total = counted;
        if !rest.tasks.is_empty() || findings.is_over() {
            save(request, fingerprint, &total, findings, &rest)?;
            return Ok(end(request, total));
        }
        if !rest.is_empty() {
            save(request, fingerprint, &total, findings, &rest)?;
        }
        from = Some(rest);
    }
    loop {
        // The search for load buffering begins anew after every slice: when nothing else is left it is not cut.
        let only_cycles = from.as_ref().is_some_and(|rest: &Rest| rest.tasks.is_empty());
        let slice = match request.checkpoint {
            Some(checkpoint) if !only_cycles => checkpoint.interval,
            _ => Duration::from_secs(if only_cycles { 1 << 30 } else { 3600 }),
        };
        let begun = findings.begun;
        let (statistics, rest) = run_slice(program, request, equivalence, findings, from.take(), slice)?;
        if findings.begun != begun {
            // What was counted before the search began anew does not count.
            total = Statistics::default();
        }
        total.add(&statistics);
        save(request, fingerprint, &total, findings, &rest)?;
        if findings.is_over() || rest.is_empty() {
            return Ok(end(request, total));
        }
        from = Some(rest);
    }
}

/// The search is over.
fn end(request: &Request<'_>, total: Statistics) -> Statistics {
    if let Some(progress) = request.progress {
        progress.end();
    }
    total
}

/// Writes what is left to the checkpoint.
fn save(
    request: &Request<'_>,
    fingerprint: u64,
    total: &Statistics,
    findings: &Findings<'_>,
    rest: &Rest,
) -> Result<(), Error> {
    let Some(checkpoint) = request.checkpoint else { return Ok(()) };
    if rest.is_empty() {
        let _ = std::fs::remove_file(checkpoint.path);
        return Ok(());
    }
    Saved::new(fingerprint, total, &findings.seen, rest).write(checkpoint.path)
}

/// Takes over what somebody else saw in a part of the search that `rest` is left of.
pub(super) fn note(
    program: &Program,
    request: &Request<'_>,
    equivalence: Equivalence,
    rest: &Rest,
    noted: &Noted,
    findings: &mut Findings<'_>,
) -> Result<(), Error> {
    findings.seen.add(noted);
    let (executions, after) = (findings.seen.executions, findings.seen.after);
    for task in &noted.violations {
        let mut visitor = |visit: Visit<'_, '_>| {
            let _ = findings.visit(visit);
            ControlFlow::Continue(())
        };
        let options = request.options();
        again(program, request.model, equivalence, &options, (task, rest), &mut visitor)
            .map_err(Error::Explore)?;
    }
    // They were counted when they were found.
    findings.seen.executions = executions + noted.executions;
    findings.seen.after = after + noted.after;
    Ok(())
}

fn run_slice(
    program: &Program,
    request: &Request<'_>,
    equivalence: Equivalence,
    findings: &mut Findings<'_>,
    from: Option<Rest>,
    slice: Duration,
) -> Result<(Statistics, Rest), Error> {
    // A budget in executions is kept to the letter; some questions are asked of every execution.
    let batch = if findings.looks_at_all() { 1 } else { BATCH };
    let end = Instant::now() + slice;
    let shared = Mutex::new(findings);
    let visitor = || {
        let mut pending = 0;
        let shared = &shared;
        move |visit: Visit<'_, '_>| {
            match visit {
                Visit::Complete(_) if batch > 1 => {
                    pending += 1;
                    if pending < batch {
                        return ControlFlow::Continue(());
                    }
                    if let Some(progress) = request.progress {
                        progress.executed(pending);
                    }
                    lock(shared).count(std::mem::take(&mut pending))?;
                }
                Visit::Anew(_) => {
                    pending = 0;
                    lock(shared).visit(visit)?;
                }
                _ => lock(shared).visit(visit)?,
            }
            if Instant::now() >= end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    let visitors = (0..request.jobs.max(1)).map(|_| visitor()).collect();
    explore_parallel(program, request.model, equivalence, &request.options(), visitors, from)
        .map_err(Error::Explore)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
