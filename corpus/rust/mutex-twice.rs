// expect: deadlock 6
use std::sync::Mutex;
pub fn main() {
    let m = Mutex::new(0);
    let _first = m.lock().unwrap();
    let _second = m.lock().unwrap();
}
