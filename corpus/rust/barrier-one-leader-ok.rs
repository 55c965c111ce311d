// expect: safe
use std::sync::{Arc, Barrier};
use std::thread;
pub fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let b = barrier.clone();
    let t = thread::spawn(move || b.wait().is_leader());
    let here = barrier.wait().is_leader();
    assert!(here != t.join().unwrap());
}
