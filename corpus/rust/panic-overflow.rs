// expect: panic 5
use std::sync::atomic::{AtomicU8, Ordering::*};
pub fn main() {
    let x = AtomicU8::new(255);
    let y = x.load(Relaxed) + 1;
    assert_eq!(y, 0);
}
