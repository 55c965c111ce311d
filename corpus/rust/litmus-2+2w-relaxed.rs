// expect: panic 19
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.store(1, Relaxed);
        Y.store(2, Relaxed);
        0
    });
    let u = thread::spawn(|| {
        Y.store(1, Relaxed);
        X.store(2, Relaxed);
        0
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_eq!((a, b), (0, 0));
    assert!((X.load(Relaxed), Y.load(Relaxed)) != (1, 1));
}
