// expect: safe
// A loop that hides what it reads from the compiler does nothing more than wait.
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static READY: AtomicU32 = AtomicU32::new(0);

pub fn main() {
    let setter = thread::spawn(|| READY.store(1, Ordering::Release));
    while black_box(READY.load(Ordering::Acquire)) == 0 {
        spin_loop();
    }
    setter.join().unwrap();
}
