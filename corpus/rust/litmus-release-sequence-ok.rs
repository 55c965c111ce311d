// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        Y.store(1, Relaxed);
        X.store(1, Release);
        X.fetch_add(1, Relaxed)
    });
    let u = thread::spawn(|| {
        if X.load(Acquire) == 2 { Y.load(Relaxed) } else { 1 }
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_eq!((a, b), (1, 1));
}
