// expect: race 6
// expect: race 7
use std::thread;
static mut COUNT: u64 = 0;
pub fn main() {
    let t = thread::spawn(|| unsafe { COUNT += 1 });
    unsafe { COUNT += 1 };
    t.join().unwrap();
}
