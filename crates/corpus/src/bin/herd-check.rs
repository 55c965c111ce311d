//! Compares our answers with herd's on the public corpora: `herd-check [CORPUS [MODEL]] [--every N] [--explore] [--verbose]`.

use porf::Engine;
use porf_corpus::check::check;
use porf_corpus::herd::{self, Corpus, our_model};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = Vec::new();
    let (mut every, mut verbose) = (1, false);
    let mut engine = Engine::Oracle { unroll: 2 };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--every" => every = args.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--verbose" => verbose = true,
            "--explore" => engine = Engine::Explore { unroll: 2 },
            _ => words.push(arg),
        }
    }
    let Some(folder) = herd::folder() else {
        eprintln!("no corpora beside the repository: nothing to compare");
        return ExitCode::SUCCESS;
    };
    let mut ok = true;
    let (mut ours, mut theirs) = (0, 0);
    for (name, models) in herd::list(&folder).expect("a readable folder") {
        if words.first().is_some_and(|word| *word != name) {
            continue;
        }
        let corpus = Corpus::load(&folder, &name).expect("a readable archive");
        for model in models.iter().filter(|model| our_model(model).is_some()) {
            if words.get(1).is_some_and(|word| word != model) {
                continue;
            }
            let report = check(&folder, &corpus, model, engine, |path| herd::sampled(path, every));
            println!("{}", report.line());
            if verbose {
                for (path, what) in report.differ.iter().chain(&report.unanswered) {
                    println!("    {path}: {what}");
                }
                for path in &report.counts_differ {
                    println!("    counts: {path}");
                }
            }
            ok &= report.differ.is_empty() && report.unanswered.is_empty() && report.stale.is_empty();
            ours += report.milliseconds;
            theirs += report.herd_milliseconds;
        }
    }
    println!("total {ours} ms, herd {theirs} ms: {:.1} times faster", theirs as f64 / ours.max(1) as f64);
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
