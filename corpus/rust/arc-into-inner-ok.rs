// expect: safe
use std::sync::Arc;
use std::thread;
pub fn main() {
    let a = Arc::new(1);
    let b = a.clone();
    let t = thread::spawn(move || Arc::into_inner(b).is_some());
    let here = Arc::into_inner(a).is_some();
    assert!(here != t.join().unwrap());
}
