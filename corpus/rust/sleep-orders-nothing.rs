// expect: panic 12
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
use std::time::Duration;
static READY: AtomicBool = AtomicBool::new(false);
pub fn main() {
    let t = thread::spawn(|| {
        thread::sleep(Duration::from_millis(1));
        READY.store(true, Release);
    });
    thread::sleep(Duration::from_secs(10));
    assert!(READY.load(Acquire), "ten seconds were enough");
    t.join().unwrap();
}
