// expect: race 12
// expect: race 14
use std::thread;
struct Pointer(*mut u32);
unsafe impl Send for Pointer {}
pub fn main() {
    let mut x = 0u32;
    let p = Pointer(&raw mut x);
    thread::scope(|s| {
        s.spawn(move || {
            let p = p;
            unsafe { p.0.write(1) };
        });
        x = 2;
    });
}
