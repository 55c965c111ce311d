// expect: safe
use std::sync::{RwLock, RwLockWriteGuard};
use std::thread;
static VALUE: RwLock<u32> = RwLock::new(0);
pub fn main() {
    let t = thread::spawn(|| *VALUE.write().unwrap() += 1);
    let mut guard = VALUE.write().unwrap();
    *guard += 1;
    let now = *guard;
    // No writer gets in between.
    let guard = RwLockWriteGuard::downgrade(guard);
    assert_eq!(*guard, now);
    drop(guard);
    t.join().unwrap();
    assert_eq!(*VALUE.read().unwrap(), 2);
}
