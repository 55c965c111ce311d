// expect: leak 8
// check: leak
use std::sync::{Arc, Mutex};
struct Node {
    next: Mutex<Option<Arc<Node>>>,
}
pub fn main() {
    let a = Arc::new(Node { next: Mutex::new(None) });
    *a.next.lock().unwrap() = Some(a.clone());
}
