//! Every fence of every safe system of the corpus is taken away, one at a time: prover and exploration of
//! small instances must agree on what is left, and the fences that matter are known by name.

use porf_param::explore::{Limits, explore};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;
use std::path::PathBuf;

/// The system, its transition, and the models under which the fence there is needed: before a read that must not
/// overtake a write of its own process, under both; between two writes, under PSO.
const NEEDED: &[(&str, &str, &[Memory])] = &[
    ("burns", "enter", &[Memory::Tso, Memory::Pso]),
    ("dekker", "enter", &[Memory::Tso, Memory::Pso]),
    ("dijkstra", "enter", &[Memory::Tso, Memory::Pso]),
    ("double-checked", "publish", &[Memory::Pso]),
    ("hazard", "still", &[Memory::Tso, Memory::Pso]),
    ("hazard", "free", &[Memory::Tso, Memory::Pso]),
    ("lamport", "free", &[Memory::Tso, Memory::Pso]),
    ("lamport", "fast", &[Memory::Tso, Memory::Pso]),
    ("message-passing", "publish", &[Memory::Pso]),
    ("naive-mutex", "enter", &[Memory::Tso, Memory::Pso]),
    ("peterson-nostorefence", "wait", &[Memory::Tso]),
    ("peterson", "yield", &[Memory::Pso]),
    ("peterson", "wait", &[Memory::Tso, Memory::Pso]),
    ("rcu", "use", &[Memory::Tso, Memory::Pso]),
    ("rcu", "wait", &[Memory::Tso, Memory::Pso]),
    ("readers-writers", "read", &[Memory::Tso, Memory::Pso]),
    ("seqlock", "write_a", &[Memory::Pso]),
    ("seqlock", "even", &[Memory::Pso]),
    ("store-buffering", "look", &[Memory::Tso, Memory::Pso]),
    ("szymanski", "door", &[Memory::Tso, Memory::Pso]),
];

/// Its proof takes more than the test below has: exploration alone judges its fences.
const BAKERY: &str = "bakery-lamport";

#[test]
fn the_bakery_needs_both_of_its_fences() {
    let path = format!("{}/../../corpus/prove/{BAKERY}.cub", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("a system");
    let reaches = |text: &str| {
        let limits = Limits { states: 100_000, buffer: 2, initial: 50, ..Limits::default() };
        explore(&load(text).expect("a system"), Memory::Tso, 2, limits).trace.is_some()
    };
    let mutants = without_one_fence(&source);
    assert_eq!(mutants.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["begin", "door"]);
    assert!(!reaches(&source));
    for (transition, mutant) in mutants {
        assert!(reaches(&mutant), "without the fence of {transition}");
    }
}

#[test]
fn taking_a_fence_away_flips_the_verdict_where_it_is_needed() {
    let mut found: Vec<(String, String, Vec<Memory>)> = Vec::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove");
    let mut files: Vec<_> = (std::fs::read_dir(&folder).expect("the corpus"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cub"))
        .filter(|path| !path.to_string_lossy().contains(BAKERY))
        .collect();
    files.sort();
    for path in files {
        let source = std::fs::read_to_string(&path).expect("a system");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for (transition, mutant) in without_one_fence(&source) {
            let flipped: Vec<Memory> = [Memory::Tso, Memory::Pso]
                .into_iter()
                .filter(|memory| {
                    is_unsafe(&source, *memory, &name) == Some(false)
                        && is_unsafe(&mutant, *memory, &format!("{name} without the fence of {transition}"))
                            == Some(true)
                })
                .collect();
            if !flipped.is_empty() {
                found.push((name.clone(), transition, flipped));
            }
        }
    }
    let found: Vec<_> = found.iter().map(|(f, t, m)| (f.as_str(), t.as_str(), m.as_slice())).collect();
    assert_eq!(found, NEEDED);
}

/// What prover and exploration say; they must not contradict each other.
fn is_unsafe(source: &str, memory: Memory, name: &str) -> Option<bool> {
    let system = load(source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let explored = (2..=system.number_procs.unwrap_or(3)).any(|processes| {
        let limits = Limits { states: 20_000, buffer: 2, initial: 50, ..Limits::default() };
        explore(&system, memory, processes, limits).trace.is_some()
    });
    let request =
        Request { memory, max_nodes: 500, max_seconds: 200, explore_first: false, ..Request::default() };
    match prove(&system, request).expect("an answer").verdict {
        Verdict::Safe(_) => {
            assert!(!explored, "{name} under {}: proved, but exploration finds a run", memory.word());
            Some(false)
        }
        Verdict::Violated(_) => Some(true),
        Verdict::Inconclusive(_) => explored.then_some(true),
    }
}

/// The text without each of its fences in turn, and the transition that had it.
fn without_one_fence(source: &str) -> Vec<(String, String)> {
    let mut mutants = Vec::new();
    for (at, _) in source.match_indices("fence()") {
        let before = &source[..at];
        let after = &source[at + "fence()".len()..];
        let Some(start) = before.rfind("transition ") else { continue };
        let name = before[start + "transition ".len()..].split([' ', '(']).next().unwrap_or("").to_string();
        let mutant = match (before.trim_end().strip_suffix("&&"), after.trim_start().strip_prefix("&&")) {
            (Some(before), _) => format!("{before}{after}"),
            (None, Some(after)) => format!("{before}{after}"),
            (None, None) => continue,
        };
        mutants.push((name, mutant));
    }
    mutants
}
