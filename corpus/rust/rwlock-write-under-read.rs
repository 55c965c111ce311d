// expect: panic 13
use std::sync::RwLock;
use std::thread;
static L: RwLock<u32> = RwLock::new(0);
fn add() {
    let before = *L.read().unwrap();
    *L.write().unwrap() = before + 1;
}
pub fn main() {
    let t = thread::spawn(add);
    add();
    t.join().unwrap();
    assert_eq!(*L.read().unwrap(), 2);
}
