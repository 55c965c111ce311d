// expect: safe
use std::sync::atomic::{AtomicU8, Ordering::*};
pub fn main() {
    let x = AtomicU8::new(255);
    x.fetch_add(1, Relaxed);
    assert_eq!(x.load(Relaxed), 0);
}
