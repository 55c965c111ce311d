// expect: panic 11
use std::sync::RwLock;
use std::thread;
static VALUE: RwLock<u32> = RwLock::new(0);
pub fn main() {
    let t = thread::spawn(|| {
        let _guard = VALUE.write().unwrap();
        panic!("in the middle");
    });
    assert!(t.join().is_err());
    let value = *VALUE.read().unwrap();
    assert_eq!(value, 0);
}
