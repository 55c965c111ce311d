//! No two ways to an answer disagree, on random programs.
//!
//! Each program is a random test in C ([`random_c`]). For each of them
//! - brute force and exploration give the same final states, each in as many executions;
//! - a model that includes another allows all its final states;
//! - `verify` says what `litmus` says, up to mo and up to rf, with one worker and with two, whichever thread
//!   goes first, with and without reductions.
//!
//! Where it matters which write is the last one, wrc11 has no answer. It gets the same programs, but is asked about
//! registers only.
//!
//! 200 programs, or 10,000 with `PORF_FULL=1`; `PORF_FUZZ` sets another number, `PORF_SEED` the first seed.

use porf::{
    Axioms, Engine, Equivalence, Input, Model, Reductions, Request, Schedule, TestAnswer, litmus, verify,
};
use porf_corpus::generate::{Test, random_c, random_c_registers};
use porf_frontend_litmus::{LitmusTest, Observation, parse};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Models that take C tests as they stand.
const MODELS: [&str; 8] = ["sc", "tso", "pso", "sra", "ra", "rc11", "c20", "imm"];

/// Models that are asked about registers only.
const REGISTERS: [&str; 2] = ["rc11", "wrc11"];

/// The first allows no more than the second. Those of ra hold of programs without seq_cst, which means
/// nothing there.
const INCLUDED: [(&str, &str); 8] = [
    ("sc", "tso"),
    ("tso", "pso"),
    ("sc", "sra"),
    ("sra", "ra"),
    ("ra", "rc11"),
    ("sc", "rc11"),
    ("rc11", "c20"),
    ("rc11", "wrc11"),
];

/// Models under which `verify` runs, compiled where they are a machine's.
const VERIFIED: [Model; 6] = [Model::Sc, Model::Ra, Model::Rc11, Model::C20, Model::Tso, Model::Armv8];

#[test]
fn random_programs() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let count = number("PORF_FUZZ").unwrap_or(if porf_corpus::full() { 10_000 } else { 200 });
    let first = number("PORF_SEED").unwrap_or(0);
    let load = |names: &[&str]| -> Vec<Axioms> {
        names.iter().map(|name| Axioms::load(name).expect("a shipped model").uncompiled()).collect()
    };
    let (models, registers) = (load(&MODELS), load(&REGISTERS));
    let wrong: Vec<String> = (first..first + count)
        .into_par_iter()
        .flat_map_iter(|seed| check(seed, &models, &registers))
        .collect();
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(seed: u64, models: &[Axioms], registers: &[Axioms]) -> Vec<String> {
    let test = random_c(seed);
    let mut wrong = engines(&test, models);
    if let Some(test) = random_c_registers(seed) {
        wrong.extend(engines(&test, registers));
    }
    let parsed = parsed(&test);
    wrong.extend(VERIFIED.into_iter().flat_map(|model| verified(&parsed, &test.text, model)));
    wrong.iter().map(|what| format!("{what}\n{}", test.text)).collect()
}

fn parsed(test: &Test) -> LitmusTest {
    parse(&test.name, &test.text).unwrap_or_else(|error| panic!("{error}\n{}", test.text))
}

/// Where the two engines differ, and models that do not include what they should.
fn engines(test: &Test, models: &[Axioms]) -> Vec<String> {
    let parsed = parsed(test);
    let mut wrong = Vec::new();
    let mut answers: BTreeMap<&str, TestAnswer> = BTreeMap::new();
    for model in models {
        let brute = litmus(&parsed, model, Engine::Oracle { unroll: 2 });
        let explored = litmus(&parsed, model, Engine::Explore { unroll: 2 });
        match (brute, explored) {
            (Ok(brute), Ok(explored)) => {
                if brute.outcome.states != explored.outcome.states {
                    wrong.push(format!("{}: two engines differ", model.name()));
                }
                answers.insert(model.name(), brute);
            }
            (brute, explored) => {
                wrong.push(format!("{}: {:?} and {:?}", model.name(), brute.err(), explored.err()))
            }
        }
    }
    for (small, large) in INCLUDED {
        if small == "ra" && test.text.contains("seq_cst") {
            continue;
        }
        let (Some(few), Some(many)) = (answers.get(small), answers.get(large)) else { continue };
        if few.outcome.states.keys().any(|state| !many.outcome.states.contains_key(state)) {
            wrong.push(format!("{small} allows what {large} forbids"));
        }
    }
    wrong
}

/// What is wrong with the answers of `verify`.
fn verified(test: &LitmusTest, text: &str, model: Model) -> Vec<String> {
    let expected = match litmus(test, Axioms::of(model), Engine::Explore { unroll: 2 }) {
        Ok(answer) => answer,
        Err(error) => return vec![format!("{model}: {error}")],
    };
    let found = expected.outcome.observation != Observation::Never;
    let executions: u64 = expected.outcome.states.values().sum();
    let input = Input::litmus("test", text).expect("it was parsed before");
    let (mo, rf) = (Equivalence::Mo, Equivalence::Rf);
    let (left, right) = (Schedule::LeftToRight, Schedule::RightToLeft);
    let (none, all) = (Reductions::NONE, Reductions::default());
    let mut ways = vec![(mo, 1, left, none), (mo, 2, left, none), (mo, 1, right, none), (mo, 1, left, all)];
    if model.entry().has(rf) {
        ways.extend([(rf, 1, left, none), (rf, 2, right, all)]);
    }
    let mut wrong = Vec::new();
    for (equivalence, jobs, schedule, reductions) in ways {
        let request = Request { equivalence, jobs, schedule, reductions, ..Request::new(model) };
        let way = format!("{model} up to {equivalence}, {jobs} workers, {schedule:?}");
        match verify(&input, &request) {
            Err(error) => wrong.push(format!("{way}: {error}")),
            Ok(answer) => {
                let code = answer.verdict.exit_code();
                if code != u8::from(!found) {
                    wrong.push(format!("{way}: exit code {code}, but found: {found}"));
                }
                let count = answer.executions;
                let exact = answer.equivalence == mo && reductions == none;
                if count > executions || (exact && count != executions) {
                    wrong.push(format!("{way}: {count} executions, not {executions}"));
                }
            }
        }
    }
    wrong
}
