// expect: deadlock 5
use std::thread;
pub fn main() {
    let t = thread::spawn(|| {
        thread::park();
    });
    t.join().unwrap();
}
