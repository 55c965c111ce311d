// expect: safe
// check: leak
use std::sync::{Arc, Weak};
struct Node {
    me: Weak<Node>,
    value: u32,
}
pub fn main() {
    let node = Arc::new_cyclic(|me| Node { me: me.clone(), value: 4 });
    assert_eq!(node.me.upgrade().unwrap().value, 4);
}
