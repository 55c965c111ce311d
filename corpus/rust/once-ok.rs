// expect: safe
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static ONCE: Once = Once::new();
static RUNS: AtomicU32 = AtomicU32::new(0);
fn init() {
    ONCE.call_once(|| {
        RUNS.fetch_add(1, Relaxed);
    });
    assert_eq!(RUNS.load(Relaxed), 1);
}
pub fn main() {
    let t = thread::spawn(init);
    init();
    t.join().unwrap();
}
