// expect: safe
// std: real
use std::sync::RwLock;
use std::thread;
static L: RwLock<u32> = RwLock::new(0);
pub fn main() {
    let t = thread::spawn(|| *L.write().unwrap() += 1);
    *L.write().unwrap() += 1;
    t.join().unwrap();
    assert_eq!(*L.read().unwrap(), 2);
}
