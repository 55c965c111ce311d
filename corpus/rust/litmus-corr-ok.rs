// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.store(1, Relaxed);
        X.store(2, Relaxed);
        0
    });
    let u = thread::spawn(|| {
        let first = X.load(Relaxed);
        let second = X.load(Relaxed);
        u32::from(second < first)
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_eq!((a, b), (0, 0));
}
