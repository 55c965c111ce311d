// expect: safe
// A pair of words that changes as a whole, by the processor's compare-and-swap of 16 bytes.
use std::arch::x86_64::cmpxchg16b;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::*;
use std::thread;
#[repr(align(16))]
struct Pair(UnsafeCell<u128>);
unsafe impl Sync for Pair {}
static PAIR: Pair = Pair(UnsafeCell::new(0));
#[target_feature(enable = "cmpxchg16b")]
unsafe fn add(by: u128) {
    let mut old = 0;
    loop {
        let seen = unsafe { cmpxchg16b(PAIR.0.get(), old, old + by, AcqRel, Acquire) };
        if seen == old {
            return;
        }
        old = seen;
    }
}
pub fn main() {
    let t = thread::spawn(|| unsafe { add(1 << 64) });
    unsafe { add(1) };
    t.join().unwrap();
    assert_eq!(unsafe { *PAIR.0.get() }, (1 << 64) + 1);
}
