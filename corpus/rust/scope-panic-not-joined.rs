// expect: panic 7
// std: real
use std::thread;
pub fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {});
        scope.spawn(|| panic!("nobody asks for the result"));
    });
}
