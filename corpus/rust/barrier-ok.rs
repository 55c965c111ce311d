// expect: safe
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
pub fn main() {
    let (barrier, count) = (Barrier::new(2), AtomicU32::new(0));
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                count.fetch_add(1, Relaxed);
                barrier.wait();
                assert_eq!(count.load(Relaxed), 2);
            });
        }
    });
}
