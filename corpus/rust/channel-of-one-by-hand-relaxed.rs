// expect: race 16
// expect: race 22
// expect: memory 16
// expect: memory 22
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
struct Channel {
    value: UnsafeCell<u64>,
    ready: AtomicBool,
}
unsafe impl Sync for Channel {}
static C: Channel = Channel { value: UnsafeCell::new(0), ready: AtomicBool::new(false) };
pub fn main() {
    let t = thread::spawn(|| {
        unsafe { *C.value.get() = 5 };
        C.ready.store(true, Relaxed);
    });
    while !C.ready.load(Acquire) {
        std::hint::spin_loop();
    }
    assert_eq!(unsafe { *C.value.get() }, 5);
    t.join().unwrap();
}
