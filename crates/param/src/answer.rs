//! The whole answer: search for a bug, search for a proof, and trust neither without its evidence.
//!
//! A small instance is explored first: most broken systems are broken with two processes, and its trace is the
//! shortest. Then the prover runs, plainly for as long as that is cheap, then with the approximation, then
//! plainly to the limit. An abstract trace counts only if it replays on a finite instance; one that does not
//! (universal guards and racy locations under PSO are approximated) makes the answer inconclusive.

use crate::Model;
use crate::explore::{Limits, Trace, explore, replay};
use crate::prove::{Cube, Options, Order, Outcome, SMALL, Statistics, search};
use crate::syntax::Diagnostic;
use crate::system::System;
use porf_verdict::{Coverage, Limit, Verdict, Violation, ViolationKind};
use std::sync::atomic::AtomicBool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// When the plain search has become expensive.
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub model: Model,
    pub approximation: Approximation,
    /// Take candidates from the instance with this many processes, instead of the largest small one.
    pub brab: Option<u8>,
    pub jobs: usize,
    pub max_nodes: usize,
    pub max_seconds: u64,
    /// Explore a finite instance before proving.
    pub explore_first: bool,
    pub interrupt: Option<&'a AtomicBool>,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            model: Model::Tso,
            approximation: Approximation::Auto,
            brab: None,
            jobs: 1,
            max_nodes: 200_000,
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
const CHEAP_SECONDS: u64 = 3;
const MAX_RESTARTS: usize = 60;
/// States behind candidates, when few were not enough or `brab` asks for an instance.
const MORE_STATES: usize = 300_000;

pub fn prove(system: &System, request: Request<'_>) -> Result<Answer, Diagnostic> {
    let start = std::time::Instant::now();
    // Errors of the text come before any verdict.
    crate::prove::compile::compile(system, request.model, Order::Coherence)?;
    let mut explored = 0;
    if request.explore_first {
        let processes = system.number_procs.unwrap_or(2).min(2);
        let limits = Limits { states: 20_000, buffer: 3, initial: 5_000 };
        let exploration = explore(system, request.model, processes, limits);
        explored = exploration.states.len();
        if let Some(found) = exploration.trace {
            return Ok(violated(system, found, Statistics::default(), explored));
        }
    }
    let plain = Options {
        model: request.model,
        order: Order::Coherence,
        approximate: false,
        small: SMALL,
        jobs: request.jobs,
        max_nodes: request.max_nodes,
        max_seconds: request.max_seconds,
        max_restarts: usize::MAX,
        interrupt: request.interrupt,
    };
    let small = request.brab.map_or(SMALL, |processes| (processes, MORE_STATES));
    let approximate = Options { approximate: true, small, order: Order::Issue, ..plain };
    // Candidates from few states are often wrong.
    let more = Options { small: (small.0, MORE_STATES), ..approximate };
    let plan: &[Options<'_>] = match request.approximation {
        Approximation::Never => &[plain],
        Approximation::Always => &[Options { max_restarts: MAX_RESTARTS, ..approximate }, more],
        Approximation::Auto => &[
            Options {
                max_nodes: CHEAP_NODES.min(request.max_nodes),
                max_seconds: CHEAP_SECONDS.min(request.max_seconds),
                ..plain
            },
            Options {
                max_restarts: MAX_RESTARTS,
                max_seconds: request.max_seconds.div_ceil(4),
                ..approximate
            },
            Options { max_seconds: request.max_seconds.div_ceil(2), ..more },
            plain,
        ],
    };
    let mut statistics = Statistics::default();
    let mut last = Limit::Other("nothing was tried".into());
    let mut spurious = None;
    let mut whole = false;
    for options in plan {
        if options.approximate && whole && request.approximation == Approximation::Auto {
            continue; // the same states again
        }
        let left = request.max_seconds.saturating_sub(start.elapsed().as_secs());
        if left == 0 && spurious.is_none() {
            last = Limit::Time { seconds: request.max_seconds };
        }
        if left == 0 {
            break;
        }
        let result = search(system, Options { max_seconds: options.max_seconds.min(left), ..*options })?;
        statistics.nodes += result.statistics.nodes;
        statistics.restarts += result.statistics.restarts;
        statistics.candidates = result.statistics.candidates;
        statistics.oracle_states = statistics.oracle_states.max(result.statistics.oracle_states);
        statistics.dropped_lemmas = result.statistics.dropped_lemmas;
        whole |= result.statistics.oracle_is_whole || options.small.1 >= MORE_STATES;
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
                if let Some(found) = replay(system, request.model, processes, &abstract_trace.steps) {
                    return Ok(violated(system, found, statistics, explored));
                }
                // Another run of that many processes may be real.
                let limits = Limits { states: 100_000, buffer: 4, initial: 20_000 };
                if spurious.is_none()
                    && let Some(found) = explore(system, request.model, processes, limits).trace
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
    // The searches had shares of the time; what ran out is the whole.
    if let Limit::Time { seconds } = &mut last {
        *seconds = request.max_seconds;
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
