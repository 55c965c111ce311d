// expect: safe
use std::thread;
pub fn main() {
    let v = vec![Box::new(1), Box::new(2)];
    thread::scope(|s| {
        s.spawn(|| assert_eq!(v.len(), 2));
    });
}
