// expect: safe
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
static X: AtomicUsize = AtomicUsize::new(0);
pub fn main() {
    let t = thread::spawn(|| X.fetch_add(1, AcqRel));
    X.fetch_add(1, AcqRel);
    t.join().unwrap();
    assert_eq!(X.load(Relaxed), 2);
}
