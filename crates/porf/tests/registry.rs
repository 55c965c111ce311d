//! The registry promises what the engines do, and the verbs do not contradict each other.

use porf::{Axioms, Engine, Equivalence, Error, Input, Model, Request, litmus, parse_litmus, verify};
use porf_frontend_litmus::{Observation, Quantifier};
use porf_verdict::Verdict;
use std::path::Path;

/// The tests of a folder: name and text.
fn tests(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus").join(folder);
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "litmus"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn the_explorer_takes_the_equivalences_of_the_registry_and_no_others() {
    for model in Model::all() {
        // Conditions about final memory need co.
        let tests = tests(if model == Model::Lkmm { "lkmm" } else { "c11" });
        let (name, text) = tests.into_iter().find(|(name, _)| name.contains("/MP")).unwrap();
        let input = Input::litmus(&name, &text).unwrap();
        for equivalence in [Equivalence::Mo, Equivalence::Rf, Equivalence::Values] {
            let answer = verify(&input, &Request { equivalence, ..Request::new(model) });
            assert_eq!(answer.is_ok(), model.entry().has(equivalence), "{model} up to {equivalence}");
        }
    }
}

/// `porf verify` and `porf litmus` on the same test under the same model.
#[test]
fn verbs_do_not_contradict_each_other() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for folder in ["c11", "lkmm", "aarch64", "arm", "ppc", "riscv", "x86", "x86_64"] {
        for (name, text) in tests(folder) {
            let input = Input::litmus(&name, &text).unwrap();
            let test = parse_litmus(&name, &text).unwrap();
            for model in Model::all().filter(|model| *model != Model::Wrc11) {
                let one = litmus(&test, Axioms::of(model), Engine::Explore { unroll: 2 });
                let two = verify(&input, &Request { unroll: Some(2), ..Request::new(model) });
                let (one, two) = match (one, two) {
                    (Ok(one), Ok(two)) => (one, two),
                    // A test in another language is refused by both.
                    (Err(Error::Unsupported(one)), Err(Error::Unsupported(two))) => {
                        assert_eq!(one, two, "{name} under {model}");
                        continue;
                    }
                    // What the search cannot treat, brute force answers.
                    (Ok(_), Err(Error::Explore(_))) => continue,
                    (one, two) => {
                        wrong.push(format!("{name} under {model}: {:?}, {:?}", one.err(), two.err()));
                        continue;
                    }
                };
                compared += 1;
                let observation = one.outcome.observation;
                let contradicted = match test.condition.quantifier {
                    Quantifier::Exists => observation == Observation::Never,
                    Quantifier::NotExists => observation != Observation::Never,
                    Quantifier::Forall => observation != Observation::Always,
                };
                // Beside the condition `verify` looks for races: what the model flags is wrong anyway.
                let violated = matches!(two.verdict, Verdict::Violated(_));
                if violated != contradicted && one.flags.is_empty() {
                    wrong.push(format!("{name} under {model}: {} and {:?}", observation.word(), two.verdict));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 2_000, "only {compared} were compared");
}
