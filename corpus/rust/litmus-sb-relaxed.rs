// expect: panic 16
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.store(1, Relaxed);
        Y.load(Relaxed)
    });
    let u = thread::spawn(|| {
        Y.store(1, Relaxed);
        X.load(Relaxed)
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert!(a == 1 || b == 1);
}
