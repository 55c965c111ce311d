// expect: safe
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;
static WANTS: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut COUNT: u32 = 0;
fn add(me: usize) {
    WANTS[me].store(true, SeqCst);
    TURN.store(1 - me, SeqCst);
    while WANTS[1 - me].load(SeqCst) && TURN.load(SeqCst) == 1 - me {}
    unsafe { COUNT += 1 };
    WANTS[me].store(false, SeqCst);
}
pub fn main() {
    let t = thread::spawn(|| add(0));
    add(1);
    t.join().unwrap();
    assert_eq!(unsafe { COUNT }, 2);
}
