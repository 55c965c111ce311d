// expect: safe
use std::sync::{Arc, Mutex};
use std::thread;
pub fn main() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _guard = n.lock().unwrap();
        if true {
            panic!("while it is locked");
        }
    });
    assert!(t.join().is_err());
    assert!(m.is_poisoned());
    let value = m.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    assert_eq!(*value, 0);
}
