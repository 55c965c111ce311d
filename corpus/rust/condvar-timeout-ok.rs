// expect: safe
use std::sync::{Condvar, Mutex};
use std::thread;
static M: Mutex<bool> = Mutex::new(false);
static C: Condvar = Condvar::new();
use std::time::Duration;
pub fn main() {
    let guard = M.lock().unwrap();
    let (guard, result) = C.wait_timeout(guard, Duration::from_millis(1)).unwrap();
    assert!(result.timed_out());
    drop(guard);
    thread::spawn(|| C.notify_one()).join().unwrap();
}
