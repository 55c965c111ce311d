//! Reductions lose nothing: random programs with loops, with each reduction and without any.
//!
//! With the same bound on loops, the final states of complete executions and what goes wrong (kind and place)
//! must be the same, for every model; no execution comes twice; and none that the search without reductions
//! does not have. Threads that wait for ever are found wherever they are found without the reduction.

mod support;

use porf_event::ThreadId;
use porf_explore::{Equivalence, Model, Options, Reduction, Reductions, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::{Program, Reg};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use support::budget;
use support::generate::Random;

/// More visits than this are too many for a small test.
const MOST: usize = 2_000;

const EVERYWHERE: [(Model, Equivalence); 12] = [
    (Model::Sc, Equivalence::Mo),
    (Model::Tso, Equivalence::Mo),
    (Model::Pso, Equivalence::Mo),
    (Model::Ra, Equivalence::Mo),
    (Model::Sra, Equivalence::Mo),
    (Model::Rc11, Equivalence::Mo),
    (Model::C20, Equivalence::Mo),
    (Model::Sc, Equivalence::Rf),
    (Model::Tso, Equivalence::Rf),
    (Model::Ra, Equivalence::Rf),
    (Model::Rc11, Equivalence::Rf),
    (Model::Wrc11, Equivalence::Rf),
];

/// What a search shows.
#[derive(Default, PartialEq, Eq)]
struct Shown {
    keys: HashSet<CanonicalKey>,
    /// Registers of the threads, and memory where it is part of an execution.
    states: BTreeSet<Vec<u64>>,
    /// Kind and place.
    wrong: BTreeSet<String>,
    /// What threads run that wait for ever, together.
    stuck: BTreeSet<Vec<u32>>,
    blocked: u64,
    reduced: u64,
}

/// `None` if there is too much of it.
fn show(
    program: &Program,
    (model, equivalence): (Model, Equivalence),
    schedule: Schedule,
    unroll: u32,
    reductions: Reductions,
) -> Option<Shown> {
    let mut shown = Shown::default();
    let mut visits = 0;
    let options = Options { unroll: Some(unroll), schedule, reductions, ..Options::default() };
    let mut visitor = |visit: Visit<'_, '_>| {
        match visit {
            Visit::Complete(execution) => {
                assert!(shown.keys.insert(execution.key()), "twice\n{}", porf_ir::print(program));
                let mut ends = Vec::new();
                for (at, thread) in program.threads.iter().enumerate() {
                    let names = &program.function(thread.function).register_names;
                    let end = execution.state(ThreadId(at as u16));
                    let named = (0..names.len()).filter(|reg| !names[*reg].is_empty());
                    let registers: Vec<u64> = named.map(|reg| end.register(Reg(reg as u32))).collect();
                    ends.push((thread.function, registers));
                }
                // Which of two equal threads ends how does not matter.
                ends.sort();
                let mut state: Vec<u64> = ends.into_iter().flat_map(|(_, registers)| registers).collect();
                if equivalence == Equivalence::Mo {
                    state.extend(program.globals.iter().map(|global| execution.memory(global.address, 4)));
                }
                shown.states.insert(state);
            }
            Visit::Blocked(execution) => {
                shown.blocked += 1;
                if let Some(stuck) = execution.stuck() {
                    let runs = |thread: ThreadId| program.threads[thread.as_usize()].function.0;
                    let mut threads: Vec<u32> =
                        stuck.threads.iter().map(|(thread, ..)| runs(*thread)).collect();
                    threads.sort_unstable();
                    shown.stuck.insert(threads);
                }
            }
            Visit::Fault(_, fault) => {
                shown.wrong.insert(format!("{:?} {:?}", fault.kind, fault.span));
            }
            // Of an event with several races one is shown.
            Visit::Race(execution, _, event) => {
                let access = execution.graph.event(event).label.access();
                shown.wrong.insert(format!("race {:?}", access.map(|access| access.location)));
            }
            Visit::Anew(_) => {
                shown = Shown::default();
                visits = 0;
            }
            Visit::Memory(..) | Visit::Working(_) => {}
        }
        visits += if matches!(visit, Visit::Working(_)) { 700 } else { 1 };
        if visits > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let statistics = explore(program, model, equivalence, &options, &mut visitor);
    let statistics = match statistics {
        Err(porf_explore::Error::Undecided) => return None,
        result => result.unwrap_or_else(|error| panic!("{error}\n{}", porf_ir::print(program))),
    };
    shown.reduced = Reduction::ALL.into_iter().map(|reduction| statistics.reduced.by(reduction)).sum();
    (visits <= MOST).then_some(shown)
}

fn mode(random: &mut Random, of: &[&'static str]) -> &'static str {
    random.pick(of)
}

/// Functions with loops of the kinds that lock-free code has, by number.
fn looping(random: &mut Random, name: &str) -> String {
    let x = random.pick(&["x", "x", "y"]);
    let y = random.pick(&["x", "y", "y"]);
    let first = mode(random, &["rlx", "rlx", "acq", "sc", "na"]);
    let inner = mode(random, &["rlx", "acq", "sc", "na"]);
    let both = mode(random, &["rlx", "acq", "rel", "acqrel", "sc"]);
    let failure = mode(random, &["rlx", "rlx", "acq", "sc"]);
    let cas = random.pick(&["cas", "cas", "cas", "cas_weak"]);
    let fence = if random.below(4) == 0 {
        format!("fence {};", mode(random, &["acq", "rel", "acqrel", "sc"]))
    } else {
        String::new()
    };
    let odd = match random.below(6) {
        0 => format!("if r == 1 {{ d = {y}.{inner} }}"),
        1 => "assert r != 2, \"two\";".to_string(),
        2 => format!("d = {y}.{inner};"),
        _ => String::new(),
    };
    let take = format!("{x}.{cas}(r, r + 1, {both}, {failure})");
    let body = match random.below(8) {
        // The textbook: the loop begins with what the compare-and-swap found.
        0 | 1 => {
            format!("r = {x}.{first}; {fence} o = {take}; while o != r {{ r = o; {fence} {odd} o = {take} }}")
        }
        // The same, given up at some value.
        2 => format!(
            "r = {x}.{first}; go = 1; while go != 0 {{ if r == 2 {{ go = 0 }} else {{ {odd} o = {take}; {fence} if o == r {{ go = 0 }} else {{ r = o }} }} }}"
        ),
        // A second variable is looked at first: a bounded queue.
        3 | 4 => format!(
            "r = {x}.{first}; go = 1; while go != 0 {{ t = {y}.{inner}; if t == r {{ o = {take}; if o == r {{ go = 0 }} else {{ r = o }} }} else {{ if t < r {{ go = 0 }} else {{ r = {x}.{first} }} }} }}"
        ),
        // All is read again.
        5 => format!(
            "go = 1; while go != 0 {{ r = {x}.{first}; {odd} {fence} o = {take}; if o == r {{ go = 0 }} }}"
        ),
        // Waiting, with something that nobody needs.
        6 => format!("r = {x}.{inner}; while r == 0 {{ d = {y}.{failure}; r = {x}.{inner} }}"),
        _ => format!("r = {x}.{first}; n = 0; while r == 1 {{ n = n + 1; {fence} r = {x}.{failure} }}"),
    };
    format!("fn {name}() {{ r = 0; o = 0; d = 0; {body} return r }}\n")
}

/// Functions that look under a lock until they see something.
fn polling(random: &mut Random, name: &str) -> String {
    let (x, y) = random.pick(&[("x", "y"), ("y", "x")]);
    let (inside, outside) =
        (mode(random, &["na", "na", "rlx", "acq"]), mode(random, &["rlx", "acq", "sc", "na"]));
    let body = match random.below(5) {
        0 | 1 => format!("while r == 0 {{ lock l; r = {x}.{inside}; d = {y}.{inside}; unlock l }}"),
        2 => {
            format!("while r == 0 {{ lock l; r = {x}.{inside}; if r == 0 {{ d = {y}.{inside} }} unlock l }}")
        }
        3 => format!(
            "while r == 0 {{ d = {y}.{outside}; lock l; lock m; r = {x}.{inside}; unlock m; unlock l }}"
        ),
        // This one leaves something behind.
        _ => format!("while r == 0 {{ lock l; r = {x}.{inside}; {y}.rlx = r + 1; unlock l }}"),
    };
    format!("fn {name}() {{ r = 0; d = 0; {body} return r }}\n")
}

/// Functions that take two locks, by trying the second one, and give both back.
fn backing_off(random: &mut Random, name: &str) -> String {
    let (l, m) = random.pick(&[("l", "m"), ("m", "l")]);
    let x = random.pick(&["x", "y"]);
    let inside = match random.below(4) {
        0 => format!("{x}.na = {x}.na + 1;"),
        1 => format!("r = {x}.na;"),
        2 => format!("r = {x}.rlx;"),
        _ => format!("{x}.rlx = 1;"),
    };
    let body = match random.below(6) {
        0..3 => format!(
            "while t == 0 {{ lock {l}; t = trylock {m}; if t == 0 {{ unlock {l} }} }} {inside} unlock {m}; unlock {l}"
        ),
        // It looks at something else before it starts again.
        3 => format!(
            "while t == 0 {{ lock {l}; t = trylock {m}; if t == 0 {{ d = y.rlx; unlock {l} }} }} {inside} unlock {m}; unlock {l}"
        ),
        // These see that the lock was taken.
        4 => format!("t = trylock {l}; if t != 0 {{ {inside} unlock {l} }} else {{ r = 7 }}"),
        _ => format!("t = trylock {l}; while t == 0 {{ t = trylock {l} }} {inside} unlock {l}"),
    };
    format!("fn {name}() {{ r = 0; d = 0; t = 0; {body} return r }}\n")
}

fn straight(random: &mut Random) -> String {
    let x = random.pick(&["x", "y"]);
    match random.below(8) {
        0..3 => format!("{x}.{} = {};", mode(random, &["rlx", "rel", "sc", "na"]), 1 + random.below(2)),
        3 | 4 => format!("a = {x}.{};", mode(random, &["rlx", "acq", "sc", "na"])),
        5 => format!("a = {x}.fetch_add(1, {});", mode(random, &["rlx", "acqrel", "sc"])),
        6 => format!("fence {};", mode(random, &["acq", "rel", "sc"])),
        _ => {
            let mode = mode(random, &["na", "rlx"]);
            format!("lock l; {x}.{mode} = {}; unlock l;", random.below(3))
        }
    }
}

/// 2 or 3 threads, of which some loop, or look under locks, or try them.
fn text(seed: u64, polls: bool) -> String {
    let mut random = Random::new(seed);
    let mut text = format!("program random{seed}\nglobal x, y, l, m\n");
    let threads = random.pick(&[2, 2, 3]);
    let tries = polls && random.below(2) == 0;
    let mut code = String::new();
    for thread in 0..threads {
        write!(code, "thread P{thread} {{ a = 0; b = 0; ").unwrap();
        for step in 0..1 + random.below(2) {
            if random.below(5) < 3 || (thread == 0 && step == 0) {
                let name = format!("f{thread}{step}");
                text.push_str(&match (tries, polls && random.below(2) == 0) {
                    (true, _) => backing_off(&mut random, &name),
                    (false, true) => polling(&mut random, &name),
                    (false, false) => looping(&mut random, &name),
                });
                write!(code, "b = {name}(); ").unwrap();
            } else if polls && random.below(2) == 0 {
                write!(code, "lock l; {}.na = 1; unlock l; ", random.pick(&["x", "y"])).unwrap();
            } else {
                code.push_str(&straight(&mut random));
            }
        }
        code.push_str("}\n");
    }
    if threads == 2 && random.below(3) == 0 {
        code.push_str("thread P2 = P0()\n");
    }
    text + &code
}

/// Compares what is shown with and without `reductions`; every so many programs look under locks.
fn compare(kind: u64, count: u64, polling: u64, reductions: Reductions) {
    let (mut compared, mut reduced, mut fewer, mut all, mut stuck, mut wrong) = (0, 0, 0, 0, 0, 0);
    for at in 0..count {
        let seed = (kind << 40) + at;
        let polls = at.checked_rem(polling) == Some(0);
        // Whoever polls has many executions.
        let unroll = if polls { 2 } else { 4 };
        let text = text(seed, polls);
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let schedule = [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Fewest][at as usize % 3];
        // Two models for each program, all in turn.
        for turn in 0..2 {
            let where_ = EVERYWHERE[(at as usize + 5 * turn) % EVERYWHERE.len()];
            let Some(full) = show(&program, where_, schedule, unroll, Reductions::NONE) else { continue };
            let few = show(&program, where_, schedule, unroll, reductions);
            let few =
                few.unwrap_or_else(|| panic!("more with {reductions:?} than without: {where_:?}\n{text}"));
            let context = || {
                format!(
                    "seed {seed}, {where_:?}, {schedule:?}: states {:?} lost; wrong {:?} lost, {:?} new; stuck {:?} or {:?}\n{text}",
                    full.states.difference(&few.states).collect::<Vec<_>>(),
                    full.wrong.difference(&few.wrong).collect::<Vec<_>>(),
                    few.wrong.difference(&full.wrong).collect::<Vec<_>>(),
                    full.stuck,
                    few.stuck,
                )
            };
            assert!(full.states == few.states && full.wrong == few.wrong, "{}", context());
            assert!(full.stuck.is_subset(&few.stuck), "{}", context());
            assert!(few.keys.is_subset(&full.keys), "new executions: {}", context());
            compared += 1;
            reduced += u64::from(few.reduced > 0);
            (fewer, all) = (fewer + few.keys.len(), all + full.keys.len());
            stuck += usize::from(!full.stuck.is_empty());
            wrong += usize::from(!full.wrong.is_empty());
        }
    }
    println!(
        "{compared} comparisons, {reduced} reduced; {fewer} of {all} executions; {stuck} hang, {wrong} wrong"
    );
    assert!(compared > count && reduced * 10 > compared && fewer < all && stuck > 0 && wrong > 0);
}

#[test]
fn retries() {
    compare(1, budget(1_200), 0, Reductions::only(Reduction::Retries));
}

#[test]
fn net_effect() {
    compare(3, budget(150), 1, Reductions::only(Reduction::NetEffect));
}

#[test]
fn all_together() {
    compare(2, budget(650), 5, Reductions::ALL);
}

/// P1 finds l taken only while P0 has it for a moment, in an attempt that fails because P1 has m.
#[test]
fn a_lock_that_is_seen_for_a_moment() {
    let text = "program moment
global l, m
thread P0 { t = 0; while t == 0 { lock l; t = trylock m; if t == 0 { unlock l } } unlock m; unlock l }
thread P1 { lock m; a = trylock l; if a == 0 { lock l } unlock l; unlock m }
";
    let program = porf_ir::parse(text).unwrap();
    for where_ in EVERYWHERE {
        let states = |reductions| show(&program, where_, Schedule::default(), 3, reductions).unwrap().states;
        let all = states(Reductions::NONE);
        assert!(all.len() >= 2, "{where_:?}: P1 may find l free or taken");
        assert_eq!(states(Reductions::only(Reduction::NetEffect)), all, "{where_:?}");
    }
}
