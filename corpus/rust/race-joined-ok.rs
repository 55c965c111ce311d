// expect: safe
use std::cell::UnsafeCell;
use std::thread;
struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}
static S: Shared = Shared(UnsafeCell::new(0));
pub fn main() {
    let t = thread::spawn(|| unsafe { *S.0.get() = 1 });
    t.join().unwrap();
    unsafe { *S.0.get() = 2 };
}
