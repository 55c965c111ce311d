//! Runs benchmark families on one thread and says what an execution costs.
//!
//! `families NAME SIZE MODEL mo|rf|values` runs one; `families table` runs the list below and prints a table,
//! beside GenMC's times where `../shared/oracle/genmc_times.tsv` has them. Seconds are CPU seconds.

use porf_corpus::family::family;
use porf_explore::{Equivalence, Model, Options, Statistics, Visit, explore};
use std::ops::ControlFlow;

/// Family, size, and the name and parameter in GenMC's table.
const TABLE: &[(&str, u64, &str, &str)] = &[
    ("readers", 15, "readers", "N=15"),
    ("ainc", 8, "ainc", "N=8"),
    ("ainc", 9, "ainc", "N=9"),
    ("binc", 5, "binc", "N=5"),
    ("cinc", 4, "cinc", "N=4"),
    ("casrot", 10, "casrot", "N=10"),
    ("casrot", 12, "casrot", "N=12"),
    ("casw", 5, "casw", "N=5"),
    ("casw", 6, "casw", "N=6"),
    ("wcas", 12, "wcas", "N=12"),
    ("wcas", 16, "wcas", "N=16"),
    ("wainc", 7, "wainc", "N=7"),
    ("lastzero", 10, "lastzero", "N=10"),
    ("lastzero", 15, "lastzero", "N=15"),
    ("fib_bench", 4, "fib_bench", "NUM=4"),
    ("fib_bench", 5, "fib_bench", "NUM=5"),
    ("indexer", 15, "indexer", "N=15"),
    ("CO-2+2W", 5, "CO-2+2W", "N=5"),
    ("floating_read", 8, "floating_read", "N=8"),
    ("lastwrite", 8, "lastwrite", "N=8"),
    ("N_writers_a_reader", 7, "n_writers_a_reader", "N=7"),
    ("Redundant_co", 8, "redundant_co", "N=8"),
    ("Sigma", 6, "sigma", "N=6"),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [word] if word == "table" => table(),
        [name, size, model, equivalence] => {
            let model: Model = model.parse().expect("a model");
            let equivalence = match equivalence.as_str() {
                "rf" => Equivalence::Rf,
                "values" => Equivalence::Values,
                _ => Equivalence::Mo,
            };
            let (s, seconds) = run(name, size.parse().unwrap_or(0), model, equivalence);
            println!(
                "{name}({size}) {model} {equivalence}: {} executions, {} blocked, {} events, {} revisits, {} states, {seconds:.3} s, {:.0} ns/execution, {:.1} ns/event",
                s.executions,
                s.blocked,
                s.events,
                s.revisits,
                s.states,
                seconds * 1e9 / (s.executions + s.blocked).max(1) as f64,
                seconds * 1e9 / s.events.max(1) as f64,
            );
        }
        _ => {
            eprintln!("usage: families NAME SIZE MODEL mo|rf|values, or families table");
            std::process::exit(2);
        }
    }
}

fn run(name: &str, size: u64, model: Model, equivalence: Equivalence) -> (Statistics, f64) {
    let program = family(name, size).expect("a known family");
    let start = cpu_seconds();
    let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
    match explore(&program, model, equivalence, &Options::default(), &mut visitor) {
        Ok(statistics) => (statistics, cpu_seconds() - start),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(3);
        }
    }
}

fn table() {
    let path = porf_corpus::herd::folder().map(|folder| folder.join("genmc_times.tsv"));
    let theirs = path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    println!("| program | model | executions | ns/execution | ns/event | s | GenMC s | times |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut logs = Vec::new();
    for (name, size, genmc, parameter) in TABLE {
        for model in [Model::Rc11, Model::Sc] {
            let (s, seconds) = run(name, *size, model, Equivalence::Mo);
            let row = theirs.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| {
                row[0] == *genmc && row[1] == *parameter && row[2] == model.name() && row[3].is_empty()
            });
            let other: Option<f64> = row.and_then(|row| row[6].parse().ok());
            // The clock ticks every few milliseconds.
            if let Some(other) = other.filter(|_| seconds >= 0.003) {
                logs.push((other / seconds).ln());
            }
            println!(
                "| {name}({size}) | {model} | {} | {:.0} | {:.0} | {seconds:.3} | {} | {} |",
                s.executions,
                seconds * 1e9 / s.executions as f64,
                seconds * 1e9 / s.events as f64,
                other.map_or(String::new(), |other| format!("{other:.2}")),
                other.map_or(String::new(), |other| format!("{:.0}", other / seconds)),
            );
        }
    }
    if !logs.is_empty() {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        println!("\ngeometric mean over {} runs: {mean:.1} times", logs.len());
    }
}

/// CPU time of this thread so far.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
