// expect: safe
// alone
// Threads end as std has it in a program that asks whether they have.
use std::thread;
pub fn main() {
    let t = thread::spawn(|| ());
    let _ = t.is_finished();
    t.join().unwrap();
}
