//! Every execution of a program, and what goes wrong in one.
//!
//! Claim: [`verify`] says `safe` only if every execution that the request covers was explored and none of them has
//! a violation that the request asks for; [`Coverage`] names what is not covered. Limits and cost are those of
//! `porf-explore`.

mod against;
mod budget;
mod checkpoint;
mod deepen;
mod drive;
mod findings;
mod gather;
mod job;
mod kept;
mod panics;
mod sections;
mod seen;
mod work;

pub use against::{Difference, against};
pub use budget::{Budget, MemoryLimit};
pub use deepen::verify;
pub use drive::Progress;
pub use gather::{Remote, RemoteEvent};
pub use job::{Assignment, Job, Left, PROTOCOL, PartOutcome, Report};
pub use porf_explore::Estimate;
pub use work::{Inbox, work};

use crate::answer::{Answer, Seconds};
use crate::input::Input;
use crate::question::{Question, no_last_write};
use crate::{Error, mapping, usage};
use budget::Watch;
use findings::Findings;
use porf_explore::{Error as ExploreError, Reductions, Schedule, Statistics, Visit, explore};
use porf_ir::{Instr, Program};
use porf_model::{Equivalence, Model};
use porf_verdict::{Checks, Coverage, Limit, Verdict, ViolationKind};
use seen::{Seen, Unsought};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Events for an estimate that was asked for.
const ESTIMATE: u64 = 4_000_000;

/// What to look for, and how.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The memory model.
    pub model: Model,
    /// When two executions count as the same.
    pub equivalence: Equivalence,
    /// Give up on executions in which a loop runs more often than this.
    pub unroll: Option<u32>,
    /// How many workers search at the same time.
    pub jobs: usize,
    /// How much work is allowed.
    pub budget: Budget,
    /// Where to keep what is left to do.
    pub checkpoint: Option<Checkpoint<'a>>,
    /// Report every violation, not only one.
    pub all: bool,
    /// Stop at the first violation, whatever its size.
    pub first: bool,
    /// The kinds of violations to look for.
    pub checks: Checks,
    /// Which thread moves first where several can.
    pub schedule: Schedule,
    /// Up to rf with seq_cst: how hard to look for an order of the writes.
    pub branches: Option<u32>,
    /// Which executions need not be visited.
    pub reductions: Reductions,
    /// Set by the user to stop the search.
    pub interrupt: Option<&'a AtomicBool>,
    /// Who is told how far the search is.
    pub progress: Option<&'a dyn Progress>,
    /// Workers elsewhere that do the main search.
    pub remote: Option<&'a dyn Remote>,
}

/// A file that holds what is left to do, so that a search that was broken off goes on from it.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// The file.
    pub path: &'a Path,
    /// How long the search runs between two writes.
    pub interval: Duration,
}

impl Request<'_> {
    /// Every execution under a model, without limits, by one worker.
    pub fn new(model: Model) -> Self {
        Request {
            model,
            equivalence: Equivalence::Mo,
            unroll: None,
            jobs: 1,
            budget: Budget::default(),
            checkpoint: None,
            all: false,
            first: false,
            checks: Checks::default(),
            schedule: Schedule::default(),
            branches: None,
            reductions: Reductions::default(),
            interrupt: None,
            progress: None,
            remote: None,
        }
    }

    /// Whether a bound on loops was not given, and another search can be made with one.
    fn may_be_bounded(&self) -> bool {
        self.unroll.is_none() && self.checkpoint.is_none() && self.remote.is_none()
    }

    fn options(&self) -> porf_explore::Options {
        porf_explore::Options {
            unroll: self.unroll,
            schedule: self.schedule,
            branches: self.branches,
            reductions: self.reductions,
            ..Default::default()
        }
    }
}

/// The warning about threads that hang although no thread waits for them.
const LEFT: &str = "the process ends while other threads still wait, which would never go on: that is no violation, \
                    because nobody joins them";

/// What the search up to values does not do.
fn refuse_up_to_values(input: &Input, request: &Request<'_>) -> Result<(), Error> {
    if request.equivalence != Equivalence::Values {
        return Ok(());
    }
    let refused = [
        (request.jobs > 1, "--jobs"),
        (request.checkpoint.is_some(), "--checkpoint"),
        (request.remote.is_some(), "a search on a cluster"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(is_asked, _)| *is_asked) {
        return Err(not_up_to_values(what));
    }
    let sections =
        input.program.global(porf_frontend_llvm::ATOMIC_SECTION).filter(|_| input.program.image.is_some());
    if sections.is_some() {
        return Err(not_up_to_values("a program with atomic sections (__VERIFIER_atomic_begin)"));
    }
    Ok(())
}

fn not_up_to_values(what: &str) -> Error {
    Error::Input(format!("{what} does not go with --equivalence values, which is an experiment"))
}

/// One search. The second result says that it came to no end, and that a bound on loops may help.
pub(crate) fn once(input: &Input, request: &Request<'_>) -> Result<(Answer, bool), Error> {
    refuse_up_to_values(input, request)?;
    let program = compiled(input, request.model)?;
    // Reductions identify executions that differ only in dead registers or in which thread is which. A condition
    // can tell these apart.
    let reductions = if input.question.is_some() { Reductions::NONE } else { request.reductions };
    let request = &Request { reductions, ..*request };
    let watch = Watch::start(request.budget, request.interrupt);
    let mut findings = Findings::new(input.question.as_ref(), request, watch, unwinds(&program));
    let mut warnings = Vec::new();
    let mut equivalence = answerable(input, request, &mut warnings)?;
    let (start, cpu) = (Instant::now(), usage::cpu_time());
    let mut statistics = search_decidable(&program, request, &mut equivalence, &mut findings, &mut warnings)?;
    let seconds = Seconds {
        frontend: 0.0,
        explore: start.elapsed().as_secs_f64(),
        cpu: (usage::cpu_time() - cpu).as_secs_f64(),
    };
    findings.end();
    let Findings { mut seen, stopped, unsupported, endless, .. } = findings;
    let (complete, blocked) = seen.dropped;
    statistics.executions = statistics.executions.saturating_sub(complete);
    statistics.blocked = statistics.blocked.saturating_sub(blocked);
    let found = std::mem::take(&mut seen.found).into_found();
    if let (true, Some(message)) = (found.is_empty(), unsupported) {
        return Err(Error::Unsupported(message));
    }
    let bound = request.unroll.filter(|_| seen.loops.any).map(|unroll| Limit::Unroll { unroll });
    let unfinished = stopped.clone().or(bound).filter(|_| request.all && !found.is_empty());
    let verdict = match (found.first(), stopped) {
        (Some(found), _) => Verdict::Violated(Box::new(found.violation.clone())),
        (None, Some(limit)) => Verdict::Inconclusive(limit),
        // No execution was run to its end, so nothing is known.
        (None, None) if statistics.executions == 0 && !seen.ended => {
            Verdict::Inconclusive(Limit::Incomplete {
                loops: seen.loops.list(),
                clocks: seen.clocks.list(),
                assumptions: seen.assumptions.list(),
            })
        }
        (None, None) => Verdict::Safe(coverage(input, request, &seen, statistics.atomic_parts)),
    };
    if seen.left && matches!(verdict, Verdict::Safe(_)) && input.question.is_none() {
        warnings.push(LEFT.to_string());
    }
    warnings.extend(unsought(&verdict, &seen.unsought));
    warnings.extend(left_out(input));
    let answer = Answer {
        origin: input.origin.clone(),
        cuts: seen.cuts,
        model: request.model,
        equivalence,
        checks: request.checks,
        verdict,
        executions: statistics.executions,
        blocked: statistics.blocked,
        events: statistics.events,
        reduced: statistics.reduced,
        seconds,
        peak_bytes: usage::peak_bytes(),
        found,
        all: request.all,
        unfinished,
        repair: None,
        warnings,
    };
    Ok((answer, endless))
}

/// The equivalence under which the search can answer: a condition about final contents of memory needs co.
fn answerable(
    input: &Input,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Equivalence, Error> {
    if !input.question.as_ref().is_some_and(Question::is_about_memory) {
        return Ok(request.equivalence);
    }
    if !request.model.orders_writes() {
        return Err(no_last_write());
    }
    if request.equivalence == Equivalence::Rf && request.model.entry().has(request.equivalence) {
        let message = "the condition is about final contents of memory: searching up to mo instead";
        warnings.push(message.to_string());
        return Ok(Equivalence::Mo);
    }
    Ok(request.equivalence)
}

/// Searches, and searches again up to mo if the search up to rf gives up.
fn search_decidable<'a>(
    program: &Program,
    request: &Request<'a>,
    equivalence: &mut Equivalence,
    findings: &mut Findings<'a>,
    warnings: &mut Vec<String>,
) -> Result<Statistics, Error> {
    loop {
        match search(program, request, *equivalence, findings) {
            Err(Error::Explore(ExploreError::Undecided)) => {
                warnings.push(format!("{}: searching up to mo instead", ExploreError::Undecided));
                *equivalence = Equivalence::Mo;
                findings.seen = Seen::default();
                // A checkpoint of the search up to rf cannot be continued up to mo.
                if let Some(checkpoint) = request.checkpoint {
                    let _ = std::fs::remove_file(checkpoint.path);
                }
            }
            result => return result,
        }
    }
}

/// What "safe" covers once a search has ended without a violation and without a limit.
fn coverage(input: &Input, request: &Request<'_>, seen: &Seen, has_atomic_parts: bool) -> Coverage {
    let unroll = request.unroll.filter(|_| seen.loops.any);
    let inputs = input.tried();
    // Under sequential consistency a lock, or one word for accesses to its parts, orders nothing that was not
    // ordered before. Under other models it may, except where no two accesses race: then accesses that are
    // not atomic are ordered anyway.
    let is_race_free = request.model.entry().races && request.checks.has(ViolationKind::Race);
    let mixed = seen.mixed.filter(|_| has_atomic_parts || !is_race_free);
    let (locked, mixed) = match request.model {
        Model::Sc => (None, None),
        _ => (input.locked(), mixed.map(|(at, size)| input.program.name_of(at, size))),
    };
    let clocks = seen.clocks.list();
    let stubs: Vec<String> = input.stubs().into_iter().map(|(name, _)| name.to_string()).collect();
    let is_whole = unroll.is_none() && inputs.is_empty() && stubs.is_empty() && !seen.clocks.any;
    if is_whole && locked.is_none() && mixed.is_none() {
        Coverage::Exhaustive
    } else {
        Coverage::Bounded { unroll, loops: seen.loops.list(), clocks, inputs, locked, mixed, stubs }
    }
}

/// What to say of faults and hangs that were not looked for: what would come after a fault is not explored.
fn unsought(verdict: &Verdict, Unsought { fault, hang }: &Unsought) -> Option<String> {
    let hang = hang.as_ref().filter(|_| matches!(verdict, Verdict::Inconclusive(Limit::Incomplete { .. })));
    if matches!(verdict, Verdict::Violated(_)) {
        return None;
    }
    match (fault, hang) {
        (Some(fault), _) => Some(format!(
            "some executions end in an error that was not looked for, and what would come after it was not explored: \
             {fault}"
        )),
        (None, Some(hang)) => Some(format!("executions end in an error that was not looked for: {hang}")),
        (None, None) => None,
    }
}

/// What to say of functions whose calls are left out.
fn left_out(input: &Input) -> Option<String> {
    let stubs: Vec<String> = input.stubs().iter().map(|(name, place)| format!("{name} ({place})")).collect();
    let are = "calls of functions that are not defined were left out, as if they only returned a value";
    (!stubs.is_empty()).then(|| format!("{are}: {}", stubs.join(", ")))
}

/// The program that a search under a model runs.
fn compiled(input: &Input, model: Model) -> Result<Program, Error> {
    if let Some(question) = &input.question {
        mapping::reading(question.test(), model)?;
    }
    mapping::compile(input.program.clone(), model)
}

/// Whether a thread may end in a panic.
fn unwinds(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|instr| matches!(instr, Instr::Unwind { .. }))
}

/// One search; what it finds goes to `findings`.
fn search<'a>(
    program: &Program,
    request: &Request<'a>,
    equivalence: Equivalence,
    findings: &mut Findings<'a>,
) -> Result<Statistics, Error> {
    findings.begin(program, request.model, equivalence);
    let alone = request.jobs <= 1
        && request.checkpoint.is_none()
        && (request.progress.is_none() || equivalence == Equivalence::Values)
        && request.remote.is_none();
    let explored = if alone {
        let mut visitor = |visit: Visit<'_, '_>| findings.visit(visit);
        explore(program, request.model, equivalence, &request.options(), &mut visitor).map_err(Error::Explore)
    } else {
        drive::drive(program, request, equivalence, findings)
    };
    let so_far = |findings: &Findings<'_>| Statistics {
        executions: findings.seen.executions,
        ..Statistics::default()
    };
    match explored {
        Err(Error::Explore(ExploreError::Limit(message))) => {
            findings.stopped = Some(Limit::Other(message));
            findings.endless = request.may_be_bounded();
            Ok(so_far(findings))
        }
        // What was found before the search came to something that it cannot do stays found.
        Err(Error::Explore(ExploreError::Unsupported(_))) if !findings.seen.found.is_empty() => {
            Ok(so_far(findings))
        }
        explored => explored,
    }
}

/// How many executions to expect.
pub fn estimate(input: &Input, request: &Request<'_>) -> Result<Estimate, Error> {
    if request.equivalence == Equivalence::Values {
        return Err(not_up_to_values("--estimate"));
    }
    let program = compiled(input, request.model)?;
    estimate_compiled(&program, request, request.equivalence, ESTIMATE)
}

fn estimate_compiled(
    program: &Program,
    request: &Request<'_>,
    equivalence: Equivalence,
    events: u64,
) -> Result<Estimate, Error> {
    porf_explore::estimate(program, request.model, equivalence, &request.options(), events)
        .map_err(Error::Explore)
}
