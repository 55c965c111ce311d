// expect: safe
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
pub fn main() {
    let x = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || x.fetch_add(1, Relaxed))
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(x.load(Relaxed), 2);
}
