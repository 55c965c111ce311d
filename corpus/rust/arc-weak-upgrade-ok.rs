// expect: safe
use std::sync::Arc;
use std::thread;
pub fn main() {
    let a = Arc::new(5);
    let w = Arc::downgrade(&a);
    let t = thread::spawn(move || w.upgrade().map_or(5, |value| *value));
    drop(a);
    assert_eq!(t.join().unwrap(), 5);
}
