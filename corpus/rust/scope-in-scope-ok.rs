// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
pub fn main() {
    let count = AtomicU32::new(0);
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| count.fetch_add(1, Relaxed));
            });
            // The inner scope is over.
            assert_eq!(count.load(Relaxed), 1);
        });
    });
    assert_eq!(count.into_inner(), 1);
}
