// expect: safe
// Who sleeps up to a moment wakes up after it.
use std::thread;
use std::time::{Duration, Instant};
pub fn main() {
    let deadline = Instant::now() + Duration::from_millis(10);
    while deadline >= Instant::now() {
        thread::sleep(deadline - Instant::now());
    }
}
