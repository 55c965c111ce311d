// expect: panic 5
use std::thread;
pub fn main() {
    let t = thread::spawn(|| 40 + 1);
    assert_eq!(t.join().unwrap(), 42);
}
