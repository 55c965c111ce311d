//! Reductions lose nothing: random programs with loops, with each reduction and without any.
//!
//! With the same bound on loops, the final states of complete executions and what goes wrong (kind and place)
//! must be the same, for every model; no execution comes twice; and none that the search without reductions
//! does not have. Threads that wait for ever are found wherever they are found without the reduction.

#[path = "reductions/counters.rs"]
mod counters;
#[path = "reductions/flags.rs"]
mod flags;
#[path = "reductions/in_vain.rs"]
mod in_vain;
#[path = "reductions/nodes.rs"]
mod nodes;
#[path = "reductions/own_variables.rs"]
mod own_variables;
mod support;
#[path = "reductions/threads.rs"]
mod threads;
#[path = "reductions/tries.rs"]
mod tries;
#[path = "reductions/values.rs"]
mod values;

use porf_event::ThreadId;
use porf_explore::{Equivalence, Model, Options, Reduction, Reductions, Schedule, Visit, explore};
use porf_graph::CanonicalKey;
use porf_ir::{Program, Reg};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use support::generate::Random;
use support::{budget, programs};

/// More visits than this are too many for a small test. A search with reductions takes events in another order, in
/// which more executions may be blocked, above all up to rf: it may have four times as many.
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
    let most = if reductions == Reductions::NONE { MOST } else { 4 * MOST };
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
                    let runs = |thread| {
                        let state = execution.state(thread);
                        state.places().last().map_or(u32::MAX, |(function, _)| function.0)
                    };
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
            Visit::Memory(_, fault, ..) => {
                shown.wrong.insert(format!("{:?} {:?}", fault.kind, fault.span));
            }
            Visit::Working(_) => {}
        }
        visits += match visit {
            Visit::Working(_) => 700,
            Visit::Complete(_) | Visit::Blocked(_) => 1,
            // In another order there may be more of them.
            _ => 0,
        };
        if visits > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let statistics = explore(program, model, equivalence, &options, &mut visitor);
    let statistics = match statistics {
        Err(porf_explore::Error::Undecided) => return None,
        result => result.unwrap_or_else(|error| panic!("{error}\n{}", porf_ir::print(program))),
    };
    shown.reduced = Reduction::ALL.into_iter().map(|reduction| statistics.reduced.by(reduction)).sum();
    (visits <= most).then_some(shown)
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

/// A program with its text, and how often loops are run.
type Source = (Program, String, u32);

/// Programs with loops, of which every so many look under locks.
fn with_loops(polling: u64) -> impl Fn(u64, u64) -> Source {
    move |seed, at| {
        let polls = at.checked_rem(polling) == Some(0);
        let text = text(seed, polls);
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // Whoever polls has many executions.
        (program, text, if polls { 2 } else { 4 })
    }
}

/// Compares what is shown with and without `reductions`; in how many programs threads wait for ever, and in how many
/// something is wrong.
fn compare(kind: u64, count: u64, source: impl Fn(u64, u64) -> Source, reductions: Reductions) -> (u64, u64) {
    let (mut compared, mut reduced, mut fewer, mut all, mut stuck, mut wrong) = (0, 0, 0, 0, 0, 0);
    for at in 0..count {
        let seed = (kind << 40) + at;
        let (program, text, unroll) = source(seed, at);
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
            assert!(few.stuck.is_empty() || full.blocked > 0, "a thread that does not hang: {}", context());
            assert!(few.keys.is_subset(&full.keys), "new executions: {}", context());
            compared += 1;
            reduced += u64::from(few.reduced > 0);
            (fewer, all) = (fewer + few.keys.len(), all + full.keys.len());
            stuck += u64::from(!full.stuck.is_empty());
            wrong += u64::from(!full.wrong.is_empty());
        }
    }
    println!(
        "{compared} comparisons, {reduced} reduced; {fewer} of {all} executions; {stuck} hang, {wrong} wrong"
    );
    assert!(compared > count);
    // That one lets reads come last, and no more.
    let is_order = reductions == Reductions::only(Reduction::Awaits);
    assert!(if is_order { fewer == all } else { reduced * 12 > compared && fewer < all });
    (stuck, wrong)
}

#[test]
fn retries() {
    let (hang, wrong) = compare(1, programs(2_000), with_loops(0), Reductions::only(Reduction::Retries));
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn awaits() {
    let (hang, wrong) = compare(12, programs(500), with_loops(0), Reductions::only(Reduction::Awaits));
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn waiting_in_vain() {
    let (hang, wrong) = compare(16, programs(500), in_vain::source, Reductions::only(Reduction::Awaits));
    assert!(hang > 0 && wrong > 0);
    let (hang, wrong) = compare(17, budget(150), in_vain::source, Reductions::ALL);
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn net_effect() {
    let (hang, wrong) = compare(3, programs(150), with_loops(1), Reductions::only(Reduction::NetEffect));
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn all_together() {
    let (hang, wrong) = compare(2, programs(650), with_loops(5), Reductions::ALL);
    assert!(hang > 0 && wrong > 0);
}

/// Threads that push nodes, and others that look at them, orderly or not.
#[test]
fn own_nodes() {
    let reductions = Reductions::only(Reduction::Retries).with(Reduction::OwnNodes);
    let (_, wrong) = compare(4, programs(150), nodes::source, reductions);
    let (_, also) = compare(5, budget(50), nodes::source, Reductions::ALL);
    assert!(wrong + also > 0);
}

/// Loops that take a flag for a while, and others that look at it.
#[test]
fn flags() {
    // Who finds a flag taken waits by the other one.
    let reductions = Reductions::only(Reduction::Retries).with(Reduction::Flags);
    let (hang, wrong) = compare(6, programs(150), flags::source, reductions);
    let (hang_too, wrong_too) = compare(7, budget(50), flags::source, Reductions::ALL);
    assert!(hang + hang_too > 0 && wrong + wrong_too > 0);
}

/// Loops that store to variables which no other thread writes, and others that look at them.
#[test]
fn own_variables() {
    // A loop that waits by reads alone is the other one's.
    let reductions = Reductions::only(Reduction::Retries).with(Reduction::OwnVariables);
    // Without them such a loop never hangs, it only goes on.
    let (_, wrong) = compare(14, programs(250), own_variables::source, reductions);
    let (_, also) = compare(15, budget(100), own_variables::source, Reductions::ALL);
    assert!(wrong + also > 0);
}

/// Threads that poll under a lock, and others to which it matters that they cannot have it.
#[test]
fn tries() {
    let (_, wrong) = compare(10, programs(150), tries::source, Reductions::only(Reduction::NetEffect));
    let (_, also) = compare(11, budget(50), tries::source, Reductions::ALL);
    assert!(wrong + also > 0);
}

/// A thread that polls under a lock stops, although another one, or itself, has tried the lock and goes on.
#[test]
fn polling_beside_an_attempt() {
    let poll = "lock l; r = x.rlx; while r == 0 { unlock l; lock l; r = x.rlx } unlock l";
    let attempt = "t = trylock l; if t == 1 { unlock l }";
    // With what the attempts may see.
    for (threads, states) in [
        // The thread that polls has tried the lock before.
        (vec![format!("{attempt} {poll}"), "x.rlx = 1".to_string()], 1),
        (vec![poll.to_string(), format!("{attempt} x.rlx = 1")], 2),
        // Both do: they cannot both fail.
        (vec![format!("{attempt} {poll}"), format!("{attempt} x.rlx = 1; {poll}")], 3),
        (vec![poll.to_string(), poll.to_string(), format!("{attempt} x.rlx = 1")], 2),
        // It waits for ever.
        (vec![poll.to_string(), attempt.to_string()], 0),
    ] {
        let mut text = "program beside\nglobal x, l\n".to_string();
        for (at, thread) in threads.iter().enumerate() {
            writeln!(text, "thread P{at} {{ r = 0; t = 5; {thread} }}").unwrap();
        }
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for where_ in EVERYWHERE {
            for reductions in [Reductions::only(Reduction::NetEffect), Reductions::ALL] {
                let shown = show(&program, where_, Schedule::default(), 100, reductions);
                let shown = shown.unwrap_or_else(|| panic!("it does not end: {where_:?}\n{text}"));
                assert_eq!(shown.states.len(), states, "{where_:?}\n{text}");
                assert!(shown.stuck.is_empty() == (states > 0) && shown.wrong.is_empty());
            }
        }
    }
}

/// Loops that take something from a counter and give it back, and others that look at it.
#[test]
fn counters() {
    let reductions = Reductions::only(Reduction::Retries).with(Reduction::Counters);
    let (hang, wrong) = compare(8, programs(250), counters::source, reductions);
    let (hang_too, wrong_too) = compare(9, budget(100), counters::source, Reductions::ALL);
    assert!(hang + hang_too > 0 && wrong + wrong_too > 0);
}

/// A reader-writer lock: only the order of those that get it counts, as in the paper (GenMC has 14, 6 and 48).
#[test]
fn a_reader_writer_lock() {
    let lock = |name: &str, amount: u32, enough: &str| {
        format!(
            "fn {name}() {{ d = 0; t = 0; o = l.fetch_sub({amount}, acq); while {enough} == 0 {{ d = l.fetch_add({amount}, rlx); t = l.rlx; while t < 51 {{ t = l.rlx }} o = l.fetch_sub({amount}, acq) }} d = l.fetch_add({amount}, rel); return 0 }}\n"
        )
    };
    let functions = lock("read", 1, "(o > 50)") + &lock("write", 10, "(o == 60)");
    for (threads, executions) in [("R S W", 14), ("R W V", 6), ("R S W V", 48)] {
        let mut text = format!("program rw\nglobal l = 60\n{functions}");
        for name in threads.split(' ') {
            let function = if matches!(name, "R" | "S") { "read" } else { "write" };
            writeln!(text, "thread {name} {{ r = {function}() }}").unwrap();
        }
        let program = porf_ir::parse(&text).unwrap();
        let reductions = Reductions::ALL.without(Reduction::Symmetry);
        for where_ in EVERYWHERE.into_iter().filter(|(model, _)| *model != Model::Wrc11) {
            let shown = show(&program, where_, Schedule::default(), 100, reductions).unwrap();
            assert_eq!(shown.keys.len(), executions, "{threads}, {where_:?}");
            assert!(shown.stuck.is_empty() && shown.wrong.is_empty());
        }
    }
}

/// P0 takes a lock or a flag, or from a counter, for a moment, gives it back and goes on. P1 sees that it goes on, and
/// then what there was meanwhile: it reads what was overwritten. In no execution without that iteration is there ever
/// such a value.
#[test]
fn a_moment_that_is_seen_late() {
    let lock = "lock l; d = z.rlx; unlock l";
    let flag = "o = l.cas(0, 1, acq, rlx); if o == 0 { d = z.rlx; l.rel = 0 }";
    let count = "o = l.fetch_sub(1, acq); d = l.fetch_add(1, rel)";
    let counts = Reduction::Counters;
    for (first, moment, seen, reduction) in [
        (0, lock, "t = trylock l; if t != 0 { unlock l }", Reduction::NetEffect),
        (0, flag, "t = l.rlx", Reduction::Flags),
        // A loop that waits for the moment: reading anything else is an iteration that is left out.
        (0, flag, "go = 1; while go == 1 { t = l.rlx; d = t; go = t == 0 } t = 7; d = 0", Reduction::Flags),
        (9, count, "t = l.rlx", counts),
        (9, count, "go = 1; while go == 1 { t = l.rlx; d = t; go = t == 9 } t = 7; d = 0", counts),
        // It waits for ever.
        (9, count, "t = l.rlx; if t == 8 { while l.rlx != 20 {} } t = 0", counts),
        (9, count, "t = l.rlx; if t == 8 { t = l.rlx; while l.rlx < 9 {} } t = 0", counts),
        // Somebody waits for a value that nobody leaves behind.
        (9, count, "t = l.rlx; while t < 9 { t = l.rlx; while t != 9 { t = l.rlx } } t = 0", counts),
        // It does something before it gives up.
        (9, count, "t = l.rlx; if t == 8 { t = l.fetch_sub(5, rlx); assume 0 } t = 0", counts),
        (9, count, "t = l.rlx; if t == 8 { t = l.fetch_sub(5, rlx); while l.rlx != 20 {} } t = 0", counts),
        (9, count, "t = l.fetch_sub(5, rlx); assume t == 9; d = l.fetch_add(5, rlx); t = 0; d = 0", counts),
        (9, count, "t = l.cas(8, 3, rlx, rlx)", counts),
        (9, count, "t = l.exchange(9, rlx); t = 0", counts),
    ] {
        // Others that see what nobody should, or change it.
        let assert = "thread P2 { t = l.rlx; assert t > 5, \"low\"; t = 0 }\n";
        let takes = "thread P2 { u = l.fetch_sub(1, rlx); u = 0 }\n";
        let more = if reduction == counts { &["", assert, takes][..] } else { &[""] };
        let text = format!(
            "program late
global x, y, z, l = {first}
thread P0 {{ go = 0; d = 0; r = 0; o = 0; while go == 0 {{ r = x.rlx; if r == 0 {{ {moment} }} else {{ go = 1 }} }} d = 0; r = 0; o = 0; y.rlx = 1 }}
thread P1 {{ t = 5; d = 0; go = 0; x.rlx = 1; a = y.rlx; if a == 1 {{ {seen} }} }}
"
        );
        for text in more.iter().map(|more| format!("{text}{more}")) {
            let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            for where_ in EVERYWHERE {
                let shown = |reductions| show(&program, where_, Schedule::default(), 2, reductions).unwrap();
                let full = shown(Reductions::NONE);
                let few = shown(Reductions::only(Reduction::Retries).with(reduction));
                assert_eq!(few.states, full.states, "{where_:?}\n{text}");
                assert_eq!(few.wrong, full.wrong, "{where_:?}\n{text}");
                assert!(full.stuck.is_subset(&few.stuck), "{where_:?}\n{text}");
            }
        }
    }
}

/// A thread that polls under a flag waits, as under a lock, and hangs if nobody ever writes.
#[test]
fn polling_under_a_flag() {
    let poll = |name: &str| {
        format!(
            "thread {name} {{ r = 0; o = 0; while r == 0 {{ o = l.cas(0, 1, acq, rlx); if o == 0 {{ r = x.na; l.rel = 0 }} }} }}\n"
        )
    };
    let write = "thread W { o = 1; while o != 0 { o = l.cas(0, 1, acq, rlx) } x.na = 1; l.rel = 0 }\n";
    for (text, hangs) in [(poll("P") + &poll("Q") + write, false), (poll("P") + &poll("Q"), true)] {
        let program = porf_ir::parse(&format!("program poll\nglobal x, l\n{text}")).unwrap();
        for where_ in EVERYWHERE.into_iter().filter(|(model, _)| *model != Model::Wrc11) {
            let shown = show(&program, where_, Schedule::default(), 100, Reductions::ALL).unwrap();
            assert_eq!(shown.wrong, BTreeSet::new(), "{where_:?}");
            assert_eq!(
                (shown.stuck.is_empty(), shown.states.len()),
                (!hangs, usize::from(!hangs)),
                "{where_:?}"
            );
        }
    }
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
