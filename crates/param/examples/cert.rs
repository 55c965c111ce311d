use porf_param::prove::{Candidates, Options, Order, Outcome, search};
use porf_param::certificate::{self, Solver};
use porf_param::{Memory, load};
use std::time::{Duration, Instant};
fn main() {
    let solvers = Solver::installed();
    for path in std::env::args().skip(1) {
        let system = load(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for memory in Memory::ALL {
            for candidates in [Candidates::None, Candidates::Bold, Candidates::Careful] {
                let start = Instant::now();
                let options = Options { memory, order: Order::Issue, candidates, max_time: Duration::from_secs(10), max_nodes: 3000, ..Options::default() };
                let Ok(found) = search(&system, options) else { println!("{path} {memory:?} refused"); continue };
                let seconds = start.elapsed().as_secs_f64();
                if let Outcome::Safe(cubes) = found.outcome {
                    let cert = certificate::of(memory, &cubes).unwrap();
                    let start = Instant::now();
                    let result = certificate::check(&system, memory, &cert, &solvers);
                    println!("{path} {memory:?} {candidates:?} safe {seconds:.2} cubes {} check {:.2} {:?}", cubes.len(), start.elapsed().as_secs_f64(), result);
                    break;
                } else { println!("{path} {memory:?} {candidates:?} not safe {seconds:.2}"); if matches!(found.outcome, Outcome::Reached(_)|Outcome::Unsafe(_)) {break} }
            }
        }
    }
}
