// expect: safe
use std::thread;
use std::time::{Duration, Instant};
pub fn main() {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(10));
    assert!(start.elapsed() >= Duration::from_millis(10));
}
