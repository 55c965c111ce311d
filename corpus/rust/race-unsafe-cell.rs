// expect: race 9
// expect: race 10
use std::cell::UnsafeCell;
use std::thread;
struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}
static S: Shared = Shared(UnsafeCell::new(0));
pub fn main() {
    let t = thread::spawn(|| unsafe { *S.0.get() = 1 });
    unsafe { *S.0.get() = 2 };
    t.join().unwrap();
}
