// expect: safe
use std::sync::Arc;
use std::thread;
pub fn main() {
    let mut mine = Arc::new(vec![1]);
    let other = Arc::clone(&mine);
    let t = thread::spawn(move || other.len());
    // Copied if the other thread still has it, changed in place otherwise: it sees one element.
    Arc::make_mut(&mut mine).push(2);
    assert_eq!(t.join().unwrap(), 1);
    assert_eq!(*mine, [1, 2]);
}
