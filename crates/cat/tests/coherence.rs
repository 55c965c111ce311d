//! Which models are seen to imply coherence.

#[allow(dead_code)]
mod common;

use common::Shape;
use porf_cat::{Evaluator, Model};

fn implies(model: &Model) -> bool {
    let shape = Shape::new("SB").thread("Wx1 Ry0").thread("Wy1 Rx0").structure();
    let mut evaluator = Evaluator::new(model);
    evaluator.bind(&shape).unwrap();
    evaluator.implies_coherence()
}

#[test]
fn shipped_models() {
    for entry in porf_cat::models() {
        // Weak RC11 has no total co.
        assert_eq!(implies(&Model::builtin(entry.name).unwrap()), entry.name != "wrc11", "{}", entry.name);
    }
}

#[test]
fn texts() {
    let check = |text: &str, expected: bool| {
        assert_eq!(implies(&Model::parse("m", text).unwrap()), expected, "{text}");
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
fn dependence_on_co() {
    let depends = |text: &str| {
        let model = Model::parse("m", text).unwrap();
        let shape = Shape::new("SB").thread("Wx1 Ry0").thread("Wy1 Rx0").structure();
        let mut evaluator = Evaluator::new(&model);
        evaluator.bind(&shape).unwrap();
        evaluator.depends_on_co()
    };
    assert!(depends("acyclic po | co"));
    assert!(!depends("acyclic po | rf"));
}
