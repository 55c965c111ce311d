//! Every axiom of every shipped model matters: delete it, or drop a part of its relation, and a named
//! test of `corpus/litmus` changes its answer.

use porf::{Axioms, Engine, litmus};
use porf_cat::ast::{ExprKind, File, Property, Require, StatementKind};
use porf_corpus::generate::Target;
use porf_corpus::intree::{Expected, concerns, names};
use porf_frontend_litmus::LitmusTest;
use rayon::prelude::*;

/// Mutants that mean the same as the model, with the reason.
const SURVIVORS: &[(&str, &str, &str)] = &[
    ("sc", "rf in sc", "the last part of the axiom has it too"),
    ("sc", "co in sc", "as for rf"),
    ("sc", "fr in sc", "as for rf"),
    ("tso", "co in coherence", "the global axiom orders co together with po between writes and rfe"),
    ("pso", "co in coherence", "as for tso"),
    ("riscv", "co in coherence", "the global axiom has co, and ppo contains po-loc into writes"),
    ("armv7", "co in propagation", "every fence here is a full one, and prop begins with coe"),
];

/// Models whose every deletion and weakening is looked at.
const MODELS: [(&str, Target); 14] = [
    ("sc", Target::C11),
    ("tso", Target::C11),
    ("pso", Target::C11),
    ("imm", Target::C11),
    ("ra", Target::C11),
    ("sra", Target::C11),
    ("rc11", Target::C11),
    ("c20", Target::C11),
    ("wrc11", Target::C11),
    ("lkmm", Target::Kernel),
    ("armv8", Target::AArch64),
    ("armv7", Target::Arm),
    ("power", Target::Ppc),
    ("riscv", Target::RiscV),
];

#[test]
fn every_axiom_is_needed() {
    let mut lost = Vec::new();
    for (model, target) in MODELS {
        let mut tests = tests_of(target.folder(), model);
        tests.extend(tests_of("mixed", model));
        let source = model.parse::<porf_model::Model>().expect("shipped").entry().cat;
        for (what, mutant) in mutants(model, source) {
            let loaded = Axioms::parse(model, &mutant.to_string()).expect("a mutant parses");
            let killer = tests.par_iter().find_any(|(test, wanted)| {
                // A test with accesses of different sizes is refused if the model no longer says what they mean.
                !litmus(test, &loaded, Engine::Oracle { unroll: 2 })
                    .is_ok_and(|answer| answer.outcome.observation.word() == wanted)
            });
            match killer {
                Some((test, _)) => println!("{model}: without {what}: {} changes", test.name),
                None if SURVIVORS.iter().any(|(m, w, _)| *m == model && *w == what) => {}
                None => lost.push(format!("{model}: without {what}: no test changes")),
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The tests of a folder with what is expected of them under a model.
fn tests_of(folder: &str, model: &str) -> Vec<(LitmusTest, String)> {
    let folder = porf_corpus::root().join("corpus/litmus").join(folder);
    let expected = Expected::load(&folder);
    let test = |name: String| {
        let path = folder.join(format!("{name}.litmus"));
        let text = std::fs::read_to_string(&path).expect("a test");
        let test = porf_frontend_litmus::parse(&name, &text).expect("a test that parses");
        let wanted = expected.get(&name, model)?.to_string();
        concerns(model, &test).then_some((test, wanted))
    };
    names(&folder).into_iter().filter_map(test).collect()
}

/// The model without one of its axioms, or with one weakened by a part of its union.
fn mutants(model: &str, source: &str) -> Vec<(String, File)> {
    let file = porf_cat::parse(&format!("{model}.cat"), source).expect("a shipped model");
    let mut found = Vec::new();
    for (at, statement) in file.statements.iter().enumerate() {
        let StatementKind::Test(Require::Check, test) = &statement.kind else { continue };
        let name = test.name.as_deref().unwrap_or("an axiom without a name");
        let mut without = file.clone();
        without.statements.remove(at);
        found.push((name.to_string(), without));
        // Leaving a part out of a forbidden cycle weakens the axiom.
        if test.property == Property::Acyclic
            && let ExprKind::Union(parts) = &test.expr.kind
        {
            for part in 0..parts.len() {
                let mut weaker = file.clone();
                if let StatementKind::Test(_, test) = &mut weaker.statements[at].kind
                    && let ExprKind::Union(parts) = &mut test.expr.kind
                {
                    let dropped = parts.remove(part);
                    found.push((format!("{dropped} in {name}"), weaker.clone()));
                }
            }
        }
    }
    found
}
