//! The whole answer: search for a bug, search for a proof, and trust neither without its evidence.
//!
//! A small instance is explored first: most broken systems are broken with two processes, and its trace is the
//! shortest. Then the prover runs, plainly for as long as that is cheap (in both orders, if there are two), then
//! with the approximation, then
//! plainly to the limit. An abstract trace counts only if it replays on a finite instance; one that does not
//! (universal guards and racy locations under PSO are approximated) makes the answer inconclusive.

use crate::Memory;
use crate::explore::{Limits, Trace, explore_while, replay_while};
use crate::prove::work::{Work, exhausted};
use crate::prove::{Candidates, Cube, MAX_WORK, Options, Order, Outcome, SMALL, Statistics, search};
use crate::syntax::Diagnostic;
use crate::system::System;
use porf_verdict::{Coverage, Limit, Verdict, Violation, ViolationKind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// When the plain search has become expensive.
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub memory: Memory,
    pub approximation: Approximation,
    /// Take candidates from the instance with this many processes, instead of the largest small one.
    pub brab: Option<u8>,
    pub jobs: usize,
    pub max_nodes: usize,
    /// Steps of work of all searches together: `prove/work.rs` says what a step is.
    pub max_work: u64,
    pub max_seconds: u64,
    /// Explore a finite instance before proving.
    pub explore_first: bool,
    pub interrupt: Option<&'a AtomicBool>,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            memory: Memory::Tso,
            approximation: Approximation::Auto,
            brab: None,
            jobs: 1,
            max_nodes: 200_000,
            max_work: MAX_WORK,
            max_seconds: 600,
            explore_first: true,
            interrupt: None,
        }
    }
}

pub struct Answer {
    pub verdict: Verdict,
    pub statistics: Statistics,
    /// States of finite instances that were explored before the proof.
    pub explored: usize,
    /// The invariant of a safe system: states in none of these cubes are never left.
    pub invariant: Vec<Cube>,
    /// How the reads of the invariant are ordered, for its certificate.
    pub order: Order,
    /// A run to an unsafe state, and the index of the `unsafe` it reaches.
    pub trace: Option<(Trace, usize)>,
    /// The steps of an abstract trace that did not replay.
    pub spurious: Option<Vec<(usize, Vec<u8>)>>,
}

/// Nodes that the plain search may use before the approximation is tried.
const CHEAP_NODES: usize = 150;
const CHEAP_WORK: u64 = 50_000_000;
/// Nodes for each kind of candidates before either may use its share.
const SOME_NODES: usize = 1_000;
const MAX_RESTARTS: usize = 60;
/// States behind candidates, when few were not enough or `brab` asks for an instance.
const MORE_STATES: usize = 300_000;

pub fn prove(system: &System, request: Request<'_>) -> Result<Answer, Diagnostic> {
    // Errors of the text come before any verdict.
    let compiled = crate::prove::compile::compile(system, request.memory, Order::Coherence)?;
    // Whether the model leaves a choice of the order.
    let both = compiled.memory != Memory::Sc && compiled.order == Order::Coherence;
    let time = Duration::from_secs(request.max_seconds);
    let start = std::time::Instant::now();
    let clock = Work::new(u64::MAX, time, request.interrupt);
    let go_on = || clock.look();
    let mut explored = 0;
    if request.explore_first {
        let processes = system.number_procs.unwrap_or(2).min(2);
        let limits = Limits { states: 20_000, buffer: 3, initial: 5_000 };
        let exploration = explore_while(system, request.memory, processes, limits, &go_on);
        explored = exploration.states.len();
        if let Some(found) = exploration.trace {
            return Ok(violated(system, found, Statistics::default(), explored));
        }
    }
    let plain = Options {
        memory: request.memory,
        order: Order::Coherence,
        candidates: Candidates::None,
        small: SMALL,
        jobs: request.jobs,
        max_nodes: request.max_nodes,
        max_work: request.max_work,
        max_time: time,
        max_restarts: usize::MAX,
        interrupt: request.interrupt,
    };
    let cheap = Options {
        max_nodes: CHEAP_NODES.min(request.max_nodes),
        max_work: CHEAP_WORK.min(request.max_work),
        ..plain
    };
    let small = request.brab.map_or(SMALL, |processes| (processes, MORE_STATES));
    let bold = Options { candidates: Candidates::Bold, small, order: Order::Issue, ..plain };
    let bold = Options { max_restarts: MAX_RESTARTS, ..bold };
    let some = Options {
        max_nodes: SOME_NODES.min(request.max_nodes),
        max_work: request.max_work / 8,
        max_time: time / 8,
        ..bold
    };
    let careful = Options { candidates: Candidates::Careful, ..some };
    // Candidates from few states are often wrong.
    let more = Options { small: (small.0, MORE_STATES), max_restarts: usize::MAX, ..bold };
    let some_more = Options { small: more.small, ..some };
    let plan = match request.approximation {
        Approximation::Never => vec![plain],
        Approximation::Always => vec![some, careful, some_more, bold, more],
        Approximation::Auto => {
            let mut plan = vec![cheap];
            plan.extend(both.then_some(Options { order: Order::Issue, ..cheap }));
            plan.extend([some, careful, some_more]);
            plan.push(Options { max_work: request.max_work / 4, max_time: time / 4, ..bold });
            plan.push(Options { max_work: request.max_work / 2, max_time: time / 2, ..more });
            plan.push(plain);
            plan
        }
    };
    let mut statistics = Statistics::default();
    let mut last = Limit::Other("nothing was tried".into());
    let mut spurious = None;
    let mut whole = false;
    for options in plan {
        if whole && options.small != small {
            continue; // the same states again
        }
        let over = clock
            .stopped()
            .or_else(|| (statistics.work > request.max_work).then(|| exhausted(request.max_work)));
        if let Some(limit) = over {
            if spurious.is_none() || limit == Limit::Interrupted {
                last = limit;
            }
            break;
        }
        let result = search(
            system,
            Options {
                max_work: options.max_work.min(request.max_work.saturating_sub(statistics.work)),
                max_time: options.max_time.min(time.saturating_sub(start.elapsed())),
                ..options
            },
        )?;
        statistics.work += result.statistics.work;
        statistics.nodes += result.statistics.nodes;
        statistics.restarts += result.statistics.restarts;
        statistics.candidates = result.statistics.candidates;
        statistics.oracle_states = statistics.oracle_states.max(result.statistics.oracle_states);
        statistics.dropped_lemmas = result.statistics.dropped_lemmas;
        whole |= result.statistics.oracle_is_whole;
        match result.outcome {
            Outcome::Safe(invariant) => {
                return Ok(Answer {
                    verdict: Verdict::Safe(Coverage::AllInstances { cubes: invariant.len() }),
                    statistics,
                    explored,
                    invariant,
                    order: result.order,
                    trace: None,
                    spurious: None,
                });
            }
            Outcome::Unsafe(abstract_trace) => {
                let processes = abstract_trace.processes;
                if let Some(found) =
                    replay_while(system, request.memory, processes, &abstract_trace.steps, &go_on)
                {
                    return Ok(violated(system, found, statistics, explored));
                }
                // Another run of that many processes may be real.
                let limits = Limits { states: 100_000, buffer: 4, initial: 20_000 };
                if spurious.is_none()
                    && let Some(found) = explore_while(system, request.memory, processes, limits, &go_on).trace
                {
                    return Ok(violated(system, found, statistics, explored));
                }
                // Another way to search may be more precise.
                let why = "the prover's trace does not replay: it may come from its approximation of universal guards";
                last = Limit::Other(why.into());
                spurious = Some(abstract_trace.steps);
            }
            Outcome::Reached(found) => return Ok(violated(system, *found, statistics, explored)),
            Outcome::Unknown(Limit::Interrupted) => {
                last = Limit::Interrupted;
                break;
            }
            Outcome::Unknown(limit) if spurious.is_none() => last = limit,
            Outcome::Unknown(_) => {}
        }
    }
    // The searches had shares of the time and the work; what ran out is the whole.
    if let Limit::Time { seconds } = &mut last {
        *seconds = request.max_seconds;
    }
    if statistics.work > request.max_work && spurious.is_none() && last != Limit::Interrupted {
        last = exhausted(request.max_work);
    }
    let verdict = Verdict::Inconclusive(last);
    Ok(Answer {
        verdict,
        statistics,
        explored,
        invariant: Vec::new(),
        order: Order::Coherence,
        trace: None,
        spurious,
    })
}

fn violated(system: &System, found: (Trace, usize), statistics: Statistics, explored: usize) -> Answer {
    let name = system.unsafes[found.1].name.clone().map_or(String::new(), |name| format!(" `{name}`"));
    let message = format!(
        "an unsafe state{name} is reached with {} processes in {} steps",
        found.0.processes,
        found.0.steps.len()
    );
    let violation = Violation { kind: ViolationKind::Unsafe, message, location: None, related: Vec::new() };
    Answer {
        verdict: Verdict::Violated(Box::new(violation)),
        statistics,
        explored,
        invariant: Vec::new(),
        order: Order::Coherence,
        trace: Some(found),
        spurious: None,
    }
}
