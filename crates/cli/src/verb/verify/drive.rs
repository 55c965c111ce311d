//! Long searches: several workers, checkpoints, a progress bar.
//!
//! The search runs in slices. At the end of one every worker stops after its current execution and
//! hands back what it has left to do; that is written to the checkpoint (to a new file that then takes
//! the old one's place) and searched next. Whatever happens in between, the file on disk is the end
//! of some slice: going on from it loses nothing and counts nothing twice.

use super::{Failure, Search};
use indicatif::{ProgressBar, ProgressStyle};
use porf_explore::{
    Equivalence, Model, Options, Rest, Statistics, Task, Visit, again, estimate, explore_parallel,
};
use porf_ir::{Program, Split};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What to search, and how.
pub struct Plan<'p> {
    pub program: &'p Program,
    /// How accesses of the program were cut.
    pub cuts: &'p [Vec<Split>],
    pub model: Model,
    pub equivalence: Equivalence,
    pub options: Options,
    pub jobs: usize,
    pub checkpoint: Option<&'p Path>,
    pub interval: Duration,
}

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    schema: u32,
    /// Of the program and everything else that the search depends on.
    fingerprint: u64,
    executions: u64,
    blocked: u64,
    events: u64,
    revisits: u64,
    bounded: bool,
    /// How accesses of the program were cut.
    cuts: Vec<Vec<Split>>,
    /// Whether some execution is the one that a litmus test asks for.
    answered: bool,
    /// The execution that shows a violation, and how much was looked at since.
    violation: Option<Task>,
    after: u64,
    rest: Rest,
}

/// Executions between two looks at the shared state.
const BATCH: u64 = 64;

/// Runs the search to its end, its budget or its first violation; all counts, also those of earlier
/// runs that a checkpoint speaks of.
pub fn drive(plan: &Plan<'_>, search: &mut Search<'_>) -> Result<Statistics, Failure> {
    let fingerprint = fingerprint(plan);
    let mut total = Statistics::default();
    let mut from = None;
    if let Some(path) = plan.checkpoint
        && path.exists()
    {
        let found = read(path, fingerprint)?;
        total = Statistics {
            executions: found.executions,
            blocked: found.blocked,
            events: found.events,
            revisits: found.revisits,
            ..Statistics::default()
        };
        search.bounded |= found.bounded;
        search.answered |= found.answered;
        if let Some(task) = &found.violation {
            // It was counted when it was found.
            let executions = search.executions;
            again(
                plan.program,
                plan.model,
                plan.equivalence,
                &plan.options,
                (task, &found.rest),
                &mut |visit: Visit<'_, '_>| {
                    let _ = search.visit(visit);
                    ControlFlow::Continue(())
                },
            )?;
            search.executions = executions;
            search.after = found.after;
        }
        from = Some(found.rest);
    }
    let bar = progress(plan);
    loop {
        // The search for load buffering begins anew after every slice: when nothing else is left it is not cut.
        let only_cycles = from.as_ref().is_some_and(|rest| rest.tasks.is_empty());
        let slice = match plan.checkpoint {
            Some(_) if !only_cycles => plan.interval,
            _ => Duration::from_secs(if only_cycles { 1 << 30 } else { 3600 }),
        };
        let (statistics, rest) = run_slice(plan, search, from.take(), slice, &bar)?;
        total.add(&statistics);
        let over = search.is_over();
        if let Some(path) = plan.checkpoint {
            if rest.is_empty() {
                let _ = std::fs::remove_file(path);
            } else {
                write(path, fingerprint, &total, search, plan.cuts, &rest)?;
            }
        }
        if over || rest.is_empty() {
            bar.finish_and_clear();
            return Ok(total);
        }
        from = Some(rest);
    }
}

/// How the program of a checkpoint was cut. What is wrong with the file is said when it is used.
pub fn cuts(checkpoint: Option<&Path>) -> Vec<Vec<Split>> {
    let text = checkpoint.and_then(|path| std::fs::read_to_string(path).ok());
    let found = text.and_then(|text| serde_json::from_str::<Checkpoint>(&text).ok());
    found.map_or(Vec::new(), |found| found.cuts)
}

fn run_slice(
    plan: &Plan<'_>,
    search: &mut Search<'_>,
    from: Option<Rest>,
    slice: Duration,
    bar: &ProgressBar,
) -> Result<(Statistics, Rest), Failure> {
    // A budget in executions is kept to the letter; some questions are asked of every execution.
    let batch = if search.looks_at_all() || search.budget.executions != u64::MAX { 1 } else { BATCH };
    let end = Instant::now() + slice;
    let shared = Mutex::new(search);
    let visitor = || {
        let mut pending = 0;
        let shared = &shared;
        move |visit: Visit<'_, '_>| {
            if let Visit::Complete(_) = visit
                && batch > 1
            {
                pending += 1;
                if pending < batch {
                    return ControlFlow::Continue(());
                }
                bar.inc(pending);
                lock(shared).count(std::mem::take(&mut pending))?;
                return if Instant::now() >= end {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                };
            }
            lock(shared).visit(visit)?;
            if Instant::now() >= end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    let visitors = (0..plan.jobs.max(1)).map(|_| visitor()).collect();
    Ok(explore_parallel(plan.program, plan.model, plan.equivalence, &plan.options, visitors, from)?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn progress(plan: &Plan<'_>) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let expected = estimate(plan.program, plan.model, plan.equivalence, &plan.options, 500);
    let expected = expected.map_or(0.0, |(mean, _)| mean).round().max(1.0) as u64;
    let style = "{bar:30} {human_pos} of about {human_len} executions, {per_sec}, {eta} left";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(expected).with_style(style)
}

fn fingerprint(plan: &Plan<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    porf_ir::print(plan.program).hash(&mut hasher);
    (plan.model.name(), plan.equivalence.to_string(), plan.options.unroll).hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    hasher.finish()
}

fn read(path: &Path, fingerprint: u64) -> Result<Checkpoint, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let found: Checkpoint =
        serde_json::from_str(&text).map_err(|error| format!("{name}: no checkpoint ({error})"))?;
    if found.schema != 4 || found.fingerprint != fingerprint {
        return Err(format!("{name}: the checkpoint is of another program, model, equivalence or version"));
    }
    Ok(found)
}

fn write(
    path: &Path,
    fingerprint: u64,
    total: &Statistics,
    search: &Search<'_>,
    cuts: &[Vec<Split>],
    rest: &Rest,
) -> Result<(), String> {
    let checkpoint = Checkpoint {
        schema: 4,
        fingerprint,
        executions: total.executions,
        blocked: total.blocked,
        events: total.events,
        revisits: total.revisits,
        bounded: search.bounded,
        cuts: cuts.to_vec(),
        answered: search.answered,
        violation: search.task.clone(),
        after: search.after,
        rest: rest.clone(),
    };
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = serde_json::to_string(&checkpoint).map_err(|error| fail(&error))?;
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, text).map_err(|error| fail(&error))?;
    std::fs::rename(&new, path).map_err(|error| fail(&error))
}
