// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        X.fetch_add(1, Relaxed)
    });
    let u = thread::spawn(|| {
        X.fetch_add(1, Relaxed)
    });
    let (a, b) = (t.join().unwrap(), u.join().unwrap());
    assert_ne!(a, b);
}
