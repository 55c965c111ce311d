// expect: safe
// check: leak
use std::sync::{Arc, Mutex, Weak};
struct Node {
    next: Mutex<Weak<Node>>,
}
pub fn main() {
    let a = Arc::new(Node { next: Mutex::new(Weak::new()) });
    *a.next.lock().unwrap() = Arc::downgrade(&a);
}
