//! `--explain`: why a model allows an execution or forbids it. What is expected stands in the papers of the models: the
//! classic shapes, with the cycle that each axiom is made to forbid.

use porf_corpus::expected::folder;
use serde_json::Value;
use std::process::Command;

fn litmus(test: &str, model: &str) -> Value {
    let file = folder(&format!("litmus/{test}.litmus"));
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["litmus", "--explain", "--format", "json", "--model", model])
        .arg(&file)
        .output()
        .expect("porf runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The relations of a cycle down to what an execution is given with, and fr.
fn leaves(steps: &Value, out: &mut Vec<String>) {
    for step in steps.as_array().into_iter().flatten() {
        let name = step["name"].as_str().expect("a name");
        if step.get("parts").is_none() || name.starts_with("fr") {
            out.push(name.to_string());
        } else {
            leaves(&step["parts"], out);
        }
    }
}

/// The axiom that forbids what a test asks about, and its cycle.
#[track_caller]
fn forbidden(test: &str, model: &str, axiom: &str, has: &[&str]) {
    let object = litmus(test, model);
    assert_eq!(object["observation"], "Never", "{test} under {model}");
    let why = &object["explanation"]["why"];
    assert_eq!(why["allowed"], false, "{test} under {model}: {object}");
    let broken = why["axioms"].as_array().expect("axioms").iter().find(|one| one["name"] == axiom);
    let broken = broken.unwrap_or_else(|| panic!("{test} under {model}: no axiom {axiom}: {why}"));
    let mut cycle = Vec::new();
    leaves(&broken["broken"], &mut cycle);
    for name in has {
        assert!(cycle.iter().any(|step| step == name), "{test} under {model}: {name} in {cycle:?}");
    }
    // The steps follow each other, and come back.
    let steps = broken["broken"].as_array().expect("a cycle");
    for (at, step) in steps.iter().enumerate() {
        let next = &steps[(at + 1) % steps.len()];
        assert_eq!(step["to"], next["from"], "{test} under {model}: {steps:?}");
    }
}

#[test]
fn forbidden_by_the_axiom_that_is_made_for_it() {
    forbidden("c11/SB+rlx+rlx", "sc", "sc", &["po", "fr"]);
    forbidden("c11/MP+rlx+rlx", "tso", "tso", &["po", "rf", "fr"]);
    forbidden("c11/LB+rlx+rlx", "rc11", "no-thin-air", &["po", "rf"]);
    forbidden("c11/SB+fsc+fsc", "rc11", "seq-cst", &["po", "fr"]);
    forbidden("aarch64/MP+dmb.sy+addr", "armv8", "external", &["addr"]);
}

#[test]
fn allowed_although_no_interleaving_does_it() {
    for (test, model) in [("c11/SB+rlx+rlx", "rc11"), ("c11/MP+rlx+rlx", "rc11"), ("x86_64/SB+po+po", "tso")]
    {
        let object = litmus(test, model);
        let explanation = &object["explanation"];
        assert_eq!(explanation["why"]["allowed"], true, "{test}");
        assert_eq!(explanation["execution"]["interleaves"], false, "{test}");
        let mut cycle = Vec::new();
        leaves(&explanation["why"]["weak"], &mut cycle);
        assert!(cycle.contains(&"po".to_string()) && cycle.contains(&"fr".to_string()), "{test}: {cycle:?}");
        assert!(!explanation["why"]["unseen"].as_array().unwrap().is_empty(), "{test}: {explanation}");
    }
}

#[test]
fn a_violation_and_how_the_hint_forbids_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--explain"])
        .arg(folder("../examples/message.c"))
        .output()
        .expect("porf runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("rc11 allows it"), "{text}");
    assert!(text.contains("T1.0 →po T1.1 →rf T2.0 →po T2.1 →fr T1.0"), "{text}");
    assert!(text.contains("T2 has not seen T1.0 (message := 42 rlx)"), "{text}");
    let (_, repaired) = text.split_once("with memory_order_release for the store").expect("the hint");
    assert!(repaired.contains("rc11 forbids it: coherence"), "{text}");
    assert!(repaired.contains("sw"), "{text}");
}

#[test]
fn witnesses_have_co_and_happens_before() {
    let output = Command::new(env!("CARGO_BIN_EXE_porf"))
        .args(["verify", "--format", "json"])
        .arg(folder("../examples/message.c"))
        .output()
        .expect("porf runs");
    let object: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let witness = &object["violation"]["witness"];
    assert_eq!(witness["co"].as_array().expect("orders").len(), 2, "{witness}");
    // Threads start after what started them.
    let hb = witness["hb"].as_array().expect("pairs");
    assert!(hb.iter().any(|pair| pair[0] == "T0.0" && pair[1] == "T1.0"), "{hb:?}");
    assert_eq!(witness["sw"], serde_json::json!([]), "relaxed stores synchronise with nothing");
}
