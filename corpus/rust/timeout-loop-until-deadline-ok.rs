// expect: safe
// As channels wait: again, until the deadline is over. A wait that times out ends after its deadline, so that
// there is nothing left to wait for.
use std::thread;
use std::time::{Duration, Instant};
pub fn main() {
    let deadline = Instant::now() + Duration::from_millis(10);
    while let Some(rest) = deadline.checked_duration_since(Instant::now()) {
        thread::park_timeout(rest);
    }
}
