//! Verdict, cubes, steps of work and seconds of the processor for the systems that are given, under one model.
//!
//! `cargo run --release -p porf-param --example table -- ra 100000000 corpus/prove/*.cub`: the model, the most work,
//! the systems. Seconds are those of the whole answer, exploration of small instances included.

use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

fn main() {
    let mut args = std::env::args().skip(1);
    let model = args.next().expect("a model");
    let memory = Memory::ALL.into_iter().find(|memory| memory.word() == model).expect("sc, tso, pso or ra");
    let max_work: u64 = args.next().and_then(|word| word.parse().ok()).expect("a number of steps");
    println!("| system | {model} | cubes | steps | seconds |\n| --- | --- | --- | --- | --- |");
    for path in args {
        let source = std::fs::read_to_string(&path).expect("a file");
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".cub").to_owned();
        let system = match load(&source) {
            Ok(system) if system.has_weak() || memory == Memory::Sc => system,
            _ => continue,
        };
        let before = seconds();
        let Ok(answer) = prove(&system, Request { memory, max_work, ..Request::default() }) else { continue };
        let word = match &answer.verdict {
            Verdict::Safe(_) => "safe".to_owned(),
            Verdict::Violated(_) => "unsafe".to_owned(),
            Verdict::Inconclusive(limit) => format!("inconclusive: {limit}"),
        };
        let (cubes, work) = (answer.invariant.len(), answer.statistics.work);
        println!("| {name} | {word} | {cubes} | {work} | {:.3} |", seconds() - before);
    }
}

/// Seconds of the processor so far.
fn seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
