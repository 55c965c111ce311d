//! Repairs and advice on the C programs of the corpus.
//!
//! Orderings are taken away from right programs, and added to them. What was taken away must be among the
//! repairs; after advice no place may be weaker still. Both are checked by explorations of their own.

use porf::{Advice, Input, LoadOptions, Model, Place, Repair, Request, Suggestion, advise, repair, verify};
use porf_ir::MemoryOrder;
use std::path::Path;

/// Right under rc11, each with few executions.
const PROGRAMS: [&str; 12] = [
    "mcs",
    "ticketlock",
    "ttaslock",
    "seqlock",
    "treiber",
    "msqueue",
    "chaselev",
    "peterson",
    "dekker",
    "spsc",
    "clh",
    "linuxrwlocks",
];

fn load(name: &str) -> Input {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/programs/{name}.c"));
    Input::load(&[path], &LoadOptions::default()).expect("a program")
}

fn with(input: &Input, suggestions: &[Suggestion]) -> Input {
    let changes: Vec<_> = suggestions.iter().flat_map(Suggestion::changes).collect();
    Input { program: input.program.with(&changes), ..input.clone() }
}

fn word(input: &Input) -> &'static str {
    verify(input, &Request::new(Model::Rc11)).expect("an answer").verdict.word()
}

fn advice(input: &Input) -> Option<Advice> {
    advise(input, &Request::new(Model::Rc11), &[Model::Rc11]).expect("advice")
}

/// Every place, with the strongest ordering that is weaker than the one that it has.
fn weakened(input: &Input) -> Vec<Suggestion> {
    let weaken = |place: Place| place.weaker().next_back().map(|order| Suggestion { place, order });
    Place::all(&input.program).into_iter().filter_map(weaken).collect()
}

/// Takes one ordering away at a time.
#[test]
fn what_was_weakened_is_among_the_repairs() {
    let (mut wrong, mut named) = (0, 0);
    for name in PROGRAMS {
        let input = load(name);
        for weaker in weakened(&input) {
            let broken = with(&input, std::slice::from_ref(&weaker));
            let request = Request::new(Model::Rc11);
            let answer = verify(&broken, &request).expect("an answer");
            if answer.verdict.word() != "violated" {
                continue;
            }
            wrong += 1;
            let Some(Repair::Orderings(sets)) = repair(&broken, &request, &answer).expect("a repair") else {
                panic!("{name}: no repair for {weaker}");
            };
            for set in &sets {
                assert_eq!(word(&with(&broken, set)), "safe", "{name}: {set:?}");
            }
            let is_it = |one: &Suggestion| {
                one.place.location == weaker.place.location
                    && one.place.operation == weaker.place.operation
                    && one.order == weaker.place.order
            };
            named += usize::from(sets.iter().any(|set| set.iter().any(is_it)));
        }
    }
    println!("{named} of {wrong} orderings named");
    assert!(wrong >= 40, "{wrong}");
    assert!(named * 100 >= wrong * 90, "{named} of {wrong}");
}

/// Adds orderings that are not needed.
#[test]
fn advice_takes_back_what_is_not_needed() {
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for name in PROGRAMS {
        let input = load(name);
        for _ in 0..20 {
            let mut seeded = input.clone();
            for _ in 0..=next(3) {
                let places: Vec<Place> = Place::all(&seeded.program)
                    .into_iter()
                    .filter(|place| place.stronger().next().is_some())
                    .collect();
                if places.is_empty() {
                    continue;
                }
                let place = places[next(places.len())].clone();
                let orders: Vec<MemoryOrder> = place.stronger().collect();
                let order = orders[next(orders.len())];
                seeded = with(&seeded, &[Suggestion { place, order }]);
            }
            let advice = advice(&seeded).expect("a safe program");
            let suggestions: Vec<Suggestion> = advice.suggestions().collect();
            let advised = with(&seeded, &suggestions);
            assert_eq!(word(&advised), "safe", "{name}: {suggestions:?}");
            for weaker in weakened(&advised) {
                let reached = advice
                    .places
                    .iter()
                    .find(|known| known.place.location == weaker.place.location)
                    .is_none_or(|known| known.reached);
                if reached {
                    let unsafe_ = word(&with(&advised, std::slice::from_ref(&weaker)));
                    assert_ne!(unsafe_, "safe", "{name}: {weaker} is enough");
                }
            }
        }
    }
}

#[test]
fn a_wrong_algorithm_is_not_repaired_by_orderings() {
    let text = "program lost
global x
thread P0 { r = x.rlx; x.rlx = r + 1 }
thread P1 { r = x.rlx; x.rlx = r + 1; s = x.rlx; assert s != 1, \"lost\" }
";
    let input = Input::new(porf_ir::parse(text).expect("a program"));
    let request = Request::new(Model::Rc11);
    let answer = verify(&input, &request).expect("an answer");
    assert_eq!(answer.verdict.word(), "violated");
    assert_eq!(repair(&input, &request, &answer).expect("a repair"), Some(Repair::Other));
}

#[test]
fn a_wrong_program_gets_no_advice() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/message.c");
    let input = Input::load(&[path], &LoadOptions::default()).expect("a program");
    assert_eq!(advice(&input), None);
}
