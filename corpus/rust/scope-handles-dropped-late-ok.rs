// expect: safe
// std: real
// Handles that are dropped before, after, and by another thread.
use std::thread;
pub fn main() {
    let mut values = [0; 2];
    thread::scope(|scope| {
        let [first, second] = &mut values;
        let handle = scope.spawn(|| *first = 1);
        scope.spawn(move || {
            handle.join().unwrap();
            *second = 2;
        });
    });
    assert_eq!(values, [1, 2]);
}
