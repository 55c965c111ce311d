// expect: safe
use std::thread;
pub fn main() {
    let v = vec![1, 2, 3];
    let sum = thread::scope(|s| s.spawn(|| v.iter().sum::<i32>()).join().unwrap());
    assert_eq!(sum, 6);
}
