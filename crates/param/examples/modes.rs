//! What turns cost: the work of the default beside that of each way to search alone, for the systems that are given.
//!
//! `cargo run --release -p porf-param --example modes -- 200000000 corpus/prove/*.cub`: the most work of a way alone (the
//! default may do five times as much), and the systems. `random:0-1000` stands for the random systems with these
//! seeds that tests/certificate.rs has.

#[path = "../tests/generator/mod.rs"]
mod generator;
#[path = "../tests/ways/mod.rs"]
mod ways;

use generator::{Generator, Shape};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

fn main() {
    let mut args = std::env::args().skip(1);
    let max_work: u64 = args.next().and_then(|word| word.parse().ok()).expect("a number of steps");
    println!("| system | model | default | best alone | ratio |\n| --- | --- | --- | --- | --- |");
    for (path, source) in args.flat_map(|arg| systems(&arg)) {
        let Ok(system) = load(&source) else { continue };
        let memories = if system.has_weak() { &Memory::ALL[..] } else { &Memory::ALL[..1] };
        for &memory in memories {
            let request = Request { memory, max_work: 5 * max_work, ..Request::default() };
            // Some systems of others share plain variables, and have answers under sc alone.
            let Ok(answer) = prove(&system, request) else { continue };
            if matches!(answer.verdict, Verdict::Inconclusive(_)) {
                println!("| {path} | {} | inconclusive | – | – |", memory.word());
                continue;
            }
            // The exploration before the searches has answered.
            if answer.statistics.work == 0 {
                continue;
            }
            // No way alone may do more than the default did.
            let most = answer.statistics.work.min(max_work);
            let alone = ways::alone(&system, memory, answer.robust.is_some(), most);
            if std::env::var_os("PORF_WAYS").is_some() {
                eprintln!("{path} {} {} {alone:?}", memory.word(), answer.statistics.work);
            }
            let (best, name) = alone.into_iter().min().unwrap_or((most, "none".to_owned()));
            let ratio = answer.statistics.work as f64 / best as f64;
            println!(
                "| {path} | {} | {} | {best} ({name}) | {ratio:.1} |",
                memory.word(),
                answer.statistics.work
            );
        }
    }
}

/// The systems of one argument, with their names.
fn systems(arg: &str) -> Vec<(String, String)> {
    let Some((from, to)) = arg.strip_prefix("random:").and_then(|range| range.split_once('-')) else {
        return vec![(arg.to_owned(), std::fs::read_to_string(arg).expect("a file"))];
    };
    let shapes: Vec<Shape> = Shape::ALL.into_iter().chain(Shape::OF_ALL).collect();
    let seeds = from.parse::<u64>().expect("a number")..to.parse().expect("a number");
    let system = |seed: u64| Generator::new(seed).system(shapes[seed as usize % shapes.len()]);
    seeds.map(|seed| (format!("random {seed}"), system(seed))).collect()
}
