//! Up to the order in which threads come to barriers: every execution once, and none is lost.

mod support;

use porf_event::{EventId, Label, RmwKind, ThreadId};
use porf_explore::{
    Equivalence, Model, Options, Reduction, Reductions, Rest, Schedule, Statistics, Visit, explore,
    explore_parallel,
};
use porf_graph::CanonicalKey;
use porf_ir::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Mutex;
use support::generate::{Barrier, Modes, barrier_program};
use support::{budget, permutations, programs};

const MODELS: [Model; 7] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::Rc11, Model::C20];
const SCHEDULES: [Schedule; 4] =
    [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::LeftToRight, Schedule::Fewest];
const BARRIERS: Reductions = Reductions::only(Reduction::Barriers);
/// Programs with more executions are left out.
const MOST: u64 = 600;

/// How often each execution came.
type Forms = BTreeMap<u64, u32>;

#[derive(Default)]
struct Seen {
    complete: Forms,
    stuck: Forms,
    racy: bool,
    statistics: Statistics,
}

/// What an execution is if nobody sees who came when to the barrier: of the accesses to its counter only the
/// generations are left. The least hash of all permutations.
fn form(key: &CanonicalKey, barrier: &Barrier, permutations: &[Vec<u16>]) -> u64 {
    let is_counter = |label: &Label| label.location().is_some_and(|location| location.0 == barrier.counter);
    let hash = |permutation: &Vec<u16>| {
        let id = |id: EventId| match id {
            EventId::INIT => id,
            EventId { thread, index } => EventId::new(ThreadId(permutation[thread.as_usize()]), index),
        };
        let at_counter =
            |e: EventId| key.events().iter().any(|(other, label)| *other == e && is_counter(label));
        let mut generations: Vec<(EventId, u64)> = key
            .events()
            .iter()
            .filter_map(|(e, label)| match label {
                Label::Read { rmw: RmwKind::Barrier, value, .. } => Some((id(*e), value / barrier.count)),
                _ => None,
            })
            .collect();
        generations.sort_unstable();
        let rest = CanonicalKey::from_parts(
            key.events().iter().filter(|(_, label)| !is_counter(label)).map(|(e, label)| (id(*e), *label)),
            key.rf()
                .iter()
                .filter(|(read, _)| !at_counter(*read))
                .map(|(read, write)| (id(*read), id(*write))),
            key.co()
                .iter()
                .filter(|(location, _)| location.0 != barrier.counter)
                .map(|(location, writes)| (*location, writes.iter().map(|&write| id(write)).collect())),
        );
        let mut hasher = DefaultHasher::new();
        (generations, rest).hash(&mut hasher);
        hasher.finish()
    };
    permutations.iter().map(hash).min().unwrap()
}

/// `None` if there are too many executions.
fn run(
    (program, barrier): (&Program, &Barrier),
    permutations: &[Vec<u16>],
    model: Model,
    options: &Options,
) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut left = MOST;
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                *seen.complete.entry(form(&execution.key(), barrier, permutations)).or_default() += 1;
            }
            Visit::Blocked(execution) if execution.stuck().is_some() => {
                *seen.stuck.entry(form(&execution.key(), barrier, permutations)).or_default() += 1;
            }
            Visit::Race(..) => seen.racy = true,
            Visit::Anew(_) => seen = Seen::default(),
            _ => {}
        }
        left -= u64::from(matches!(visit, Visit::Complete(_) | Visit::Blocked(_)));
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let statistics = explore(program, model, Equivalence::Mo, options, &mut visitor).unwrap();
    seen.statistics = statistics;
    (left > 0).then_some(seen)
}

fn identity(program: &Program) -> Vec<Vec<u16>> {
    vec![(0..program.threads.len() as u16).collect()]
}

fn keys(forms: &Forms) -> BTreeSet<u64> {
    forms.keys().copied().collect()
}

/// Compares; how many executions there are in each search, and whether the reduction was made.
fn check(
    (program, barrier): (&Program, &Barrier),
    model: Model,
    schedule: Schedule,
) -> Option<(u64, u64, bool)> {
    let options = Options { schedule, reductions: Reductions::NONE, ..Options::default() };
    let all = run((program, barrier), &identity(program), model, &options)?;
    let few =
        run((program, barrier), &identity(program), model, &Options { reductions: BARRIERS, ..options })?;
    let made = few.statistics.reduced.by(Reduction::Barriers) > 0;
    let context = || format!("{model} {schedule:?}\n{}", porf_ir::print(program));
    assert!(keys(&all.complete) == keys(&few.complete), "complete: {}", context());
    assert!(keys(&all.stuck) == keys(&few.stuck), "stuck: {}", context());
    assert!(all.racy == few.racy, "racy: {}", context());
    if made {
        assert!(few.complete.values().chain(few.stuck.values()).all(|&count| count == 1), "{}", context());
    }
    // Together with symmetry.
    let permutations = permutations(program);
    let expected = run((program, barrier), &permutations, model, &options)?;
    let both = Options { reductions: Reductions::ALL, ..options };
    let fewest = run((program, barrier), &permutations, model, &both)?;
    assert!(keys(&expected.complete) == keys(&fewest.complete), "with symmetry: {}", context());
    assert!(keys(&expected.stuck) == keys(&fewest.stuck), "stuck, with symmetry: {}", context());
    let may_repeat = matches!(model, Model::Rc11 | Model::C20) && program.threads.len() > 2;
    if made && !may_repeat {
        assert!(fewest.complete.values().all(|&count| count == 1), "with symmetry, twice: {}", context());
        assert_eq!(
            fewest.statistics.executions + fewest.statistics.reduced.by(Reduction::Symmetry),
            few.statistics.executions,
            "{}",
            context()
        );
    }
    Some((all.statistics.executions, few.statistics.executions, made))
}

#[test]
fn the_order_of_arrivals_is_not_seen() {
    let (mut checked, mut reduced, mut before, mut after) = (0, 0, 0, 0);
    for at in 0..programs(60) {
        let modes = [Modes::Relaxed, Modes::Weak, Modes::All][at as usize % 3];
        let (program, barrier) = barrier_program((30 << 40) + at, modes);
        for (number, model) in MODELS.into_iter().enumerate() {
            let schedule = SCHEDULES[(at as usize + number) % SCHEDULES.len()];
            let Some((all, few, made)) = check((&program, &barrier), model, schedule) else { continue };
            checked += 1;
            reduced += u32::from(made);
            before += all;
            after += few;
        }
    }
    println!("{checked} checked, {reduced} of them reduced: {after} of {before} executions");
    assert!(reduced * 2 > checked && after < before);
}

/// Breaking off after each execution and going on from text, with one and two workers.
#[test]
fn splitting_changes_nothing() {
    let options = Options { reductions: BARRIERS, ..Options::default() };
    for at in 0..budget(30) {
        let (program, barrier) = barrier_program((31 << 40) + at, Modes::Weak);
        let permutations = identity(&program);
        let expected = run((&program, &barrier), &permutations, Model::Rc11, &options);
        let Some(expected) = expected.filter(|seen| seen.complete.len() < 200) else { continue };
        for jobs in [1, 2] {
            let forms = Mutex::new(Forms::new());
            let mut from: Option<Rest> = None;
            loop {
                let visitors = (0..jobs)
                    .map(|_| {
                        |visit: Visit<'_, '_>| {
                            match visit {
                                Visit::Complete(execution) => {
                                    let form = form(&execution.key(), &barrier, &permutations);
                                    *forms.lock().unwrap().entry(form).or_default() += 1;
                                }
                                Visit::Anew(_) => forms.lock().unwrap().clear(),
                                _ => {}
                            }
                            ControlFlow::Break(())
                        }
                    })
                    .collect();
                let (_, rest) =
                    explore_parallel(&program, Model::Rc11, Equivalence::Mo, &options, visitors, from.take())
                        .unwrap();
                if rest.is_empty() {
                    break;
                }
                from = Some(serde_json::from_str(&serde_json::to_string(&rest).unwrap()).unwrap());
            }
            assert_eq!(*forms.lock().unwrap(), expected.complete, "{}", porf_ir::print(&program));
        }
    }
}
