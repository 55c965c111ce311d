// expect: safe
use std::sync::Arc;
use std::thread;
pub fn main() {
    let mut a = Arc::new(1);
    let b = a.clone();
    let t = thread::spawn(move || *b);
    if let Some(value) = Arc::get_mut(&mut a) {
        *value = 2;
    }
    assert_eq!(t.join().unwrap(), 1);
}
