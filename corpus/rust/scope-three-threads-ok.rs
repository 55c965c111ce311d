// expect: safe
// executions: 1
// Nobody sees in which order the threads of a scope end.
use std::thread;
pub fn main() {
    let mut values = [0; 3];
    thread::scope(|scope| {
        for value in &mut values {
            scope.spawn(move || *value += 1);
        }
    });
    assert_eq!(values, [1; 3]);
}
