// expect: memory 15
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
struct Node {
    next: *mut Node,
}
static HEAD: AtomicPtr<Node> = AtomicPtr::new(null_mut());
fn pop() -> bool {
    loop {
        let head = HEAD.load(Acquire);
        if head.is_null() {
            return false;
        }
        let next = unsafe { (*head).next };
        if HEAD.compare_exchange(head, next, Acquire, Relaxed).is_ok() {
            drop(unsafe { Box::from_raw(head) });
            return true;
        }
    }
}
pub fn main() {
    HEAD.store(Box::into_raw(Box::new(Node { next: null_mut() })), Release);
    let t = thread::spawn(pop);
    pop();
    t.join().unwrap();
}
