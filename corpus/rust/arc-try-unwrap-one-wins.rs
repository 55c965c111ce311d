// expect: panic 9
use std::sync::Arc;
use std::thread;
pub fn main() {
    let a = Arc::new(1);
    let b = a.clone();
    let t = thread::spawn(move || Arc::try_unwrap(b).is_ok());
    let here = Arc::try_unwrap(a).is_ok();
    assert!(here || t.join().unwrap());
}
