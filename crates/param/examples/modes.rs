//! What turns cost: the work of the default beside that of each way to search alone, for the systems that are given.
//!
//! `cargo run --release -p porf-param --example modes -- corpus/prove/*.cub`

use porf_param::prove::{Candidates, Options, Order, Outcome, search};
use porf_param::{Memory, Request, load, prove};
use porf_verdict::Verdict;

const MAX_WORK: u64 = 200_000_000;

fn main() {
    println!("| system | model | default | best alone | ratio |\n| --- | --- | --- | --- | --- |");
    for path in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&path).expect("a file");
        let system = load(&source).expect("a system");
        let memories = if system.has_weak() { &Memory::ALL[..] } else { &Memory::ALL[..1] };
        for &memory in memories {
            let request =
                Request { memory, explore_first: false, max_work: 5 * MAX_WORK, ..Request::default() };
            let answer = prove(&system, request).expect("a system");
            if matches!(answer.verdict, Verdict::Inconclusive(_)) {
                println!("| {path} | {} | inconclusive | – | – |", memory.word());
                continue;
            }
            // No way alone may do more than the default did.
            let most = answer.statistics.work.min(MAX_WORK);
            let ways = [
                (Order::Coherence, Candidates::None),
                (Order::Issue, Candidates::None),
                (Order::Issue, Candidates::Bold),
                (Order::Issue, Candidates::Careful),
                (Order::Issue, Candidates::Cores),
            ];
            let alone = ways.into_iter().filter_map(|(order, candidates)| {
                let options = Options { memory, order, candidates, max_work: most, ..Options::default() };
                let found = search(&system, options).expect("a system");
                (!matches!(found.outcome, Outcome::Unknown(_))).then_some(found.statistics.work)
            });
            let best = alone.min().unwrap_or(most);
            let ratio = answer.statistics.work as f64 / best as f64;
            println!("| {path} | {} | {} | {best} | {ratio:.1} |", memory.word(), answer.statistics.work);
        }
    }
}
