// expect: panic 22
// Both threads write a pair that they made from an old one: one of both may get lost.
use std::arch::x86_64::cmpxchg16b;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::*;
use std::thread;
#[repr(align(16))]
struct Pair(UnsafeCell<u128>);
unsafe impl Sync for Pair {}
static PAIR: Pair = Pair(UnsafeCell::new(0));
#[target_feature(enable = "cmpxchg16b")]
unsafe fn add_once(by: u128) {
    unsafe {
        let old = cmpxchg16b(PAIR.0.get(), 0, 0, AcqRel, Acquire);
        cmpxchg16b(PAIR.0.get(), old, old + by, AcqRel, Acquire);
    }
}
pub fn main() {
    let t = thread::spawn(|| unsafe { add_once(1 << 64) });
    unsafe { add_once(1) };
    t.join().unwrap();
    assert_eq!(unsafe { *PAIR.0.get() }, (1 << 64) + 1);
}
