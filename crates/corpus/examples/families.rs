//! Runs one benchmark family: `families NAME SIZE MODEL EQUIVALENCE`; counts and time on one line.

use porf_corpus::family::family;
use porf_explore::{Equivalence, Model, Options, Visit, explore};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, size, model, equivalence] = args.as_slice() else {
        eprintln!("usage: families NAME SIZE MODEL mo|rf");
        std::process::exit(2);
    };
    let program = family(name, size.parse().unwrap_or(0)).expect("a known family");
    let model: Model = model.parse().expect("a model");
    let equivalence = if equivalence == "rf" { Equivalence::Rf } else { Equivalence::Mo };
    let start = Instant::now();
    let mut visitor = |_: Visit<'_, '_>| ControlFlow::Continue(());
    match explore(&program, model, equivalence, &Options::default(), &mut visitor) {
        Ok(statistics) => {
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name}({size}) {model} {equivalence}: {} executions, {} blocked, {} events, {} revisits, {seconds:.3} s, {:.0} ns/execution, {:.1} ns/event",
                statistics.executions,
                statistics.blocked,
                statistics.events,
                statistics.revisits,
                seconds * 1e9 / (statistics.executions + statistics.blocked).max(1) as f64,
                seconds * 1e9 / statistics.events.max(1) as f64,
            );
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(3);
        }
    }
}
