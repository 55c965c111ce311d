use porf_param::prove::{Candidates, Options, Order, Outcome, search};
use porf_param::certificate::{self, Solver};
use porf_param::{Memory, load};
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let system = load(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let memory = Memory::Sc;
    let options = Options { memory, order: Order::Issue, candidates: Candidates::None, ..Options::default() };
    let Outcome::Safe(cubes) = search(&system, options).ok().unwrap().outcome else { panic!() };
    let cert = certificate::of(memory, &cubes).unwrap();
    let start = Instant::now();
    let obs = certificate::obligations(&system, memory, &cert).ok().unwrap();
    println!("{} {:?} bytes {}", obs.len(), start.elapsed(), obs.iter().map(|o| o.text.len()).sum::<usize>());
    let mut t: Vec<&str> = obs.iter().map(|o| o.text.as_str()).collect(); t.sort(); t.dedup(); println!("distinct {}", t.len());
    for s in Solver::installed() { let start = Instant::now(); let r = s.ask(obs.iter().map(|o| o.text.as_str())); println!("{} {:?} {}", s.name(), start.elapsed(), r.unwrap().len()); }
}
