// expect: deadlock 8
// expect: deadlock 7
use std::sync::OnceLock;
use std::thread;
static VALUE: OnceLock<u32> = OnceLock::new();
pub fn main() {
    thread::scope(|scope| {
        scope.spawn(|| *VALUE.wait());
    });
}
