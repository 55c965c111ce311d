// expect: safe
// executions: 1
// Nobody sees whether the handle is dropped before the thread ends.
use std::thread;
pub fn main() {
    drop(thread::spawn(|| {}));
    thread::spawn(|| {}).join().unwrap();
}
