//! Up to values: each class of executions once, none lost, and what goes wrong is found.
//!
//! The same programs as for the reductions, under sc, with the main search up to mo without reductions. What is shown
//! must be executions of that search. Their classes (what each thread was told, and final memory) must be those of all
//! its complete executions, none twice; what goes wrong (kind and place), and who waits for ever where, must be equal.

use super::support::{budget, generate};
use super::{Source, counters, flags, nodes, with_loops};
use porf_event::{Label, ThreadId};
use porf_explore::{
    Equivalence, Error, Execution, Model, Options, Reductions, Visit, explore, explore_parallel,
};
use porf_graph::{CanonicalKey, Ev};
use porf_ir::Program;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::ops::ControlFlow;

/// Programs with more executions are left out.
const MOST: u64 = 3_000;

/// What each thread was told, and final memory.
type Class = (Vec<Vec<u64>>, BTreeMap<u64, u64>);

#[derive(Default)]
struct Seen {
    keys: HashSet<CanonicalKey>,
    classes: BTreeMap<Class, u64>,
    wrong: BTreeSet<String>,
    stuck: BTreeSet<Vec<String>>,
    states: u64,
}

fn told(label: &Label) -> u64 {
    match label {
        Label::Read { value, .. } => *value,
        Label::Choice { chosen, .. } => u64::from(*chosen),
        Label::Create { child } => u64::from(child.0),
        _ => 0,
    }
}

fn class(execution: &Execution<'_, '_>) -> Class {
    let graph = execution.graph;
    let thread = |at: usize| {
        let events = graph.thread(ThreadId(at as u16)).events();
        events.iter().map(|&event| told(&graph.event(event).label)).collect()
    };
    ((0..graph.threads().len()).map(thread).collect(), execution.written().collect())
}

impl Seen {
    fn visit(&mut self, program: &Program, visit: Visit<'_, '_>) {
        match visit {
            Visit::Complete(execution) => {
                self.keys.insert(execution.key());
                *self.classes.entry(class(execution)).or_default() += 1;
            }
            Visit::Blocked(execution) => {
                if let Some(stuck) = execution.stuck() {
                    let place = |thread: ThreadId| execution.state(thread).span(program);
                    let waits = stuck
                        .threads
                        .iter()
                        .map(|(thread, waiting, _)| format!("{thread} {waiting:?} {:?}", place(*thread)));
                    self.stuck.insert(waits.collect());
                }
            }
            Visit::Fault(_, fault) => {
                self.wrong.insert(format!("{:?} {:?}", fault.kind, Some(fault.span)));
            }
            Visit::Memory(execution, fault, event, other) => {
                // Of an access and a free, and of two joins of one thread, either may come last.
                let span = match execution.graph.event(event).label {
                    Label::Free { .. } if other != Ev::NONE => {
                        Some(execution.state_before(other).span(program))
                    }
                    Label::Join { .. } => None,
                    _ => Some(fault.span),
                };
                self.wrong.insert(format!("{:?} {span:?}", fault.kind));
            }
            Visit::Race(..) => unreachable!("sc has no races"),
            Visit::Anew(_) => *self = Seen::default(),
            Visit::Working(_) => {}
        }
    }
}

/// `None` if there are too many.
fn search(program: &Program, equivalence: Equivalence, unroll: u32) -> Option<Seen> {
    let mut seen = Seen::default();
    // The main search cuts off blocked executions that tell nothing; here more of them may be shown.
    let most = if equivalence == Equivalence::Mo { MOST } else { 50 * MOST };
    let mut left = most;
    let mut visitor = |visit: Visit<'_, '_>| {
        left = match visit {
            Visit::Anew(_) => most,
            Visit::Complete(_) | Visit::Blocked(_) => left - 1,
            Visit::Working(_) => left.saturating_sub(100),
            _ => left,
        };
        seen.visit(program, visit);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = Options { unroll: Some(unroll), reductions: Reductions::NONE, ..Options::default() };
    let statistics = explore(program, Model::Sc, equivalence, &options, &mut visitor);
    let statistics = statistics.unwrap_or_else(|error| panic!("{error}\n{}", porf_ir::print(program)));
    seen.states = statistics.states;
    (left > 0).then_some(seen)
}

/// How many programs were compared, how many of them hang, and in how many something is wrong.
fn compare(kind: u64, count: u64, source: impl Fn(u64, u64) -> Source) -> [u64; 3] {
    let [mut compared, mut hang, mut wrong] = [0; 3];
    let (mut executions, mut classes, mut states) = (0, 0, 0);
    for at in 0..count {
        let seed = (kind << 40) + at;
        let (program, text, unroll) = source(seed, at);
        let Some(all) = search(&program, Equivalence::Mo, unroll) else { continue };
        let Some(few) = search(&program, Equivalence::Values, unroll) else {
            panic!("more than without: seed {seed}\n{text}")
        };
        let context = || format!("seed {seed}\n{text}");
        let lost: Vec<_> = all.classes.keys().filter(|class| !few.classes.contains_key(class)).collect();
        assert!(lost.is_empty(), "lost {lost:?}: {}", context());
        assert!(few.keys.is_subset(&all.keys), "new: {}", context());
        assert!(few.classes.values().all(|times| *times == 1), "twice: {}", context());
        assert_eq!(all.wrong, few.wrong, "{}", context());
        assert_eq!(all.stuck, few.stuck, "{}", context());
        compared += 1;
        hang += u64::from(!all.stuck.is_empty());
        wrong += u64::from(!all.wrong.is_empty());
        executions += all.keys.len();
        classes += few.classes.len();
        states += few.states;
    }
    println!(
        "{compared} of {count} compared: {executions} executions, {classes} classes, {states} states; {hang} hang, {wrong} wrong"
    );
    assert!(compared * 3 > count && classes < executions);
    [compared, hang, wrong]
}

/// Loads, stores, read-modify-writes, fences, branches, and assumptions or threads that wait.
fn straight(seed: u64, at: u64) -> Source {
    let program = match at % 4 {
        0 => generate::program(seed, 6, generate::Modes::All),
        1 => generate::symmetric_program(seed, 6, generate::Modes::All, at % 8 == 1),
        _ => generate::waiting_program(seed, 6, generate::Modes::All),
    };
    let text = porf_ir::print(&program);
    (program, text, 3)
}

/// Threads that work with a few variables, of which some are their own for a while, under locks or not; some wait for
/// others to end.
fn sharing(seed: u64, _: u64) -> Source {
    let mut random = generate::Random::new(seed);
    let mut text = format!("program random{seed}\nglobal x, y, z, v, l, m\n");
    let threads = random.pick(&[2, 3, 3, 4]);
    for thread in 0..threads {
        write!(text, "thread P{thread} {{ a = 0; b = 0; ").unwrap();
        for _ in 0..1 + random.below(if threads < 4 { 4 } else { 2 }) {
            let x = random.pick(&["x", "x", "y", "z", "v"]);
            let y = random.pick(&["x", "y", "z", "v"]);
            text.push_str(&match random.below(14) {
                0..3 => format!("{x}.rlx = {}; ", random.below(3)),
                3 | 4 => format!("a = {x}.rlx; "),
                5 => format!("{x}.rlx = {y}.na + 1; "),
                6 => format!("b = {x}.fetch_add(1, sc); "),
                7 => format!("b = {x}.cas(a, 2, acq, rlx); "),
                8 => format!("lock l; {x}.na = {y}.na + 1; unlock l; "),
                9 => format!("lock l; lock m; a = {x}.na; unlock m; unlock l; "),
                10 => format!("lock m; lock l; {x}.na = 2; unlock l; unlock m; "),
                11 => format!("t = trylock l; if t != 0 {{ {x}.na = {y}.na; unlock l }} "),
                12 => format!("a = nondet(2); if a == 1 {{ {x}.rlx = 1 }} "),
                _ if thread > 0 => format!("join {}; a = {x}.na; ", random.below(thread)),
                _ => format!("if a == 1 {{ assert {y}.rlx != 2, \"two\" }} "),
            });
        }
        text.push_str("}\n");
    }
    let program = porf_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (program, text, 2)
}

#[test]
fn straight_programs() {
    let [_, hang, wrong] = compare(21, budget(800), straight);
    assert!(hang > 0 && wrong + hang > 0);
}

#[test]
fn threads_that_share_for_a_while() {
    let [_, hang, wrong] = compare(22, budget(600), sharing);
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn loops() {
    let [_, hang, wrong] = compare(23, budget(400), with_loops(4));
    assert!(hang > 0 && wrong > 0);
}

#[test]
fn nodes_flags_and_counters() {
    compare(24, budget(80), nodes::source);
    compare(25, budget(60), flags::source);
    compare(26, budget(60), counters::source);
}

/// The experiment is for sc, and for one worker.
#[test]
fn what_is_refused() {
    let program = porf_ir::parse("program p\nglobal x\nthread P0 { x.rlx = 1 }\n").unwrap();
    let options = Options::default();
    let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
    let models = Model::all().filter(|model| model.speaks(program.dialect));
    for model in models {
        let found = explore(&program, model, Equivalence::Values, &options, &mut visitor);
        match (model, found) {
            (Model::Sc, found) => assert_eq!(found.map(|statistics| statistics.executions), Ok(1)),
            (_, found) => assert!(
                found.as_ref().is_err_and(|error| error.to_string().contains("up to values")),
                "{model}: {found:?}"
            ),
        }
    }
    let found = explore_parallel(&program, Model::Sc, Equivalence::Values, &options, vec![visitor], None);
    assert!(matches!(found, Err(Error::Unsupported(_))));
}
