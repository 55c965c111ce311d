// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| println!("from a thread"));
    println!("from main: {}", 1);
    eprintln!("and to standard error");
    t.join().unwrap();
}
