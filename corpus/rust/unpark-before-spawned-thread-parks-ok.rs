// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static VALUE: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        thread::park();
        // `unpark` happens before the return of `park`.
        assert_eq!(VALUE.load(Relaxed), 1);
    });
    VALUE.store(1, Relaxed);
    t.thread().unpark();
    t.join().unwrap();
}
