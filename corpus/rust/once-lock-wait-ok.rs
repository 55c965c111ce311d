// expect: safe
use std::sync::OnceLock;
use std::thread;
static VALUE: OnceLock<u32> = OnceLock::new();
pub fn main() {
    let t = thread::spawn(|| *VALUE.wait());
    VALUE.set(3).unwrap();
    assert_eq!(t.join().unwrap(), 3);
}
