// expect: safe
use std::sync::RwLock;
use std::thread;
static VALUE: RwLock<u32> = RwLock::new(0);
pub fn main() {
    let reader = thread::spawn(|| {
        let _guard = VALUE.read().unwrap();
        panic!("readers do not poison");
    });
    assert!(reader.join().is_err());
    assert!(!VALUE.is_poisoned());
    let writer = thread::spawn(|| {
        let _guard = VALUE.write().unwrap();
        panic!("writers do");
    });
    assert!(writer.join().is_err());
    assert!(VALUE.is_poisoned());
    VALUE.clear_poison();
    assert_eq!(*VALUE.read().unwrap(), 0);
}
