// expect: race 10
// expect: memory 10
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
static P: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
pub fn main() {
    let t = thread::spawn(|| P.store(Box::into_raw(Box::new(7)), Relaxed));
    let p = P.load(Relaxed);
    if !p.is_null() {
        assert_eq!(unsafe { *p }, 7);
    }
    t.join().unwrap();
    drop(unsafe { Box::from_raw(P.load(Relaxed)) });
}
