//! Our answers agree with herd's on the public corpora, where they lie beside the repository.
//!
//! By default a fixed sample of one test in eight (over 7,000 tests, all dialects and models); all of
//! them with `PORF_FULL=1`. Differences are listed with their reasons in `corpus/disagreements.toml`: one
//! that is not fails, and so does an entry that is no difference. The explorer answers all tests of the
//! models that it has a checker for.

use porf::{Engine, Model};
use porf_corpus::check::check;
use porf_corpus::herd::{self, Corpus, our_model};
use std::collections::BTreeSet;

#[test]
fn answers_agree_with_herd() {
    let Some(folder) = herd::folder() else {
        eprintln!("skipped: no corpora beside the repository");
        return;
    };
    let every = if porf_corpus::full() { 1 } else { 8 };
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (name, models) in herd::list(&folder).expect("a readable folder") {
        let corpus = Corpus::load(&folder, &name).expect("a readable archive");
        let mut without_row: BTreeSet<&String> = corpus.tests.keys().collect();
        for model in &models {
            for row in corpus.rows(&folder, model).expect("readable expectations") {
                without_row.remove(&row.path);
            }
            if our_model(model).is_none() {
                continue;
            }
            let report = check(&folder, &corpus, model, Engine::Oracle { unroll: 2 }, |path| {
                herd::sampled(path, every)
            });
            println!("{}", report.line());
            compared += report.rows();
            for (path, what) in report.differ.iter().chain(&report.unanswered) {
                wrong.push(format!("{name} {model} {path}: {what}"));
            }
            for path in &report.stale {
                wrong.push(format!("{name} {model} {path}: agrees, but is listed as a disagreement"));
            }
            let known = report.known.len() as f64 / report.rows().max(1) as f64;
            if porf_corpus::full() && known > 0.005 {
                wrong.push(format!("{name} {model}: {:.2} % known disagreements", 100.0 * known));
            }
        }
        wrong.extend(without_row.iter().map(|path| format!("{name} {path}: no row under any model")));
    }
    assert!(compared >= 3_000, "only {compared} rows were compared");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// C11 and X86 tests on the explorer: every one, with the number of executions.
#[test]
fn the_explorer_agrees_with_herd() {
    let Some(folder) = herd::folder() else {
        eprintln!("skipped: no corpora beside the repository");
        return;
    };
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (name, models) in herd::list(&folder).expect("a readable folder") {
        let ours = |model: &&String| {
            let model = our_model(model).map(|model| model.parse::<Model>().expect("a shipped model"));
            // Without an order of the writes there is no final memory.
            model.is_some_and(|model| model != Model::Wrc11)
        };
        let models: Vec<&String> = models.iter().filter(ours).collect();
        if models.is_empty() {
            continue;
        }
        let corpus = Corpus::load(&folder, &name).expect("a readable archive");
        for model in models {
            let report = check(&folder, &corpus, model, Engine::Explore { unroll: 2 }, |_| true);
            println!("{}", report.line());
            compared += report.rows();
            for (path, what) in report.differ.iter().chain(&report.unanswered) {
                wrong.push(format!("{name} {model} {path}: {what}"));
            }
            // herd counts executions of Arm's compare-and-swap otherwise than both of our engines do.
            let cas = |path: &&String| name == "aarch64-herd" && path.contains("CAS");
            let counts = report.counts_differ.iter().filter(|path| !cas(path));
            for path in report.stale.iter().chain(counts) {
                wrong.push(format!("{name} {model} {path}: listed, but agrees, or another count"));
            }
        }
    }
    assert!(compared >= 36_000, "only {compared} rows were compared");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
