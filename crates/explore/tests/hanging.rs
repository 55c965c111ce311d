//! Who waits forever, against brute force: random programs whose threads wait by reading and by
//! read-modify-writes, as small machines whose states are all gone through.

mod support;

use porf_explore::{Equivalence, Model, Options, Visit, explore};
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::ControlFlow;
use support::generate::Random;

/// One step of a thread; a loop is one step that is taken again until it ends.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// `x = v`
    Store(usize, u64),
    /// `while x != v { }`
    Await(usize, u64),
    /// `while x.exchange(v) != 0 { }`
    Exchange(usize, u64),
    /// `while x.fetch_or(1) != 0 { }`
    Or(usize),
    /// `while x.fetch_add(0) != v { }`
    Same(usize, u64),
    /// `while x.cas(0, v) != 0 { }`
    Cas(usize, u64),
    /// `while x.exchange(1) != 0 && y.exchange(1) != 0 { }`
    Both(usize, usize),
    /// `while x.fetch_sub(a) < least { x.fetch_add(a) }`; if it waits, until there is as much before it tries again.
    Take(u64, u64, bool),
    /// `x.fetch_add(a)`
    Give(u64),
}

const NAMES: [&str; 2] = ["x", "y"];
type Memory = [u64; 2];

impl Step {
    fn random(random: &mut Random) -> Step {
        let (at, value) = (random.below(2) as usize, random.below(3));
        match random.below(10) {
            0..4 => Step::Store(at, value),
            4 => Step::Await(at, value),
            5 | 6 => Step::Exchange(at, 1 + value % 2),
            7 => Step::Or(at),
            8 if value < 2 => Step::Same(at, value),
            8 => Step::Both(at, 1 - at),
            _ => Step::Cas(at, 1 + value % 2),
        }
    }

    fn text(self) -> String {
        match self {
            Step::Store(x, v) => format!("{}.sc = {v};", NAMES[x]),
            Step::Await(x, v) => format!("while {}.sc != {v} {{ }}", NAMES[x]),
            Step::Exchange(x, v) => format!("while {}.exchange({v}, sc) != 0 {{ }}", NAMES[x]),
            Step::Or(x) => format!("while {}.fetch_or(1, sc) != 0 {{ }}", NAMES[x]),
            Step::Same(x, v) => format!("while {}.fetch_add(0, sc) != {v} {{ }}", NAMES[x]),
            Step::Cas(x, v) => format!("while {}.cas(0, {v}, sc, sc) != 0 {{ }}", NAMES[x]),
            Step::Both(x, y) => format!(
                "go = 1; while go != 0 {{ go = {}.exchange(1, sc); if go != 0 {{ go = {}.exchange(1, sc) }} }}",
                NAMES[x], NAMES[y]
            ),
            Step::Take(a, least, waits) => {
                let wait = if waits { format!("while x.sc < {least} {{ }}") } else { String::new() };
                format!(
                    "o = x.fetch_sub({a}, sc); while o < {least} {{ d = x.fetch_add({a}, sc); {wait} o = x.fetch_sub({a}, sc) }} o = 0; d = 0;"
                )
            }
            Step::Give(a) => format!("d = x.fetch_add({a}, sc); d = 0;"),
        }
    }

    /// Takes the step in part `part`; what follows: the next part of it, or `None` if it is over.
    fn take(self, memory: &mut Memory, part: u8) -> Option<u8> {
        let again = |again: bool| again.then_some(0);
        match self {
            Step::Store(x, v) => {
                memory[x] = v;
                None
            }
            Step::Await(x, v) => again(memory[x] != v),
            Step::Exchange(x, v) => again(std::mem::replace(&mut memory[x], v) != 0),
            Step::Or(x) => {
                let old = memory[x];
                memory[x] |= 1;
                again(old != 0)
            }
            Step::Same(x, v) => again(memory[x] != v),
            Step::Cas(x, v) => {
                let old = memory[x];
                if old == 0 {
                    memory[x] = v;
                }
                again(old != 0)
            }
            Step::Both(x, y) => {
                let old = std::mem::replace(&mut memory[if part == 0 { x } else { y }], 1);
                (old != 0).then_some(1 - part)
            }
            Step::Take(a, least, _) if part == 0 => {
                let enough = memory[0] >= least;
                memory[0] -= a;
                (!enough).then_some(1)
            }
            Step::Take(a, _, waits) if part == 1 => {
                memory[0] += a;
                Some(if waits { 2 } else { 0 })
            }
            Step::Take(_, least, _) => Some(if memory[0] >= least { 0 } else { 2 }),
            Step::Give(a) => {
                memory[0] += a;
                None
            }
        }
    }
}

/// Memory, and of each thread its step and the part of it.
type State = (Memory, Vec<(usize, u8)>);

fn successors(threads: &[Vec<Step>], (memory, at): &State) -> Vec<State> {
    let mut next = Vec::new();
    for (thread, &(step, part)) in at.iter().enumerate() {
        let Some(code) = threads[thread].get(step) else { continue };
        let (mut memory, mut at) = (*memory, at.clone());
        at[thread] = match code.take(&mut memory, part) {
            Some(part) => (step, part),
            None => (step + 1, 0),
        };
        next.push((memory, at));
    }
    next
}

fn reachable(threads: &[Vec<Step>], from: State) -> HashSet<State> {
    let mut seen = HashSet::from([from.clone()]);
    let mut work = vec![from];
    while let Some(state) = work.pop() {
        for next in successors(threads, &state) {
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    seen
}

/// Whether some state is reached that nothing changes any more, though not all threads are at their ends. Threads
/// that overwrite each other's values forever do not wait.
fn hangs(threads: &[Vec<Step>]) -> bool {
    let start = ([0; 2], vec![(0, 0); threads.len()]);
    reachable(threads, start).into_iter().any(|state| {
        let seen = |(memory, at): &State| (*memory, at.iter().map(|(step, _)| *step).collect::<Vec<_>>());
        let is_over = state.1.iter().zip(threads).all(|((step, _), code)| *step == code.len());
        let here = seen(&state);
        !is_over && reachable(threads, state).iter().all(|later| seen(later) == here)
    })
}

/// Whether some execution waits forever; none if there are many.
fn found(text: &str, model: Model, equivalence: Equivalence) -> Option<bool> {
    let program = porf_ir::parse(text).unwrap();
    let (mut stuck, mut seen) = (false, 0);
    let options = Options { unroll: Some(4), ..Options::default() };
    explore(&program, model, equivalence, &options, &mut |visit: Visit<'_, '_>| {
        seen += 1;
        if let Visit::Blocked(execution) = visit {
            stuck |= execution.stuck().is_some();
        }
        if seen > 2_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    (seen <= 2_000).then_some(stuck)
}

/// Whether some state is reached from which no thread comes to its next step any more, though not all are at their ends.
fn stands(threads: &[Vec<Step>], start: State) -> bool {
    let steps = |(_, at): &State| at.iter().map(|(step, _)| *step).collect::<Vec<_>>();
    reachable(threads, start).into_iter().any(|state| {
        let here = steps(&state);
        let is_over = here.iter().zip(threads).all(|(step, code)| *step == code.len());
        !is_over && reachable(threads, state).iter().all(|later| steps(later) == here)
    })
}

/// Attempts that are taken back are left out: who is said to wait for ever does.
#[test]
fn waiting_for_a_counter() {
    let full = std::env::var_os("PORF_FULL").is_some();
    let (mut hanging, mut others) = (0, 0);
    for seed in 0..if full { 10_000 } else { 40 } {
        let mut random = Random::new((18 << 40) + seed);
        let mut threads = Vec::new();
        for _ in 0..2 + random.below(2) {
            let mut code = Vec::new();
            for _ in 0..1 + random.below(2) {
                let amount = random.pick(&[1, 3]);
                match random.below(6) {
                    0 => code.push(Step::Store(1, 1)),
                    1 => code.push(Step::Await(1, 1)),
                    _ => {
                        let least = random.pick(&[18, 19, 20]);
                        code.push(Step::Take(amount, least, random.below(2) == 0));
                        code.extend((random.below(4) != 0).then_some(Step::Give(amount)));
                    }
                }
            }
            threads.push(code);
        }
        let mut text = String::from("program random\nglobal x = 20, y\n");
        for (at, code) in threads.iter().enumerate() {
            let code: Vec<String> = code.iter().map(|step| step.text()).collect();
            writeln!(text, "thread P{at} {{ {} }}", code.join(" ")).unwrap();
        }
        let expected = stands(&threads, ([20, 0], vec![(0, 0); threads.len()]));
        for (model, equivalence) in [(Model::Sc, Equivalence::Mo), (Model::Rc11, Equivalence::Mo)] {
            let Some(found) = found(&text, model, equivalence) else { continue };
            assert!(expected || !found, "{model} {equivalence}\n{text}");
            *if found { &mut hanging } else { &mut others } += 1;
        }
    }
    println!("{hanging} hang, {others} do not");
    assert!(hanging > 3 && others > 3, "{hanging} programs hang, {others} do not");
}

#[test]
fn waiting_for_ever_is_found_and_nothing_else() {
    let full = std::env::var_os("PORF_FULL").is_some();
    let (mut hanging, mut others) = (0, 0);
    for seed in 0..if full { 10_000 } else { 200 } {
        let mut random = Random::new((17 << 40) + seed);
        let threads: Vec<Vec<Step>> = (0..2 + random.below(2))
            .map(|_| (0..1 + random.below(3)).map(|_| Step::random(&mut random)).collect())
            .collect();
        let mut text = String::from("program random\nglobal x, y\n");
        for (at, code) in threads.iter().enumerate() {
            let code: Vec<String> = code.iter().map(|step| step.text()).collect();
            writeln!(text, "thread P{at} {{ {} }}", code.join(" ")).unwrap();
        }
        let expected = hangs(&threads);
        // All accesses are seq_cst: RC11 is SC then.
        for (model, equivalence) in [
            (Model::Sc, Equivalence::Mo),
            (Model::Rc11, Equivalence::Mo),
            (Model::Sc, Equivalence::Rf),
            (Model::Rc11, Equivalence::Rf),
            (Model::Wrc11, Equivalence::Rf),
        ] {
            let Some(found) = found(&text, model, equivalence) else { continue };
            assert_eq!(found, expected, "{model} {equivalence}\n{text}");
            *if found { &mut hanging } else { &mut others } += 1;
        }
        // Whoever waits forever under SC may do so under what allows more.
        for model in [Model::Tso, Model::Pso, Model::Ra, Model::Sra] {
            let found = found(&text, model, Equivalence::Mo);
            assert!(!expected || found != Some(false), "{model}\n{text}");
        }
    }
    assert!(hanging > 100 && others > 100, "{hanging} programs hang, {others} do not");
}
