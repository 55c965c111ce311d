// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        u32::from(X.compare_exchange(0, 1, AcqRel, Relaxed).is_ok())
    });
    let u = thread::spawn(|| {
        u32::from(X.compare_exchange(0, 2, AcqRel, Relaxed).is_ok())
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_eq!(a + b, 1);
    assert_eq!(Y.load(Relaxed), 0);
}
