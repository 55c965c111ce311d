// expect: safe
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
struct Node {
    value: u32,
    next: *mut Node,
}
static HEAD: AtomicPtr<Node> = AtomicPtr::new(null_mut());
fn push(value: u32) {
    let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
    let mut head = HEAD.load(Relaxed);
    loop {
        unsafe { (*node).next = head };
        match HEAD.compare_exchange_weak(head, node, Release, Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}
pub fn main() {
    let t = thread::spawn(|| push(1));
    push(2);
    let mut node = HEAD.swap(null_mut(), Acquire);
    t.join().unwrap();
    while !node.is_null() {
        let one = unsafe { Box::from_raw(node) };
        assert!(one.value == 1 || one.value == 2);
        node = one.next;
    }
    let rest = HEAD.swap(null_mut(), Acquire);
    if !rest.is_null() {
        assert_eq!(unsafe { Box::from_raw(rest) }.value, 1);
    }
}
