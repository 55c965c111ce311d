// expect: safe
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
struct Channel {
    value: UnsafeCell<Option<String>>,
    ready: AtomicBool,
}
unsafe impl Sync for Channel {}
static C: Channel = Channel { value: UnsafeCell::new(None), ready: AtomicBool::new(false) };
pub fn main() {
    let t = thread::spawn(|| {
        unsafe { *C.value.get() = Some("text".to_string()) };
        C.ready.store(true, Release);
    });
    while !C.ready.load(Acquire) {
        std::hint::spin_loop();
    }
    assert_eq!(unsafe { (*C.value.get()).take() }.as_deref(), Some("text"));
    t.join().unwrap();
}
