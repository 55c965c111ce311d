//! Splitting a search loses nothing and repeats nothing: workers, breaking off, going on from text.

mod support;

use porf_explore::{
    Equivalence, Estimate, Model, Options, Reductions, Rest, Visit, estimate, explore, explore_parallel,
};
use porf_graph::CanonicalKey;
use porf_ir::Program;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use support::generate::{Modes, program};

type Keys = HashMap<CanonicalKey, u32>;

fn note(keys: &mut Keys, visit: &Visit<'_, '_>) {
    if let Visit::Anew(_) = visit {
        keys.clear();
    }
    if let Visit::Complete(execution) | Visit::Blocked(execution) = visit {
        *keys.entry(execution.key()).or_default() += 1;
    }
}

fn alone(program: &Program, model: Model, equivalence: Equivalence) -> Keys {
    let mut keys = Keys::new();
    let mut visitor = |visit: Visit<'_, '_>| {
        note(&mut keys, &visit);
        ControlFlow::Continue(())
    };
    explore(program, model, equivalence, &Options::default(), &mut visitor).unwrap();
    keys
}

/// Breaks off after every `step` executions, through text.
fn in_steps(program: &Program, model: Model, equivalence: Equivalence, step: u32, jobs: usize) -> Keys {
    let keys = Mutex::new(Keys::new());
    let mut from: Option<Rest> = None;
    loop {
        let seen = Mutex::new(0);
        let visitors = (0..jobs)
            .map(|_| {
                |visit: Visit<'_, '_>| {
                    note(&mut keys.lock().unwrap(), &visit);
                    let mut seen = seen.lock().unwrap();
                    *seen += 1;
                    if *seen >= step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }
            })
            .collect();
        let (_, rest) =
            explore_parallel(program, model, equivalence, &Options::default(), visitors, from.take())
                .unwrap();
        if rest.tasks.is_empty() {
            return keys.into_inner().unwrap();
        }
        let text = serde_json::to_string(&rest).unwrap();
        from = Some(serde_json::from_str(&text).unwrap());
    }
}

#[test]
fn splitting_changes_nothing() {
    let kinds = [
        (Model::Sc, Equivalence::Mo),
        (Model::Rc11, Equivalence::Mo),
        (Model::Tso, Equivalence::Mo),
        (Model::Ra, Equivalence::Rf),
        (Model::Tso, Equivalence::Rf),
        (Model::Wrc11, Equivalence::Rf),
    ];
    for seed in 0..150 {
        let program = program((9 << 40) + seed, 8, Modes::Weak);
        for (model, equivalence) in kinds {
            let expected = alone(&program, model, equivalence);
            assert!(expected.values().all(|&count| count == 1));
            for (step, jobs) in [(1, 1), (3, 1), (5, 2), (1_000_000, 3)] {
                let found = in_steps(&program, model, equivalence, step, jobs);
                let text = porf_ir::print(&program);
                assert!(found == expected, "{model} {equivalence} in steps of {step}, {jobs} jobs\n{text}");
            }
        }
    }
}

/// What a search has found out about the variables of a program goes with what is left of it. The same if it forgets
/// what threads did all the time.
#[test]
fn splitting_with_reductions() {
    let flags = "program flags
global x, l, c
fn poll() { r = 0; o = 0; while r < 2 { o = l.cas(0, 1, acq, rlx); if o == 0 { r = x.na; l.rel = 0 } } return r }
fn add() { o = 1; while o != 0 { o = l.cas(0, 1, acq, rlx) } x.na = x.na + 1; l.rel = 0; r = c.rlx; o = c.cas(r, r + 1, rlx, rlx); while o != r { r = o; o = c.cas(r, r + 1, rlx, rlx) } return r }
thread P { a = poll() }
thread Q { a = add() }
thread R { b = add() }
";
    let counters = "program counters
global x, c = 60
fn read() { d = 0; t = 0; o = c.fetch_sub(1, acq); while (o > 50) == 0 { d = c.fetch_add(1, rlx); t = c.rlx; while t < 51 { t = c.rlx } o = c.fetch_sub(1, acq) } r = x.na; d = c.fetch_add(1, rel); return r }
fn write() { d = 0; t = 0; o = c.fetch_sub(10, acq); while (o == 60) == 0 { d = c.fetch_add(10, rlx); t = c.rlx; while t != 60 { t = c.rlx } o = c.fetch_sub(10, acq) } x.na = x.na + 1; d = c.fetch_add(10, rel); return 0 }
thread P { a = read() }
thread Q { a = read(); b = 0 }
thread R { b = write() }
";
    let polls = "program polls
global x, y, z, l
fn poll() { r = 0; while r == 0 { lock l; r = x.na; unlock l } return r }
fn add() { r = y.rlx; o = y.cas(r, r + 1, rlx, rlx); while o != r { r = o; o = y.cas(r, r + 1, rlx, rlx) } lock l; x.na = 1; unlock l; return 0 }
thread P { a = poll(); b = z.rlx }
thread Q = add()
thread R = add()
thread S { z.rlx = 1 }
";
    let twins = "program twins
global x, y
fn add() { r = x.rlx; o = x.cas(r, r + 1, rlx, rlx); while o != r { r = o; o = x.cas(r, r + 1, rlx, rlx) } y.rlx = r }
thread P = add()
thread Q = add()
thread R = add()
thread S { a = y.rlx; b = x.acq }
";
    let owners = "program owners
global x, y, c, e
fn copy() { r = 0; while r < 2 { e.na = x.acq; r = e.na } return r }
fn say() { r = 0; c.rel = 1; while r == 0 { c.rel = 1; r = x.acq } c.rel = 2; return r }
thread P { a = copy(); y.rlx = 1 }
thread Q { a = say(); b = y.rlx }
thread R { a = c.acq; x.rel = 1; x.rel = 2; b = c.acq }
";
    let all = [(flags, 10), (counters, 10), (polls, 5), (twins, 10), (owners, 10)];
    for (text, least) in all {
        let program = porf_ir::parse(text).unwrap();
        for model in [Model::Sc, Model::Ra, Model::Rc11] {
            let whole = alone(&program, model, Equivalence::Mo);
            assert!(
                whole.values().all(|times| *times == 1) && whole.len() > least,
                "{}\n{text}",
                whole.len()
            );
            for (step, jobs) in [(1, 1), (2, 2), (7, 3)] {
                let found = in_steps(&program, model, Equivalence::Mo, step, jobs);
                assert!(found == whole, "{model}: {step}, {jobs}\n{text}");
            }
            assert!(forgetting(&program, model, Equivalence::Mo) == whole, "{model}\n{text}");
        }
    }
}

/// All executions, while thread histories are forgotten at every step.
fn forgetting(program: &Program, model: Model, equivalence: Equivalence) -> Keys {
    let mut keys = Keys::new();
    let mut visitor = |visit: Visit<'_, '_>| {
        note(&mut keys, &visit);
        ControlFlow::Continue(())
    };
    let options = Options { memory: Some(0), ..Options::default() };
    explore(program, model, equivalence, &options, &mut visitor).unwrap();
    keys
}

/// Forgetting thread histories at every step changes nothing.
#[test]
fn histories_can_be_forgotten() {
    let kinds = [
        (Model::Sc, Equivalence::Mo),
        (Model::Rc11, Equivalence::Mo),
        (Model::Pso, Equivalence::Mo),
        (Model::Rc11, Equivalence::Rf),
        (Model::Wrc11, Equivalence::Rf),
    ];
    for seed in 0..150 {
        let program = program((12 << 40) + seed, 8, Modes::All);
        for (model, equivalence) in kinds {
            let keys = forgetting(&program, model, equivalence);
            let text = porf_ir::print(&program);
            assert!(keys == alone(&program, model, equivalence), "{model} {equivalence}\n{text}");
        }
    }
}

/// Estimates are right on average, and their intervals contain the number in most cases. The budget is so small that
/// nearly all programs are sampled.
#[test]
fn estimates_are_unbiased() {
    let (mut ratios, mut inside) = (Vec::new(), 0);
    for seed in 0..600 {
        let program = program((10 << 40) + seed, 10, Modes::Weak);
        let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
        let statistics =
            explore(&program, Model::Rc11, Equivalence::Mo, &Options::default(), &mut visitor).unwrap();
        let count = statistics.executions as f64;
        if !(20.0..5_000.0).contains(&count) {
            continue;
        }
        let Estimate { executions, standard_error, interval: (low, high), .. } =
            estimate(&program, Model::Rc11, Equivalence::Mo, &Options::default(), 2_000).unwrap();
        assert!(
            (executions - count).abs() <= 8.0 * standard_error + 1e-9,
            "{executions} ± {standard_error}, {count}\n{}",
            porf_ir::print(&program)
        );
        if standard_error == 0.0 {
            assert_eq!(executions, count, "what is small is exact");
        } else {
            ratios.push(executions / count);
            inside += usize::from((low..=high).contains(&count));
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!("{} estimates, {mean:.3} of the number on average, {inside} intervals contain it", ratios.len());
    assert!(ratios.len() > 20, "only {} programs were sampled", ratios.len());
    assert!((0.95..1.05).contains(&mean), "{mean}");
    assert!(inside * 10 >= ratios.len() * 8, "{inside} of {}", ratios.len());
}

/// Read-modify-writes: a random descent misses nearly all of the weight.
#[test]
fn estimates_of_read_modify_writes() {
    let text = "program ainc\nglobal x\nfn f() { a = x.fetch_add(1, sc); return a }\n";
    let threads: String = (0..9).map(|at| format!("thread P{at} {{ a = f(); }}\n")).collect();
    let program = porf_ir::parse(&(text.to_string() + &threads)).unwrap();
    let options = Options { reductions: Reductions::NONE, ..Options::default() };
    let Estimate { executions, interval: (low, high), .. } =
        estimate(&program, Model::Rc11, Equivalence::Mo, &options, 400_000).unwrap();
    println!("{executions:.0}, {low:.0} to {high:.0}, of 362,880");
    assert!((180_000.0..730_000.0).contains(&executions), "{executions} of 362,880");
    assert!(low <= 362_880.0 && 362_880.0 <= high, "{low} to {high}");
}
