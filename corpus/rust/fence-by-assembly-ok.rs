// expect: safe
// Store buffering with a locked instruction on a variable of one's own, which is a full fence on x86.
use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn fence() {
    let own = UnsafeCell::new(0_usize);
    // SAFETY: nobody else has the variable.
    unsafe { asm!("lock not qword ptr [{0}]", in(reg) own.get(), options(nostack, preserves_flags)) };
}

pub fn main() {
    let other = thread::spawn(|| {
        X.store(1, Relaxed);
        fence();
        Y.load(Relaxed)
    });
    Y.store(1, Relaxed);
    fence();
    let first = X.load(Relaxed);
    assert!(first == 1 || other.join().unwrap() == 1);
}
