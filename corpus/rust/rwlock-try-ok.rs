// expect: safe
use std::sync::RwLock;
pub fn main() {
    let l = RwLock::new(5);
    let reader = l.read().unwrap();
    assert!(l.try_write().is_err());
    assert!(l.try_read().is_ok());
    drop(reader);
    assert!(l.try_write().is_ok());
}
