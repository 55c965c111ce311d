// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| thread::park());
    t.thread().unpark();
    t.join().unwrap();
}
