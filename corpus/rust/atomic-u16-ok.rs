// expect: safe
use std::sync::atomic::{AtomicU16, Ordering::*};
use std::thread;
static X: AtomicU16 = AtomicU16::new(0);
pub fn main() {
    let t = thread::spawn(|| X.fetch_add(1, AcqRel));
    X.fetch_add(1, AcqRel);
    t.join().unwrap();
    assert_eq!(X.load(Relaxed), 2);
}
