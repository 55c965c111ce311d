// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        let a = Y.load(Relaxed);
        X.store(1, Relaxed);
        a
    });
    let u = thread::spawn(|| {
        let b = X.load(Relaxed);
        Y.store(1, Relaxed);
        b
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert!(a == 0 || b == 0);
}
