// expect: safe
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static STOP: AtomicBool = AtomicBool::new(false);
pub fn main() {
    let t = thread::spawn(|| {
        while !STOP.load(Relaxed) {
            std::hint::spin_loop();
        }
    });
    STOP.store(true, Relaxed);
    t.join().unwrap();
}
