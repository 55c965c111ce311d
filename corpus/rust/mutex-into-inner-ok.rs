// expect: safe
use std::sync::Mutex;
use std::thread;
pub fn main() {
    let m = Mutex::new(vec![1]);
    thread::scope(|s| {
        s.spawn(|| m.lock().unwrap().push(2));
    });
    assert_eq!(m.into_inner().unwrap(), [1, 2]);
}
