// expect: safe
// check: leak
// What std allocates for threads is freed by whoever comes last.
use std::thread;
pub fn main() {
    let thread = thread::spawn(|| 1);
    let handle = thread.thread().clone();
    assert_eq!(thread.join().unwrap(), 1);
    handle.unpark();
    thread::scope(|scope| {
        scope.spawn(|| 2);
    });
}
