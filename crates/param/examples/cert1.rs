use porf_param::certificate;
use porf_param::{Memory, Request, load, prove};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let system = load(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let memory = Memory::Tso;
    let answer = prove(&system, Request { memory, certifiable: true, explore_first: false, ..Request::default() }).ok().unwrap();
    let cert = certificate::of(memory, &answer.invariant).unwrap();
    print!("{}", certificate::write(&system, &cert));
    for o in certificate::obligations(&system, memory, &cert).ok().unwrap() { if o.what == std::env::args().nth(2).unwrap() { std::fs::write("/tmp/o.smt2", format!("{}(check-sat)\n(get-model)\n", o.text)).unwrap(); 
      let s = std::process::Command::new("z3").arg("/tmp/o.smt2").output().unwrap(); let s=String::from_utf8_lossy(&s.stdout).into_owned(); if s.starts_with("sat") { println!("{}\n{s}", o.text); break; } } }
}
