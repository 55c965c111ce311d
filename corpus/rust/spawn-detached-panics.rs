// expect: panic 5
use std::thread;
pub fn main() {
    thread::spawn(|| {
        panic!("nobody hears this");
    });
}
