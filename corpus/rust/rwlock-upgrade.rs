// expect: deadlock 6
use std::sync::RwLock;
pub fn main() {
    let l = RwLock::new(0);
    let _reader = l.read().unwrap();
    *l.write().unwrap() += 1;
}
