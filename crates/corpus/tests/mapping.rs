//! C11 compiled to machines does what C11 allows.
//!
//! For every C11 test: the final states of the compiled program under the machine's model are among those of
//! rc11. Load buffering is the exception: RC11 forbids cycles in po ∪ rf altogether, the machines only where
//! dependencies or barriers keep them. Such tests are listed; their further states must be states of RC11
//! without that axiom. Tests with data races mean nothing in C and are left out.
//!
//! The answers come from brute force; the explorer must give the same ones with the same counts. All tests
//! of the tree, and one in eight of the corpora beside the repository; all of them with `PORF_FULL=1`.

use porf::{Axioms, Engine, TestAnswer, litmus};
use porf_corpus::herd::{self, Corpus};
use porf_frontend_litmus::{LitmusTest, parse};
use porf_model::{Machine, Model};
use std::collections::{BTreeMap, BTreeSet};

/// Tests of the tree in which machines buffer loads: armv8, armv7, power and riscv do in each. In all of them
/// some thread reads and then writes another location, relaxed and without a dependency.
const LOAD_BUFFERING: [&str; 12] = [
    "3.LB+rlx+rlx+rlx",
    "LB+far+rlx",
    "LB+fsc+rlx",
    "LB+poal+rlx",
    "LB+rlx+far",
    "LB+rlx+fsc",
    "LB+rlx+poal",
    "LB+rlx+rlx",
    "LB+rlx+sc",
    "LB+sc+rlx",
    "WWC+rlx+rlx",
    "lb-exchange-data",
];

#[test]
fn compiled_tests_do_what_rc11_allows() {
    let models = Models::new();
    let folder = porf_corpus::root().join("corpus/litmus/c11");
    let (mut found, mut wrong): (BTreeMap<String, Vec<&str>>, Vec<String>) = Default::default();
    let mut compared = 0;
    for name in porf_corpus::intree::names(&folder) {
        let text = std::fs::read_to_string(folder.join(format!("{name}.litmus"))).unwrap();
        let test = parse(&name, &text).unwrap();
        let Some(report) = models.compare(&test, true) else { continue };
        compared += 1;
        wrong.extend(report.wrong.into_iter().map(|what| format!("{name}: {what}")));
        if !report.buffered.is_empty() {
            found.insert(name, report.buffered);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 150, "only {compared} tests");
    println!("{compared} tests");
    let names: Vec<&String> = found.keys().collect();
    assert_eq!(names, LOAD_BUFFERING, "the tests that buffer loads");
    assert!(found.values().all(|on| *on == ["armv8", "armv7", "power", "riscv"]), "{found:?}");
}

#[test]
fn compiled_tests_of_the_corpora_do_what_rc11_allows() {
    let Some(folder) = herd::folder() else {
        eprintln!("skipped: no corpora beside the repository");
        return;
    };
    let every = if porf_corpus::full() { 1 } else { 8 };
    let models = Models::new();
    let (mut compared, mut buffered, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for (name, _) in herd::list(&folder).expect("a readable folder") {
        if !name.starts_with("c11-") || name == "c11-scale" {
            continue;
        }
        let corpus = Corpus::load(&folder, &name).expect("a readable archive");
        for (path, text) in corpus.tests.iter().filter(|(path, _)| herd::sampled(path, every)) {
            let Ok(test) = parse(path, text) else { continue };
            let Some(report) = models.compare(&test, false) else { continue };
            compared += 1;
            wrong.extend(report.wrong.into_iter().map(|what| format!("{name} {path}: {what}")));
            if !report.buffered.is_empty() {
                buffered.insert(format!("{name} {path}"));
            }
        }
    }
    println!("{compared} tests, of which {} buffer loads", buffered.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 500, "only {compared} tests");
}

struct Models {
    rc11: Axioms,
    /// Without "no thin air".
    weaker: Axioms,
    machines: Vec<(Machine, Axioms)>,
}

#[derive(Default)]
struct Report {
    /// Models under which there are states that need a cycle in po ∪ rf.
    buffered: Vec<&'static str>,
    wrong: Vec<String>,
}

impl Models {
    fn new() -> Models {
        let path = porf_corpus::root().join("models/rc11.cat");
        let text = std::fs::read_to_string(path).unwrap();
        let axiom = "acyclic sb | rf as no-thin-air\n";
        assert!(text.contains(axiom));
        let axioms = |machine| Axioms::load(Model::of_machine(machine).name()).unwrap();
        let machines = Machine::ALL.into_iter().map(|machine| (machine, axioms(machine)));
        Models {
            rc11: Axioms::load("rc11").unwrap(),
            weaker: Axioms::parse("rc11-weaker", &text.replace(axiom, "")).unwrap(),
            machines: machines.collect(),
        }
    }

    /// `None` if the test is racy or too large.
    fn compare(&self, test: &LitmusTest, explore: bool) -> Option<Report> {
        let brute = Engine::Oracle { unroll: 2 };
        let allowed = litmus(test, &self.rc11, brute).ok()?;
        if !allowed.flags.is_empty() {
            return None;
        }
        let allowed = states(&allowed);
        let mut report = Report::default();
        for (machine, model) in &self.machines {
            let found = litmus(test, model, brute).unwrap();
            assert_eq!(found.compiled, Some(*machine));
            let name = Model::of_machine(*machine).name();
            if explore {
                let explored = litmus(test, model, Engine::Explore { unroll: 2 }).unwrap();
                if explored.outcome.states != found.outcome.states {
                    report.wrong.push(format!("{name}: the explorer finds something else"));
                }
            }
            let found = states(&found);
            if found.is_subset(&allowed) {
                continue;
            }
            report.buffered.push(name);
            let weaker = states(&litmus(test, &self.weaker, brute).unwrap());
            for state in found.difference(&weaker) {
                report.wrong.push(format!("{name} allows {state:?}"));
            }
        }
        Some(report)
    }
}

fn states(answer: &TestAnswer) -> BTreeSet<Vec<u64>> {
    answer.outcome.states.keys().cloned().collect()
}
