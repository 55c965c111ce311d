// expect: safe
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
static X: AtomicBool = AtomicBool::new(false);
pub fn main() {
    let t = thread::spawn(|| X.fetch_xor(true, AcqRel));
    X.fetch_xor(true, AcqRel);
    t.join().unwrap();
    assert_eq!(X.load(Relaxed), false);
}
