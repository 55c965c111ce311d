// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| 40 + 2);
    assert_eq!(t.join().unwrap(), 42);
}
