// expect: safe
use std::thread;
pub fn main() {
    let main = thread::current();
    let t = thread::spawn(move || main.unpark());
    thread::park();
    t.join().unwrap();
}
