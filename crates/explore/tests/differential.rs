//! Every execution exactly once: the search against brute force, on random programs.

mod support;

use porf_explore::{Equivalence, Model, Options, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::Program;
use std::collections::HashSet;
use std::ops::ControlFlow;
use support::brute::{candidates, executions};
use support::budget;
use support::generate::{Modes, program, waiting_program};

const SCHEDULES: [Schedule; 5] =
    [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Fewest, Schedule::Hash(1), Schedule::Hash(2)];

fn seed() -> u64 {
    std::env::var("PORF_SEED").map_or(1, |seed| seed.parse().unwrap())
}

fn check(program: &Program, models: &[(Model, Equivalence)]) -> bool {
    let Some(candidates) = candidates(program, 4_000) else { return false };
    for &(model, equivalence) in models {
        let (complete, blocked) = executions(&candidates, model, equivalence);
        for schedule in SCHEDULES {
            let (mut found, mut stuck): (HashSet<CanonicalKey>, HashSet<CanonicalKey>) = Default::default();
            let mut twice = 0;
            let options = Options { schedule, all_blocked: true, ..Options::default() };
            let result = explore(program, model, equivalence, &options, &mut |visit: Visit<'_, '_>| {
                match visit {
                    Visit::Complete(execution) => twice += u32::from(!found.insert(execution.key())),
                    Visit::Blocked(execution) => twice += u32::from(!stuck.insert(execution.key())),
                    _ => {}
                }
                ControlFlow::Continue(())
            });
            let context = || {
                format!(
                    "{model} {equivalence} {schedule:?}: {} missing, {} extra, {twice} twice; blocked: {} missing, {} extra\n{}",
                    complete.difference(&found).count(),
                    found.difference(&complete).count(),
                    blocked.difference(&stuck).count(),
                    stuck.difference(&blocked).count(),
                    porf_ir::print(program),
                )
            };
            assert!(result.is_ok(), "{result:?} {}", context());
            assert!(complete == found && blocked == stuck && twice == 0, "{}", context());
        }
    }
    true
}

fn fuzz(kind: u64, count: u64, size: u64, modes: Modes, models: &[(Model, Equivalence)]) {
    let mut checked = 0;
    for at in 0..count {
        let program = program((kind << 40) + seed() * 10_000_000 + at, size, modes);
        checked += u64::from(check(&program, models));
    }
    assert!(checked * 2 > count, "only {checked} of {count} programs were small enough");
    println!("{checked} of {count} programs checked");
}

#[test]
fn relaxed_programs() {
    use Model::*;
    let models = [Sc, Tso, Pso, Ra, Sra].map(|model| (model, Equivalence::Mo));
    fuzz(1, budget(500), 6, Modes::Relaxed, &models);
}

#[test]
fn store_buffers_with_fences() {
    fuzz(6, budget(300), 7, Modes::All, &[(Model::Tso, Equivalence::Mo), (Model::Pso, Equivalence::Mo)]);
}

#[test]
fn rc11_without_sc() {
    fuzz(2, budget(500), 6, Modes::Weak, &[(Model::Rc11, Equivalence::Mo)]);
}

#[test]
fn rc11_with_sc() {
    fuzz(3, budget(500), 7, Modes::All, &[(Model::Rc11, Equivalence::Mo)]);
}

#[test]
fn c20() {
    fuzz(14, budget(300), 6, Modes::Weak, &[(Model::C20, Equivalence::Mo), (Model::C20, Equivalence::Rf)]);
    fuzz(15, budget(150), 7, Modes::All, &[(Model::C20, Equivalence::Mo), (Model::C20, Equivalence::Rf)]);
}

#[test]
fn up_to_rf() {
    fuzz(4, budget(300), 6, Modes::Weak, &[(Model::Ra, Equivalence::Rf), (Model::Rc11, Equivalence::Rf)]);
}

#[test]
fn strong_models_up_to_rf() {
    use Model::*;
    let models = [Sc, Tso, Pso, Sra].map(|model| (model, Equivalence::Rf));
    fuzz(16, budget(300), 6, Modes::Relaxed, &models);
    fuzz(17, budget(200), 7, Modes::All, &models);
}

#[test]
fn wrc11() {
    fuzz(5, budget(300), 6, Modes::Weak, &[(Model::Wrc11, Equivalence::Rf)]);
}

#[test]
fn up_to_rf_with_sc() {
    let models = [(Model::Rc11, Equivalence::Rf), (Model::Wrc11, Equivalence::Rf)];
    fuzz(8, budget(300), 7, Modes::All, &models);
    fuzz(9, budget(200), 8, Modes::Sc, &models);
}

/// Cutting off blocked executions early loses no complete execution, no race, and none that waits for
/// ever.
#[test]
fn blocked_executions_that_tell_nothing() {
    use Model::*;
    let (mut all, mut shown, mut for_ever, mut racy) = (0, 0, 0, 0);
    for at in 0..budget(400) {
        let program = waiting_program((13 << 40) + seed() * 10_000_000 + at, 8, Modes::All);
        for model in [Sc, Tso, Pso, Ra, Sra, Rc11] {
            let run = |schedule: Schedule, all_blocked: bool| {
                let (mut complete, mut stuck) = (HashSet::new(), HashSet::new());
                let (mut blocked, mut races) = (0, 0);
                let options = Options { schedule, all_blocked, ..Options::default() };
                let mut visitor = |visit: Visit<'_, '_>| {
                    match visit {
                        Visit::Complete(execution) => assert!(complete.insert(execution.key())),
                        Visit::Blocked(execution) => {
                            blocked += 1;
                            if execution.stuck().is_some() {
                                assert!(stuck.insert(execution.key()));
                            }
                        }
                        Visit::Race(..) => races += 1,
                        _ => {}
                    }
                    ControlFlow::Continue(())
                };
                explore(&program, model, Equivalence::Mo, &options, &mut visitor).unwrap();
                (complete, stuck, blocked, races)
            };
            for schedule in [SCHEDULES[0], SCHEDULES[1], SCHEDULES[3], SCHEDULES[4]] {
                let (complete, stuck, blocked, races) = run(schedule, true);
                let (few_complete, few_stuck, few_blocked, few_races) = run(schedule, false);
                let same = complete == few_complete && stuck == few_stuck && (races > 0) == (few_races > 0);
                assert!(same && few_blocked <= blocked, "{model} {schedule:?}\n{}", porf_ir::print(&program));
                all += blocked;
                shown += few_blocked;
                for_ever += stuck.len();
                racy += u32::from(races > 0);
            }
        }
    }
    println!("{shown} of {all} blocked executions, {for_ever} wait for ever, {racy} racy runs");
    assert!(shown < all && for_ever > 0 && racy > 0);
}

/// Where the search for an order of the writes may not branch, there is the right answer or none.
#[test]
fn giving_up_is_said() {
    let (mut decided, mut undecided) = (0, 0);
    for at in 0..400 {
        let program = program((11 << 40) + at, 8, Modes::Sc);
        let run = |branches: Option<u32>| {
            let mut keys: HashSet<CanonicalKey> = HashSet::new();
            let options = Options { branches, ..Options::default() };
            let mut visitor = |visit: Visit<'_, '_>| {
                if let Visit::Complete(execution) | Visit::Blocked(execution) = visit {
                    keys.insert(execution.key());
                }
                ControlFlow::Continue(())
            };
            explore(&program, Model::Rc11, Equivalence::Rf, &options, &mut visitor).map(|_| keys)
        };
        match run(Some(0)) {
            Ok(keys) => {
                assert_eq!(Ok(keys), run(None), "{}", porf_ir::print(&program));
                decided += 1;
            }
            Err(error) => {
                assert_eq!(error, porf_explore::Error::Undecided);
                undecided += 1;
            }
        }
    }
    assert!(decided > 100 && undecided > 0, "{decided} decided, {undecided} not");
}

/// Fences and accesses of few shapes, more threads: what psc is about.
#[test]
fn rc11_around_fences() {
    fuzz(7, budget(300), 8, Modes::Sc, &[(Model::Rc11, Equivalence::Mo)]);
}
