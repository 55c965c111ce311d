// expect: safe
// A moment before the present can be named.
use std::time::{Duration, Instant, SystemTime};

pub fn main() {
    let before = Instant::now() - Duration::from_secs(3600);
    assert!(before.elapsed() >= Duration::from_secs(3600));
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    assert!(yesterday > SystemTime::UNIX_EPOCH);
}
