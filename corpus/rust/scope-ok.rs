// expect: safe
use std::thread;
pub fn main() {
    let mut a = 1;
    let mut b = 2;
    thread::scope(|s| {
        s.spawn(|| a += 1);
        s.spawn(|| b += 1);
    });
    assert_eq!((a, b), (2, 3));
}
