// expect: panic 13
use std::sync::{Condvar, Mutex};
use std::thread;
static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();
pub fn main() {
    let t = thread::spawn(|| {
        let _guard = READY.lock();
        CHANGED.notify_one();
        panic!("it stays false");
    });
    if let Ok(guard) = READY.lock() {
        let _guard = CHANGED.wait_timeout_while(guard, std::time::Duration::from_secs(1), |ready| !*ready).unwrap();
    }
    let _ = t.join();
}
