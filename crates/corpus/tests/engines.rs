//! Both engines of `porf litmus` say the same of every test of ours, for every model that both have:
//! the same final states, each in as many executions, and the same races.

use porf::{Axioms, Engine, litmus};
use porf_corpus::generate::Target;
use porf_corpus::herd::{self, Corpus};
use porf_corpus::intree::names;
use porf_frontend_litmus::LitmusTest;
use rayon::prelude::*;

const MODELS: [&str; 7] = ["sc", "tso", "pso", "ra", "sra", "rc11", "c20"];

/// What differs, and whether the explorer gave an answer.
fn compare(test: &LitmusTest, model: &Axioms) -> (Option<String>, bool) {
    let oracle = litmus(test, model, Engine::Oracle { unroll: 2 });
    let explored = litmus(test, model, Engine::Explore { unroll: 2 });
    let name = format!("{} under {}", test.name, model.name());
    match (oracle, explored) {
        (Ok(a), Ok(b)) => {
            let same = a.outcome.states == b.outcome.states && a.flags == b.flags;
            let states = |answer: &porf::TestAnswer| {
                let states = &answer.outcome.states;
                format!(
                    "{} states, {} executions, {:?}",
                    states.len(),
                    states.values().sum::<u64>(),
                    answer.flags
                )
            };
            let what = (!same).then(|| format!("{name}: {} there, {} here", states(&a), states(&b)));
            (what, b.engine == "explore")
        }
        (Err(_), Err(_)) => (None, false),
        // A test that forgets to declare a variable: only the explorer notices.
        (Ok(_), Err(error)) if error.to_string().ends_with("which is no variable") => (None, false),
        (a, b) => (Some(format!("{name}: {:?} there, {:?} here", a.err(), b.err())), false),
    }
}

fn check(tests: &[LitmusTest], models: &[&str]) -> (Vec<String>, usize) {
    let mut explored = 0;
    let mut wrong = Vec::new();
    for model in models {
        let model = Axioms::load(model).expect("a shipped model").uncompiled();
        let results: Vec<_> = tests.par_iter().map(|test| compare(test, &model)).collect();
        explored += results.iter().filter(|(_, explored)| *explored).count();
        wrong.extend(results.into_iter().filter_map(|(what, _)| what));
    }
    (wrong, explored)
}

#[test]
fn our_tests() {
    for target in Target::ALL {
        let folder = porf_corpus::root().join("corpus/litmus").join(target.folder());
        let tests: Vec<LitmusTest> = names(&folder)
            .iter()
            .map(|name| {
                let path = folder.join(format!("{name}.litmus"));
                let text = std::fs::read_to_string(&path).expect("a test");
                porf_frontend_litmus::parse(&path.to_string_lossy(), &text)
                    .unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
            })
            .collect();
        let (wrong, explored) = check(&tests, &MODELS);
        println!("{}: {} tests, {explored} answers of the explorer", target.folder(), tests.len());
        assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
        let fast = matches!(target, Target::C11 | Target::X86 | Target::X86Long);
        assert!(explored > 0 || !fast, "nothing was explored");
    }
}

/// Public tests of C11 and x86, with their races.
#[test]
fn public_tests() {
    let Some(folder) = herd::folder() else {
        eprintln!("skipped: no corpora beside the repository");
        return;
    };
    let every = if porf_corpus::full() { 2 } else { 16 };
    let mut all = 0;
    let names = herd::list(&folder).expect("a readable folder").into_iter().map(|(name, _)| name);
    for name in names.filter(|name| name.starts_with("c11") || name.starts_with("x86")) {
        let corpus = Corpus::load(&folder, &name).expect("a readable archive");
        let tests: Vec<LitmusTest> = corpus
            .tests
            .iter()
            .filter(|(path, _)| herd::sampled(path, every))
            .filter_map(|(path, text)| porf_frontend_litmus::parse(path, text).ok())
            .collect();
        let (wrong, explored) = check(&tests, &["sc", "tso", "rc11"]);
        println!("{name}: {} tests, {explored} answers of the explorer", tests.len());
        assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
        all += explored;
    }
    assert!(all > 1_000, "only {all} answers");
}
