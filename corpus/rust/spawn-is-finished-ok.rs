// expect: safe
use std::thread;
pub fn main() {
    let t = thread::spawn(|| ());
    let _ = t.is_finished();
    t.join().unwrap();
}
