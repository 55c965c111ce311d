//! The engine against the axioms: on random small programs, every outcome that the engine can produce,
//! over all interleavings and all choices, is an RC11 outcome, and every RC11 outcome of its fragment
//! (psc ∪ sb ∪ rf acyclic) is produced.
//!
//! The axiomatic side shares nothing with the engine: it enumerates reads-from and modification order
//! and evaluates the axioms of Lahav et al., PLDI 2017, on bit matrices, with the release sequences of C++20 and
//! with its own.

use porf_sample::engine::Update;
use porf_sample::scheduler::systematic::{self, Turn};
use porf_sample::scheduler::{Replay, Rng, Scheduler, Systematic};
use porf_sample::{Engine, LocationId, Order, ThreadId};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize, Order),
    Store(usize, u8, Order),
    Exchange(usize, u8, Order),
    /// location, expected, desired, order of success and of failure
    Cas(usize, u8, u8, Order, Order),
    Fence(Order),
}

type Program = Vec<Vec<Op>>;
/// Values read, thread by thread in program order, then the final values of the locations.
type Outcome = Vec<u8>;

const LOCATIONS: usize = 2;

// ---- the engine, exhaustively ----

fn engine_outcomes(program: &Program) -> BTreeSet<Outcome> {
    all_outcomes(program, sequences(false))
}

/// An engine with the release sequences of C11, or of C++20.
fn sequences(c11: bool) -> Engine {
    let mut engine = Engine::new();
    engine.c11 = c11;
    engine
}

fn all_outcomes(program: &Program, engine: Engine) -> BTreeSet<Outcome> {
    enumerate(program, engine, Replay::default(), |_, _| {}).0
}

/// The outcomes over all choices, and how many executions were complete.
fn enumerate(
    program: &Program,
    mut engine: Engine,
    mut choices: impl Choices,
    between: fn(&mut Engine, &[LocationId]),
) -> (BTreeSet<Outcome>, usize) {
    let (mut outcomes, mut executions) = (BTreeSet::new(), 0);
    loop {
        choices.begin(0);
        let outcome = run(program, &mut engine, &mut choices, between);
        executions += usize::from(outcome.is_some());
        outcomes.extend(outcome);
        if !choices.go_on() {
            return (outcomes, executions);
        }
    }
}

/// Choices that can be enumerated.
trait Choices: Scheduler {
    /// What each thread is about to do.
    fn announce(&mut self, _runnable: &[ThreadId], _op: impl Fn(ThreadId) -> Op) {}
    /// Who does it; None if that repeats another execution.
    fn next(&mut self, runnable: &[ThreadId]) -> Option<ThreadId> {
        Some(runnable[self.next_thread(runnable, ThreadId(0))])
    }
    fn go_on(&mut self) -> bool;
}

impl Choices for Replay {
    fn go_on(&mut self) -> bool {
        self.advance()
    }
}

impl Choices for Systematic {
    fn announce(&mut self, runnable: &[ThreadId], op: impl Fn(ThreadId) -> Op) {
        use systematic::Op::{Access, Fence, Local};
        let access = |x: usize, writes, sc| Access { address: 8 * x, size: 4, writes, sc };
        for &thread in runnable {
            let announced = match op(thread) {
                Op::Load(x, order) => access(x, false, order == Order::SeqCst),
                Op::Store(x, _, order) | Op::Exchange(x, _, order) => access(x, true, order == Order::SeqCst),
                Op::Cas(x, _, _, one, two) => access(x, true, one == Order::SeqCst || two == Order::SeqCst),
                Op::Fence(Order::SeqCst) => Fence,
                Op::Fence(_) => Local,
            };
            Systematic::announce(self, thread, announced);
        }
    }
    fn next(&mut self, runnable: &[ThreadId]) -> Option<ThreadId> {
        match self.turn(runnable, ThreadId(0)) {
            Turn::Go(index) => Some(runnable[index]),
            Turn::Repeats => None,
        }
    }
    fn go_on(&mut self) -> bool {
        self.advance()
    }
}

/// One execution; `between` is called before each operation.
fn run(
    program: &Program,
    engine: &mut Engine,
    choices: &mut impl Choices,
    between: fn(&mut Engine, &[LocationId]),
) -> Option<Outcome> {
    engine.reset();
    let locations: Vec<LocationId> = (0..LOCATIONS).map(|_| engine.new_location(0)).collect();
    let threads: Vec<ThreadId> = program.iter().map(|_| engine.create_thread(ThreadId(0))).collect();
    let mut next = vec![0; program.len()];
    let mut read: Vec<Outcome> = vec![Vec::new(); program.len()];
    loop {
        let unfinished = |t: &ThreadId| next[t.as_usize()] < program[t.as_usize()].len();
        let runnable: Vec<ThreadId> = (0..program.len() as u16).map(ThreadId).filter(unfinished).collect();
        if runnable.is_empty() {
            break;
        }
        choices.announce(&runnable, |t| program[t.as_usize()][next[t.as_usize()]]);
        let p = choices.next(&runnable)?.as_usize();
        between(engine, &locations);
        let t = threads[p];
        match program[p][next[p]] {
            Op::Load(x, order) => read[p].push(engine.load(t, locations[x], order, choices) as u8),
            Op::Store(x, value, order) => engine.store(t, locations[x], order, value.into()),
            Op::Exchange(x, value, order) => {
                let old = engine.rmw(t, locations[x], order, choices, |_| Update::Write(value.into()));
                read[p].push(old as u8);
            }
            Op::Cas(x, expected, desired, success, failure) => {
                let old = engine.rmw(t, locations[x], success, choices, |old| {
                    if old == u128::from(expected) {
                        Update::Write(desired.into())
                    } else {
                        Update::Fail(failure)
                    }
                });
                read[p].push(old as u8);
            }
            Op::Fence(order) => engine.fence(t, order),
        }
        next[p] += 1;
    }
    for &t in &threads {
        engine.finish_thread(t);
        engine.join_thread(ThreadId(0), t);
    }
    let mut outcome: Outcome = read.concat();
    for &location in &locations {
        outcome.push(engine.load(ThreadId(0), location, Order::Relaxed, choices) as u8);
    }
    Some(outcome)
}

// ---- the axioms ----

#[derive(Clone, Copy)]
struct Event {
    thread: usize,
    location: usize, // LOCATIONS for fences
    reads: bool,
    writes: bool,
    fence: bool,
    order: Order,
    value: u8,
    expected: Option<(u8, Order)>,
}

/// A relation: row a has bit b iff (a, b).
#[derive(Clone, PartialEq)]
struct Rel(Vec<u32>);

impl Rel {
    fn new(n: usize) -> Rel {
        Rel(vec![0; n])
    }
    fn from(n: usize, f: impl Fn(usize, usize) -> bool) -> Rel {
        Rel((0..n).map(|a| (0..n).filter(|&b| f(a, b)).fold(0, |row, b| row | 1 << b)).collect())
    }
    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }
    fn or(&self, other: &Rel) -> Rel {
        Rel(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }
    fn filter(&self, f: impl Fn(usize, usize) -> bool) -> Rel {
        Rel::from(self.0.len(), |a, b| self.has(a, b) && f(a, b))
    }
    fn then(&self, other: &Rel) -> Rel {
        let row = |&row: &u32| (0..self.0.len()).filter(|b| row >> b & 1 == 1).fold(0, |r, b| r | other.0[b]);
        Rel(self.0.iter().map(row).collect())
    }
    fn optional(&self) -> Rel {
        Rel(self.0.iter().enumerate().map(|(a, row)| row | 1 << a).collect())
    }
    fn plus(&self) -> Rel {
        let mut closure = self.clone();
        loop {
            let next = closure.or(&closure.then(self));
            if next == closure {
                return closure;
            }
            closure = next;
        }
    }
    fn inverse(&self) -> Rel {
        Rel::from(self.0.len(), |a, b| self.has(b, a))
    }
    fn irreflexive(&self) -> bool {
        (0..self.0.len()).all(|a| !self.has(a, a))
    }
    fn acyclic(&self) -> bool {
        self.plus().irreflexive()
    }
}

/// (all RC11 outcomes without load buffering, those of the fragment)
fn axiomatic_outcomes(program: &Program, c11: bool) -> (BTreeSet<Outcome>, BTreeSet<Outcome>) {
    let mut events: Vec<Event> = (0..LOCATIONS)
        .map(|location| Event {
            thread: usize::MAX,
            location,
            reads: false,
            writes: true,
            fence: false,
            order: Order::Relaxed,
            value: 0,
            expected: None,
        })
        .collect();
    for (thread, ops) in program.iter().enumerate() {
        for &op in ops {
            let (location, reads, writes, fence, order, value, expected) = match op {
                Op::Load(x, order) => (x, true, false, false, order, 0, None),
                Op::Store(x, value, order) => (x, false, true, false, order, value, None),
                Op::Exchange(x, value, order) => (x, true, true, false, order, value, None),
                Op::Cas(x, e, value, order, failure) => {
                    (x, true, true, false, order, value, Some((e, failure)))
                }
                Op::Fence(order) => (LOCATIONS, false, false, true, order, 0, None),
            };
            events.push(Event { thread, location, reads, writes, fence, order, value, expected });
        }
    }
    let mut answer = (BTreeSet::new(), BTreeSet::new());
    let reads: Vec<usize> = (0..events.len()).filter(|&e| events[e].reads).collect();
    let mut rf = vec![usize::MAX; events.len()];
    choose_rf(&events, &reads, &mut rf, c11, &mut answer);
    answer
}

type Answer = (BTreeSet<Outcome>, BTreeSet<Outcome>);

fn choose_rf(events: &[Event], reads: &[usize], rf: &mut Vec<usize>, c11: bool, answer: &mut Answer) {
    let Some((&read, rest)) = reads.split_first() else {
        return with_rf(events, rf, c11, answer);
    };
    for write in 0..events.len() {
        if write != read && events[write].writes && events[write].location == events[read].location {
            rf[read] = write;
            choose_rf(events, rest, rf, c11, answer);
        }
    }
}

fn with_rf(events: &[Event], rf: &[usize], c11: bool, answer: &mut Answer) {
    // A failing CAS is a load; whoever reads from it is inconsistent.
    let mut events = events.to_vec();
    for e in 0..events.len() {
        if let Some((expected, failure)) = events[e].expected
            && events[rf[e]].value != expected
        {
            events[e].writes = false;
            events[e].order = failure;
        }
    }
    if (0..events.len()).any(|e| events[e].reads && !events[rf[e]].writes) {
        return;
    }
    let writes_of =
        |x: usize| (0..events.len()).filter(|&e| events[e].writes && events[e].location == x).collect();
    let per_location: Vec<Vec<usize>> = (0..LOCATIONS).map(writes_of).collect();
    let orders: Vec<Vec<Vec<usize>>> = per_location.iter().map(|writes| permutations(writes)).collect();
    for x in &orders[0] {
        for y in &orders[1] {
            check(&events, rf, &[x, y], c11, answer);
        }
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    // The first is the initial write and stays first.
    fn go(rest: &[usize], so_far: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if rest.is_empty() {
            return all.push(so_far.clone());
        }
        for (i, &item) in rest.iter().enumerate() {
            let others: Vec<usize> =
                rest.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &o)| o).collect();
            so_far.push(item);
            go(&others, so_far, all);
            so_far.pop();
        }
    }
    let mut all = Vec::new();
    go(&items[1..], &mut vec![items[0]], &mut all);
    all
}

fn check(events: &[Event], rf: &[usize], mo_lists: &[&Vec<usize>], c11: bool, answer: &mut Answer) {
    let n = events.len();
    let e = |i: usize| &events[i];
    let init = |i: usize| e(i).thread == usize::MAX;
    let sb = Rel::from(n, |a, b| (init(a) && !init(b)) || (!init(a) && e(a).thread == e(b).thread && a < b));
    let rf_rel = Rel::from(n, |a, b| e(b).reads && rf[b] == a);
    if !sb.or(&rf_rel).acyclic() {
        return;
    }
    let mut mo = Rel::new(n);
    for list in mo_lists {
        for (i, &a) in list.iter().enumerate() {
            list[i + 1..].iter().for_each(|&b| mo.0[a] |= 1 << b);
        }
    }
    let fr = rf_rel.inverse().then(&mo).filter(|a, b| a != b);
    // Atomicity: nothing between what an update reads and the update.
    if (0..n).any(|u| e(u).reads && e(u).writes && (0..n).any(|w| fr.has(u, w) && mo.has(w, u))) {
        return;
    }
    let eco = rf_rel.or(&mo).or(&fr).plus();
    // sw = [rel]; ([F]; sb)?; [W & rlx]; (rf; rmw)*; rf; [R]; (sb; [F])?; [acq]
    let rmw_step = rf_rel.filter(|_, b| e(b).reads && e(b).writes);
    // In C11 a thread's own later stores to the location continue what it released there.
    let own = sb.filter(|a, b| c11 && !init(a) && e(b).writes && e(a).location == e(b).location);
    let sequence = own.optional().then(&rmw_step.plus().optional());
    let head = Rel::from(n, |a, w| {
        let through_fence = e(a).fence && e(a).order.releases() && sb.has(a, w);
        e(w).writes && !init(w) && ((a == w && e(a).order.releases()) || through_fence)
    });
    let tail = Rel::from(n, |r, b| {
        let through_fence = e(b).fence && e(b).order.acquires() && sb.has(r, b);
        e(r).reads && ((r == b && e(b).order.acquires()) || through_fence)
    });
    let sw = head.then(&sequence).then(&rf_rel).then(&tail);
    let hb = sb.or(&sw).plus();
    // An update is one event here, so coherence between its two halves is eco irreflexive.
    if !eco.irreflexive() || !hb.irreflexive() || !hb.then(&eco).irreflexive() {
        return;
    }
    let same_location = |a: usize, b: usize| e(a).location == e(b).location && !e(a).fence;
    let sb_other = sb.filter(|a, b| !same_location(a, b));
    let scb = sb.or(&sb_other.then(&hb).then(&sb_other)).or(&hb.filter(same_location)).or(&mo).or(&fr);
    let sc = |i: usize| e(i).order == Order::SeqCst && !init(i);
    let sc_fence = |i: usize| sc(i) && e(i).fence;
    let left = Rel::from(n, |a, b| (a == b && sc(a)) || (sc_fence(a) && (a == b || hb.has(a, b))));
    let right = Rel::from(n, |a, b| (a == b && sc(a)) || (sc_fence(b) && (a == b || hb.has(a, b))));
    let psc_base = left.then(&scb).then(&right);
    let psc_fence = hb.or(&hb.then(&eco).then(&hb)).filter(|a, b| sc_fence(a) && sc_fence(b));
    let psc = psc_base.or(&psc_fence);
    if !psc.acyclic() {
        return;
    }
    let mut outcome: Outcome = (0..n).filter(|&i| e(i).reads).map(|i| e(rf[i]).value).collect();
    outcome.extend(mo_lists.iter().map(|list| e(*list.last().expect("initial write")).value));
    if psc.or(&sb).or(&rf_rel).acyclic() {
        answer.1.insert(outcome.clone());
    }
    answer.0.insert(outcome);
}

// ---- random programs ----

fn random_program(rng: &mut Rng, threads: usize, length: usize) -> Program {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let mut value = 0;
    let mut ops = |rng: &mut Rng| {
        let x = rng.below(LOCATIONS);
        let pick = |rng: &mut Rng, orders: &[Order]| orders[rng.below(orders.len())];
        value += 1;
        match rng.below(12) {
            0..4 => Op::Load(x, pick(rng, &[Relaxed, Acquire, SeqCst])),
            4..8 => Op::Store(x, value, pick(rng, &[Relaxed, Release, SeqCst])),
            8 => Op::Exchange(x, value, pick(rng, &[Relaxed, Acquire, Release, AcqRel, SeqCst])),
            9 => {
                let expected = rng.below(usize::from(value)) as u8;
                let success = pick(rng, &[Relaxed, AcqRel, SeqCst]);
                let failure = pick(rng, &[Relaxed, Acquire]);
                Op::Cas(x, expected, value, success, if success == Relaxed { Relaxed } else { failure })
            }
            _ => Op::Fence(pick(rng, &[Acquire, Release, AcqRel, SeqCst, SeqCst])),
        }
    };
    (0..threads).map(|_| (0..length).map(|_| ops(rng)).collect()).collect()
}

fn compare(programs: impl Iterator<Item = Program>) {
    for (at, program) in programs.enumerate() {
        compare_one(&program, false);
        if at % 4 == 0 {
            compare_one(&program, true);
        }
    }
}

fn compare_one(program: &Program, c11: bool) {
    let sampled = all_outcomes(program, sequences(c11));
    let (rc11, fragment) = axiomatic_outcomes(program, c11);
    assert!(fragment.is_subset(&rc11));
    if let Some(wrong) = sampled.difference(&rc11).next() {
        panic!("unsound: {program:?} gives {wrong:?}, which RC11 forbids");
    }
    if let Some(missed) = fragment.difference(&sampled).next() {
        panic!("incomplete: {program:?} never gives {missed:?}");
    }
    assert_eq!(sampled, fragment);
}

/// The two differ where a relaxed store follows a release store of the same thread.
#[test]
fn release_sequences() {
    use Order::{Acquire, Relaxed, Release};
    let writer = vec![Op::Store(1, 1, Relaxed), Op::Store(0, 1, Release), Op::Store(0, 2, Relaxed)];
    let program = vec![writer, vec![Op::Load(0, Acquire), Op::Load(1, Relaxed)]];
    let stale = |c11| all_outcomes(&program, sequences(c11)).contains(&vec![2, 0, 2, 1]);
    assert!(stale(false), "C++20: the second store releases nothing");
    assert!(!stale(true), "C11: it belongs to the sequence of the first");
}

fn count(default: usize, full: usize) -> usize {
    if std::env::var_os("PORF_FULL").is_some() { full } else { default }
}

#[test]
fn two_threads_of_four() {
    let mut rng = Rng::new(1);
    compare((0..count(1_000, 30_000)).map(|_| random_program(&mut rng, 2, 4)));
}

#[test]
fn three_threads_of_two() {
    let mut rng = Rng::new(2);
    compare((0..count(1_000, 30_000)).map(|_| random_program(&mut rng, 3, 2)));
}

#[test]
fn three_threads_of_three() {
    let mut rng = Rng::new(3);
    compare((0..count(100, 3_000)).map(|_| random_program(&mut rng, 3, 3)));
}

#[test]
fn four_threads_of_two() {
    let mut rng = Rng::new(4);
    compare((0..count(100, 2_000)).map(|_| random_program(&mut rng, 4, 2)));
}

/// An engine that prunes at every operation.
fn pruning(window: Option<usize>) -> Engine {
    let mut engine = Engine::new();
    engine.prune_slack = 0;
    engine.window = window;
    engine
}

#[test]
fn conservative_pruning_loses_nothing() {
    let mut rng = Rng::new(5);
    for _ in 0..count(400, 10_000) {
        let program = random_program(&mut rng, 2, 4);
        let pruned = all_outcomes(&program, pruning(None));
        assert_eq!(pruned, engine_outcomes(&program), "{program:?}");
    }
}

#[test]
fn locations_that_were_written_down_are_the_same() {
    let between = |engine: &mut Engine, locations: &[LocationId]| {
        engine.freeze(|_| false);
        locations.iter().for_each(|&location| engine.thaw(location));
    };
    let mut rng = Rng::new(8);
    for round in 0..count(300, 10_000) {
        let (threads, length) = [(2, 4), (3, 2)][round % 2];
        let program = random_program(&mut rng, threads, length);
        for c11 in [false, true] {
            let frozen = enumerate(&program, sequences(c11), Replay::default(), between);
            let kept = enumerate(&program, sequences(c11), Replay::default(), |_, _| {});
            assert_eq!(frozen, kept, "{program:?}");
        }
    }
}

#[test]
fn a_window_only_narrows() {
    let mut rng = Rng::new(6);
    let mut narrowed = 0;
    for _ in 0..count(400, 10_000) {
        let program = random_program(&mut rng, 2, 4);
        let engine = pruning(Some(1));
        let (windowed, all) = (all_outcomes(&program, engine), engine_outcomes(&program));
        assert!(windowed.is_subset(&all), "{program:?} {:?}", windowed.difference(&all).next());
        narrowed += usize::from(windowed.len() < all.len());
    }
    assert!(narrowed > 0, "the window never had an effect");
}

#[test]
fn z6_u_is_rc11_but_outside_the_fragment() {
    // Lahav et al., PLDI 2017, §2.1: psc contradicts every interleaving.
    use Order::{Relaxed, Release, SeqCst};
    let program = vec![
        vec![Op::Store(0, 1, SeqCst), Op::Store(1, 1, Release)],
        vec![Op::Exchange(1, 2, SeqCst), Op::Load(1, Relaxed)],
        vec![Op::Store(1, 3, SeqCst), Op::Load(0, SeqCst)],
    ];
    let (rc11, fragment) = axiomatic_outcomes(&program, false);
    let weak = vec![1, 3, 0, 1, 3];
    assert!(rc11.contains(&weak) && !fragment.contains(&weak));
    assert_eq!(engine_outcomes(&program), fragment);
}

#[test]
fn sleep_sets_lose_no_outcome() {
    let mut rng = Rng::new(7);
    let (mut fewer, mut all) = (0, 0);
    for (threads, length, programs) in [(2, 4, 300), (3, 2, 300), (3, 3, 40), (4, 2, 40)] {
        for _ in 0..count(programs, 20 * programs) {
            let program = random_program(&mut rng, threads, length);
            let (outcomes, executions) = enumerate(&program, Engine::new(), Systematic::default(), |_, _| {});
            let (every, interleavings) = enumerate(&program, Engine::new(), Replay::default(), |_, _| {});
            assert_eq!(outcomes, every, "{program:?}");
            assert!(executions <= interleavings, "{program:?}");
            fewer += executions;
            all += interleavings;
        }
    }
    assert!(fewer * 4 < all, "{fewer} executions instead of {all}");
}
