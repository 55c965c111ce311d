// expect: safe
use std::sync::RwLock;
use std::thread;
static L: RwLock<u32> = RwLock::new(5);
pub fn main() {
    let reader = L.read().unwrap();
    let t = thread::spawn(|| *L.read().unwrap());
    assert_eq!(*reader, t.join().unwrap());
}
