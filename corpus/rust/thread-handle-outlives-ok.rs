// expect: safe
// std: real
// A handle may be used after its thread has ended.
use std::thread;
pub fn main() {
    let handle = thread::spawn(thread::current).join().unwrap();
    handle.unpark();
    assert!(handle.name().is_none());
}
