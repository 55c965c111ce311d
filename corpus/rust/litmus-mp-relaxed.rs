// expect: panic 17
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.store(1, Relaxed);
        Y.store(1, Relaxed);
        0
    });
    let u = thread::spawn(|| {
        let y = Y.load(Relaxed);
        if y == 1 { X.load(Relaxed) } else { 1 }
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_eq!((a, b), (0, 1));
}
