// expect: safe
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
pub fn main() {
    let flag = Arc::new(AtomicBool::new(false));
    let (f, main) = (flag.clone(), thread::current());
    let t = thread::spawn(move || {
        f.store(true, Release);
        main.unpark();
    });
    while !flag.load(Acquire) {
        thread::park();
    }
    t.join().unwrap();
}
