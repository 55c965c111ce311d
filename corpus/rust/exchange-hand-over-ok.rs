// expect: safe
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
static SLOT: AtomicPtr<Vec<u32>> = AtomicPtr::new(std::ptr::null_mut());
pub fn main() {
    let t = thread::spawn(|| {
        let old = SLOT.swap(Box::into_raw(Box::new(vec![1])), AcqRel);
        assert!(old.is_null());
    });
    let got = SLOT.swap(std::ptr::null_mut(), AcqRel);
    t.join().unwrap();
    let rest = SLOT.swap(std::ptr::null_mut(), AcqRel);
    assert!(got.is_null() != rest.is_null());
    for p in [got, rest] {
        if !p.is_null() {
            assert_eq!(*unsafe { Box::from_raw(p) }, [1]);
        }
    }
}
