//! What is seen to follow from models: coherence, atomicity, what they depend on.

#[allow(dead_code)]
mod common;

use common::Shape;
use porf_cat::{CatModel, Evaluator};

#[test]
fn shipped_models() {
    let facts: Vec<(&str, bool, bool, bool)> = porf_model::ENTRIES
        .iter()
        .map(|entry| {
            let model = CatModel::shipped(entry.model);
            let (coherence, atomicity) = (model.implies_coherence(), model.implies_atomicity());
            (entry.name, coherence, atomicity, model.needs_dependencies())
        })
        .collect();
    let expected = [
        ("sc", true, true, false),
        ("tso", true, true, false),
        ("pso", true, true, false),
        ("ra", true, true, false),
        ("sra", true, true, false),
        ("rc11", true, true, false),
        ("c20", true, true, false),
        // No total co.
        ("wrc11", false, false, false),
        ("imm", true, true, true),
        // The thread's own writes may come between the halves of an update.
        ("armv8", true, false, true),
        ("armv7", true, true, true),
        ("power", true, true, true),
        ("riscv", true, true, true),
        ("lkmm", true, true, true),
    ];
    assert_eq!(facts, expected);
}

#[test]
fn texts() {
    let check = |text: &str, expected: bool| {
        assert_eq!(CatModel::parse("m", text).unwrap().implies_coherence(), expected, "{text}");
    };
    check("acyclic po-loc | rf | co | fr", true);
    check("acyclic po | rfe | rfi | coe | coi | fr", true);
    check("acyclic (po-loc | (rf | co | fr))+", true);
    check("include \"cos.cat\" acyclic po-loc | rf | co | fr", true);
    check("include \"cos-opt.cat\" irreflexive (po-loc | rf | co | fr)+", true);
    check("irreflexive (po | rf)+ ; (rf | co | fr)+", true);
    check("acyclic po-loc | rfe | co | fr", false);
    check("acyclic po-loc | rf | co", false);
    check("acyclic (po-loc & (W * W)) | rf | co | fr", false);
    check("~acyclic po-loc | rf | co | fr", false);
    check("flag ~acyclic po-loc | rf | co | fr as x", false);
    check("irreflexive po ; (rf | co)+", false);
    check("empty po", false);
}

#[test]
fn updates() {
    let check = |text: &str, expected: bool| {
        assert_eq!(CatModel::parse("m", text).unwrap().implies_atomicity(), expected, "{text}");
    };
    check("empty rmw & (fre ; coe)", true);
    check("empty (fr ; co) & rmw", true);
    check("include \"cos.cat\" empty rmw & (fre ; coe)", true);
    check("empty amo & (fre ; coe)", false);
    check("empty rmw & (fri ; coe)", false);
    check("empty (rmw & (fr ; co)) \\ (fri ; coi)", false);
    check("flag ~empty rmw & (fre ; coe) as x", false);
}

#[test]
fn dependence_on_co() {
    let depends = |text: &str| {
        let model = CatModel::parse("m", text).unwrap();
        let shape = Shape::new("SB").thread("Wx1 Ry0").thread("Wy1 Rx0").structure();
        let mut evaluator = Evaluator::new(&model);
        evaluator.bind(&shape).unwrap();
        evaluator.depends_on_co()
    };
    assert!(depends("acyclic po | co"));
    assert!(!depends("acyclic po | rf"));
}
