//! The smallest sets of fences, against trying all sets of that size by exploring small instances; every set that is
//! reported has a certificate that the SMT solvers confirm.

use porf_param::certificate::{self, Solver};
use porf_param::explore::{Limits, explore};
use porf_param::fences::{Advice, Barrier, Kind, advise};
use porf_param::system::System;
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;
use std::path::PathBuf;

fn system(name: &str) -> System {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove").join(name);
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    load(&source).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn advice(name: &str, memory: Memory) -> Advice {
    // Some variants are too hard for the prover: they must not take long to be given up.
    advise(&system(name), Request { memory, max_work: 300_000, ..Request::default() }).expect("advice")
}

fn with(system: &System, set: &[Barrier]) -> System {
    let mut system = system.clone();
    for transition in &mut system.transitions {
        (transition.fence, transition.locked) = (false, transition.swaps);
    }
    for barrier in set {
        match barrier.kind {
            Kind::Fence => system.transitions[barrier.transition].fence = true,
            Kind::Lock => system.transitions[barrier.transition].locked = true,
        }
    }
    system
}

fn names(system: &System, sets: &[Vec<Barrier>]) -> Vec<String> {
    let mut names: Vec<String> = (sets.iter())
        .map(|set| {
            let each: Vec<String> = (set.iter())
                .map(|barrier| {
                    let kind = if barrier.kind == Kind::Fence { "fence" } else { "lock" };
                    format!("{kind} {}", system.transitions[barrier.transition].name)
                })
                .collect();
            each.join(" + ")
        })
        .collect();
    names.sort();
    names
}

/// No instance of two or three processes reaches an unsafe state.
fn explored_safe(system: &System, memory: Memory) -> bool {
    (2..=system.number_procs.unwrap_or(3).min(3)).all(|processes| {
        let limits = Limits { states: 30_000, buffer: 2, initial: 50, ..Limits::default() };
        explore(system, memory, processes, limits).trace.is_none()
    })
}

/// All sets of fences of one size.
fn of_size(places: &[Barrier], size: usize) -> Vec<Vec<Barrier>> {
    match (size, places) {
        (0, _) => vec![Vec::new()],
        (_, []) => Vec::new(),
        (_, [first, rest @ ..]) => {
            let mut sets = of_size(rest, size);
            sets.extend(of_size(rest, size - 1).into_iter().map(|mut set| {
                set.insert(0, *first);
                set
            }));
            sets
        }
    }
}

#[test]
fn the_smallest_sets_are_those_that_exploration_finds() {
    let systems = ["naive-mutex", "store-buffering", "message-passing"];
    for (name, memory) in systems.into_iter().flat_map(|name| [(name, Memory::Tso), (name, Memory::Pso)]) {
        let system = system(&format!("{name}.cub"));
        let advice = advice(&format!("{name}.cub"), memory);
        assert!(!advice.cut && advice.undecided.is_empty(), "{name} under {}", memory.word());
        let fences = |sets: &[Vec<Barrier>]| -> Vec<Vec<Barrier>> {
            let only = |set: &&Vec<Barrier>| set.iter().all(|barrier| barrier.kind == Kind::Fence);
            sets.iter().filter(only).cloned().collect()
        };
        let size = advice.smallest.first().map_or(0, Vec::len);
        let places: Vec<Barrier> = (0..system.transitions.len())
            .filter(|index| !system.transitions[*index].swaps)
            .map(|transition| Barrier { transition, kind: Kind::Fence })
            .collect();
        for smaller in 0..size {
            let safe =
                of_size(&places, smaller).into_iter().find(|set| explored_safe(&with(&system, set), memory));
            assert_eq!(safe, None, "{name} under {}: a smaller set", memory.word());
        }
        let explored: Vec<Vec<Barrier>> = of_size(&places, size)
            .into_iter()
            .filter(|set| explored_safe(&with(&system, set), memory))
            .collect();
        let found = names(&system, &fences(&advice.smallest));
        assert_eq!(found, names(&system, &explored), "{name} under {}", memory.word());
        for set in &advice.smallest {
            assert!(
                explored_safe(&with(&system, set), memory),
                "{name}: {:?}",
                names(&system, std::slice::from_ref(set))
            );
        }
    }
}

#[test]
fn every_set_has_a_certificate() {
    let solvers: Vec<Solver> =
        Solver::installed().into_iter().filter(|solver| solver.name() == "z3").collect();
    if solvers.is_empty() {
        eprintln!("skipped: z3 is not installed");
        return;
    }
    let (name, memory) = ("naive-mutex-nofence.cub", Memory::Tso);
    let (system, advice) = (system(name), advice(name, memory));
    assert_eq!(names(&system, &advice.added), ["fence enter", "lock req"]);
    for set in &advice.added {
        let fenced = with(&system, set);
        let answer =
            prove(&fenced, Request { memory, certifiable: true, ..Request::default() }).expect("an answer");
        assert!(matches!(answer.verdict, Verdict::Safe(_)));
        let whole = certificate::of(memory, &answer).expect("an order of issue");
        certificate::check(&fenced, memory, &whole, &solvers).expect("confirmed");
    }
}

#[test]
fn superfluous_fences_are_named_and_needed_ones_come_with_a_run() {
    let needed = |advice: &Advice| advice.needed.iter().map(|(barrier, _)| *barrier).collect::<Vec<_>>();
    // Between two stores: nothing to do under tso.
    let found = advice("message-passing.cub", Memory::Tso);
    let system = system("message-passing.cub");
    assert_eq!(names(&system, std::slice::from_ref(&found.superfluous)), ["fence publish"]);
    assert_eq!(names(&system, &found.kept), [""]);
    let found = advice("message-passing.cub", Memory::Pso);
    assert_eq!(names(&system, &[needed(&found)]), ["fence publish"]);
    assert!(found.superfluous.is_empty());
}

#[test]
fn what_is_broken_under_sc_has_no_cure() {
    let advice = advice("ticket-lock-shared.cub", Memory::Tso);
    assert!(advice.hopeless.is_some() && advice.smallest.is_empty() && advice.added.is_empty());
}

#[test]
fn sc_needs_no_advice() {
    let request = Request { memory: Memory::Sc, ..Request::default() };
    assert!(advise(&system("peterson.cub"), request).is_err());
}

/// `lock()` is an exchange: what is written is in memory at once.
#[test]
fn a_locked_store_needs_no_fence_behind_it() {
    let text = |lock: &str| {
        format!(
            "type loc = A | B | C\narray PC[proc] : loc\nweak array X[proc] : bool\n\
             init (p) {{ PC[p] = A && X[p] = False }}\nunsafe (p q) {{ PC[p] = C && PC[q] = C }}\n\
             transition set ([p]) requires {{ PC[p] = A{lock} }} {{ PC[p] := B; X[p] := True }}\n\
             transition look ([p]) requires {{ PC[p] = B && forall_other k. X[k] = False }} {{ PC[p] := C }}\n"
        )
    };
    for (lock, safe) in [("", false), (" && lock()", true)] {
        let system = load(&text(lock)).expect("a system");
        for memory in [Memory::Tso, Memory::Pso] {
            assert_eq!(explored_safe(&system, memory), safe);
            let answer = prove(&system, Request { memory, ..Request::default() }).expect("an answer");
            assert_eq!(matches!(answer.verdict, Verdict::Safe(_)), safe);
        }
    }
    let nothing = "array X[proc] : bool\ninit (p) { X[p] = True }\nunsafe (p) { X[p] = False }\n\
        transition t ([p]) requires { lock() } { X[p] := True }\n";
    assert!(load(nothing).expect_err("no weak write").message.contains("writes no weak memory"));
}
