// expect: panic 6
use std::thread::{self, Builder};
pub fn main() {
    let handle = Builder::new().spawn(|| thread::current().name().map(str::to_string)).unwrap();
    // A thread without a name has none, whatever spawned it.
    handle.join().unwrap().expect("a name");
}
