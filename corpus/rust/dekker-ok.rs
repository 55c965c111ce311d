// expect: safe
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;
static FLAGS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static INSIDE: AtomicU32 = AtomicU32::new(0);
fn enter(me: usize) {
    FLAGS[me].store(true, SeqCst);
    if !FLAGS[1 - me].load(SeqCst) {
        assert_eq!(INSIDE.fetch_add(1, Relaxed), 0);
        INSIDE.fetch_sub(1, Relaxed);
    }
}
pub fn main() {
    let t = thread::spawn(|| enter(0));
    enter(1);
    t.join().unwrap();
}
