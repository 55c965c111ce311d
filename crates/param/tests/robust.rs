//! What weak memory shows of a robust system, sequential consistency does: compared state by state.

mod generator;
mod seeds;

use generator::{Generator, Shape};
use porf_param::explore::{Instance, Limits, State, explore};
use porf_param::prove::{Candidates, Options, Outcome, search};
use porf_param::system::System;
use porf_param::{Memory, load};
use std::collections::HashSet;
use std::time::Duration;

fn is_robust(system: &System, memory: Memory) -> bool {
    let options = Options {
        memory,
        candidates: Candidates::None,
        robust: true,
        max_nodes: 100,
        max_work: 300_000,
        max_time: Duration::MAX,
        ..Options::default()
    };
    let found = search(system, options).expect("a system");
    matches!(found.outcome, Outcome::Robust(_))
}

/// Every state of the instance, its buffers drained in any order, is one of sequential consistency. `None`: there
/// are too many states to say.
fn shows_nothing(system: &System, memory: Memory, processes: u8) -> Option<bool> {
    let limits = Limits { states: 5_000, buffer: 3, initial: 200, stop_at_unsafe: false };
    let strong = explore(system, Memory::Sc, processes, Limits { states: 50_000, ..limits });
    if strong.cut.any() {
        return None;
    }
    let allowed: HashSet<&[i32]> = strong.states.iter().map(|state| &*state.cells).collect();
    let weak = explore(system, memory, processes, limits);
    // What is pending reaches memory, also where the exploration stopped before.
    let instance = Instance::new(system, memory, processes);
    let mut seen: HashSet<State> = weak.states.iter().cloned().collect();
    let mut open = weak.states;
    while let Some(state) = open.pop() {
        if state.buffers.iter().all(Vec::is_empty) && !allowed.contains(&*state.cells) {
            return Some(false);
        }
        instance.commits(&state, &mut |_, next| {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        });
    }
    Some(true)
}

#[test]
fn a_robust_system_has_the_states_of_sequential_consistency() {
    let range = match seeds::asked_for() {
        Some(range) => range,
        None if std::env::var_os("PORF_FULL").is_some() => 0..6_000,
        None => 0..400,
    };
    let shapes: Vec<Shape> = Shape::ALL.into_iter().chain(Shape::OF_ALL).collect();
    let (mut robust, mut not_robust, mut shown) = (0, 0, 0);
    for seed in range.clone() {
        let text = Generator::new(seed).system(shapes[seed as usize % shapes.len()]);
        let system = load(&text).expect("a random system");
        for memory in [Memory::Tso, Memory::Pso].into_iter().filter(|_| system.has_weak()) {
            let claimed = is_robust(&system, memory);
            *if claimed { &mut robust } else { &mut not_robust } += 1;
            for processes in 2..=3 {
                let same = shows_nothing(&system, memory, processes);
                shown += usize::from(same == Some(false));
                assert!(
                    !claimed || same != Some(false),
                    "seed {seed}, {memory:?}, {processes} processes\n{text}"
                );
            }
        }
    }
    eprintln!("{robust} robust, {not_robust} not known to be, {shown} instances show what is weak");
    assert!(robust * 20 > range.end - range.start, "hardly any system is robust");
    assert!(shown > 0, "no system shows what is weak");
}

/// The answers of the literature: a store before a load needs a fence, and PSO takes two stores apart.
#[test]
fn what_is_robust() {
    let corpus = |name: &str| {
        let path = format!("{}/../../corpus/prove/{name}.cub", env!("CARGO_MANIFEST_DIR"));
        load(&std::fs::read_to_string(path).expect("a system of the corpus")).expect("a system")
    };
    for (name, tso, pso) in [
        ("store-buffering", true, true),
        ("store-buffering-nofence", false, false),
        ("peterson", true, false),
        ("peterson-nofence", false, false),
        ("dekker-nofence", false, false),
        ("szymanski", true, false),
        ("spinlock", true, true),
        ("clh", true, false),
        ("clh-twosteps", false, false),
        ("graunke-thakkar-plain", true, true),
        // Its unsafe formula reads what a buffer may hold.
        ("message-passing", false, false),
    ] {
        let system = corpus(name);
        assert_eq!(is_robust(&system, Memory::Tso), tso, "{name} under tso");
        assert_eq!(is_robust(&system, Memory::Pso), pso, "{name} under pso");
    }
}

/// A loop that looks at a flag again does nothing; one that counts its looks does.
#[test]
fn a_step_that_changes_nothing_is_none() {
    let system = |again: &str| {
        let text = format!(
            "type loc = A | B | C\narray PC[proc] : loc\narray N[proc] : int\nweak var X : bool\nweak array Y[proc] : bool\n\
             init (p) {{ PC[p] = A && N[p] = 0 && X = False && Y[p] = False }}\nunsafe (p q) {{ PC[p] = C && PC[q] = C }}\n\
             transition say ([p]) requires {{ PC[p] = A }} {{ PC[p] := B; Y[p] := True }}\n\
             transition again ([p]) requires {{ PC[p] = B && X = False }} {{ {again} }}\n\
             transition set ([p]) requires {{ PC[p] = A && fence() }} {{ PC[p] := A; X := False }}\n"
        );
        load(&text).expect("a system")
    };
    let robust = |again: &str| is_robust(&system(again), Memory::Tso);
    assert!(robust("PC[p] := B"));
    assert!(!robust("PC[p] := C"));
    assert!(!robust("PC[p] := B; N[p] := N[p] + 1"));
}
