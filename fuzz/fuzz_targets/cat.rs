//! The cat parser, printer and compiler: no input may panic, and what parses must survive printing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use porf_cat::{CatModel, Evaluator, Structure};
use porf_relation::{EventSet, Relation};

/// An execution of one write and one read of it.
struct Tiny;

impl Structure for Tiny {
    fn len(&self) -> usize {
        2
    }

    fn set(&self, name: &str) -> Option<EventSet> {
        match name {
            "W" | "IW" => Some(EventSet::of(2, [0])),
            "R" => Some(EventSet::of(2, [1])),
            _ => None,
        }
    }

    fn relation(&self, name: &str) -> Option<Relation> {
        match name {
            "po" => Some(Relation::empty(2)),
            "loc" => Some(Relation::full(2)),
            "int" => Some(Relation::identity(2)),
            "ext" => Some(Relation::of(2, [(0, 1), (1, 0)])),
            _ => None,
        }
    }
}

fuzz_target!(|text: &str| {
    let Ok(file) = porf_cat::parse("fuzz", text) else { return };
    let printed = file.to_string();
    let again = porf_cat::parse("fuzz", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(printed, again.to_string());
    let Ok(model) = CatModel::parse("fuzz", text) else { return };
    let mut evaluator = Evaluator::new(&model);
    if evaluator.bind(&Tiny) == Ok(true) && evaluator.set_rf(&Relation::of(2, [(0, 1)])) == Ok(true) {
        evaluator.set_co(&Relation::empty(2));
        let _ = evaluator.check();
    }
});
