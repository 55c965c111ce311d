// expect: race 11
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;
static WANTS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut COUNT: u32 = 0;
fn add(me: usize) {
    WANTS[me].store(true, Release);
    TURN.store(1 - me, Release);
    while WANTS[1 - me].load(Acquire) && TURN.load(Acquire) == 1 - me {}
    unsafe { COUNT += 1 };
    WANTS[me].store(false, Release);
}
pub fn main() {
    let t = thread::spawn(|| add(0));
    add(1);
    t.join().unwrap();
}
