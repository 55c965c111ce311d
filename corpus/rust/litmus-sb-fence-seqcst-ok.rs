// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*, fence};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.store(1, Relaxed);
        fence(SeqCst);
        Y.load(Relaxed)
    });
    let u = thread::spawn(|| {
        Y.store(1, Relaxed);
        fence(SeqCst);
        X.load(Relaxed)
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert!(a == 1 || b == 1);
}
