// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| thread::current().id());
    assert_ne!(t.join().unwrap(), thread::current().id());
}
