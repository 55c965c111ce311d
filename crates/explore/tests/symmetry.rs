//! Up to the order of interchangeable threads: every execution once, and none is lost.

mod support;

use porf_event::{EventId, ThreadId};
use porf_explore::{
    Equivalence, Model, Options, Reduction, Reductions, Rest, Schedule, Statistics, Visit, explore,
    explore_parallel,
};
use porf_graph::CanonicalKey;
use porf_ir::Program;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Mutex;
use support::generate::{Modes, symmetric_program};
use support::{budget, permutations, programs};

const SCHEDULES: [Schedule; 4] =
    [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Fewest, Schedule::Hash(1)];
const MODELS: [Model; 7] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::Rc11, Model::C20];

const SYMMETRY: Reductions = Reductions::only(Reduction::Symmetry);
/// Programs with more executions are left out.
const MOST: u64 = 300;

/// How often each execution came, up to permutations.
type Forms = HashMap<u64, u32>;

#[derive(Default)]
struct Seen {
    complete: Forms,
    blocked: Forms,
    stuck: BTreeSet<u64>,
    /// Where races were seen, by function and instruction.
    races: BTreeSet<String>,
    statistics: Statistics,
}

/// The least hash of all that an execution becomes when threads are exchanged.
fn form(key: &CanonicalKey, permutations: &[Vec<u16>]) -> u64 {
    let renamed = |permutation: &Vec<u16>| {
        let id = |id: EventId| match id {
            EventId::INIT => id,
            EventId { thread, index } => EventId::new(ThreadId(permutation[thread.as_usize()]), index),
        };
        let co = key.co().iter().map(|(loc, writes)| (*loc, writes.iter().map(|&w| id(w)).collect()));
        let key = CanonicalKey::from_parts(
            key.events().iter().map(|(e, label)| (id(*e), *label)),
            key.rf().iter().map(|(read, write)| (id(*read), id(*write))),
            co,
        );
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        hasher.finish()
    };
    permutations.iter().map(renamed).min().unwrap()
}

/// How many complete executions a search stands for.
fn permuted(statistics: &Statistics) -> u64 {
    statistics.executions + statistics.reduced.by(Reduction::Symmetry)
}

/// `None` if there are too many.
fn run(program: &Program, model: Model, options: &Options) -> Option<Seen> {
    let permutations = permutations(program);
    let mut seen = Seen::default();
    let mut left = MOST;
    let mut visitor = |visit: Visit<'_, '_>| {
        if matches!(visit, Visit::Complete(_) | Visit::Blocked(_)) {
            left -= 1;
            if left == 0 {
                return ControlFlow::Break(());
            }
        }
        match visit {
            Visit::Complete(execution) => {
                *seen.complete.entry(form(&execution.key(), &permutations)).or_default() += 1;
            }
            Visit::Blocked(execution) => {
                let form = form(&execution.key(), &permutations);
                if execution.stuck().is_some() {
                    seen.stuck.insert(form);
                }
                *seen.blocked.entry(form).or_default() += 1;
            }
            Visit::Race(execution, one, other) => {
                let place = |ev| {
                    let EventId { thread, index } = execution.graph.event(ev).id;
                    (program.threads[thread.as_usize()].function, index)
                };
                let mut places = [place(one), place(other)];
                places.sort_unstable_by_key(|(function, index)| (function.0, *index));
                seen.races.insert(format!("{places:?}"));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let statistics = explore(program, model, Equivalence::Mo, options, &mut visitor).unwrap();
    seen.statistics = statistics;
    (left > 0).then_some(seen)
}

/// Compares the two searches: how many executions they have, and how many came more often than once.
fn check(program: &Program, model: Model, schedule: Schedule, all_blocked: bool) -> Option<(u64, u64, u32)> {
    let options = Options { schedule, all_blocked, reductions: Reductions::NONE, ..Options::default() };
    let all = run(program, model, &options)?;
    let few = run(program, model, &Options { reductions: SYMMETRY, ..options })?;
    let context = || format!("{model} {schedule:?}\n{}", porf_ir::print(program));
    assert!(all.complete.keys().eq_unordered(few.complete.keys()), "complete: {}", context());
    if all_blocked {
        assert!(all.blocked.keys().eq_unordered(few.blocked.keys()), "blocked: {}", context());
    }
    assert!(all.stuck == few.stuck, "stuck: {}", context());
    assert!(all.races.is_empty() == few.races.is_empty(), "races: {}", context());
    let twice: u32 = few.complete.values().chain(few.blocked.values()).map(|count| count - 1).sum();
    if twice == 0 {
        assert_eq!(permuted(&few.statistics), all.statistics.executions, "{}", context());
    }
    // What is after a read in porf but not in happens-before may be before its source in co.
    let may_repeat = matches!(model, Model::Rc11 | Model::C20) && program.threads.len() > 2;
    assert!(twice == 0 || may_repeat, "{twice} twice: {}", context());
    Some((all.statistics.executions, few.statistics.executions, twice))
}

trait EqUnordered: Iterator + Sized {
    fn eq_unordered(self, other: impl Iterator<Item = Self::Item>) -> bool
    where
        Self::Item: Ord,
    {
        self.collect::<BTreeSet<_>>() == other.collect::<BTreeSet<_>>()
    }
}

impl<I: Iterator> EqUnordered for I {}

fn fuzz(kind: u64, count: u64, size: u64, modes: Modes, waits: bool) {
    let (mut checked, mut before, mut after, mut repeated) = (0, 0, 0, 0);
    for at in 0..count {
        let program = symmetric_program((kind << 40) + at, size, modes, waits);
        for (number, model) in MODELS.into_iter().enumerate() {
            let schedule = SCHEDULES[(at as usize + number) % SCHEDULES.len()];
            let Some((all, few, twice)) = check(&program, model, schedule, at % 2 == 0) else { continue };
            checked += 1;
            before += all;
            after += few;
            repeated += twice;
        }
    }
    println!("{after} of {before} executions, {repeated} of them a permutation of another");
    assert!(checked > count && after * 2 < before);
    assert!(u64::from(repeated) * 1000 <= after);
}

#[test]
fn one_of_all_permutations() {
    fuzz(20, programs(150), 5, Modes::Relaxed, false);
    fuzz(21, budget(150), 5, Modes::All, false);
}

#[test]
fn threads_that_wait() {
    fuzz(22, budget(150), 5, Modes::All, true);
}

/// Breaking off after each execution and going on from text, with one and two workers.
#[test]
fn splitting_changes_nothing() {
    let options = Options { reductions: SYMMETRY, ..Options::default() };
    for at in 0..budget(40) {
        let program = symmetric_program((23 << 40) + at, 5, Modes::Weak, false);
        let permutations = permutations(&program);
        for model in [Model::Sc, Model::Rc11] {
            let Some(expected) = run(&program, model, &options) else { continue };
            for jobs in [1, 2] {
                let forms = Mutex::new(Forms::new());
                let (mut all, mut from): (u64, Option<Rest>) = (0, None);
                loop {
                    let visitors = (0..jobs)
                        .map(|_| {
                            |visit: Visit<'_, '_>| {
                                if let Visit::Complete(execution) = visit {
                                    let form = form(&execution.key(), &permutations);
                                    *forms.lock().unwrap().entry(form).or_default() += 1;
                                }
                                ControlFlow::Break(())
                            }
                        })
                        .collect();
                    let (statistics, rest) =
                        explore_parallel(&program, model, Equivalence::Mo, &options, visitors, from.take())
                            .unwrap();
                    all += permuted(&statistics);
                    if rest.is_empty() {
                        break;
                    }
                    from = Some(serde_json::from_str(&serde_json::to_string(&rest).unwrap()).unwrap());
                }
                assert_eq!(*forms.lock().unwrap(), expected.complete, "{}", porf_ir::print(&program));
                assert_eq!(all, permuted(&expected.statistics));
            }
        }
    }
}
