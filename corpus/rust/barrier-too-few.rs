// expect: deadlock 9
// expect: deadlock 11
use std::sync::{Arc, Barrier};
use std::thread;
pub fn main() {
    let barrier = Arc::new(Barrier::new(3));
    let b = barrier.clone();
    let t = thread::spawn(move || {
        b.wait();
    });
    barrier.wait();
    t.join().unwrap();
}
