// expect: safe
// std: real
// A thread of a scope starts another one there. The scope waits for both.
use std::thread;
pub fn main() {
    let (mut first, mut second) = (0, 0);
    thread::scope(|scope| {
        let (first, second) = (&mut first, &mut second);
        scope.spawn(move || {
            scope.spawn(move || *second = 2);
            *first = 1;
        });
    });
    assert_eq!((first, second), (1, 2));
}
