// expect: safe
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
pub fn main() {
    let w = [thread::spawn(|| X.store(1, SeqCst)), thread::spawn(|| Y.store(1, SeqCst))];
    let a = thread::spawn(|| (X.load(SeqCst), Y.load(SeqCst)));
    let b = thread::spawn(|| (Y.load(SeqCst), X.load(SeqCst)));
    let (a, b) = (a.join().unwrap(), b.join().unwrap());
    assert!(a != (1, 0) || b != (1, 0)); 
    w.into_iter().for_each(|w| w.join().unwrap());
}
