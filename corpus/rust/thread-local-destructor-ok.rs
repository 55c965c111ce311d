// expect: safe
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static DROPS: AtomicU32 = AtomicU32::new(0);
struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Relaxed);
    }
}
thread_local! {
    static GUARD: RefCell<Option<Guard>> = const { RefCell::new(None) };
}
pub fn main() {
    let t = thread::spawn(|| GUARD.set(Some(Guard)));
    t.join().unwrap();
    assert_eq!(DROPS.load(Relaxed), 1);
}
