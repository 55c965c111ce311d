// expect: deadlock 10
// std: real
use std::sync::{Condvar, Mutex};
use std::thread;
static M: Mutex<bool> = Mutex::new(false);
static C: Condvar = Condvar::new();
pub fn main() {
    let t = thread::spawn(|| C.notify_one());
    let guard = M.lock().unwrap();
    drop(C.wait(guard).unwrap());
    t.join().unwrap();
}
