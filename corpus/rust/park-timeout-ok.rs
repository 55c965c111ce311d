// expect: safe
use std::thread;
use std::time::Duration;
pub fn main() {
    thread::park_timeout(Duration::from_millis(5));
}
