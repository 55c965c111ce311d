// expect: safe
// std: real
use std::sync::{Condvar, Mutex};
use std::thread;
static M: Mutex<bool> = Mutex::new(false);
static C: Condvar = Condvar::new();
pub fn main() {
    let t = thread::spawn(|| {
        *M.lock().unwrap() = true;
        C.notify_one();
    });
    let mut ready = M.lock().unwrap();
    while !*ready {
        ready = C.wait(ready).unwrap();
    }
    drop(ready);
    t.join().unwrap();
}
