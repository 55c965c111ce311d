//! A lock-free stack that frees what it pops at once, while another thread may still look at it.

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

fn pop() -> Option<u32> {
    loop {
        let head = HEAD.load(Acquire);
        if head.is_null() {
            return None;
        }
        let next = unsafe { (*head).next };
        if HEAD.compare_exchange(head, next, Acquire, Relaxed).is_ok() {
            return Some(unsafe { Box::from_raw(head) }.value);
        }
    }
}

fn main() {
    push(1);
    let other = thread::spawn(pop);
    pop();
    other.join().unwrap();
}
