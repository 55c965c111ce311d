// expect: race 12
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
struct Lock { taken: AtomicBool, value: UnsafeCell<u32> }
unsafe impl Sync for Lock {}
static L: Lock = Lock { taken: AtomicBool::new(false), value: UnsafeCell::new(0) };
fn add() {
    while L.taken.swap(true, Relaxed) {
        std::hint::spin_loop();
    }
    unsafe { *L.value.get() += 1 };
    L.taken.store(false, Release);
}
pub fn main() {
    let t = thread::spawn(add);
    add();
    t.join().unwrap();
}
