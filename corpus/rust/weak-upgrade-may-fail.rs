// expect: panic 7
use std::sync::Arc;
use std::thread;
pub fn main() {
    let strong = Arc::new(1);
    let weak = Arc::downgrade(&strong);
    let t = thread::spawn(move || *weak.upgrade().expect("still there"));
    drop(strong);
    let _ = t.join().unwrap();
}
