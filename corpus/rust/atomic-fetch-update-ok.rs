// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(1);
pub fn main() {
    let t = thread::spawn(|| X.fetch_update(AcqRel, Relaxed, |x| Some(x * 2)).unwrap());
    X.fetch_update(AcqRel, Relaxed, |x| Some(x * 2)).unwrap();
    t.join().unwrap();
    assert_eq!(X.load(Relaxed), 4);
}
