// expect: liveness 8
// expect: liveness 9
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static STOP: AtomicBool = AtomicBool::new(false);
pub fn main() {
    let t = thread::spawn(|| {
        while !STOP.load(Relaxed) {
            thread::yield_now();
        }
    });
    t.join().unwrap();
}
