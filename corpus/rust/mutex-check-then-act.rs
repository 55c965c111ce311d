// expect: panic 14
// std: real
use std::sync::Mutex;
use std::thread;
static M: Mutex<u32> = Mutex::new(0);
fn add() {
    let before = *M.lock().unwrap();
    *M.lock().unwrap() = before + 1;
}
pub fn main() {
    let t = thread::spawn(add);
    add();
    t.join().unwrap();
    assert_eq!(*M.lock().unwrap(), 2);
}
