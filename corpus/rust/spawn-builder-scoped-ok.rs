// expect: safe
// A scoped thread has the name that its builder gave it, and borrows from the scope.
use std::thread::{self, Builder};
pub fn main() {
    let mut value = 0;
    thread::scope(|scope| {
        let handle = Builder::new().name("one".into()).stack_size(65_536).spawn_scoped(scope, || {
            value += 1;
            thread::current().name().map(str::to_string)
        });
        assert_eq!(handle.unwrap().join().unwrap().as_deref(), Some("one"));
    });
    assert_eq!(value, 1);
}
