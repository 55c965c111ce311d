// expect: safe
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static DROPS: AtomicU32 = AtomicU32::new(0);
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Relaxed);
    }
}
pub fn main() {
    let a = Arc::new(Guard);
    let b = a.clone();
    let t = thread::spawn(move || drop(b));
    drop(a);
    t.join().unwrap();
    assert_eq!(DROPS.load(Relaxed), 1);
}
