// expect: safe
// A loop that polls by a function with variables whose addresses an assertion takes: it waits.
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static STAMP: AtomicUsize = AtomicUsize::new(0);

fn poll(at: usize) -> Option<usize> {
    let stamp = STAMP.load(Acquire);
    if stamp == at {
        return None;
    }
    assert_eq!(stamp, at + 1);
    Some(stamp)
}

pub fn main() {
    let thread = thread::spawn(|| STAMP.store(1, Release));
    loop {
        if let Some(stamp) = poll(0) {
            assert_eq!(stamp, 1);
            break;
        }
        thread::yield_now();
    }
    thread.join().unwrap();
}
