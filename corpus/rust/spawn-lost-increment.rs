// expect: panic 11
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
pub fn main() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    let t = thread::spawn(move || y.store(y.load(Relaxed) + 1, Relaxed));
    x.store(x.load(Relaxed) + 1, Relaxed);
    t.join().unwrap();
    assert_eq!(x.load(Relaxed), 2);
}
