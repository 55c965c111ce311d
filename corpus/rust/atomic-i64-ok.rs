// expect: safe
use std::sync::atomic::{AtomicI64, Ordering::*};
use std::thread;
static X: AtomicI64 = AtomicI64::new(0);
pub fn main() {
    let t = thread::spawn(|| X.fetch_add(1, AcqRel));
    X.fetch_add(1, AcqRel);
    t.join().unwrap();
    assert_eq!(X.load(Relaxed), 2);
}
