//! Models that keep dependencies only: every execution exactly once, on random programs, against brute
//! force over candidate executions.
//!
//! `PORF_FUZZ=N` sets the number of programs for each model, `PORF_SEED` the seed; 2,000 in all by
//! default, 50,000 for each model with `PORF_FULL=1`.

mod support;

use porf_cat::CatModel;
use porf_event::{EventId, Label};
use porf_explore::{
    Equivalence, Execution, Model as Fast, Options, Schedule, Visit, explore, explore_cat, explore_parallel,
};
use porf_graph::{CanonicalKey, Ev};
use porf_ir::Program;
use porf_oracle::{CatJudge, enumerate};
use porf_relation::Relation;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Mutex;
use support::chain;
use support::dependent::{IDIOMS, program};
use support::generate::{self, Modes};

const SCHEDULES: [Schedule; 5] =
    [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Fewest, Schedule::Hash(1), Schedule::Hash(2)];

type Keys = HashMap<CanonicalKey, u32>;

/// What brute force finds, and how many executions it finds whose dependencies run in circles.
struct Expected {
    keys: Keys,
    cyclic: u32,
}

fn expected(program: &Program, model: &CatModel, limit: usize) -> Option<Expected> {
    let mut judge = CatJudge::new(model);
    let mut expected = Expected { keys: Keys::new(), cyclic: 0 };
    let mut seen = 0;
    enumerate(program, &mut judge, 2, |execution, _| {
        seen += 1;
        if has_cycle(execution) {
            expected.cyclic += 1;
        } else {
            *expected.keys.entry(key_of_candidate(execution)).or_default() += 1;
        }
        seen <= limit
    })
    .ok()?;
    assert!(judge.error().is_none());
    (seen <= limit).then_some(expected)
}

/// Whether (rf ∪ addr ∪ data ∪ ctrl ∪ rmw)+ has a cycle.
fn has_cycle(execution: &porf_oracle::CandidateExecution<'_, '_>) -> bool {
    let candidate = execution.candidate;
    let mut order = Relation::empty(candidate.len());
    for (number, event) in candidate.events.iter().enumerate() {
        if event.label.is_read() {
            order.insert(execution.rf[number], number);
        }
        for index in event.dependencies.iter().flat_map(|dependencies| dependencies.all()) {
            if let Some(source) = candidate.number(EventId::new(event.id.thread, index)) {
                order.insert(source, number);
            }
        }
    }
    for &(read, write) in &candidate.rmw {
        order.insert(read, write);
    }
    !order.is_acyclic()
}

fn key_of_candidate(execution: &porf_oracle::CandidateExecution<'_, '_>) -> CanonicalKey {
    let candidate = execution.candidate;
    let inits = candidate.inits();
    let id = |number: usize| if number < inits { EventId::INIT } else { candidate.events[number].id };
    let events = candidate.events[inits..].iter().map(|event| (event.id, event.label));
    let reads = (inits..candidate.len()).filter(|&number| candidate.events[number].label.is_read());
    let co = candidate.locations.iter().zip(&execution.co);
    CanonicalKey::from_parts(
        events,
        reads.map(|read| (id(read), id(execution.rf[read]))),
        co.map(|(location, order)| (*location, order[1..].iter().map(|&write| id(write)).collect())),
    )
}

/// Without the events that models do not see.
fn key_of_graph(execution: &Execution<'_, '_>) -> CanonicalKey {
    let graph = execution.graph;
    let whole = CanonicalKey::of(graph, true);
    let visible =
        |label: &Label| matches!(label, Label::Read { .. } | Label::Write { .. } | Label::Fence { .. });
    let id = |ev: Ev| graph.event(ev).id;
    let reads = graph.all().filter(|&ev| graph.event(ev).label.is_read());
    CanonicalKey::from_parts(
        whole.events().iter().copied().filter(|(_, label)| visible(label)),
        reads.map(|read| (id(read), id(graph.rf(read)))),
        whole.co().iter().cloned(),
    )
}

struct Found {
    keys: Keys,
    twice: u32,
    /// One that was found twice.
    again: Option<CanonicalKey>,
    /// The main search was not enough.
    buffering: bool,
    /// Nor were seeds.
    whole: bool,
}

fn explored(
    program: &Program,
    model: &CatModel,
    fast: Option<Fast>,
    schedule: Schedule,
) -> Result<Found, String> {
    let mut found = Found { keys: Keys::new(), twice: 0, again: None, buffering: false, whole: false };
    let mut seen: HashSet<CanonicalKey> = HashSet::new();
    let options = Options { schedule, unroll: Some(2), ..Options::default() };
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                if !seen.insert(execution.key()) {
                    found.twice += 1;
                    found.again = Some(execution.key());
                }
                *found.keys.entry(key_of_graph(execution)).or_default() += 1;
            }
            Visit::Blocked(execution) => found.twice += u32::from(!seen.insert(execution.key())),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let statistics = match fast {
        Some(fast) => explore(program, fast, Equivalence::Mo, &options, &mut visitor),
        None => explore_cat(program, model, &options, &mut visitor),
    }
    .map_err(|error| error.to_string())?;
    found.buffering = statistics.buffering;
    found.whole = statistics.whole;
    Ok(found)
}

/// Of a program: how many executions it has, and how many that are left out because dependencies run in
/// circles; whether the main search was not enough.
struct Checked {
    executions: usize,
    cyclic: u32,
    buffering: bool,
}

/// What is wrong with the search, if anything is.
fn check(program: &Program, model: &CatModel, fast: Option<Fast>) -> Option<Checked> {
    let expected = expected(program, model, 600)?;
    let mut buffering = 0;
    for schedule in SCHEDULES {
        let found = explored(program, model, fast, schedule);
        let text = || porf_ir::print(program);
        let found = match found {
            Ok(found) => found,
            // Where executions could be missing, the search must say so.
            Err(error)
                if error.contains("reads early")
                    || error.contains("between a load-linked")
                    || error.contains("ends control dep")
                    || error.contains("past a read-modify-write") =>
            {
                return None;
            }
            Err(error) => panic!("{} {schedule:?}: {error}\n{}", model.name(), text()),
        };
        buffering += u32::from(found.buffering);
        let missing = expected.keys.keys().filter(|key| !found.keys.contains_key(key)).count();
        let extra = found.keys.keys().filter(|key| !expected.keys.contains_key(key)).count();
        let counts =
            expected.keys.iter().filter(|(key, n)| found.keys.get(key).is_some_and(|m| m != *n)).count();
        let example = expected.keys.keys().find(|key| !found.keys.contains_key(key)).or(found.again.as_ref());
        assert!(
            missing + extra + counts == 0 && found.twice == 0,
            "{} {schedule:?}: {missing} of {} missing, {extra} extra, {counts} counts, {} twice\n{}\n{}",
            model.name(),
            expected.keys.len(),
            found.twice,
            text(),
            example.map_or(String::new(), show),
        );
    }
    // Whichever way the search goes, it sees the same.
    assert!(
        buffering.is_multiple_of(SCHEDULES.len() as u32),
        "{} {buffering}\n{}",
        model.name(),
        porf_ir::print(program)
    );
    Some(Checked { executions: expected.keys.len(), cyclic: expected.cyclic, buffering: buffering > 0 })
}

fn show(key: &CanonicalKey) -> String {
    let mut text = String::from("for example:\n");
    for (id, label) in key.events() {
        let source = key.rf().iter().find(|(read, _)| read == id);
        let from = source.map_or(String::new(), |(_, source)| format!(" from {source}"));
        text += &format!("  {id}: {label}{from}\n");
    }
    for (location, order) in key.co() {
        let order: Vec<String> = order.iter().map(EventId::to_string).collect();
        text += &format!("  co {:#x}: {}\n", location.0, order.join(" "));
    }
    text
}

/// Forgetting thread histories changes nothing.
#[test]
fn in_little_memory() {
    for (name, fast) in [("armv8", None), ("armv8", Some(Fast::Armv8)), ("imm", Some(Fast::Imm))] {
        let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
        let model = CatModel::shipped(name.parse().unwrap());
        for at in 0..20 {
            let program = program((9 << 41) + at, 9, idiom);
            let keys = |memory: Option<usize>| {
                let mut keys = Keys::new();
                let options = Options { unroll: Some(2), memory, ..Options::default() };
                let mut visitor = |visit: Visit<'_, '_>| {
                    if let Visit::Complete(execution) = visit {
                        *keys.entry(execution.key()).or_default() += 1;
                    }
                    ControlFlow::Continue(())
                };
                match fast {
                    Some(fast) => explore(&program, fast, Equivalence::Mo, &options, &mut visitor),
                    None => explore_cat(&program, &model, &options, &mut visitor),
                }
                .unwrap();
                keys
            };
            assert!(keys(None) == keys(Some(0)), "{name} {}", porf_ir::print(&program));
        }
    }
}

/// Two workers, and a search that is broken off and taken up again: each execution once.
#[test]
fn in_parts() {
    for (name, fast) in [("imm", Fast::Imm), ("armv8", Fast::Armv8), ("lkmm", Fast::Lkmm)] {
        let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
        let model = CatModel::shipped(name.parse().unwrap());
        for at in 0..40 {
            let program = program((7 << 40) + (11 << 30) + at, 7, idiom);
            let Ok(expected) = explored(&program, &model, Some(fast), Schedule::LeftToRight) else {
                continue;
            };
            let options = Options { unroll: Some(2), ..Options::default() };
            for (workers, most) in [(2, u32::MAX), (2, 3), (1, 1)] {
                let found = Mutex::new(Keys::new());
                let mut from = None;
                loop {
                    let visitor = || {
                        let (found, mut count) = (&found, 0);
                        move |visit: Visit<'_, '_>| {
                            if let Visit::Complete(execution) = visit {
                                *found.lock().unwrap().entry(key_of_graph(execution)).or_default() += 1;
                                count += 1;
                            }
                            if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                        }
                    };
                    let visitors = (0..workers).map(|_| visitor()).collect();
                    let (_, rest) =
                        explore_parallel(&program, fast, Equivalence::Mo, &options, visitors, from).unwrap();
                    if rest.is_empty() {
                        break;
                    }
                    from = Some(rest);
                }
                let text = || porf_ir::print(&program);
                assert!(*found.lock().unwrap() == expected.keys, "{name} {workers} {most}\n{}", text());
            }
        }
    }
}

/// Models that keep program order, by their cat text: the same executions as their own checkers find, and as
/// brute force does.
#[test]
fn models_that_keep_program_order() {
    let models = [("sc", Fast::Sc), ("tso", Fast::Tso), ("ra", Fast::Ra), ("rc11", Fast::Rc11)];
    let mut checked = 0;
    for (name, fast) in models {
        let model = CatModel::shipped(name.parse().unwrap());
        for at in 0..budget() / 4 {
            let program = generate::program((9 << 40) + at, 6, Modes::All);
            checked += u32::from(check(&program, &model, None).is_some());
            let mut complete = Keys::new();
            let mut blocked: HashSet<CanonicalKey> = HashSet::new();
            let options = Options { unroll: Some(2), ..Options::default() };
            explore(&program, fast, Equivalence::Mo, &options, &mut |visit: Visit<'_, '_>| {
                match visit {
                    Visit::Complete(execution) => *complete.entry(execution.key()).or_default() += 1,
                    Visit::Blocked(execution) => assert!(blocked.insert(execution.key())),
                    _ => {}
                }
                ControlFlow::Continue(())
            })
            .unwrap();
            for schedule in SCHEDULES {
                let mut keys = Keys::new();
                let mut stuck = HashSet::new();
                let options = Options { schedule, unroll: Some(2), ..Options::default() };
                explore_cat(&program, &model, &options, &mut |visit: Visit<'_, '_>| {
                    match visit {
                        Visit::Complete(execution) => *keys.entry(execution.key()).or_default() += 1,
                        Visit::Blocked(execution) => assert!(stuck.insert(execution.key())),
                        _ => {}
                    }
                    ControlFlow::Continue(())
                })
                .unwrap();
                let text = || porf_ir::print(&program);
                assert!(
                    keys == complete,
                    "{name} {schedule:?}: {} and {}\n{}",
                    keys.len(),
                    complete.len(),
                    text()
                );
                // The main search cuts off blocked executions that tell nothing.
                assert!(blocked.is_subset(&stuck), "{name} {schedule:?}: blocked\n{}", text());
            }
        }
    }
    assert!(checked > 0);
}

fn budget() -> u64 {
    match std::env::var("PORF_FUZZ") {
        Ok(count) => count.parse().unwrap(),
        Err(_) if std::env::var_os("PORF_FULL").is_some() => 50_000,
        Err(_) => 300,
    }
}

fn fuzz(name: &str, size: u64, fast: Option<Fast>) {
    fuzz_size(name, size, budget(), fast);
    // More threads: holes that are filled while others wait.
    fuzz_size(name, size + 2, budget() / 4, fast);
}

fn fuzz_size(name: &str, size: u64, budget: u64, fast: Option<Fast>) {
    let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
    let model = CatModel::shipped(name.parse().unwrap());
    let seed: u64 = std::env::var("PORF_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (mut checked, mut executions, mut cyclic, mut buffering) = (0, 0, 0, 0);
    for at in 0..budget {
        let program = program((size << 40) + seed * 10_000_000 + at, size, idiom);
        if let Some(found) = check(&program, &model, fast) {
            checked += 1;
            executions += found.executions;
            cyclic += u64::from(found.cyclic);
            buffering += u64::from(found.buffering);
        }
    }
    assert!(checked * 2 > budget, "only {checked} of {budget} programs were small enough");
    println!(
        "{name}: {checked} programs, {executions} executions; {cyclic} with circular dependencies left out; \
         {buffering} programs with load buffering"
    );
    // Otherwise one of the two searches was not tried.
    assert!(fast.is_none() || (buffering * 2 < checked && buffering * 30 > checked));
}

/// Larger programs, made for load buffering: going on from seeds finds what the search through the whole program does.
#[test]
fn seeds_are_enough() {
    let models = [
        ("imm", Fast::Imm),
        ("armv8", Fast::Armv8),
        ("riscv", Fast::Riscv),
        ("power", Fast::Power),
        ("armv7", Fast::Armv7),
    ];
    let seed: u64 = std::env::var("PORF_SEED").map_or(1, |seed| seed.parse().unwrap());
    for (name, fast) in models {
        let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
        let model = CatModel::shipped(name.parse().unwrap());
        let (mut compared, mut executions) = (0, 0);
        for at in 0..budget() / 8 {
            let program = program((13 << 40) + seed * 40_000_000 + 4 * at, 13, idiom);
            let schedule = SCHEDULES[at as usize % SCHEDULES.len()];
            let Ok(found) = explored(&program, &model, Some(fast), schedule) else { continue };
            if !found.buffering || found.keys.len() > 200 {
                continue;
            }
            let whole = explored(&program, &model, None, Schedule::LeftToRight).unwrap();
            assert!(
                found.keys == whole.keys && found.twice == 0,
                "{name} {schedule:?}: {} and {}, {} twice\n{}",
                found.keys.len(),
                whole.keys.len(),
                found.twice,
                porf_ir::print(&program)
            );
            compared += 1;
            executions += found.keys.len();
        }
        println!("{name}: {compared} programs with load buffering, {executions} executions");
        assert!(compared * 20 > budget() / 8, "{name}: only {compared} programs");
    }
}

/// Programs in which the way of a seed, or a read-modify-write on it, depends on the read of the seed. The seed was
/// cut out with it, and the second search gave up.
#[test]
fn what_depends_on_the_read_of_a_seed() {
    let programs = [
        ("armv8", Fast::Armv8, 7_696_991_414_604),
        ("imm", Fast::Imm, 7_696_991_399_276),
        ("power", Fast::Power, 7_696_991_418_517),
        ("armv7", Fast::Armv7, 7_696_991_418_517),
    ];
    for (name, fast, seed) in programs {
        let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
        let (program, model) = (program(seed, 7, idiom), CatModel::shipped(name.parse().unwrap()));
        assert!(check(&program, &model, Some(fast)).is_none_or(|found| found.buffering));
        if let Ok(found) = explored(&program, &model, Some(fast), Schedule::LeftToRight) {
            assert!(!found.whole, "{name}\n{}", porf_ir::print(&program));
        }
    }
}

/// What one thread keeps in order, pair by pair.
fn chains(name: &str, fast: Fast) {
    let idiom = IDIOMS.iter().find(|idiom| idiom.model == name).unwrap();
    let model = CatModel::shipped(name.parse().unwrap());
    let seed: u64 = std::env::var("PORF_SEED").map_or(1, |seed| seed.parse().unwrap());
    let (mut checked, mut cut) = (0, 0);
    let count = 40 * budget();
    for at in 0..count {
        let program = chain::program((3 << 40) + seed * 10_000_000 + at, idiom);
        let Some(expected) = expected(&program, &model, 600) else { continue };
        let schedule = SCHEDULES[at as usize % SCHEDULES.len()];
        let Ok(found) = explored(&program, &model, Some(fast), schedule) else { continue };
        assert!(
            found.keys == expected.keys && found.twice == 0,
            "{name} {schedule:?}: {} and {}, {} twice\n{}",
            found.keys.len(),
            expected.keys.len(),
            found.twice,
            porf_ir::print(&program)
        );
        checked += 1;
        cut += u64::from(found.buffering);
    }
    println!("{name}: {checked} chains, {cut} with load buffering");
    assert!(checked * 10 > count * 9);
}

#[test]
fn armv8_chains() {
    chains("armv8", Fast::Armv8);
}

#[test]
fn riscv_chains() {
    chains("riscv", Fast::Riscv);
}

#[test]
fn imm() {
    fuzz("imm", 7, None);
}

#[test]
fn imm_by_its_own_checker() {
    fuzz("imm", 7, Some(Fast::Imm));
}

#[test]
fn armv8_on_the_main_search() {
    fuzz("armv8", 7, Some(Fast::Armv8));
}

#[test]
fn armv7_on_the_main_search() {
    fuzz("armv7", 7, Some(Fast::Armv7));
}

#[test]
fn power_on_the_main_search() {
    fuzz("power", 7, Some(Fast::Power));
}

#[test]
fn riscv_on_the_main_search() {
    fuzz("riscv", 7, Some(Fast::Riscv));
}

#[test]
fn armv8() {
    fuzz("armv8", 7, None);
}

#[test]
fn armv7() {
    fuzz("armv7", 7, None);
}

#[test]
fn power() {
    fuzz("power", 7, None);
}

#[test]
fn riscv() {
    fuzz("riscv", 7, None);
}

#[test]
fn lkmm() {
    fuzz("lkmm", 6, None);
}

/// What a register holds after an `if` depends on the condition, and no register says so: refused.
#[test]
fn implicit_flow_is_refused() {
    use porf_ir::{FunctionBuilder, FunctionId, Instr, ThreadEntry};
    let mut program = Program::default();
    let (x, y) = (program.add_global("x", 4, Vec::new()), program.add_global("y", 4, Vec::new()));
    let mut f = FunctionBuilder::new("P0");
    let (a, b) = (f.register("a"), f.register("b"));
    let mode = porf_event::ReadMode::Relaxed;
    f.push(Instr::Load { dst: b, address: y.into(), size: 4, mode });
    f.push(Instr::CtrlMark { slot: 0 });
    let (then, after) = (f.label(), f.label());
    f.branch(b, then, after);
    f.bind(then);
    f.push(Instr::Load { dst: a, address: y.into(), size: 4, mode });
    f.bind(after);
    f.push(Instr::CtrlRestore { slot: 0 });
    f.push(Instr::Store {
        address: x.into(),
        value: a.into(),
        size: 4,
        mode: porf_event::WriteMode::Relaxed,
    });
    program.functions.push(f.finish());
    program.threads.push(ThreadEntry { name: "P0".into(), function: FunctionId(0), registers: Vec::new() });
    let model = CatModel::shipped("lkmm".parse().unwrap());
    let options = Options { unroll: Some(2), ..Options::default() };
    let refused = explore_cat(&program, &model, &options, &mut |_: Visit<'_, '_>| ControlFlow::Continue(()));
    assert!(refused.unwrap_err().to_string().contains("`if` that is over"));
}

/// What plain accesses read and write orders nothing under lkmm. It had lost executions of one program in 9,000.
#[test]
fn plain_accesses_do_not_order() {
    let idiom = IDIOMS.iter().find(|idiom| idiom.model == "lkmm").unwrap();
    for at in [110_008_826, 110_021_300] {
        let program = program((6 << 40) + at, 6, idiom);
        assert!(check(&program, &CatModel::shipped("lkmm".parse().unwrap()), None).is_some());
    }
}

/// Under imm a store inside of an `if` that is over may be what a later read of the thread takes.
#[test]
fn optional_stores_are_refused() {
    let idiom = IDIOMS.iter().find(|idiom| idiom.model == "imm").unwrap();
    let program = program((9 << 40) + 110_008_544, 9, idiom);
    for fast in [None, Some(Fast::Imm)] {
        assert!(check(&program, &CatModel::shipped("imm".parse().unwrap()), fast).is_none());
    }
}

/// A store can overtake a read that an earlier compare-and-swap of its thread compares with. The search does not
/// follow that: it must say so.
#[test]
fn what_is_compared_later_is_refused() {
    let idiom = IDIOMS.iter().find(|idiom| idiom.model == "armv8").unwrap();
    let model = CatModel::shipped("armv8".parse().unwrap());
    let program = program((7 << 40) + 110_046_000, 7, idiom);
    for fast in [None, Some(Fast::Armv8)] {
        assert!(check(&program, &model, fast).is_none());
    }
}
