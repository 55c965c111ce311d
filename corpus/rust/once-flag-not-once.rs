// expect: panic 16
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;
static DONE: AtomicBool = AtomicBool::new(false);
static RUNS: AtomicU32 = AtomicU32::new(0);
fn init() {
    if !DONE.load(Acquire) {
        RUNS.fetch_add(1, Relaxed);
        DONE.store(true, Release);
    }
}
pub fn main() {
    let t = thread::spawn(init);
    init();
    t.join().unwrap();
    assert_eq!(RUNS.load(Relaxed), 1);
}
