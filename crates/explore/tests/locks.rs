//! Up to the order of critical sections that do not conflict: every execution once, and none is lost.
//!
//! Random programs with locks are searched with the reduction `locks` and without. The executions must be the same up
//! to rf and co of the locks, each once; so must be the final states, what goes wrong (kind and place), and who waits for
//! ever.

#[path = "locks/hand_over_hand.rs"]
mod hand_over_hand;
mod support;

use hand_over_hand::hand_over_hand;
use porf_event::{EventId, Label, Location, RmwKind, ThreadId};
use porf_explore::{
    Equivalence, Model, Options, Reduction, Reductions, Rest, Schedule, Statistics, Visit, explore,
    explore_parallel,
};
use porf_graph::CanonicalKey;
use porf_ir::{Program, Reg};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Mutex;
use support::generate::Random;
use support::{budget, programs};

const SCHEDULES: [Schedule; 4] =
    [Schedule::LeftToRight, Schedule::RightToLeft, Schedule::Fewest, Schedule::Hash(1)];
const MODELS: [Model; 7] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Ra, Model::Sra, Model::Rc11, Model::C20];

/// The reduction needs the one that lets locks come last.
const ALONE: Reductions = Reductions::ALL
    .without(Reduction::Retries)
    .without(Reduction::NetEffect)
    .without(Reduction::Barriers)
    .without(Reduction::Symmetry);

/// Programs with more executions are left out.
const MOST: u64 = 1_500;

/// Without the order in which locks were taken.
type Form = (Vec<(EventId, Label)>, Vec<(EventId, EventId)>, Vec<(Location, Vec<EventId>)>);

#[derive(Default)]
struct Seen {
    complete: HashMap<Form, u32>,
    states: BTreeSet<Vec<u64>>,
    wrong: BTreeSet<String>,
    /// Which threads wait for ever, and what they had done.
    stuck: BTreeSet<Vec<(u16, u32)>>,
    statistics: Statistics,
}

fn form(key: &CanonicalKey) -> Form {
    let is_lock = |label: &Label| matches!(label.rmw(), RmwKind::Lock(_));
    let lock_events: BTreeSet<EventId> =
        key.events().iter().filter(|(_, label)| is_lock(label)).map(|(id, _)| *id).collect();
    let rf = key.rf().iter().filter(|(read, _)| !lock_events.contains(read)).copied().collect();
    let co = key.co().iter().filter(|(_, writes)| !writes.iter().any(|write| lock_events.contains(write)));
    (key.events().to_vec(), rf, co.cloned().collect())
}

impl Seen {
    fn visit(&mut self, program: &Program, visit: Visit<'_, '_>) {
        match visit {
            Visit::Complete(execution) => {
                *self.complete.entry(form(&execution.key())).or_default() += 1;
                let mut state = Vec::new();
                for (at, thread) in program.threads.iter().enumerate() {
                    let names = &program.function(thread.function).register_names;
                    let end = execution.state(ThreadId(at as u16));
                    let named = (0..names.len()).filter(|reg| !names[*reg].is_empty());
                    state.extend(named.map(|reg| end.register(Reg(reg as u32))));
                }
                state.extend(program.globals.iter().map(|global| execution.memory(global.address, 4)));
                self.states.insert(state);
            }
            Visit::Blocked(execution) => {
                if let Some(stuck) = execution.stuck() {
                    let done = |thread: ThreadId| execution.graph.thread(thread).events().len() as u32;
                    let waits = stuck.threads.iter().map(|(thread, ..)| (thread.0, done(*thread)));
                    self.stuck.insert(waits.collect());
                }
            }
            Visit::Fault(_, fault) => {
                self.wrong.insert(format!("{:?} {:?}", fault.kind, fault.span));
            }
            Visit::Race(execution, _, event) => {
                let access = execution.graph.event(event).label.access();
                self.wrong.insert(format!("race {:?}", access.map(|access| access.location)));
            }
            Visit::Anew(_) => *self = Seen::default(),
            Visit::Memory(..) | Visit::Working(_) => {}
        }
    }

    fn count(&self) -> u64 {
        self.complete.values().map(|count| u64::from(*count)).sum()
    }
}

/// `None` if there are too many.
fn run(program: &Program, model: Model, options: &Options) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut left = MOST;
    let mut visitor = |visit: Visit<'_, '_>| {
        left = match visit {
            Visit::Anew(_) => MOST,
            Visit::Complete(_) | Visit::Blocked(_) => left - 1,
            _ => left,
        };
        seen.visit(program, visit);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let statistics = explore(program, model, Equivalence::Mo, options, &mut visitor);
    seen.statistics = statistics.unwrap_or_else(|error| panic!("{error}\n{}", porf_ir::print(program)));
    (left > 0).then_some(seen)
}

/// What a thread does under a lock or outside.
fn access(random: &mut Random, of: &[&str], depth: u64) -> String {
    let x = random.pick(of);
    let mode = random.pick(&["na", "na", "rlx", "sc"]);
    match random.below(if depth == 0 { 9 } else { 6 }) {
        0 | 1 => format!("{x}.{mode} = {};", 1 + random.below(2)),
        2 | 3 => format!("{} = {x}.{mode};", random.pick(&["a", "b"])),
        4 => format!("{x}.{mode} = {x}.{mode} + 1;"),
        5 => format!("a = {x}.fetch_add(1, {});", random.pick(&["rlx", "acqrel", "sc"])),
        6 => format!(
            "if {} == {} {{ {} }}",
            random.pick(&["a", "b"]),
            random.below(2),
            access(random, of, depth + 1)
        ),
        7 => format!("assert {} < 2, \"few\";", random.pick(&["a", "b"])),
        _ => format!("b = nondet(2); if b == 1 {{ {} }}", access(random, of, depth + 1)),
    }
}

/// Critical sections, some of them nested. `guards` are the locks with what they protect.
fn section(random: &mut Random, guards: &[(&str, &[&str])], depth: u64) -> String {
    let (lock, of) = random.pick(guards);
    let mut text = format!("lock {lock}; ");
    for _ in 0..random.below(3) {
        text.push_str(&access(random, of, 0));
    }
    let others: Vec<_> = guards.iter().copied().filter(|(other, _)| *other != lock).collect();
    if depth < 2 && !others.is_empty() && random.below(4) == 0 {
        text.push_str(&section(random, &others, depth + 1));
        if random.below(2) == 0 {
            text.push_str(&access(random, of, 0));
        }
    }
    match random.below(24) {
        0 => text.push_str("assume a == 0; "),
        // It is never given back.
        1 => return text,
        _ => {}
    }
    write!(text, "unlock {lock}; ").unwrap();
    text
}

/// 2 to 4 threads.
fn text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = format!("program random{seed}\nglobal x, y, z, v, l, m, n\n");
    let guards: &[(&str, &[&str])] = match random.below(5) {
        0 | 1 => &[("l", &["x", "y", "z"])],
        2 => &[("l", &["x", "y"]), ("m", &["z", "v"])],
        3 => &[("l", &["x", "y"]), ("m", &["z"]), ("n", &["v"])],
        // Not all is protected.
        _ => &[("l", &["x", "y"]), ("m", &["y", "z"])],
    };
    let bare = random.below(6) == 0;
    let threads = random.pick(&[2, 2, 3, 3, 4]);
    for thread in 0..threads {
        write!(text, "thread P{thread} {{ a = 0; b = 0; ").unwrap();
        for _ in 0..1 + random.below(if threads == 2 { 3 } else { 2 }) {
            if bare && random.below(3) == 0 {
                text.push_str(&access(&mut random, &["x", "v"], 0));
            }
            match random.below(10) {
                0 => write!(
                    text,
                    "while a == 0 {{ lock {0}; a = {1}.na; unlock {0} }} ",
                    guards[0].0,
                    random.pick(guards[0].1)
                )
                .unwrap(),
                _ => text.push_str(&section(&mut random, guards, 0)),
            }
        }
        if bare && random.below(3) == 0 {
            text.push_str(&access(&mut random, &["x", "v"], 0));
        }
        if thread == threads - 1 && random.below(5) == 0 {
            write!(text, "join 0; a = x.na; ").unwrap();
        }
        text.push_str("}\n");
    }
    text
}

/// Whether no thread takes a lock while it has another one, keeps one, or chooses.
fn is_flat(text: &str) -> bool {
    let is_thread_flat = |line: &str| {
        let mut held = 0;
        let mut words = line.split([' ', ';', '{', '}']);
        let is_flat = words.by_ref().all(|word| {
            held += match word {
                "lock" => 1,
                "unlock" => -1,
                _ => 0,
            };
            held <= 1 && word != "assume" && !word.starts_with("nondet") && word != "join"
        });
        is_flat && held == 0
    };
    text.lines().all(is_thread_flat)
}

/// Compares the two searches on random programs.
fn compare(kind: u64, count: u64, text_of: fn(u64) -> String, with: Reductions) {
    let (mut compared, mut reduced, mut few_of, mut all_of, mut stuck, mut wrong) = (0, 0, 0, 0, 0, 0);
    for at in 0..count {
        let text = text_of((kind << 40) + at);
        let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let schedule = SCHEDULES[at as usize % SCHEDULES.len()];
        let model = MODELS[(at / 4) as usize % MODELS.len()];
        let options = Options {
            unroll: Some(2),
            schedule,
            reductions: with.without(Reduction::Locks),
            ..Options::default()
        };
        let Some(all) = run(&program, model, &options) else { continue };
        let few = run(&program, model, &Options { reductions: with, ..options });
        let few = few.unwrap_or_else(|| panic!("more than without: {model} {schedule:?}\n{text}"));
        let context = || format!("seed {at}, {model} {schedule:?}\n{text}");
        assert!(all.count() >= few.count(), "more: {} {} {}", all.count(), few.count(), context());
        let lost = all.complete.keys().find(|form| !few.complete.contains_key(form));
        assert!(lost.is_none(), "lost: {}", context());
        let new = few.complete.keys().find(|form| !all.complete.contains_key(form));
        assert!(new.is_none(), "new: {}", context());
        assert_eq!(all.states, few.states, "states: {}", context());
        assert_eq!(all.wrong, few.wrong, "wrong: {}", context());
        assert_eq!(all.stuck, few.stuck, "stuck: {}", context());
        let has_reduced = few.statistics.reduced.by(Reduction::Locks) > 0;
        if has_reduced && is_flat(&text) {
            assert!(few.complete.values().all(|&times| times == 1), "twice: {}", context());
        }
        compared += 1;
        reduced += u64::from(has_reduced);
        (few_of, all_of) = (few_of + few.count(), all_of + all.count());
        stuck += u64::from(!all.stuck.is_empty());
        wrong += u64::from(!all.wrong.is_empty());
    }
    println!(
        "{compared} comparisons, {reduced} reduced; {few_of} of {all_of} executions; {stuck} hang, {wrong} wrong"
    );
    assert!(compared * 2 > count && reduced * 5 > compared && few_of < all_of && stuck > 0 && wrong > 0);
}

#[test]
fn random_programs() {
    compare(1, programs(1_500), text, ALONE);
}

#[test]
fn with_all_reductions() {
    compare(2, budget(500), text, Reductions::ALL);
}

/// Locks that are taken while others are held.
#[test]
fn from_lock_to_lock() {
    compare(4, programs(1_000), hand_over_hand, ALONE);
}

/// Searches in slices of `step` executions, each from what the one before left, as text.
fn in_slices(program: &Program, model: Model, options: &Options, step: u64, jobs: usize) -> Seen {
    let seen = Mutex::new(Seen::default());
    let mut from: Option<Rest> = None;
    loop {
        let visits = Mutex::new(0);
        let visitors = (0..jobs)
            .map(|_| {
                |visit: Visit<'_, '_>| {
                    let is_leaf = matches!(visit, Visit::Complete(_) | Visit::Blocked(_));
                    seen.lock().unwrap().visit(program, visit);
                    let mut visits = visits.lock().unwrap();
                    *visits += u64::from(is_leaf);
                    if *visits >= step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }
            })
            .collect();
        let searched = explore_parallel(program, model, Equivalence::Mo, options, visitors, from.take());
        let (_, rest) = searched.unwrap_or_else(|error| panic!("{error}\n{}", porf_ir::print(program)));
        if rest.tasks.is_empty() {
            return seen.into_inner().unwrap();
        }
        from = Some(serde_json::from_str(&serde_json::to_string(&rest).unwrap()).unwrap());
    }
}

#[test]
fn broken_off_and_continued() {
    let mut several = 0;
    for at in 0..budget(40).min(400) {
        let text = if at % 2 == 0 { text((3 << 40) + at) } else { hand_over_hand((3 << 40) + at) };
        let program = porf_ir::parse(&text).unwrap();
        let model = MODELS[at as usize % MODELS.len()];
        let options = Options { unroll: Some(2), reductions: ALONE, ..Options::default() };
        let Some(whole) = run(&program, model, &options) else { continue };
        several += u64::from(whole.count() > 2);
        for (step, jobs) in [(1, 1), (2, 1), (3, 2), (1_000_000, 2)] {
            let parts = in_slices(&program, model, &options, step, jobs);
            let context = || format!("{model}, in steps of {step}, {jobs} workers\n{text}");
            assert_eq!(parts.complete, whole.complete, "{}", context());
            assert!(parts.wrong == whole.wrong && parts.stuck == whole.stuck, "{}", context());
        }
    }
    assert!(several > 5, "only {several} programs have several executions");
}

/// The numbers of executions that GenMC 0.11 gives with `-lapor` for the same programs (its `tests/correct/lapor`).
#[test]
fn as_many_as_lapor() {
    let threads = |count: u64, body: &dyn Fn(u64) -> String| -> String {
        (1..=count).map(|at| format!("thread P{at} {{ r = 0; {} }}\n", body(at))).collect()
    };
    let under = |body: &str| format!("lock l; {body} unlock l;");
    let reads = |_: u64| under("r = x.na;");
    let writes = |at: u64| under(&format!("x.na = {at};"));
    let both = |at: u64| under(&format!("x.na = {at}; y.na = {at};"));
    let increments =
        |_: u64| "lock l; x.na = x.na + 1; unlock l; lock m; y.na = y.na + 1; unlock m;".to_string();
    let rotates = |at: u64| under(&format!("r = x.rlx; if r == {} {{ x.rlx = {at} }}", at - 1));
    let swaps = |at: u64| {
        format!("{} lock l; x.na = {}; unlock l;", under("r = x.na; if r == 0 { x.na = 1 }"), at + 2)
    };
    let takes_two = |_: u64| {
        "lock l; x.na = x.na + 1; unlock l; lock m; unlock m; lock l; x.na = x.na + 1; unlock l;".to_string()
    };
    let starts = |at: u64| under(if at == 1 { "x.na = 2;" } else { "r = x.na; if r == 2 { x.na = 3 }" });
    let read_write_read = |at: u64| under(if at == 2 { "x.na = 42;" } else { "r = x.na;" });
    let two_write = |at: u64| under(["x.na = 42;", "x.na = 17;", "r = x.na;"][at as usize - 1]);
    let apart =
        |at: u64| under(["x.na = 42;", "y.na = 42;", "r = x.na; if r == 42 { r = y.na }"][at as usize - 1]);
    // A list whose nodes have locks, of which each thread looks at some (fine-set), and a heap (fine-heap).
    let seeks = |at: u64| {
        let far = ["lock b; unlock a; r = y.na; unlock b;", "r = y.na; unlock a;"][at as usize % 2];
        format!("lock l; lock m; r = x.na; unlock l; lock a; unlock m; {far}")
    };
    let adds = |_: u64| {
        let place = |of: &str| {
            format!(
                "lock {of}; {of}0.na = 2; unlock l; unlock {of}; lock m; lock {of}; r = y.na; {of}0.na = 1; unlock {of}; unlock m;"
            )
        };
        format!("lock l; r = x.na; x.na = r + 1; if r == 0 {{ {} }} else {{ {} }}", place("a"), place("b"))
    };
    let programs: [(String, u64); 26] = [
        (threads(6, &reads), 1),
        (threads(8, &reads), 1),
        (threads(2, &writes), 2),
        (threads(3, &writes), 6),
        (threads(4, &writes), 24),
        (threads(3, &both), 6),
        (threads(4, &both), 24),
        (threads(2, &increments), 4),
        (threads(3, &increments), 36),
        (threads(4, &increments), 576),
        (threads(2, &rotates), 2),
        (threads(3, &rotates), 5),
        (threads(4, &rotates), 14),
        (threads(5, &rotates), 43),
        (threads(6, &rotates), 144),
        (threads(2, &swaps), 6),
        (threads(3, &swaps), 66),
        (threads(2, &takes_two), 6),
        (threads(3, &takes_two), 90),
        // One thread that writes, and N others.
        (threads(3, &starts), 5),
        (threads(6, &starts), 81),
        (threads(3, &read_write_read), 4),
        (threads(3, &two_write), 6),
        (threads(3, &apart), 3),
        (threads(6, &seeks), 1),
        (threads(2, &adds), 2),
    ];
    for (code, expected) in programs {
        let program = porf_ir::parse(&format!("program p\nglobal x, y, a0, b0, l, m, a, b\n{code}")).unwrap();
        // Under pso a lock alone does not protect, and the reduction is not made.
        let models = MODELS.into_iter().filter(|model| *model != Model::Pso);
        for (model, schedule) in models.zip(SCHEDULES.into_iter().cycle()) {
            let options = Options { schedule, reductions: ALONE, ..Options::default() };
            let seen = run(&program, model, &options).unwrap();
            assert_eq!(
                (seen.count(), seen.statistics.blocked),
                (expected, 0),
                "{model} {schedule:?}\n{code}"
            );
        }
    }
}

/// Nothing in the sections conflicts, but only one order lets both end.
#[test]
fn a_section_that_waits() {
    let text = "program waits
global l
thread P0 { lock l; join 1; unlock l }
thread P1 { lock l; unlock l }
";
    let program = porf_ir::parse(text).unwrap();
    for schedule in SCHEDULES {
        let options = Options { schedule, reductions: ALONE, ..Options::default() };
        let seen = run(&program, Model::Rc11, &options).unwrap();
        assert_eq!((seen.count(), seen.stuck.len()), (1, 1), "{schedule:?}");
    }
}

/// The order of the sections shows outside of them: the reduction gives up.
#[test]
fn order_seen_from_outside() {
    let text = "program outside
global x, y, l
thread P0 { x.rlx = 1; lock l; unlock l; a = y.rlx }
thread P1 { y.rlx = 1; lock l; unlock l; b = x.rlx }
";
    let program = porf_ir::parse(text).unwrap();
    for model in MODELS {
        let options = Options { reductions: ALONE.without(Reduction::Locks), ..Options::default() };
        let all = run(&program, model, &options).unwrap();
        let few = run(&program, model, &Options { reductions: ALONE, ..options }).unwrap();
        assert_eq!(all.states, few.states, "{model}");
        assert_eq!(few.statistics.reduced.by(Reduction::Locks), 0, "{model}");
    }
}
