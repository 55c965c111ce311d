// expect: safe
// std: real
use std::sync::{Arc, Mutex};
use std::thread;
pub fn main() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() += 1);
    *m.lock().unwrap() += 1;
    t.join().unwrap();
    assert_eq!(*m.lock().unwrap(), 2);
}
