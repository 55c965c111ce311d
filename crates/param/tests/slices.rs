//! Systems that are proved without some of their symbols, and systems that are not.

use porf_param::certificate::{self, Solver};
use porf_param::prove::{Candidates, Options, Order, Outcome, Search, search};
use porf_param::system::System;
use porf_param::{Memory, load};

/// Whether a slice of the system is proved.
fn proved(text: &str, memory: Memory) -> bool {
    let system = load(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    matches!(search_slices(&system, memory).outcome, Outcome::Safe(_))
}

fn search_slices(system: &System, memory: Memory) -> Search {
    let options = Options {
        memory,
        order: Order::Issue,
        candidates: Candidates::Cores,
        sliced: true,
        max_work: 100_000_000,
        ..Options::default()
    };
    search(system, options).expect("a system")
}

fn corpus(file: &str) -> String {
    let path = format!("{}/../../corpus/prove/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a system of the corpus")
}

#[test]
fn what_the_property_does_not_need_is_left_out() {
    for memory in [Memory::Sc, Memory::Tso] {
        let system = load(&corpus("arbiter-v3.cub")).expect("a system");
        let found = search_slices(&system, memory);
        let Outcome::Safe(cubes) = &found.outcome else { panic!("no proof under {memory:?}") };
        // The check is about the whole system.
        let certificate =
            certificate::of_invariant(memory, cubes, &found.laws).expect("the order of certificates");
        let z3: Vec<Solver> = Solver::installed().into_iter().filter(|s| s.name() == "z3").collect();
        if !z3.is_empty() {
            let checked = certificate::check(&system, memory, &certificate, &z3);
            let confirmed = checked.unwrap_or_else(|why| panic!("{memory:?}: {why:?}"));
            eprintln!("{memory:?}: {} cubes, {} obligations", cubes.len(), confirmed.obligations);
        }
        assert!(!proved(&corpus("arbiter-v3-uninvited.cub"), memory), "{memory:?}");
    }
}

/// A lock with a flag that does nothing, in guards of every shape.
fn lock(guard: &str, update: &str) -> String {
    format!(
        "type loc = A | B\narray PC[proc] : loc\narray F[proc] : bool\nvar L : bool\nvar X : bool\n\
         init (p) {{ PC[p] = A && F[p] = False && L = False && X = False }}\n\
         unsafe (p q) {{ PC[p] = B && PC[q] = B }}\n\
         transition enter (p) requires {{ PC[p] = A && {guard} }} {{ PC[p] := B; L := True; {update} }}\n\
         transition leave (p) requires {{ PC[p] = B }} {{ PC[p] := A; L := False; F[p] := True }}\n"
    )
}

#[test]
fn guards_are_weakened_whatever_their_shape() {
    // Without F these guards say `L = False`, or less.
    for guard in [
        "L = False && F[p] = False",
        "not (L = True || F[p] = True)",
        "(if F[p] = True then L = False else L = False && X = False)",
        "L = False && (forall_other k. F[k] = False)",
        "L = False && not (exists_other k. F[k] = True)",
    ] {
        assert!(proved(&lock(guard, "X := X"), Memory::Sc), "{guard}");
    }
    // These let two processes in, whatever is left out.
    for guard in ["F[p] = False", "not (L = True && F[p] = False)", "(L = False || F[p] = False)"] {
        assert!(!proved(&lock(guard, "X := X"), Memory::Sc), "{guard}");
    }
    // The flag guards the lock: a slice without it would be wrong, and the lock alone is not enough.
    assert!(!proved(&lock("L = False || X = False", "X := F[p]"), Memory::Sc));
}
