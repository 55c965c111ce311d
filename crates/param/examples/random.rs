//! What the default answers for random systems, held to explicit exploration of instances with up to four processes.
//!
//! `cargo run --release -p porf-param --example random -- first 0-6000 20000000`: the kind of systems (`first`, or `second`:
//! counters, tickets and marks, as in tests/fuzz.rs), the seeds, the most work for an answer. One line for each system
//! and model, then how many there are of each verdict. Panics if a safe system has a run to an unsafe state.

#[path = "../tests/generator/mod.rs"]
mod generator;

use generator::{Generator, Shape};
use porf_param::explore::{Limits, explore};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, seeds, max_work] = args.as_slice() else { panic!("a kind, seeds, and a number of steps") };
    let shapes: &[Shape] = match kind.as_str() {
        "first" => &Shape::ALL,
        "second" => &Shape::OF_ALL,
        _ => panic!("first or second, not {kind}"),
    };
    let (from, to) = seeds.split_once('-').expect("a range");
    let max_work: u64 = max_work.parse().expect("a number of steps");
    // Safe, unsafe, inconclusive.
    let mut tally = [[0; 3]; 4];
    for seed in from.parse::<u64>().expect("a number")..to.parse().expect("a number") {
        let text = Generator::new(seed).system(shapes[seed as usize % shapes.len()]);
        let system = load(&text).unwrap_or_else(|error| panic!("seed {seed}: {error} in\n{text}"));
        for (memory, tally) in Memory::ALL.into_iter().zip(&mut tally) {
            // Without weak variables there is one memory.
            if memory != Memory::Sc && !system.has_weak() {
                continue;
            }
            let request = Request { memory, max_work, ..Request::default() };
            let answer = prove(&system, request).expect("a system");
            let (word, at) = match answer.verdict {
                Verdict::Safe(_) => ("safe", 0),
                Verdict::Violated(_) => ("unsafe", 1),
                Verdict::Inconclusive(_) => ("inconclusive", 2),
            };
            tally[at] += 1;
            if at == 0 {
                let limits = Limits { states: 8_000, buffer: 3, initial: 2_000, ..Limits::default() };
                // With messages and views an instance of three processes has more states than one of four with buffers.
                let most = if memory == Memory::Ra { 3 } else { 4 };
                let run = (1..=most).find_map(|n| explore(&system, memory, n, limits).trace);
                assert!(run.is_none(), "{kind} {seed} {memory:?}: safe, but an instance is not\n{text}");
            }
            println!("{kind} {seed} {} {word} {}", memory.word(), answer.statistics.work);
        }
    }
    for (memory, [safe, violated, open]) in Memory::ALL.into_iter().zip(tally) {
        eprintln!("| {kind}, {} | {safe} | {violated} | {open} |", memory.word());
    }
}
