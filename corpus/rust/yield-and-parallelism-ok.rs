// expect: safe
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static READY: AtomicBool = AtomicBool::new(false);
pub fn main() {
    assert!(thread::available_parallelism().unwrap().get() >= 1);
    let t = thread::spawn(|| READY.store(true, Release));
    while !READY.load(Acquire) {
        thread::yield_now();
    }
    t.join().unwrap();
}
