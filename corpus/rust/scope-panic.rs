// expect: panic 5
use std::thread;
pub fn main() {
    thread::scope(|s| {
        s.spawn(|| panic!("in a scope"));
    });
}
