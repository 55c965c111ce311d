// expect: safe
use std::sync::{Condvar, Mutex};
use std::thread;
static M: Mutex<bool> = Mutex::new(false);
static C: Condvar = Condvar::new();
pub fn main() {
    let t = thread::spawn(|| {
        *M.lock().unwrap() = true;
        C.notify_all();
    });
    let ready = C.wait_while(M.lock().unwrap(), |ready| !*ready).unwrap();
    assert!(*ready);
    drop(ready);
    t.join().unwrap();
}
