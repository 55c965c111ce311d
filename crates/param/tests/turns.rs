//! What turns cost: the default needs at most three times the work of the best way to search alone, and a little more.
//!
//! Work is counted in steps, so the answer is the same on every machine. Each way alone gets a third of what the default
//! needed, and must not answer within it. Looked at are the systems of the corpus that the default decides within
//! 1,000,000 steps, and 30 random ones; with `PORF_FULL=1` 100,000,000 steps and 250 random ones. `PORF_SEEDS=240-1000`:
//! those of a range.

mod generator;
mod seeds;
mod ways;

use generator::{Generator, Shape};
use porf_param::system::System;
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

/// The default may do so many times the work of the best way alone,
const TIMES: u64 = 3;
/// and this much more, which is less than a millisecond: the first turns of the other searches.
const START: u64 = 20_000;

/// Where the default needs more; docs/performance-prover.md has the figures. Of six ways and more beside each other, not
/// each can have a third of the work. The random ones are proved by slices, which begin late.
const MORE: [(&str, Memory); 10] = [
    ("arbiter-v3.cub", Memory::Tso),
    ("arbiter-v3.cub", Memory::Ra),
    ("lamport.cub", Memory::Pso),
    ("mcs-exchange.cub", Memory::Ra),
    ("mcs-lock.cub", Memory::Tso),
    ("mcs-lock.cub", Memory::Pso),
    ("random 118", Memory::Pso),
    ("random 145", Memory::Pso),
    ("random 247", Memory::Tso),
    ("random 247", Memory::Pso),
];

#[test]
fn the_default_is_close_to_the_best_way_on_the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove");
    let files = std::fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "cub")).collect();
    files.sort();
    let systems = files.iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("a system"))
    });
    check(systems, Memory::ALL.as_slice());
}

#[test]
fn the_default_is_close_to_the_best_way_on_random_systems() {
    let shapes: Vec<Shape> = Shape::ALL.into_iter().chain(Shape::OF_ALL).collect();
    let seeds = seeds::asked_for().unwrap_or(0..if full() { 250 } else { 30 });
    let system = |seed: u64| Generator::new(seed).system(shapes[seed as usize % shapes.len()]);
    check(seeds.map(|seed| (format!("random {seed}"), system(seed))), &Memory::BUFFERED);
}

/// Workers of one search may pass its turn at the same time. The searches go on in the same order, so the answer is the
/// same and takes about as much work; a batch of cubes may be more than was needed.
#[test]
fn several_workers_take_turns_too() {
    // What decides them: candidates (bold), robustness and then candidates, a run found while exploring.
    for (file, memory) in [
        ("double-checked.cub", Memory::Pso),
        ("peterson.cub", Memory::Ra),
        ("dekker.cub", Memory::Pso),
        ("clh-once.cub", Memory::Tso),
        ("bakery.cub", Memory::Tso),
        ("clh-twosteps.cub", Memory::Tso),
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/prove").join(file);
        let system = load(&std::fs::read_to_string(path).expect("a system")).expect(file);
        let with = |jobs| prove(&system, Request { memory, jobs, ..Request::default() }).expect("a system");
        let one = with(1);
        for jobs in [2, 3] {
            let several = with(jobs);
            let name = format!("{file} under {} with {jobs} jobs", memory.word());
            let same = std::mem::discriminant(&several.verdict) == std::mem::discriminant(&one.verdict);
            assert!(
                same && several.robust.is_some() == one.robust.is_some(),
                "{name}: {:?}",
                several.verdict
            );
            let (few, many) = (one.statistics.work, several.statistics.work);
            eprintln!("{name}: {many} steps, {few} with one job");
            assert!(many <= TIMES * few + START, "{name}: {many} steps, {few} with one job");
        }
    }
}

fn full() -> bool {
    std::env::var_os("PORF_FULL").is_some()
}

/// Each system under each of the models: `file` is its name.
fn check(systems: impl Iterator<Item = (String, String)>, memories: &[Memory]) {
    let most = if full() { 100_000_000 } else { 1_000_000 };
    let (mut within, mut over) = (0, Vec::new());
    for (name, text) in systems {
        let system = load(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for &memory in memories.iter().filter(|memory| **memory == Memory::Sc || system.has_weak()) {
            match faster(&system, memory, most) {
                None => within += 1,
                Some(_) if MORE.contains(&(name.as_str(), memory)) => {}
                Some(found) => over.push(format!("{name} under {}: {found}", memory.word())),
            }
        }
    }
    eprintln!("{within} are close to the best way");
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// A way alone that needs less than a third of what the default needs, if there is one. What the default does not decide
/// with `most` steps is left out.
fn faster(system: &System, memory: Memory, most: u64) -> Option<String> {
    let answer = prove(system, Request { memory, max_work: most, ..Request::default() }).expect("a system");
    let work = answer.statistics.work;
    if work <= START || matches!(answer.verdict, Verdict::Inconclusive(_)) {
        return None;
    }
    let best =
        ways::alone(system, memory, answer.robust.is_some(), (work - START) / TIMES).into_iter().min()?;
    Some(format!("{work} steps by default, {} by {}", best.0, best.1))
}
