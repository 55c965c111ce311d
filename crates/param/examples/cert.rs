use porf_param::certificate::{self, Solver};
use porf_param::{Memory, Request, load, prove};
use std::time::Instant;
fn main() {
    let solvers = [Solver::new("z3 -in -smt2")];
    for path in std::env::args().skip(1) {
        let system = load(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for memory in Memory::ALL {
            let start = Instant::now();
            let Ok(answer) = prove(&system, Request { memory, certifiable: true, max_seconds: 30, ..Request::default() }) else { continue };
            let seconds = start.elapsed().as_secs_f64();
            if answer.invariant.is_empty() { continue }
            let cert = certificate::of(memory, &answer.invariant).unwrap();
            let start = Instant::now();
            let result = certificate::check(&system, memory, &cert, &solvers);
            println!("{path} {memory:?} {seconds:.2} cubes {} work {} check {:.2} {:?}", cert.cubes.len(), answer.statistics.work, start.elapsed().as_secs_f64(), result);
        }
    }
}
