// expect: panic 12
use std::sync::{Arc, Mutex};
use std::thread;
pub fn main() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _guard = n.lock().unwrap();
        panic!("while it is locked");
    });
    assert!(t.join().is_err());
    *m.lock().unwrap() += 1;
}
