//! Every test of the public corpora that herd answered is read, its condition prints as herd prints
//! it, and its observed variables are those of herd's states.
//!
//! The corpora lie outside the repository; without them the check says that it is skipped.

mod common;

use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The least share of the answered tests of each corpus that must pass, in per mille.
const REQUIRED: usize = 995;

#[test]
fn corpora() {
    let Some((root, names)) = common::corpora() else {
        eprintln!("skipped: no corpora at ../shared/oracle");
        return;
    };
    let only = std::env::var("PORF_CORPUS").ok();
    let mut short = Vec::new();
    for name in names.iter().filter(|name| only.as_ref().is_none_or(|only| name.starts_with(only.as_str()))) {
        let result = check(&root, name);
        println!("{result}");
        for (message, (count, example)) in &result.failures {
            println!("    {count:5} × {message}   e.g. {example}");
        }
        if result.good * 1000 < result.answered * REQUIRED {
            short.push(name.as_str());
        }
    }
    assert_eq!(short, Vec::<&str>::new(), "corpora with too many failures");
}

struct Outcome {
    corpus: String,
    files: usize,
    parsed: usize,
    answered: usize,
    good: usize,
    seconds: f64,
    failures: BTreeMap<String, (usize, String)>,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:20} {:5} files, {:5} parsed, {:5} of {:5} answered ones good, {:.0} ms",
            self.corpus,
            self.files,
            self.parsed,
            self.good,
            self.answered,
            self.seconds * 1000.0
        )
    }
}

fn check(root: &Path, corpus: &str) -> Outcome {
    let expected = expectations(root, corpus);
    let mut outcome = Outcome {
        corpus: corpus.to_string(),
        files: 0,
        parsed: 0,
        answered: 0,
        good: 0,
        seconds: 0.0,
        failures: BTreeMap::new(),
    };
    for (path, text) in common::files(root, corpus) {
        outcome.files += 1;
        let start = std::time::Instant::now();
        let parsed = porf_frontend_litmus::parse(&path, &text);
        outcome.seconds += start.elapsed().as_secs_f64();
        outcome.parsed += usize::from(parsed.is_ok());
        let Some(row) = expected.get(path.as_str()) else { continue };
        outcome.answered += 1;
        let failure = match parsed {
            Err(diagnostic) => Some(diagnostic.message),
            Ok(test) => compare(&test, row),
        };
        match failure {
            None => outcome.good += 1,
            Some(message) => {
                let message: String = message.chars().take(160).collect();
                let entry = outcome.failures.entry(message).or_insert((0, path));
                entry.0 += 1;
            }
        }
    }
    outcome
}

fn compare(test: &porf_frontend_litmus::LitmusTest, row: &Row) -> Option<String> {
    if let Err(malformed) = porf_ir::validate(&test.program) {
        return Some(format!("malformed: {malformed:?}"));
    }
    let observed: BTreeSet<String> = test.observables().iter().map(ToString::to_string).collect();
    if !row.variables.is_empty() && observed != row.variables {
        return Some(format!("observed {observed:?}, herd {:?}", row.variables));
    }
    let condition = test.condition.to_string();
    (condition != row.condition).then(|| format!("condition {condition} herd {}", row.condition))
}

struct Row {
    condition: String,
    variables: BTreeSet<String>,
}

/// The rows with an observation, by path.
fn expectations(root: &Path, corpus: &str) -> HashMap<String, Row> {
    let mut rows = HashMap::new();
    for entry in std::fs::read_dir(root.join("expected")).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let model = name.strip_prefix(corpus).and_then(|rest| rest.strip_prefix('-'));
        if model.is_none_or(|model| model.contains('-')) {
            continue;
        }
        let mut text = String::new();
        GzDecoder::new(File::open(&path).expect("a file")).read_to_string(&mut text).expect("text");
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [path, _, _, _, _, _, observation, .., condition, states] = columns[..] else { continue };
            if observation.is_empty() {
                continue;
            }
            let first = states.split(" | ").next().unwrap_or_default();
            let variables =
                first.split(';').filter_map(|pair| Some(pair.split_once('=')?.0.trim().to_string()));
            rows.entry(path.to_string())
                .or_insert(Row { condition: condition.to_string(), variables: variables.collect() });
        }
    }
    rows
}
