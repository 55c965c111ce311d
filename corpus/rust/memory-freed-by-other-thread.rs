// expect: memory 15
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
static P: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
pub fn main() {
    P.store(Box::into_raw(Box::new(1)), Relaxed);
    let t = thread::spawn(|| {
        let p = P.swap(std::ptr::null_mut(), AcqRel);
        if !p.is_null() {
            drop(unsafe { Box::from_raw(p) });
        }
    });
    let p = P.load(Acquire);
    if !p.is_null() {
        assert_eq!(unsafe { *p }, 1);
    }
    t.join().unwrap();
}
