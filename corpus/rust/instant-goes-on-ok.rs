// expect: safe
use std::thread;
use std::time::{Duration, Instant, SystemTime};
pub fn main() {
    let (start, date) = (Instant::now(), SystemTime::now());
    thread::sleep(Duration::from_millis(30));
    let later = Instant::now();
    assert!(later.duration_since(start) >= Duration::from_millis(30));
    assert!(later.checked_duration_since(start).is_some());
    assert!(date.duration_since(SystemTime::UNIX_EPOCH).is_ok());
}
