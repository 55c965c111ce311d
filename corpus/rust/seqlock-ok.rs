// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*, fence};
use std::thread;
static SEQ: AtomicU32 = AtomicU32::new(0);
static A: AtomicU32 = AtomicU32::new(0);
static B: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        SEQ.store(1, Relaxed);
        fence(Release);
        A.store(1, Relaxed);
        B.store(1, Relaxed);
        SEQ.store(2, Release);
    });
    let before = SEQ.load(Acquire);
    let (a, b) = (A.load(Relaxed), B.load(Relaxed));
    fence(Acquire);
    if before % 2 == 0 && SEQ.load(Relaxed) == before {
        assert_eq!(a, b);
    }
    t.join().unwrap();
}
