//! The whole answer: search for a bug, search for a proof, and trust neither without its evidence.
//!
//! Small instances are explored first: most broken systems are broken with two processes, and that run is the
//! shortest. Then several searches take turns ([`crate::prove`]): the exact one (in both orders, if there are two), and
//! those that guess invariants, boldly and carefully. The first to answer ends the others. Beside them it is asked whether the
//! system is robust; if it is, what is left is to prove it under sequential consistency. An abstract trace counts only if
//! it replays on a finite instance; one that does not makes the answer inconclusive, with the reason.

use crate::Memory;
use crate::explore::{Limits, Step, Trace, explore_while, replay_while};
use crate::law::Law;
use crate::prove::work::{Work, cpu_time, exhausted};
use crate::prove::{
    AbstractTrace, Candidates, Cube, Kind, MAX_WORK, Options, Order, Outcome, SMALL, Search, Share,
    Statistics, Turns, WHOLE, search_among,
};
use crate::syntax::Diagnostic;
use crate::system::{Formula, System};
use crate::warning::{self, Warning};
use porf_verdict::{Coverage, Limit, Verdict, Violation, ViolationKind};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Whether invariants are guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximation {
    /// Beside the exact search.
    Auto,
    /// And nothing else.
    Always,
    /// The exact search alone.
    Never,
}

/// What is asked, and how much it may cost.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The memory under weak variables.
    pub memory: Memory,
    /// Whether invariants are guessed.
    pub approximation: Approximation,
    /// Take candidates from the instance with this many processes, instead of the largest small one.
    pub brab: Option<u8>,
    /// Workers of each search.
    pub jobs: usize,
    /// Cubes of each search.
    pub max_nodes: usize,
    /// Steps of work of all searches together: `prove/work.rs` says what a step is.
    pub max_work: u64,
    /// Seconds of the processors.
    pub max_seconds: u64,
    /// Explore a finite instance before proving.
    pub explore_first: bool,
    /// Search only in the order that certificates speak of.
    pub certifiable: bool,
    /// Set from outside to end it.
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
            certifiable: false,
            interrupt: None,
        }
    }
}

/// The verdict with its evidence.
pub struct ProofAnswer {
    /// What was found.
    pub verdict: Verdict,
    /// The memory that the answer is about: sequential consistency if nothing is weak.
    pub memory: Memory,
    /// What the answer rests on, and what may be wrong with the system.
    pub warnings: Vec<Warning>,
    /// Of all searches together.
    pub statistics: Statistics,
    /// States of finite instances that were explored before the proof.
    pub explored: usize,
    /// The invariant of a safe system: states in none of these cubes are never left.
    pub invariant: Vec<Cube>,
    /// What the invariant says of all processes at once.
    pub laws: Vec<Law>,
    /// How the reads of the invariant are ordered.
    pub order: Order,
    /// Why an invariant under sequential consistency is enough, where it is.
    pub robust: Option<Robust>,
    /// A run to an unsafe state, and the index of the `unsafe` it reaches.
    pub trace: Option<(Trace, usize)>,
    /// The steps of an abstract trace that did not replay.
    pub spurious: Option<Vec<(usize, Vec<u8>)>>,
}

/// Why what the memory allows is allowed by sequential consistency: no state of these cubes is reached in the watched
/// system (`prove/robust.rs`).
pub struct Robust {
    /// The cubes.
    pub invariant: Vec<Cube>,
    /// What the proof says of all processes at once.
    pub laws: Vec<Law>,
}

/// The share of an exact search: what it can prove it has most often proved soon.
const EXACT: Share = Share { begins: 0, favoured: 400_000, weight: WHOLE / 4, kind: Kind::Exact };
/// Whether the system is robust. If it is, there is more to do, so this may take a little more than its share.
const ROBUST: Share = Share { begins: 0, favoured: 0, weight: WHOLE + WHOLE / 4, kind: Kind::Other };
/// The same question to candidates, beside many other searches.
const GUESSED_ROBUST: Share = Share { weight: WHOLE, ..ROBUST };
/// A search that guesses, and when each of them begins.
const GUESS: Share = Share { begins: 0, favoured: 0, weight: WHOLE, kind: Kind::Guess };
const BOLD_BEGINS: u64 = 18_000;
const CAREFUL_BEGINS: u64 = 3_000_000;
const CORES_BEGIN: u64 = 8_000_000;
const SLICES_BEGIN: u64 = 5_000_000;
const MORE_BEGINS: u64 = 300_000_000;
/// Steps of work for the question whether the system is robust, exactly and with candidates. Most answers come soon.
const ROBUST_WORK: u64 = 120_000;
const GUESSED_ROBUST_WORK: u64 = 5_000_000;
const MAX_RESTARTS: usize = 60;
/// States behind candidates, when few were not enough or `brab` asks for an instance.
const MORE_STATES: usize = 300_000;
/// States of a small instance that are looked at for a run.
const FEW: Limits = Limits { states: 20_000, buffer: 3, initial: 5_000, stop_at_unsafe: true };
const MANY: Limits = Limits { states: 100_000, buffer: 4, initial: 20_000, stop_at_unsafe: true };

/// Is the system safe for every number of processes? Errors are in its text.
pub fn prove(system: &System, request: Request<'_>) -> Result<ProofAnswer, Diagnostic> {
    // Errors of the text come before any verdict.
    let compiled = crate::prove::compile::compile(system, request.memory, Order::Coherence)?;
    // Whether the memory leaves a choice of the order.
    let both = matches!(compiled.memory, Memory::Tso | Memory::Pso) && compiled.order == Order::Coherence;
    let time = Duration::from_secs(request.max_seconds);
    let start = cpu_time();
    let clock = Work::new(u64::MAX, time, request.interrupt);
    let go_on = || clock.look();
    let mut answer = ProofAnswer {
        verdict: Verdict::Inconclusive(Limit::Other("nothing was tried".into())),
        memory: compiled.memory,
        warnings: warning::of_text(system, request.memory),
        statistics: Statistics::default(),
        explored: 0,
        invariant: Vec::new(),
        laws: Vec::new(),
        order: Order::Coherence,
        robust: None,
        trace: None,
        spurious: None,
    };
    let two = system.number_procs.unwrap_or(2).min(2);
    answer.warnings.extend(warning::of_initial_states(system, request.memory, two));
    if request.explore_first {
        for processes in if system.named { two..=two } else { 1..=two } {
            let exploration = explore_while(system, request.memory, processes, FEW, &go_on);
            answer.explored += exploration.states.len();
            if let Some(found) = exploration.trace {
                answer.violated(system, found);
                return Ok(answer);
            }
            if processes == two {
                let idle = warning::of_runs(system, request.memory, two, &exploration, &go_on);
                answer.warnings.extend(idle);
            }
        }
    }
    let left = || time.saturating_sub(cpu_time().saturating_sub(start));
    let memory = request.memory;
    let mut found = Found { system, memory, searched: memory, go_on: &go_on, real: None, spurious: None };
    let mut limits = found.run(&plan(&request, both, left()), request.max_work, &mut answer)?;
    if answer.robust.is_some() {
        // What is left to ask is whether it is safe under sequential consistency.
        let request = Request { memory: Memory::Sc, ..request };
        found.searched = Memory::Sc;
        let work = request.max_work.saturating_sub(answer.statistics.work);
        limits = found.run(&plan(&request, false, left()), work, &mut answer)?;
    }
    if let Some(real) = found.real {
        let real = fewer(system, request.memory, real, &go_on);
        answer.violated(system, real);
    } else if answer.invariant.is_empty() && !matches!(answer.verdict, Verdict::Safe(_)) {
        let spurious = found.spurious;
        answer.verdict = Verdict::Inconclusive(reason(system, &request, &answer, spurious.as_ref(), limits));
        answer.spurious = spurious.map(|run| run.steps);
    }
    if answer.statistics.dropped_lemmas > 0 {
        answer.warnings.push(Warning::NoInvariant { count: answer.statistics.dropped_lemmas });
    }
    Ok(answer)
}

/// Ways to search, and the share of the work that each gets.
type Plan<'a> = Vec<(Options<'a>, Share)>;

fn plan<'a>(request: &Request<'a>, both: bool, time: Duration) -> Plan<'a> {
    let exact = Options {
        memory: request.memory,
        order: if request.certifiable { Order::Issue } else { Order::Coherence },
        candidates: Candidates::None,
        small: SMALL,
        sliced: false,
        robust: false,
        jobs: request.jobs,
        max_nodes: request.max_nodes,
        max_work: request.max_work,
        max_time: time,
        max_restarts: usize::MAX,
        interrupt: request.interrupt,
    };
    let small = request.brab.map_or(SMALL, |processes| (processes, MORE_STATES));
    let bold = Options { candidates: Candidates::Bold, small, order: Order::Issue, ..exact };
    let bold = Options { max_restarts: MAX_RESTARTS, ..bold };
    let careful = Options { candidates: Candidates::Careful, ..bold };
    let cores = Options { candidates: Candidates::Cores, ..bold };
    // Candidates from few states are often wrong.
    let more = Options { small: (small.0, MORE_STATES), max_restarts: usize::MAX, ..bold };
    let buffered = matches!(request.memory, Memory::Tso | Memory::Pso);
    let robust = Options { robust: true, ..exact };
    let mut plan: Plan<'a> = Vec::new();
    if request.approximation != Approximation::Always {
        plan.push((exact, EXACT));
        let issue = Options { order: Order::Issue, ..exact };
        plan.extend((both && !request.certifiable).then_some((issue, EXACT)));
        plan.extend(buffered.then_some((Options { max_work: ROBUST_WORK, ..robust }, ROBUST)));
    }
    if request.approximation != Approximation::Never {
        let early = plan.is_empty();
        // Beside one exact search there is room for guesses from the start.
        let one = plan.iter().filter(|(options, _)| !options.robust).count() == 1;
        let begin = |share: Share, work: u64| {
            let begins = if early { work - BOLD_BEGINS } else { work };
            Share { begins, ..share }
        };
        plan.push((bold, if one { GUESS } else { begin(GUESS, BOLD_BEGINS) }));
        let robust = Options { candidates: Candidates::Bold, max_work: GUESSED_ROBUST_WORK, ..robust };
        plan.extend(buffered.then_some((robust, begin(GUESSED_ROBUST, CAREFUL_BEGINS))));
        plan.push((careful, begin(GUESS, CAREFUL_BEGINS)));
        plan.push((cores, begin(GUESS, CORES_BEGIN)));
        plan.push((Options { sliced: true, ..cores }, begin(GUESS, SLICES_BEGIN)));
        plan.extend((more.small != small).then_some((more, begin(GUESS, MORE_BEGINS))));
    }
    plan
}

/// What the searches found so far.
struct Found<'a> {
    system: &'a System,
    memory: Memory,
    /// The memory of the searches: a robust system is searched under sequential consistency.
    searched: Memory,
    go_on: &'a (dyn Fn() -> bool + Sync),
    real: Option<(Trace, usize)>,
    /// An abstract trace that does not replay.
    spurious: Option<AbstractTrace>,
}

impl Found<'_> {
    /// Runs all searches in turns. Returns the limits that ended them.
    fn run(
        &mut self,
        plan: &Plan<'_>,
        max_work: u64,
        answer: &mut ProofAnswer,
    ) -> Result<Vec<Limit>, Diagnostic> {
        let shares: Vec<Share> = plan.iter().map(|(_, share)| *share).collect();
        let turns = Turns::new(&shares, max_work);
        let system = self.system;
        let found = Mutex::new(self);
        let results: Vec<Result<Search, Diagnostic>> = std::thread::scope(|scope| {
            let searches: Vec<_> = (plan.iter().enumerate())
                .map(|(number, (options, _))| {
                    let (turns, found) = (&turns, &found);
                    scope.spawn(move || {
                        let mut judge = |outcome: &Outcome| match found.lock() {
                            Ok(mut found) => found.judge(outcome),
                            Err(_) => true,
                        };
                        search_among(system, *options, Some((turns, number)), &mut judge)
                    })
                })
                .collect();
            searches
                .into_iter()
                .map(|search| search.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut limits = Vec::new();
        for result in results {
            let result = result?;
            let total = &mut answer.statistics;
            total.work += result.statistics.work;
            total.nodes += result.statistics.nodes;
            total.restarts += result.statistics.restarts;
            total.oracle_states = total.oracle_states.max(result.statistics.oracle_states);
            match result.outcome {
                Outcome::Safe(invariant) => {
                    total.candidates = result.statistics.candidates;
                    total.dropped_lemmas = result.statistics.dropped_lemmas;
                    answer.verdict = Verdict::Safe(Coverage::AllInstances { cubes: invariant.len() });
                    answer.invariant = invariant;
                    answer.laws = result.laws;
                    answer.order = result.order;
                }
                Outcome::Robust(invariant) => {
                    answer.robust = Some(Robust { invariant, laws: result.laws });
                }
                Outcome::Unknown(limit) => limits.push(limit),
                Outcome::Unsafe(_) | Outcome::Reached(_) => {}
            }
        }
        Ok(limits)
    }

    /// Whether an outcome is an answer: an abstract trace is one if it replays.
    fn judge(&mut self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Safe(_) | Outcome::Robust(_) => true,
            Outcome::Unknown(_) => false,
            Outcome::Reached(found) if self.searched == self.memory => {
                self.real.get_or_insert_with(|| (**found).clone());
                true
            }
            // A run of another machine: the same steps, with commits between them, are one of this machine.
            Outcome::Reached(found) => {
                let steps = found.0.steps.iter().filter_map(|(step, _)| match step {
                    Step::Transition { index, procs } => Some((*index, procs.clone())),
                    _ => None,
                });
                let run = AbstractTrace { processes: found.0.processes, steps: steps.collect() };
                self.judge(&Outcome::Unsafe(run))
            }
            Outcome::Unsafe(run) => {
                let replayed = replay_while(self.system, self.memory, run.processes, &run.steps, self.go_on);
                // Another run of that many processes may be real.
                let replayed = replayed.or_else(|| {
                    let first = self.spurious.is_none();
                    let explore =
                        || explore_while(self.system, self.memory, run.processes, MANY, self.go_on).trace;
                    first.then(explore).flatten()
                });
                match replayed {
                    Some(real) => {
                        self.real.get_or_insert(real);
                    }
                    None => self.spurious = Some(run.clone()),
                }
                self.real.is_some()
            }
        }
    }
}

/// A run with fewer processes, if there is one in a small instance.
fn fewer(system: &System, memory: Memory, found: (Trace, usize), go_on: &dyn Fn() -> bool) -> (Trace, usize) {
    let mut processes = 1..found.0.processes;
    let less = processes.find_map(|count| explore_while(system, memory, count, FEW, go_on).trace);
    less.filter(|_| !system.named).unwrap_or(found)
}

/// Why there is no answer: what the user set comes first, then a trace that does not replay, then what a search met.
fn reason(
    system: &System,
    request: &Request<'_>,
    answer: &ProofAnswer,
    spurious: Option<&AbstractTrace>,
    limits: Vec<Limit>,
) -> Limit {
    if limits.contains(&Limit::Interrupted) {
        return Limit::Interrupted;
    }
    let late = limits.iter().any(|limit| matches!(limit, Limit::Time { .. }));
    let limit = if late {
        Limit::Time { seconds: request.max_seconds }
    } else if answer.statistics.work >= request.max_work {
        exhausted(request.max_work)
    } else {
        limits.into_iter().next().unwrap_or(Limit::Other("no search came to an end".into()))
    };
    let Some(AbstractTrace { processes, .. }) = spurious else { return limit };
    let mut causes = Vec::new();
    if system.transitions.iter().any(|transition| has_universal(&transition.guard, true)) {
        causes.push("universal guards are approximated by the processes at hand");
    }
    if answer.memory != Memory::Sc {
        causes.push(
            "writes of several processes to one location, and reads in unsafe formulas, are approximated",
        );
    }
    if causes.is_empty() {
        causes.push("integers are relaxed to rationals");
    }
    let why = format!(
        "the prover's trace with {processes} processes does not replay, as happens because {}",
        causes.join("; or because ")
    );
    Limit::Other(if late { format!("{why}; and {limit}") } else { why })
}

/// Whether a universal quantifier matters to the truth (or falsity) of the formula.
fn has_universal(formula: &Formula, holds: bool) -> bool {
    match formula {
        Formula::True | Formula::False | Formula::Compare(..) => false,
        Formula::Not(inner) => has_universal(inner, !holds),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| has_universal(part, holds)),
        Formula::If(condition, then, otherwise) => {
            has_universal(condition, true)
                || has_universal(condition, false)
                || has_universal(then, holds)
                || has_universal(otherwise, holds)
        }
        Formula::Forall(quantified) => holds || has_universal(&quantified.body, holds),
        Formula::Exists(quantified) => !holds || has_universal(&quantified.body, holds),
    }
}

impl ProofAnswer {
    fn violated(&mut self, system: &System, found: (Trace, usize)) {
        let name = system.unsafes[found.1].name.clone().map_or(String::new(), |name| format!(" `{name}`"));
        let plural = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let message = format!(
            "an unsafe state{name} is reached with {} in {}",
            plural(found.0.processes.into(), "process", "processes"),
            plural(found.0.steps.len(), "step", "steps")
        );
        let violation =
            Violation { kind: ViolationKind::Unsafe, message, location: None, related: Vec::new() };
        self.verdict = Verdict::Violated(Box::new(violation));
        self.trace = Some(found);
    }
}
